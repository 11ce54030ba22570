//! What kind of document the bytes are, whatever the server calls them.
//!
//! Promises: HTML served under another name is read; images, archives and other
//! binary data are refused even under the name of HTML.
//! Never: decodes a document.

use super::{ParseError, charset::utf_16_by_zeros, prescan::starts_with};

/// Bytes looked at.
const SAMPLE: usize = 2_048;

/// A readable kind of document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Text,
}

/// How binary formats start.
const MAGIC: &[(&[u8], &str)] = &[
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG", "image/png"),
    (b"GIF8", "image/gif"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"RIFF", "application/x-riff"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"Rar!", "application/x-rar-compressed"),
    (b"7z\xbc\xaf", "application/x-7z-compressed"),
    (b"\xd0\xcf\x11\xe0", "application/x-ole-storage"),
    (b"{\\rtf", "application/rtf"),
    (b"%!PS", "application/postscript"),
    (b"\x7fELF", "application/x-executable"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"wOF", "font/woff"),
];

/// Names of elements that a fragment of HTML starts with (WHATWG MIME sniffing, 7.1, and some more).
const HTML_STARTS: &[&str] = &[
    "html", "head", "body", "title", "meta", "link", "base", "script", "style", "frameset", "iframe", "div", "table", "p", "a",
    "h1", "h2", "h3", "font", "center", "br", "b", "form", "ul", "span", "img",
];

/// Roots of XML documents that list links; `links_of_xml` reads them.
const LISTS: &[(&str, &str)] = &[
    ("rss", "application/rss+xml"),
    ("rdf:RDF", "application/rdf+xml"),
    ("feed", "application/atom+xml"),
    ("urlset", "application/xml (sitemap)"),
    ("sitemapindex", "application/xml (sitemap index)"),
];

/// Whether a document of this type may be an XML list, packed or not.
pub(super) fn may_be_list(name: &str) -> bool {
    matches!(name, "application/gzip" | "application/xml" | "text/xml") || LISTS.iter().any(|(_, list)| *list == name)
}

/// The kind of a document.
pub(super) fn kind(content_type: Option<&str>, body: &[u8]) -> Result<Kind, ParseError> {
    let essence = content_type.unwrap_or_default().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let refuse = |what: &str| Err(ParseError::UnsupportedType(what.to_owned()));
    if let Some((_, name)) = MAGIC.iter().find(|(magic, _)| body.starts_with(magic)) {
        return refuse(name);
    }
    let mut start = body[..body.len().min(SAMPLE)].to_vec();
    if body.starts_with(&[0xff, 0xfe]) || body.starts_with(&[0xfe, 0xff]) || utf_16_by_zeros(body).is_some() {
        start.retain(|&byte| byte != 0);
    }
    let start = skip_preamble(&start);
    if starts_with(start, b"<!doctype html") || is_element(start, "html") {
        return Ok(Kind::Html);
    }
    if let Some((_, name)) = LISTS.iter().find(|(root, _)| is_element(start, root)) {
        return refuse(name);
    }
    let controls = start.iter().filter(|&&byte| is_control(byte)).count();
    match essence.as_str() {
        "text/html" | "application/xhtml+xml" | "application/vnd.wap.xhtml+xml" => {
            if controls * 10 > start.len() {
                refuse("binary data")
            } else {
                Ok(Kind::Html)
            }
        }
        "" | "text/plain" | "text/markdown" | "application/octet-stream" | "*/*" | "unknown/unknown" | "application/unknown" => {
            if controls > 0 && controls * 50 >= start.len() {
                refuse("binary data")
            } else if start.starts_with(b"<!") || HTML_STARTS.iter().any(|name| is_element(start, name)) {
                Ok(Kind::Html)
            } else {
                Ok(Kind::Text)
            }
        }
        other => refuse(other),
    }
}

/// Bytes that no text holds (WHATWG "binary data byte").
fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f)
}

/// Skips what may stand before the first element: byte order mark, blanks, XML declaration, comments.
fn skip_preamble(bytes: &[u8]) -> &[u8] {
    let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
    let mut rest = marks.iter().find_map(|mark| bytes.strip_prefix(*mark)).unwrap_or(bytes);
    loop {
        rest = rest.trim_ascii_start();
        let end: &[u8] = if rest.starts_with(b"<!--") {
            b"-->"
        } else if rest.starts_with(b"<?") {
            b"?>"
        } else {
            return rest;
        };
        match rest.windows(end.len()).position(|window| window == end) {
            Some(at) => rest = &rest[at + end.len()..],
            None => return rest,
        }
    }
}

fn is_element(bytes: &[u8], name: &str) -> bool {
    bytes.first() == Some(&b'<')
        && starts_with(&bytes[1..], name.as_bytes())
        && bytes.get(1 + name.len()).is_none_or(|&next| next.is_ascii_whitespace() || matches!(next, b'>' | b'/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind_of(content_type: &str, body: &[u8]) -> Result<Kind, String> {
        let content_type = Some(content_type).filter(|known| !known.is_empty());
        kind(content_type, body).map_err(|error| match error {
            ParseError::UnsupportedType(name) | ParseError::NotAList(name) => name,
        })
    }

    #[test]
    fn html_is_known_by_its_start_under_any_name() {
        for content_type in ["", "text/plain", "application/octet-stream", "application/xml", "image/gif", "TEXT/HTML; charset=x"]
        {
            for body in ["<!DOCTYPE HTML>", " \n<html lang=zh>", "\u{feff}<?xml version='1.0'?><!-- x --><HTML>"] {
                assert_eq!(kind_of(content_type, body.as_bytes()), Ok(Kind::Html), "{content_type} {body}");
            }
        }
        assert_eq!(kind_of("", b"<title>x</title>"), Ok(Kind::Html));
        let utf_16: Vec<u8> = "<html><body>words".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(kind_of("text/plain", &utf_16), Ok(Kind::Html));
    }

    #[test]
    fn text_stays_text_and_html_may_start_anyhow() {
        assert_eq!(kind_of("text/plain", b"a < b <p>"), Ok(Kind::Text));
        assert_eq!(kind_of("", "水稻".as_bytes()), Ok(Kind::Text));
        assert_eq!(kind_of("text/html", b"words, \0 no tags"), Ok(Kind::Html));
        assert_eq!(kind_of("text/html", b""), Ok(Kind::Html));
    }

    #[test]
    fn binary_data_and_other_formats_are_refused_by_name() {
        assert_eq!(kind_of("text/html", b"%PDF-1.4"), Err("application/pdf".to_owned()));
        assert_eq!(kind_of("", b"\x89PNG\r\n"), Err("image/png".to_owned()));
        assert_eq!(kind_of("application/octet-stream", &[7, 1, 0, 2, 200]), Err("binary data".to_owned()));
        assert_eq!(kind_of("text/html", &[0, 1, 2, 3, 0, 9]), Err("binary data".to_owned()));
        assert_eq!(kind_of("application/json; charset=utf-8", b"{}"), Err("application/json".to_owned()));
        assert_eq!(kind_of("text/xml", b"<?xml version='1.0'?><rss version='2.0'>"), Err("application/rss+xml".to_owned()));
        assert_eq!(kind_of("image/svg+xml", b"<svg>"), Err("image/svg+xml".to_owned()));
    }
}

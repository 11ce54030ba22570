//! What the first bytes of a document say of its encoding and language, before it is decoded.
//!
//! Promises: the WHATWG prescan, but as far into the document as it is given (many old pages
//! declare late); linear.
//! Never: believes what it reads (that is `charset`).

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// What was found.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Prescan<'a> {
    pub(super) charset: Option<&'static Encoding>,
    /// `<html lang>`, where it stands before the declaration, as it should.
    pub(super) lang: Option<&'a [u8]>,
}

/// Looks for `<meta charset>`, its `http-equiv` form, an XML declaration and `<html lang>`.
pub(super) fn prescan(head: &[u8]) -> Prescan<'_> {
    let mut found = Prescan::default();
    let mut rest = head;
    if starts_with(rest, b"<?xml") {
        let declaration = &rest[..position(rest, b">").unwrap_or(rest.len())];
        found.charset = position(declaration, b"encoding").and_then(|at| label_after(&declaration[at + 8..]));
    }
    while found.charset.is_none()
        && let Some(at) = rest.iter().position(|&byte| byte == b'<')
    {
        rest = &rest[at..];
        if starts_with(rest, b"<!--") {
            rest = after(&rest[2..], b"-->");
        } else if starts_with(rest, b"<script") {
            rest = after(rest, b"</script");
        } else if is_tag(rest, b"<meta") {
            let mut attributes = Attributes(&rest[5..]);
            found.charset = found.charset.or_else(|| charset_of_meta(&mut attributes));
            rest = attributes.0;
        } else if is_tag(rest, b"<html") {
            let mut attributes = Attributes(&rest[5..]);
            found.lang = attributes.find(|(name, _)| name.eq_ignore_ascii_case(b"lang")).map(|(_, value)| value);
            rest = attributes.0;
        } else {
            rest = &rest[1..];
        }
    }
    found
}

/// The encoding of a label, as a document may declare it for itself or a server for it.
pub(super) fn encoding_of(label: &[u8]) -> Option<&'static Encoding> {
    let encoding = Encoding::for_label(label)?;
    if encoding == REPLACEMENT {
        None
    } else if encoding == UTF_16LE || encoding == UTF_16BE {
        // A declaration that could be read as ASCII is not in UTF-16.
        Some(UTF_8)
    } else if encoding == X_USER_DEFINED {
        Some(WINDOWS_1252)
    } else {
        Some(encoding)
    }
}

/// The encoding in a `Content-Type` value: `text/html; charset="gbk"`.
pub(super) fn charset_of_content_type(value: &[u8]) -> Option<&'static Encoding> {
    let mut rest = value;
    while let Some(at) = position(rest, b"charset") {
        rest = &rest[at + 7..];
        if let Some(encoding) = label_after(rest) {
            return Some(encoding);
        }
    }
    None
}

fn charset_of_meta(attributes: &mut Attributes<'_>) -> Option<&'static Encoding> {
    let mut charset = None;
    for (name, value) in attributes {
        if name.eq_ignore_ascii_case(b"charset") {
            charset = encoding_of(value).or(charset);
        } else if name.eq_ignore_ascii_case(b"content") && charset.is_none() {
            charset = charset_of_content_type(value);
        }
    }
    charset
}

/// The label in `= "label"`.
fn label_after(bytes: &[u8]) -> Option<&'static Encoding> {
    let value = bytes.trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let label = match value.first()? {
        quote @ (b'"' | b'\'') => value[1..].split(|byte| byte == quote).next()?,
        _ => value.split(|&byte| byte.is_ascii_whitespace() || byte == b';' || byte == b'"' || byte == b'\'').next()?,
    };
    encoding_of(label)
}

/// The attributes of a tag; leaves what follows the tag in place.
struct Attributes<'a>(&'a [u8]);

impl<'a> Iterator for Attributes<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let skipped = self.0.iter().position(|&byte| !byte.is_ascii_whitespace() && byte != b'/')?;
        self.0 = &self.0[skipped..];
        if self.0[0] == b'>' {
            return None;
        }
        let end = self.0.iter().skip(1).position(|&byte| byte.is_ascii_whitespace() || matches!(byte, b'=' | b'>' | b'/'));
        let (name, rest) = self.0.split_at(end.map_or(self.0.len(), |end| end + 1));
        self.0 = rest;
        let Some(value) = rest.trim_ascii_start().strip_prefix(b"=") else { return Some((name, b"")) };
        let value = value.trim_ascii_start();
        let (value, rest) = match value.first() {
            Some(quote @ (b'"' | b'\'')) => {
                let end = value[1..].iter().position(|byte| byte == quote).unwrap_or(value.len() - 1);
                (&value[1..=end], value.get(end + 2..).unwrap_or_default())
            }
            _ => value.split_at(value.iter().position(|&byte| byte.is_ascii_whitespace() || byte == b'>').unwrap_or(value.len())),
        };
        self.0 = rest;
        Some((name, value))
    }
}

fn is_tag(bytes: &[u8], tag: &[u8]) -> bool {
    starts_with(bytes, tag) && bytes.get(tag.len()).is_some_and(|&next| next.is_ascii_whitespace() || next == b'/')
}

/// Whether bytes start with a text, in whatever case.
pub(super) fn starts_with(bytes: &[u8], start: &[u8]) -> bool {
    bytes.get(..start.len()).is_some_and(|found| found.eq_ignore_ascii_case(start))
}

fn position(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window.eq_ignore_ascii_case(needle))
}

fn after<'a>(bytes: &'a [u8], needle: &[u8]) -> &'a [u8] {
    position(bytes, needle).map_or(&[], |at| &bytes[at + needle.len()..])
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, GBK};

    use super::*;

    #[test]
    fn declarations_are_found_in_all_their_spellings() {
        for (html, encoding) in [
            ("<meta charset=gb2312>", GBK),
            ("<META CHARSET = 'big5' />", BIG5),
            (r#"<meta http-equiv="Content-Type" content="text/html; charset=gbk">"#, GBK),
            ("<meta content='text/html;charset=\"gb2312\"' http-equiv=content-type>", GBK),
            (r#"<?xml version="1.0" encoding="GB2312"?><html>"#, GBK),
            ("<script>'<meta charset=big5>'</script><meta charset=gbk>", GBK),
            ("<!-- <meta charset=big5> --><meta charset=gbk>", GBK),
            ("<meta charset=nonsense><meta charset=gbk>", GBK),
            ("<meta charset=utf-16>", UTF_8),
        ] {
            assert_eq!(prescan(html.as_bytes()).charset, Some(encoding), "{html}");
        }
    }

    #[test]
    fn what_is_no_declaration_is_not_taken_for_one() {
        for html in [
            "",
            "<",
            "<meta",
            "<meta charset",
            "<meta charset=",
            "<metadata charset=gbk>",
            "<p>charset=gbk</p>",
            "<!-- <meta charset=gbk>",
        ] {
            assert_eq!(prescan(html.as_bytes()).charset, None, "{html}");
        }
    }

    #[test]
    fn the_language_of_the_document_is_found() {
        assert_eq!(prescan(b"<!doctype html><html class=x lang='zh-TW'>").lang, Some(&b"zh-TW"[..]));
    }
}

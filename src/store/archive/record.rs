//! WARC/1.1 records as bytes (ISO 28500:2017).
//!
//! Promises: one capture always gives the same bytes; block and payload digests
//! are SHA-1 in base32, the convention that every WARC tool checks.
//! Never: touches a file (that is `write`).

use std::{cell::RefCell, io};

use libdeflater::{CompressionLvl, Compressor};
use sha1::{Digest, Sha1};
use xxhash_rust::xxh3::xxh3_128;

use crate::{
    fetch::SentRequest,
    page::Timestamp,
    store::{Capture, PageRecord},
};

/// The capture that a record is about.
#[derive(Debug, Clone, Copy)]
pub struct About<'a> {
    pub url: &'a str,
    pub date: Timestamp,
    /// Its record's id, in angle brackets.
    pub id: &'a str,
}

/// How hard records are packed, of 1 to 12: the archive is most of what a crawl's writer does, and 6 takes four times as long
/// for a twentieth less.
const LEVEL: i32 = 1;

thread_local! {
    /// Its tables are larger than most records; making them anew for each would cost more than filling them.
    static PACKER: RefCell<Compressor> = RefCell::new(Compressor::new(CompressionLvl::new(LEVEL).unwrap_or_default()));
}

/// A record as a gzip member of its own.
///
/// # Errors
/// None in practice: it is written to memory.
pub fn member(record: &[u8]) -> io::Result<Vec<u8>> {
    PACKER.with_borrow_mut(|packer| {
        let mut member = vec![0; packer.gzip_compress_bound(record.len())];
        let length = packer.gzip_compress(record, &mut member).map_err(io::Error::other)?;
        member.truncate(length);
        Ok(member)
    })
}

/// The first record of a file, with further fields.
#[must_use]
pub fn warcinfo(file_name: &str, date: Timestamp, more: &[(&str, String)]) -> Vec<u8> {
    let mut block = format!(
        "software: windrow/{}\r\nformat: WARC File Format 1.1\r\n\
         conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n",
        env!("CARGO_PKG_VERSION")
    )
    .into_bytes();
    for (name, value) in more {
        push_field(&mut block, name, value);
    }
    let fields = [
        ("WARC-Type", "warcinfo".to_owned()),
        ("WARC-Record-ID", record_id(&["warcinfo", file_name, &date.0.to_string()])),
        ("WARC-Date", date.to_string()),
        ("WARC-Filename", file_name.to_owned()),
        ("WARC-Block-Digest", digest(&block)),
        ("Content-Type", "application/warc-fields".to_owned()),
    ];
    record(&fields, &[&block])
}

/// The answer as it came, but for the encodings that were undone.
#[must_use]
pub fn response(capture: &Capture) -> Vec<u8> {
    let head = http_head(capture);
    let mut fields = vec![
        ("WARC-Type", "response".to_owned()),
        ("WARC-Record-ID", capture_id("response", capture)),
        ("WARC-Date", capture.fetched_at.to_string()),
        ("WARC-Target-URI", capture.url.clone()),
    ];
    if let Some(address) = capture.address {
        fields.push(("WARC-IP-Address", address.to_string()));
    }
    let mut whole = Sha1::new();
    whole.update(&head);
    whole.update(&capture.body);
    fields.extend([
        ("WARC-Payload-Digest", digest(&capture.body)),
        ("WARC-Block-Digest", labelled(&whole.finalize())),
        ("Content-Type", "application/http;msgtype=response".to_owned()),
    ]);
    record(&fields, &[&head, &capture.body])
}

/// The head of an answer whose body is that of `original`, byte by byte.
pub(super) fn revisit(capture: &Capture, original: &PageRecord) -> Vec<u8> {
    let head = http_head(capture);
    let id = record_id(&["response", &original.seq.to_string(), &original.fetched_at.0.to_string(), &original.url]);
    let mut fields = vec![
        ("WARC-Type", "revisit".to_owned()),
        ("WARC-Record-ID", capture_id("revisit", capture)),
        ("WARC-Date", capture.fetched_at.to_string()),
        ("WARC-Target-URI", capture.url.clone()),
        ("WARC-Profile", "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest".to_owned()),
        ("WARC-Refers-To", id),
        ("WARC-Refers-To-Target-URI", original.url.clone()),
        ("WARC-Refers-To-Date", original.fetched_at.to_string()),
    ];
    if let Some(address) = capture.address {
        fields.push(("WARC-IP-Address", address.to_string()));
    }
    fields.extend([
        ("WARC-Payload-Digest", digest(&capture.body)),
        ("WARC-Block-Digest", digest(&head)),
        ("Content-Type", "application/http;msgtype=response".to_owned()),
    ]);
    record(&fields, &[&head])
}

/// What was sent for a capture with the id `answer`.
pub(super) fn request(capture: &Capture, sent: &SentRequest, answer: &str) -> Vec<u8> {
    let mut block = format!("GET {} HTTP/1.1\r\n", sent.target.replace(char::is_whitespace, "%20")).into_bytes();
    for (name, value) in &sent.headers {
        push_field(&mut block, name, value);
    }
    block.extend_from_slice(b"\r\n");
    let fields = [
        ("WARC-Type", "request".to_owned()),
        ("WARC-Record-ID", capture_id("request", capture)),
        ("WARC-Date", capture.fetched_at.to_string()),
        ("WARC-Target-URI", capture.url.clone()),
        ("WARC-Concurrent-To", answer.to_owned()),
        ("WARC-Payload-Digest", digest(b"")),
        ("WARC-Block-Digest", digest(&block)),
        ("Content-Type", "application/http;msgtype=request".to_owned()),
    ];
    record(&fields, &[&block])
}

/// What is known of a page when it is archived, as fields of its metadata; Heritrix's names where it has them.
#[must_use]
pub fn facts(page: &PageRecord) -> Vec<(&'static str, String)> {
    let mut facts = vec![
        ("seq", page.seq.to_string()),
        ("outcome", page.outcome.name().to_owned()),
        ("relevance", format!("{:.6}", page.relevance.get())),
        ("relevant", page.relevant.to_string()),
        ("modelVersion", page.model_version.to_string()),
        ("hopsFromSeed", page.depth.to_string()),
        ("fetchTimeMs", page.elapsed_ms.to_string()),
    ];
    facts.extend(page.source_url.as_ref().map(|via| ("via", via.clone())));
    if !page.anchor.is_empty() {
        facts.push(("linkText", page.anchor.clone()));
    }
    facts
}

/// What windrow made of a capture.
#[must_use]
pub fn metadata(about: &About<'_>, facts: &[(&str, String)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in facts {
        push_field(&mut block, name, value);
    }
    let fields = [
        ("WARC-Type", "metadata".to_owned()),
        ("WARC-Record-ID", record_id(&["metadata", about.id])),
        ("WARC-Date", about.date.to_string()),
        ("WARC-Target-URI", about.url.to_owned()),
        ("WARC-Concurrent-To", about.id.to_owned()),
        ("WARC-Block-Digest", digest(&block)),
        ("Content-Type", "application/warc-fields".to_owned()),
    ];
    record(&fields, &[&block])
}

/// `sha1:` and the digest in base32.
pub(super) fn digest(bytes: &[u8]) -> String {
    labelled(&Sha1::digest(bytes))
}

fn labelled(sha1: &[u8]) -> String {
    format!("sha1:{}", base32::encode(base32::Alphabet::Rfc4648 { padding: false }, sha1))
}

fn record(fields: &[(&str, String)], block: &[&[u8]]) -> Vec<u8> {
    let length: usize = block.iter().map(|part| part.len()).sum();
    let mut bytes = Vec::with_capacity(length + 640);
    bytes.extend_from_slice(b"WARC/1.1\r\n");
    for (name, value) in fields {
        push_field(&mut bytes, name, value);
    }
    push_field(&mut bytes, "Content-Length", &length.to_string());
    bytes.extend_from_slice(b"\r\n");
    for part in block {
        bytes.extend_from_slice(part);
    }
    bytes.extend_from_slice(b"\r\n\r\n");
    bytes
}

/// Headers that describe the bytes on the wire; the archive keeps the decoded body.
const OF_THE_WIRE: [&str; 3] = ["content-encoding", "transfer-encoding", "content-length"];

fn http_head(capture: &Capture) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 {} \r\n", capture.status).into_bytes();
    for (name, value) in &capture.headers {
        if !OF_THE_WIRE.iter().any(|wire| name.eq_ignore_ascii_case(wire)) {
            push_field(&mut bytes, name, value);
        }
    }
    push_field(&mut bytes, "content-length", &capture.body.len().to_string());
    bytes.extend_from_slice(b"\r\n");
    bytes
}

/// One header line; line breaks in it become blanks, so that no server can write records of its own.
fn push_field(bytes: &mut Vec<u8>, name: &str, value: &str) {
    let safe = |c: u8| if matches!(c, b'\r' | b'\n' | 0) { b' ' } else { c };
    bytes.extend(name.bytes().map(safe));
    bytes.extend_from_slice(b": ");
    bytes.extend(value.bytes().map(safe));
    bytes.extend_from_slice(b"\r\n");
}

/// The id of a capture's `response` record.
#[must_use]
pub fn response_id(capture: &Capture) -> String {
    capture_id("response", capture)
}

pub(super) fn capture_id(kind: &str, capture: &Capture) -> String {
    record_id(&[kind, &capture.seq.to_string(), &capture.fetched_at.0.to_string(), &capture.url])
}

/// A UUID of version 8 (RFC 9562) that is a hash of its parts.
fn record_id(parts: &[&str]) -> String {
    let id = xxh3_128(parts.join("\n").as_bytes());
    let id = id & !(0xf << 76) | 8 << 76;
    let id = id & !(0b11 << 62) | 0b10 << 62;
    let hex = format!("{id:032x}");
    format!("<urn:uuid:{}-{}-{}-{}-{}>", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capture(headers: &[(&str, &str)]) -> Capture {
        Capture {
            seq: 7,
            url: "http://e.com/a".into(),
            fetched_at: Timestamp(1_795_219_200_500),
            address: Some("192.0.2.7".parse().unwrap()),
            status: 200,
            headers: headers.iter().map(|&(name, value)| (name.into(), value.into())).collect(),
            body: b"<p>rice</p>".to_vec(),
            request: None,
        }
    }

    #[test]
    fn a_response_says_how_long_its_decoded_body_is() {
        let headers = [
            ("content-type", "text/html"),
            ("Content-Encoding", "gzip"),
            ("content-length", "5"),
            ("transfer-encoding", "chunked"),
        ];
        let text = String::from_utf8(response(&capture(&headers))).unwrap();
        assert!(
            text.contains("HTTP/1.1 200 \r\ncontent-type: text/html\r\ncontent-length: 11\r\n\r\n<p>rice</p>\r\n\r\n"),
            "{text}"
        );
        assert!(text.contains("WARC-IP-Address: 192.0.2.7\r\n"), "{text}");
        assert!(text.contains("WARC-Date: 2026-11-21T00:00:00Z\r\n"), "{text}");
    }

    #[test]
    fn a_header_cannot_break_out_of_its_line() {
        let text = String::from_utf8(response(&capture(&[("x", "1\r\n\r\nWARC/1.1\r\n")]))).unwrap();
        assert!(text.contains("x: 1    WARC/1.1  \r\n"), "{text}");
    }

    #[test]
    fn record_ids_are_uuids_and_repeat_with_their_capture() {
        let id = capture_id("response", &capture(&[]));
        assert_eq!(id, capture_id("response", &capture(&[])));
        assert_ne!(id, capture_id("metadata", &capture(&[])));
        assert_eq!((id.len(), &id[23..25], &id[..10]), (47, "-8", "<urn:uuid:"), "{id}");
        assert!(matches!(&id[29..30], "8" | "9" | "a" | "b"), "{id}");
    }
}

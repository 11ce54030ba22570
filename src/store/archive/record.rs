//! WARC/1.1 records as bytes (ISO 28500:2017).
//!
//! Promises: one capture always gives the same bytes; block and payload digests
//! are SHA-1 in base32, the convention that every WARC tool checks.
//! Never: compresses or writes (that is `write`).

use sha1::{Digest, Sha1};
use xxhash_rust::xxh3::xxh3_128;

use crate::{page::Timestamp, store::Capture};

/// The first record of a file.
pub(super) fn warcinfo(file_name: &str, date: Timestamp) -> Vec<u8> {
    let block = format!(
        "software: windrow/{}\r\nformat: WARC File Format 1.1\r\n\
         conformsTo: http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/\r\n",
        env!("CARGO_PKG_VERSION")
    );
    let fields = [
        ("WARC-Type", "warcinfo".to_owned()),
        ("WARC-Record-ID", record_id(&["warcinfo", file_name, &date.0.to_string()])),
        ("WARC-Date", date.to_string()),
        ("WARC-Filename", file_name.to_owned()),
        ("WARC-Block-Digest", digest(block.as_bytes())),
        ("Content-Type", "application/warc-fields".to_owned()),
    ];
    record(&fields, &[block.as_bytes()])
}

/// The answer as it came, but for the encodings that were undone.
pub(super) fn response(capture: &Capture) -> Vec<u8> {
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

/// What windrow made of the answer.
pub(super) fn metadata(capture: &Capture) -> Vec<u8> {
    let block = format!("seq: {}\r\nrelevance: {:.6}\r\n", capture.seq, capture.relevance.get());
    let fields = [
        ("WARC-Type", "metadata".to_owned()),
        ("WARC-Record-ID", capture_id("metadata", capture)),
        ("WARC-Date", capture.fetched_at.to_string()),
        ("WARC-Target-URI", capture.url.clone()),
        ("WARC-Concurrent-To", capture_id("response", capture)),
        ("WARC-Block-Digest", digest(block.as_bytes())),
        ("Content-Type", "application/warc-fields".to_owned()),
    ];
    record(&fields, &[block.as_bytes()])
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

fn capture_id(kind: &str, capture: &Capture) -> String {
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
    use crate::page::Relevance;

    fn capture(headers: &[(&str, &str)]) -> Capture {
        Capture {
            seq: 7,
            url: "http://e.com/a".into(),
            fetched_at: Timestamp(1_795_219_200_500),
            address: Some("192.0.2.7".parse().unwrap()),
            status: 200,
            headers: headers.iter().map(|&(name, value)| (name.into(), value.into())).collect(),
            body: b"<p>rice</p>".to_vec(),
            relevance: Relevance::new(0.5),
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

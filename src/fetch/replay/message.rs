//! The HTTP answer inside a WARC record.
//!
//! Promises: reads what recorders write, which is laxer than what goes over a
//! wire (HTTP/2 status lines, bare newlines, encodings undone but still named).
//! Never: fails on a body; one that cannot be decoded is served as recorded.

use crate::fetch::{
    Response,
    decode::{BodyDecoder, Decoded, Limits},
};

/// Most headers kept of one answer.
const MAX_HEADERS: usize = 1_000;

/// A recorded page's compression is no attack: whoever recorded it has unpacked it before.
const ANY_RATIO: u64 = u64::MAX;

/// Status, headers (names in lower case) and the bytes behind them.
pub(super) type Parts<'a> = (u16, Vec<(String, String)>, &'a [u8]);

/// The status of a block that starts like an HTTP answer.
pub(super) fn status_of(block: &[u8]) -> Option<u16> {
    let line = block.split(|&byte| byte == b'\n').next()?;
    let mut words = std::str::from_utf8(&line[..line.len().min(40)]).ok()?.split_ascii_whitespace();
    if !words.next()?.starts_with("HTTP/") {
        return None;
    }
    words.next()?.parse().ok().filter(|status| (100..=999).contains(status))
}

/// Splits an HTTP answer into its head and its body, encodings still in place.
pub(super) fn parse(block: &[u8]) -> Option<Parts<'_>> {
    let status = status_of(block)?;
    let mut headers: Vec<(String, String)> = Vec::new();
    let mut at = 0;
    let mut is_first = true;
    while at < block.len() {
        let end = block[at..].iter().position(|&byte| byte == b'\n').map_or(block.len(), |newline| at + newline + 1);
        let line = String::from_utf8_lossy(&block[at..end]);
        at = end;
        if line.trim_end().is_empty() {
            break;
        }
        if std::mem::take(&mut is_first) || headers.len() == MAX_HEADERS {
            continue;
        }
        if let (true, Some((_, value))) = (line.starts_with([' ', '\t']), headers.last_mut()) {
            value.push(' ');
            value.push_str(line.trim());
        } else if let Some((name, value)) = line.split_once(':') {
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    Some((status, headers, &block[at..]))
}

/// The answer with its transfer and content encodings undone and its body cut at `limit` bytes.
pub(super) fn response(status: u16, headers: Vec<(String, String)>, raw: &[u8], limit: usize) -> Response {
    let value = |name: &str| headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value.as_str());
    let unchunked = if value("transfer-encoding").to_ascii_lowercase().contains("chunked") { unchunk(raw) } else { None };
    let raw = unchunked.as_deref().unwrap_or(raw);
    let decoded = decode(value("content-encoding"), raw, limit)
        .unwrap_or_else(|| Decoded { body: raw[..raw.len().min(limit)].to_vec(), truncated: raw.len() > limit });
    Response { status, headers, body: decoded.body, truncated: decoded.truncated }
}

fn decode(content_encoding: &str, raw: &[u8], limit: usize) -> Option<Decoded> {
    let mut decoder = BodyDecoder::new(content_encoding, Limits { body: limit, ratio: ANY_RATIO }).ok()?;
    decoder.push(raw).ok()?;
    decoder.finish().ok()
}

/// Joins chunks (RFC 9112, 7.1); `None` where the body is not chunked, as when the recorder had joined them already.
fn unchunk(raw: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::with_capacity(raw.len());
    let mut rest = raw;
    loop {
        let newline = rest.iter().take(1_024).position(|&byte| byte == b'\n');
        let Some(newline) = newline else { return (!body.is_empty()).then_some(body) };
        let line = std::str::from_utf8(&rest[..newline]).ok()?;
        let size = usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()?;
        rest = &rest[newline + 1..];
        if size == 0 {
            return Some(body);
        }
        // A recording may have been cut inside a chunk.
        let taken = size.min(rest.len());
        body.extend_from_slice(&rest[..taken]);
        rest = &rest[taken..];
        rest = rest.strip_prefix(b"\r\n").or_else(|| rest.strip_prefix(b"\n")).unwrap_or(rest);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn served(block: &[u8]) -> Response {
        let (status, headers, raw) = parse(block).unwrap();
        response(status, headers, raw, 1_000)
    }

    #[test]
    fn lax_heads_are_read() {
        let answer = served(b"HTTP/2 301\nLocation: /b\nX-Long: one\n two\nnonsense\n\nbody");
        assert_eq!((answer.status, answer.header("location"), answer.header("x-long")), (301, Some("/b"), Some("one two")));
        assert_eq!(answer.body, b"body");
        assert_eq!(status_of(b"HTTP/1.1 200\r\n"), Some(200));
        assert_eq!(status_of(b"<html>"), None);
        assert_eq!(status_of(b"HTTP/1.1 OK"), None);
    }

    #[test]
    fn chunks_are_joined_unless_the_recorder_joined_them() {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(served(format!("{head}5;x=1\r\nhello\r\n6\r\n world\r\n0\r\n\r\n").as_bytes()).body, b"hello world");
        assert_eq!(served(format!("{head}<html>\njoined").as_bytes()).body, b"<html>\njoined");
        assert_eq!(served(format!("{head}ff\r\ncut").as_bytes()).body, b"cut");
        assert_eq!(served(format!("{head}ffffffffffffffffff\r\ncut").as_bytes()).body, b"ffffffffffffffffff\r\ncut");
    }

    #[test]
    fn recorded_encodings_are_undone_and_limits_hold() {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&b"hay ".repeat(1_000)).unwrap();
        let mut block = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".to_vec();
        block.extend(gzip.finish().unwrap());
        let answer = served(&block);
        assert_eq!((answer.body.len(), answer.truncated), (1_000, true));
        assert!(answer.body.starts_with(b"hay hay"));
        assert_eq!(served(b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nundone before").body, b"undone before");
    }

    proptest::proptest! {
        #[test]
        fn any_block_is_an_answer_or_none(
            head in "HTTP/1\\.1 200\n(Transfer-Encoding: chunked\n)?(Content-Encoding: (gzip|br|zstd|deflate|x)\n)?\\PC{0,20}\n",
            body in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300),
        ) {
            let block = [head.as_bytes(), b"\n", &body].concat();
            proptest::prop_assert!(served(&block).body.len() <= 1_000);
        }
    }
}

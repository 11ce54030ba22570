//! The archive: WARC/1.1 (ISO 28500:2017), one gzip member per record.
//!
//! Promises: fixed dates, record ids made from the URL, so equal webs are equal files.
//! Never: sorts or drops records.

use std::io::Write;

use flate2::{Compression, write::GzEncoder};
use sha1::{Digest, Sha1};

use super::{Error, Record, Web};

/// All records of a web, compressed.
///
/// # Errors
/// Compression that fails.
pub fn write(web: &Web) -> Result<Vec<u8>, Error> {
    let mut out = member(&info())?;
    for (at, record) in web.records.iter().enumerate() {
        out.extend(member(&response(at, record))?);
        if let Some(milliseconds) = record.fetch_time_ms {
            out.extend(member(&metadata(at, record, milliseconds))?);
        }
    }
    Ok(out)
}

fn member(record: &[u8]) -> Result<Vec<u8>, Error> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(record)?;
    Ok(gzip.finish()?)
}

fn info() -> Vec<u8> {
    let body = "software: windrow demo_web\r\nformat: WARC File Format 1.1\r\ndescription: a made-up web; nobody's text\r\n";
    let head = [("WARC-Type", "warcinfo".to_owned()), ("Content-Type", "application/warc-fields".to_owned())];
    block("demo.warc.gz", 0, "warcinfo", &head, body.as_bytes())
}

fn response(at: usize, record: &Record) -> Vec<u8> {
    let mut http = format!("HTTP/1.1 {} {}\r\nDate: {}\r\n", record.status, reason(record.status), http_date(at)).into_bytes();
    for (name, value) in &record.headers {
        http.extend(format!("{name}: {value}\r\n").into_bytes());
    }
    http.extend(format!("Content-Length: {}\r\n\r\n", record.body.len()).into_bytes());
    http.extend(&record.body);
    let head = [
        ("WARC-Type", "response".to_owned()),
        ("WARC-Target-URI", record.url.clone()),
        ("WARC-Payload-Digest", digest(&record.body)),
        ("WARC-Block-Digest", digest(&http)),
        ("Content-Type", "application/http;msgtype=response".to_owned()),
    ];
    block(&record.url, at, "response", &head, &http)
}

/// How long the fetch took, as Heritrix writes it.
fn metadata(at: usize, record: &Record, milliseconds: u32) -> Vec<u8> {
    let response = record_id(&record.url, "response");
    let head = [
        ("WARC-Type", "metadata".to_owned()),
        ("WARC-Target-URI", record.url.clone()),
        ("WARC-Concurrent-To", response.clone()),
        ("WARC-Refers-To", response),
        ("Content-Type", "application/warc-fields".to_owned()),
    ];
    block(&record.url, at, "metadata", &head, format!("fetchTimeMs: {milliseconds}\r\n").as_bytes())
}

fn block(url: &str, at: usize, kind: &str, head: &[(&str, String)], body: &[u8]) -> Vec<u8> {
    let mut out =
        format!("WARC/1.1\r\nWARC-Record-ID: {}\r\nWARC-Date: {}\r\n", record_id(url, kind), warc_date(at)).into_bytes();
    for (name, value) in head {
        out.extend(format!("{name}: {value}\r\n").into_bytes());
    }
    out.extend(format!("Content-Length: {}\r\n\r\n", body.len()).into_bytes());
    out.extend(body);
    out.extend(b"\r\n\r\n");
    out
}

fn digest(bytes: &[u8]) -> String {
    let sum = Sha1::digest(bytes);
    format!("sha1:{}", base32::encode(base32::Alphabet::Rfc4648 { padding: false }, &sum))
}

/// A name-based UUID (RFC 9562, version 5) of the record's URL and kind.
fn record_id(url: &str, kind: &str) -> String {
    let mut sum = Sha1::digest(format!("{kind} {url}").as_bytes());
    sum[6] = (sum[6] & 0x0F) | 0x50;
    sum[8] = (sum[8] & 0x3F) | 0x80;
    let hex: Vec<String> = sum[..16].iter().map(|b| format!("{b:02x}")).collect();
    let hex = hex.concat();
    format!("<urn:uuid:{}-{}-{}-{}-{}>", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// One record every two seconds of 1 September 2026.
fn clock(at: usize) -> String {
    let second = at * 2;
    format!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60)
}

fn warc_date(at: usize) -> String {
    format!("2026-09-01T{}Z", clock(at))
}

fn http_date(at: usize) -> String {
    format!("Tue, 01 Sep 2026 {} GMT", clock(at))
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        301 => "Moved Permanently",
        302 => "Found",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        404 => "Not Found",
        429 => "Too Many Requests",
        _ => "Service Unavailable",
    }
}

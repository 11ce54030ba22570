//! Reads captures back.
//!
//! Promises: what is returned is what was stored (both digests are checked);
//! a place that holds anything else is an error.
//! Never: reads more than [`MAX_RECORD`] bytes for one record.

use std::{
    fs::File,
    io::{Read, Seek, SeekFrom},
    path::Path,
};

use flate2::read::GzDecoder;

use super::{file_path, record::digest};
use crate::{
    page::Timestamp,
    store::{ArchivePlace, StoreError},
};

/// A capture out of the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    pub url: String,
    pub status: u16,
    /// As they came, but for those that describe the bytes on the wire.
    pub headers: Vec<(String, String)>,
    /// Transfer and content encodings undone; empty where `has_body` is false.
    pub body: Vec<u8>,
    /// False for a `revisit`: the body is that of the page it repeats.
    pub has_body: bool,
}

/// A capture with what it is made of, to be copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawCapture {
    pub capture: Archived,
    /// The record's id in angle brackets, and its payload's digest.
    pub id: String,
    pub digest: String,
    /// When it was made; whole seconds.
    pub date: Timestamp,
    /// The record as it lies in the archive: a gzip member.
    pub member: Vec<u8>,
    /// The member of the request that was sent for it, where there is one.
    pub request: Option<Vec<u8>>,
}

/// Bytes of a request's member at most.
const MAX_REQUEST: u64 = 64 * 1024;

/// Bytes of one record at most, packed or not.
const MAX_RECORD: u64 = 1 << 30;

/// Reads the capture that lies at `place` in the archive of the crawl in `dir`.
///
/// # Errors
/// [`StoreError::Corrupt`] where the place holds no whole `response` or `revisit` record or its digests
/// do not fit; [`StoreError::Io`] where the file cannot be read.
pub fn read_capture(dir: &Path, place: ArchivePlace) -> Result<Archived, StoreError> {
    read_whole(dir, place).map(|raw| raw.capture)
}

/// Reads a capture as [`read_capture`] does, with its bytes and those of its request.
///
/// # Errors
/// As for [`read_capture`].
pub fn read_raw(dir: &Path, place: ArchivePlace) -> Result<RawCapture, StoreError> {
    let mut raw = read_whole(dir, place)?;
    let path = file_path(dir, place.file);
    let mut file = File::open(&path).map_err(StoreError::io(&path))?;
    let mut next = Vec::new();
    file.seek(SeekFrom::Start(place.offset + place.length))
        .and_then(|_| file.take(MAX_REQUEST).read_to_end(&mut next))
        .map_err(StoreError::io(&path))?;
    raw.request = request_member(&next).filter(|(_, to)| *to == raw.id).map(|(member, _)| member.to_vec());
    Ok(raw)
}

/// The first member of `bytes`, if it is a whole request, and what it was sent for.
fn request_member(bytes: &[u8]) -> Option<(&[u8], String)> {
    let mut decoder = flate2::bufread::GzDecoder::new(bytes);
    let mut record = Vec::new();
    (&mut decoder).take(MAX_REQUEST * 4).read_to_end(&mut record).ok()?;
    let left = decoder.into_inner().len();
    let (_, fields, _) = split_head(&record)?;
    let field = |name: &str| fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let to = field("WARC-Concurrent-To").filter(|_| field("WARC-Type") == Some("request"))?.to_owned();
    Some((&bytes[..bytes.len() - left], to))
}

fn read_whole(dir: &Path, place: ArchivePlace) -> Result<RawCapture, StoreError> {
    let path = file_path(dir, place.file);
    let damaged =
        |detail: &str| StoreError::corrupt(format!("{} at {}", path.display(), place.offset), format!("the capture {detail}"));
    if place.length > MAX_RECORD {
        return Err(damaged("is impossibly long"));
    }
    let mut file = File::open(&path).map_err(StoreError::io(&path))?;
    let left = file.metadata().map_err(StoreError::io(&path))?.len().saturating_sub(place.offset);
    if left < place.length {
        return Err(damaged("is cut short"));
    }
    let mut member = vec![0; place.length as usize];
    file.seek(SeekFrom::Start(place.offset)).and_then(|_| file.read_exact(&mut member)).map_err(StoreError::io(&path))?;
    let mut record = Vec::new();
    let mut decoder = GzDecoder::new(member.as_slice()).take(MAX_RECORD);
    decoder.read_to_end(&mut record).map_err(|e| damaged(&format!("does not unpack: {e}")))?;
    if !decoder.into_inner().into_inner().is_empty() {
        return Err(damaged("is followed by other bytes"));
    }
    let (capture, about) = parse(&record).map_err(damaged)?;
    let About { id, digest, date } = about;
    Ok(RawCapture { capture, id, digest, date, member, request: None })
}

/// What a record says of its capture.
struct About {
    id: String,
    /// Of the payload.
    digest: String,
    date: Timestamp,
}

fn parse(record: &[u8]) -> Result<(Archived, About), &'static str> {
    let (version, fields, block) = split_head(record).ok_or("has no WARC header")?;
    if !version.starts_with("WARC/1.") {
        return Err("is no WARC record");
    }
    let field = |name: &str| fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str());
    let has_body = match field("WARC-Type") {
        Some("response") => true,
        Some("revisit") => false,
        _ => return Err("is no response or revisit record"),
    };
    let length: usize = field("Content-Length").and_then(|length| length.parse().ok()).ok_or("has no length")?;
    let Some((block, b"\r\n\r\n")) = block.split_at_checked(length) else { return Err("is not as long as it says") };
    if field("WARC-Block-Digest") != Some(digest(block).as_str()) {
        return Err("does not fit its block digest");
    }
    let (status_line, headers, body) = split_head(block).ok_or("holds no HTTP answer")?;
    let payload = field("WARC-Payload-Digest").ok_or("has no payload digest")?;
    if has_body && payload != digest(body) {
        return Err("does not fit its payload digest");
    }
    let id = field("WARC-Record-ID").ok_or("has no id")?.to_owned();
    let digest = payload.to_owned();
    let date: jiff::Timestamp = field("WARC-Date").and_then(|date| date.parse().ok()).ok_or("has no date")?;
    let date = Timestamp(u64::try_from(date.as_millisecond()).unwrap_or_default());
    let status = status_line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or("has no HTTP status")?;
    let url = field("WARC-Target-URI").ok_or("has no URL")?.to_owned();
    Ok((Archived { url, status, headers, body: body.to_vec(), has_body }, About { id, digest, date }))
}

type Fields = Vec<(String, String)>;

/// First line, header fields, and what follows the empty line.
fn split_head(bytes: &[u8]) -> Option<(&str, Fields, &[u8])> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let mut lines = std::str::from_utf8(&bytes[..end]).ok()?.split("\r\n");
    let first = lines.next()?;
    let fields =
        lines.filter_map(|line| line.split_once(':')).map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect();
    Some((first, fields, &bytes[end + 4..]))
}

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
use crate::store::{ArchivePlace, StoreError};

/// A capture out of the archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Archived {
    pub url: String,
    pub status: u16,
    /// As they came, but for those that describe the bytes on the wire.
    pub headers: Vec<(String, String)>,
    /// Transfer and content encodings undone.
    pub body: Vec<u8>,
}

/// Bytes of one record at most, packed or not.
const MAX_RECORD: u64 = 1 << 30;

/// Reads the capture that lies at `place` in the archive of the crawl in `dir`.
///
/// # Errors
/// [`StoreError::Corrupt`] where the place holds no whole `response` record or its digests
/// do not fit; [`StoreError::Io`] where the file cannot be read.
pub fn read_capture(dir: &Path, place: ArchivePlace) -> Result<Archived, StoreError> {
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
    parse(&record).map_err(damaged)
}

fn parse(record: &[u8]) -> Result<Archived, &'static str> {
    let (version, fields, block) = split_head(record).ok_or("has no WARC header")?;
    if !version.starts_with("WARC/1.") {
        return Err("is no WARC record");
    }
    let field = |name: &str| fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str());
    if field("WARC-Type") != Some("response") {
        return Err("is no response record");
    }
    let length: usize = field("Content-Length").and_then(|length| length.parse().ok()).ok_or("has no length")?;
    let Some((block, b"\r\n\r\n")) = block.split_at_checked(length) else { return Err("is not as long as it says") };
    if field("WARC-Block-Digest") != Some(digest(block).as_str()) {
        return Err("does not fit its block digest");
    }
    let (status_line, headers, body) = split_head(block).ok_or("holds no HTTP answer")?;
    if field("WARC-Payload-Digest") != Some(digest(body).as_str()) {
        return Err("does not fit its payload digest");
    }
    let status = status_line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or("has no HTTP status")?;
    let url = field("WARC-Target-URI").ok_or("has no URL")?.to_owned();
    Ok(Archived { url, status, headers, body: body.to_vec() })
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

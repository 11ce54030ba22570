//! Rows as bytes: one version byte, then postcard; large rows are packed with zstd.
//!
//! Promises: what was encoded decodes to the same value; bytes that are no row
//! of this kind and version give an error that says so, never a panic and never
//! more memory than [`MAX_ROW`].
//! Never: guesses. A row of an unknown version is refused.

use std::cell::RefCell;

use redb::StorageError;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use zstd::bulk::{Compressor, Decompressor};

use super::{CrawlState, HostRecord, OutlinkRecord, PageRecord, RobotsRecord, StoreError, archive::ArchiveEnd};
use crate::page::Timestamp;

/// A row kind: its name in messages, its version, and whether it is worth packing.
pub(super) trait Row: Serialize + DeserializeOwned {
    const KIND: &'static str;
    const VERSION: u8;
    const PACKED: bool = false;
}

impl Row for PageRecord {
    const KIND: &'static str = "page";
    const VERSION: u8 = 1;
    const PACKED: bool = true;
}

impl Row for Vec<OutlinkRecord> {
    const KIND: &'static str = "outlinks";
    const VERSION: u8 = 1;
    const PACKED: bool = true;
}

impl Row for HostRow {
    const KIND: &'static str = "host";
    const VERSION: u8 = 1;
}

impl Row for RobotsRecord {
    const KIND: &'static str = "robots";
    const VERSION: u8 = 1;
    const PACKED: bool = true;
}

impl Row for CrawlState {
    const KIND: &'static str = "state";
    const VERSION: u8 = 1;
}

impl Row for ArchiveEnd {
    const KIND: &'static str = "archive";
    const VERSION: u8 = 1;
}

/// A host without the text of its robots.txt, which has a table of its own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct HostRow {
    /// `robots` is `None` here, always.
    pub record: HostRecord,
    pub robots: Option<RobotsMark>,
}

/// Tells one robots.txt from the next without its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RobotsMark {
    status: u16,
    fetched_at: Timestamp,
    length: u64,
}

impl RobotsMark {
    pub fn of(robots: &RobotsRecord) -> Self {
        Self { status: robots.status, fetched_at: robots.fetched_at, length: robots.text.len() as u64 }
    }
}

/// Bytes of one row at most, unpacked.
const MAX_ROW: usize = 64 << 20;

/// Level 3 packs pages about as small as 9 does, in a third of the time.
const LEVEL: i32 = 3;

/// Encodes rows; keeps the packer's buffers between them.
pub(super) struct Encoder {
    compressor: Compressor<'static>,
}

impl Encoder {
    pub fn new() -> Result<Self, StoreError> {
        let compressor = Compressor::new(LEVEL).map_err(|e| StoreError::Refused(format!("zstd does not start: {e}")))?;
        Ok(Self { compressor })
    }

    pub fn encode<R: Row>(&mut self, row: &R) -> Result<Vec<u8>, StoreError> {
        if !R::PACKED {
            return plain(R::KIND, R::VERSION, row);
        }
        let refused = |e: &dyn std::fmt::Display| StoreError::Refused(format!("a {} row cannot be encoded: {e}", R::KIND));
        let raw = postcard::to_stdvec(row).map_err(|e| refused(&e))?;
        if raw.len() > MAX_ROW {
            return Err(refused(&format_args!("it has {} bytes, {MAX_ROW} are allowed", raw.len())));
        }
        let mut bytes = vec![R::VERSION];
        bytes.extend_from_slice(&(raw.len() as u32).to_le_bytes());
        bytes.extend(self.compressor.compress(&raw).map_err(|e| refused(&e))?);
        Ok(bytes)
    }
}

/// A row as its version and postcard.
pub(super) fn plain<T: Serialize>(kind: &str, version: u8, row: &T) -> Result<Vec<u8>, StoreError> {
    postcard::to_extend(row, vec![version]).map_err(|e| StoreError::Refused(format!("a {kind} row cannot be encoded: {e}")))
}

/// The postcard of a row, after its version byte.
pub(super) fn body<'a>(kind: &str, version: u8, bytes: &'a [u8]) -> Result<&'a [u8], StoreError> {
    match bytes.split_first() {
        Some((&found, body)) if found == version => Ok(body),
        Some((&found, _)) => Err(damaged(kind, format!("it has version {found}, this windrow reads {version}"))),
        None => Err(damaged(kind, "it is empty")),
    }
}

pub(super) fn damaged(kind: &str, detail: impl std::fmt::Display) -> StoreError {
    StorageError::Corrupted(format!("a {kind} row cannot be read: {detail}")).into()
}

thread_local! {
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

pub(super) fn decode<R: Row>(bytes: &[u8]) -> Result<R, StoreError> {
    let body = body(R::KIND, R::VERSION, bytes)?;
    if !R::PACKED {
        return postcard::from_bytes(body).map_err(|e| damaged(R::KIND, e));
    }
    let (length, packed) = body.split_first_chunk().ok_or_else(|| damaged(R::KIND, "it is cut short"))?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > MAX_ROW {
        return Err(damaged(R::KIND, format!("it claims {length} bytes")));
    }
    let raw = DECOMPRESSOR.with_borrow_mut(|slot| {
        let mut decompressor = slot.take().map_or_else(Decompressor::new, Ok)?;
        let raw = decompressor.decompress(packed, length);
        *slot = Some(decompressor);
        raw
    });
    postcard::from_bytes(&raw.map_err(|e| damaged(R::KIND, e))?).map_err(|e| damaged(R::KIND, e))
}

//! Rows as bytes: one version byte, then postcard; large rows are packed with zstd.
//!
//! Promises: what was encoded decodes to the same value; bytes that are no row
//! of this kind and version give an error that says so, never a panic and never
//! more memory than [`MAX_ROW`].
//! Never: guesses. A row of an unknown version is refused.

use std::{cell::RefCell, collections::VecDeque, sync::Arc};

use redb::{Database, StorageError};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use zstd::bulk::{Compressor, Decompressor};

use super::{
    CrawlState, HostRecord, RobotsRecord, StoreError,
    archive::ArchiveEnd,
    dictionary::{Alike, Dictionary, Trainer},
    words::{Numbering, WordList},
};
use crate::page::Timestamp;

/// A row kind: its name in messages, its version, and whether it is worth packing.
pub(super) trait Row: Serialize + DeserializeOwned {
    const KIND: &'static str;
    const VERSION: u8;
    const PACKED: bool = false;
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

impl Row for LessonRow {
    const KIND: &'static str = "lessons";
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

/// Bytes that only the engine understands.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct LessonRow(pub Vec<u8>);

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
    failures: u32,
}

impl RobotsMark {
    pub fn of(robots: &RobotsRecord) -> Self {
        Self { status: robots.status, fetched_at: robots.fetched_at, length: robots.text.len() as u64, failures: robots.failures }
    }
}

/// Bytes of one row at most, unpacked.
pub(super) const MAX_ROW: usize = 64 << 20;

/// Level 3 packs pages about as small as 9 does, in a third of the time.
pub(super) const LEVEL: i32 = 3;

/// Encodes rows; keeps the packer's buffers, the numbers of words and the dictionaries between them.
pub(super) struct Encoder {
    compressor: Compressor<'static>,
    pub words: Numbering,
    pub dictionaries: Trainer,
}

impl Encoder {
    /// An encoder for the rows of a store.
    pub fn new(database: &Database) -> Result<Self, StoreError> {
        Ok(Self { dictionaries: Trainer::of(database)?, ..Self::with_words(Numbering::of(database)?)? })
    }

    pub fn with_words(words: Numbering) -> Result<Self, StoreError> {
        let compressor = Compressor::new(LEVEL).map_err(|e| StoreError::Refused(format!("zstd does not start: {e}")))?;
        Ok(Self { compressor, words, dictionaries: Trainer::default() })
    }

    pub fn encode<R: Row>(&mut self, row: &R) -> Result<Vec<u8>, StoreError> {
        if R::PACKED { self.pack(R::KIND, R::VERSION, row) } else { plain(R::KIND, R::VERSION, row) }
    }

    /// A row as its version, its length, and packed postcard.
    pub fn pack<T: Serialize>(&mut self, kind: &str, version: u8, row: &T) -> Result<Vec<u8>, StoreError> {
        let raw = raw(kind, row)?;
        packed(kind, vec![version], &raw, &mut self.compressor)
    }

    /// The same for a row that has much in common with others: the number of their dictionary follows the version.
    pub fn pack_alike<T: Serialize>(&mut self, alike: Alike, kind: &str, version: u8, row: &T) -> Result<Vec<u8>, StoreError> {
        let raw = raw(kind, row)?;
        match self.dictionaries.packer(alike, &raw)? {
            Some((number, compressor)) => packed(kind, vec![version, *number], &raw, compressor),
            None => packed(kind, vec![version, 0], &raw, &mut self.compressor),
        }
    }
}

fn refused(kind: &str, reason: impl std::fmt::Display) -> StoreError {
    StoreError::Refused(format!("a {kind} row cannot be encoded: {reason}"))
}

/// The postcard of a row that will be packed.
fn raw<T: Serialize>(kind: &str, row: &T) -> Result<Vec<u8>, StoreError> {
    let raw = postcard::to_stdvec(row).map_err(|e| refused(kind, e))?;
    if raw.len() > MAX_ROW {
        return Err(refused(kind, format_args!("it has {} bytes, {MAX_ROW} are allowed", raw.len())));
    }
    Ok(raw)
}

fn packed(kind: &str, mut bytes: Vec<u8>, raw: &[u8], compressor: &mut Compressor<'_>) -> Result<Vec<u8>, StoreError> {
    bytes.extend_from_slice(&(raw.len() as u32).to_le_bytes());
    bytes.extend(compressor.compress(raw).map_err(|e| refused(kind, e))?);
    Ok(bytes)
}

/// A row as its version and postcard.
pub(super) fn plain<T: Serialize>(kind: &str, version: u8, row: &T) -> Result<Vec<u8>, StoreError> {
    postcard::to_extend(row, vec![version]).map_err(|e| refused(kind, e))
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

/// What reading the rows of pages needs beside them.
pub(super) trait Lexicon {
    /// All words up to a number.
    fn words(&self, number: u32) -> Result<Arc<WordList>, StoreError>;
    fn dictionary(&self, number: u8) -> Result<Arc<Dictionary>, StoreError>;
}

thread_local! {
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    /// The last dictionaries that were used, each loaded.
    static LOADED: RefCell<VecDeque<(Arc<Dictionary>, Decompressor<'static>)>> = const { RefCell::new(VecDeque::new()) };
}

/// Dictionaries that a thread keeps loaded: those of two stores.
const MOST_LOADED: usize = 8;

/// Undoes [`Encoder::pack`], but for the version.
pub(super) fn unpack(kind: &str, body: &[u8]) -> Result<Vec<u8>, StoreError> {
    let (length, packed) = claimed(kind, body)?;
    let raw = DECOMPRESSOR.with_borrow_mut(|slot| {
        let mut decompressor = slot.take().map_or_else(Decompressor::new, Ok)?;
        let raw = decompressor.decompress(packed, length);
        *slot = Some(decompressor);
        raw
    });
    raw.map_err(|e| damaged(kind, e))
}

/// Undoes [`Encoder::pack_alike`], but for the version.
pub(super) fn unpack_alike(kind: &str, body: &[u8], lexicon: &dyn Lexicon) -> Result<Vec<u8>, StoreError> {
    let (&number, body) = body.split_first().ok_or_else(|| damaged(kind, "it is cut short"))?;
    if number == 0 {
        return unpack(kind, body);
    }
    let (length, packed) = claimed(kind, body)?;
    let dictionary = lexicon.dictionary(number)?;
    let raw = LOADED.with_borrow_mut(|loaded| {
        let known = loaded.iter().position(|(known, _)| Arc::ptr_eq(known, &dictionary));
        let mut entry = match known.and_then(|at| loaded.remove(at)) {
            Some(entry) => entry,
            None => (dictionary.clone(), Decompressor::with_dictionary(&dictionary.content)?),
        };
        let raw = entry.1.decompress(packed, length);
        loaded.push_front(entry);
        loaded.truncate(MOST_LOADED);
        raw
    });
    raw.map_err(|e| damaged(kind, e))
}

/// The length that a packed row claims, and the rest of it.
fn claimed<'a>(kind: &str, body: &'a [u8]) -> Result<(usize, &'a [u8]), StoreError> {
    let (length, packed) = body.split_first_chunk().ok_or_else(|| damaged(kind, "it is cut short"))?;
    let length = u32::from_le_bytes(*length) as usize;
    if length > MAX_ROW {
        return Err(damaged(kind, format!("it claims {length} bytes")));
    }
    Ok((length, packed))
}

pub(super) fn decode<R: Row>(bytes: &[u8]) -> Result<R, StoreError> {
    let body = body(R::KIND, R::VERSION, bytes)?;
    if !R::PACKED {
        return postcard::from_bytes(body).map_err(|e| damaged(R::KIND, e));
    }
    postcard::from_bytes(&unpack(R::KIND, body)?).map_err(|e| damaged(R::KIND, e))
}

/// Bytes as the tests write layouts down.
#[cfg(test)]
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The lexicon of an empty store.
#[cfg(test)]
pub(super) struct NoLexicon;

#[cfg(test)]
impl Lexicon for NoLexicon {
    fn words(&self, _: u32) -> Result<Arc<WordList>, StoreError> {
        Ok(Arc::default())
    }

    fn dictionary(&self, number: u8) -> Result<Arc<Dictionary>, StoreError> {
        Err(damaged("dictionary", format!("number {number} is missing")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::fetch::Validators;

    fn encoder() -> Encoder {
        Encoder::with_words(Numbering::default()).unwrap()
    }

    fn validators() -> Validators {
        Validators { etag: Some("e".into()), last_modified: None }
    }

    fn robots() -> RobotsRecord {
        RobotsRecord {
            status: 200,
            fetched_at: Timestamp(6),
            text: "robots".into(),
            unreachable_since: Some(Timestamp(7)),
            failures: 8,
            validators: validators(),
        }
    }

    fn host() -> HostRow {
        let record = HostRecord {
            name: "e.com".into(),
            requests: 1,
            fetched: 2,
            relevant: 3,
            failures: 4,
            throttled: 5,
            bytes: 6,
            ..HostRecord::default()
        };
        HostRow { record, robots: Some(RobotsMark::of(&robots())) }
    }

    fn state() -> CrawlState {
        let refused = [("scope.depth".to_owned(), 3)].into();
        let quarantined = [("e.com/*".to_owned(), 2)].into();
        CrawlState {
            pages: 1,
            fetched: 2,
            refused,
            quarantined,
            now: Timestamp(4),
            stop: Some("budget".into()),
            ..CrawlState::default()
        }
    }

    /// Checks that a row reads back, and that its layout is the one that its version stands for.
    fn frozen<R: Row>(row: &R, raw: &str) -> R {
        let written = postcard::to_stdvec(row).unwrap();
        let hex = hex(&written);
        assert_eq!(hex, raw, "the {} row has changed: raise its VERSION, or old crawls are misread", R::KIND);
        decode(&encoder().encode(row).unwrap()).unwrap()
    }

    #[test]
    fn rows_read_back_and_keep_the_layout_of_their_version() {
        assert_eq!(frozen(&host(), "05652e636f6d01020304050600000000000000000001c801060608"), host());
        assert_eq!(
            frozen(&state(), "0102000000010b73636f70652e6465707468030107652e636f6d2f2a02000400000106627564676574"),
            state()
        );
        assert_eq!(frozen(&robots(), "c8010606726f626f747301070801016500"), robots());
        assert_eq!(frozen(&LessonRow(vec![1, 2]), "020102"), LessonRow(vec![1, 2]));
        let end = ArchiveEnd { file: 3, length: 300 };
        assert_eq!(frozen(&end, "03ac02"), end);
    }

    #[test]
    fn a_row_of_another_version_is_refused_by_name() {
        let mut bytes = encoder().encode(&state()).unwrap();
        bytes[0] = 9;
        let message = decode::<CrawlState>(&bytes).unwrap_err().to_string();
        assert!(message.contains("state row") && message.contains("version 9"), "{message}");
    }

    #[test]
    fn a_row_that_claims_to_be_huge_is_refused_before_it_takes_memory() {
        let message = decode::<RobotsRecord>(&[1, 0xff, 0xff, 0xff, 0xff, 0]).unwrap_err().to_string();
        assert!(message.contains("claims 4294967295 bytes"), "{message}");
    }

    proptest! {
        #[test]
        fn bytes_that_are_no_row_are_an_error(mut bytes: Vec<u8>, at: prop::sample::Index) {
            let whole = encoder().encode(&robots()).unwrap();
            let _ = decode::<RobotsRecord>(&whole[..at.index(whole.len())]).unwrap_err();
            if let Some(first) = bytes.first_mut() {
                *first = 1;
            }
            // Short rows of numbers may be right by chance; none of them may panic.
            let _ = (decode::<RobotsRecord>(&bytes), decode::<HostRow>(&bytes), decode::<CrawlState>(&bytes));
        }
    }
}

//! Packing: rows squeezed with zstd and with what earlier rows of their kind had in common.
//!
//! A page's words, addresses and anchors are those of thousands of pages before it, but a row is too short to show it.
//! So the first rows of a kind teach a dictionary, and more of them a larger one; a row says which it was packed with.
//!
//! Promises: a dictionary is kept as long as the store, in the transaction of the first row that needs it; what was packed
//! unpacks to the same bytes, and never to more than [`MAX_ROW`].
//! Never: packs without saying with what.

use std::{
    cell::RefCell,
    sync::{Arc, RwLock},
};

use redb::{Database, ReadableDatabase, ReadableTable, Table};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::{Compressor, Decompressor};

use super::{
    StoreError,
    codec::{MAX_ROW, damaged},
    schema::table,
};

/// Level 3 packs pages about as small as 9 does, in a third of the time.
const LEVEL: i32 = 3;

/// Rows of a kind after which a dictionary is made, and its size in bytes.
const LESSONS: [(u64, usize); 3] = [(256, 16 << 10), (4_096, 64 << 10), (65_536, 112 << 10)];

/// Bytes of rows that a dictionary is made from.
const SAMPLE: usize = 3 << 19;

/// A kind of rows that have a dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Page = 1,
    Links = 2,
}

/// Number of a dictionary; 0 where none was used. In the table its bytes follow a byte for its [`Kind`].
pub(super) type Number = u8;

type Bytes = &'static [u8];

/// What rows were packed with.
pub(super) struct Dictionary {
    /// Tells it from those of other stores.
    hash: u64,
    bytes: Vec<u8>,
}

/// The dictionaries of a store, as far as they were needed.
#[derive(Default)]
pub(super) struct Dictionaries(RwLock<FxHashMap<Number, Arc<Dictionary>>>);

impl Dictionaries {
    /// A dictionary by its number.
    pub fn get(&self, number: Number, database: &Database) -> Result<Arc<Dictionary>, StoreError> {
        if let Ok(known) = self.0.read()
            && let Some(known) = known.get(&number)
        {
            return Ok(known.clone());
        }
        let table = database.begin_read()?.open_table(table::dictionaries)?;
        let row = table.get(u32::from(number))?;
        let bytes = row.as_ref().and_then(|row| row.value().get(1..));
        let bytes = bytes.ok_or_else(|| damaged("dictionary", format!("there is no number {number}")))?;
        Ok(self.learn(number, bytes))
    }

    fn learn(&self, number: Number, bytes: &[u8]) -> Arc<Dictionary> {
        let dictionary = Arc::new(Dictionary { hash: xxh3_64(bytes), bytes: bytes.to_vec() });
        if let Ok(mut known) = self.0.write() {
            known.insert(number, dictionary.clone());
        }
        dictionary
    }
}

/// Packs rows; keeps buffers and dictionaries between them.
pub(super) struct Packer {
    plain: Compressor<'static>,
    pages: Learner,
    links: Learner,
}

/// The dictionary of one kind, and the rows for the next.
struct Learner {
    kind: Kind,
    number: Number,
    compressor: Compressor<'static>,
    /// Dictionaries of this kind so far.
    lessons: usize,
    sample: Vec<Vec<u8>>,
    sample_bytes: usize,
}

fn fails(error: impl std::fmt::Display) -> StoreError {
    StoreError::Refused(format!("zstd does not start: {error}"))
}

impl Packer {
    /// A packer that knows the dictionaries of a store.
    pub fn new(database: &Database) -> Result<Self, StoreError> {
        let dictionaries = database.begin_read()?.open_table(table::dictionaries)?;
        Ok(Self {
            plain: Compressor::new(LEVEL).map_err(fails)?,
            pages: Learner::new(Kind::Page, &dictionaries)?,
            links: Learner::new(Kind::Links, &dictionaries)?,
        })
    }

    /// Packs a row: number of the dictionary, length before, bytes.
    pub fn pack(&mut self, kind: Option<Kind>, raw: Vec<u8>, into: &mut Vec<u8>) -> Result<(), StoreError> {
        let (number, compressor) = match kind {
            None => (0, &mut self.plain),
            Some(Kind::Page) => (self.pages.number, &mut self.pages.compressor),
            Some(Kind::Links) => (self.links.number, &mut self.links.compressor),
        };
        into.push(number);
        into.extend_from_slice(&(raw.len() as u32).to_le_bytes());
        into.extend(compressor.compress(&raw).map_err(fails)?);
        match kind {
            None => {}
            Some(Kind::Page) => self.pages.keep(raw),
            Some(Kind::Links) => self.links.keep(raw),
        }
        Ok(())
    }

    /// Makes the dictionaries that are due when the store holds `rows` pages.
    pub fn learn(&mut self, rows: u64, table: &mut Table<u32, Bytes>, known: &Dictionaries) -> Result<(), StoreError> {
        self.pages.learn(rows, table, known)?;
        self.links.learn(rows, table, known)
    }
}

impl Learner {
    fn new(kind: Kind, table: &impl ReadableTable<u32, Bytes>) -> Result<Self, StoreError> {
        let compressor = Compressor::new(LEVEL).map_err(fails)?;
        let mut learner = Self { kind, number: 0, compressor, lessons: 0, sample: Vec::new(), sample_bytes: 0 };
        for entry in table.iter()? {
            let (number, row) = entry?;
            let (number, row) = (number.value() as Number, row.value());
            if row.first() == Some(&(kind as u8)) {
                learner.lessons += 1;
                learner.number = number;
                learner.compressor.set_dictionary(LEVEL, &row[1..]).map_err(|e| damaged("dictionary", e))?;
            }
        }
        Ok(learner)
    }

    /// Keeps a row to learn from; once there are enough, it takes the place of an older one.
    fn keep(&mut self, raw: Vec<u8>) {
        if self.lessons == LESSONS.len() || raw.len() > SAMPLE / 64 {
            return;
        }
        self.sample_bytes += raw.len();
        if self.sample_bytes <= SAMPLE {
            return self.sample.push(raw);
        }
        let at = self.sample_bytes % self.sample.len();
        self.sample_bytes -= self.sample[at].len();
        self.sample[at] = raw;
    }

    fn learn(&mut self, rows: u64, table: &mut Table<u32, Bytes>, known: &Dictionaries) -> Result<(), StoreError> {
        let Some(&(due, size)) = LESSONS.get(self.lessons).filter(|(due, _)| rows >= *due) else { return Ok(()) };
        // A crawl that goes on has none of its earlier rows at hand.
        if (self.sample.len() as u64) < LESSONS[0].0.min(due) && self.sample_bytes < SAMPLE / 2 {
            return Ok(());
        }
        self.lessons += 1;
        // Rows that have nothing in common make no dictionary.
        let Ok(dictionary) = zstd::dict::from_samples(&self.sample, size) else { return Ok(()) };
        let number = table.last()?.map_or(0, |(number, _)| number.value()) + 1;
        let Ok(small) = Number::try_from(number) else { return Ok(()) };
        known.learn(small, &dictionary);
        self.compressor.set_dictionary(LEVEL, &dictionary).map_err(fails)?;
        self.number = small;
        table.insert(number, [&[self.kind as u8], dictionary.as_slice()].concat().as_slice())?;
        Ok(())
    }
}

/// Unpackers that a thread keeps at hand: one for each dictionary that it used lately.
const AT_HAND: usize = 6;

thread_local! {
    /// By the hash of their dictionary; the one used last is the last.
    static UNPACKERS: RefCell<Vec<(u64, Decompressor<'static>)>> = const { RefCell::new(Vec::new()) };
}

/// Undoes [`Packer::pack`]; `dictionary` gives a dictionary by its number.
pub(super) fn unpack(
    kind: &str,
    packed: &[u8],
    dictionary: impl FnOnce(Number) -> Result<Arc<Dictionary>, StoreError>,
) -> Result<Vec<u8>, StoreError> {
    let (&[number, a, b, c, d], frame) = packed.split_first_chunk().ok_or_else(|| damaged(kind, "it is cut short"))?;
    let length = u32::from_le_bytes([a, b, c, d]) as usize;
    if length > MAX_ROW {
        return Err(damaged(kind, format!("it claims {length} bytes")));
    }
    let dictionary = if number == 0 { None } else { Some(dictionary(number)?) };
    let hash = dictionary.as_ref().map_or(0, |dictionary| dictionary.hash);
    let raw = UNPACKERS.with_borrow_mut(|unpackers| {
        let (_, mut unpacker) = match unpackers.iter().position(|(known, _)| *known == hash) {
            Some(at) => unpackers.remove(at),
            None => (hash, Decompressor::with_dictionary(dictionary.as_ref().map_or(&[], |dictionary| &dictionary.bytes))?),
        };
        let raw = unpacker.decompress(frame, length);
        if unpackers.len() >= AT_HAND {
            unpackers.remove(0);
        }
        unpackers.push((hash, unpacker));
        raw
    });
    raw.map_err(|e| damaged(kind, e))
}

//! Dictionaries: what the rows of a kind have in common is kept once, and each row is packed against it.
//!
//! A row of a page or of its links has a few kilobytes, too few for the packer to learn what pages of this crawl say. So it
//! is told: a dictionary is trained on the first rows of a kind, and a better one on more of them. Training takes a tenth of a
//! second and more, on a thread of its own; until it is done, rows are packed by what there is.
//!
//! Promises: a row says which dictionary it was packed with, and that one is committed with it or before it; there are
//! [`STAGES`] for each kind at most.
//! Never: takes one back.

use std::{
    sync::{Arc, RwLock},
    thread::{self, JoinHandle},
};

use redb::{Database, ReadableDatabase, ReadableTable, Table};
use zstd::bulk::Compressor;

use super::{
    StoreError,
    codec::{LEVEL, damaged},
    schema::table,
};

/// Rows that have a dictionary of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alike {
    Pages = 0,
    Links = 1,
}

/// Rows of a kind after which a dictionary is trained, of how many of them it learns, and its bytes.
const STAGES: [(usize, usize, usize); 2] = [(200, 200, 32 << 10), (2_000, 400, 110 << 10)];

/// A dictionary; rows name it by its number, 0 stands for none.
#[derive(Debug)]
pub(super) struct Dictionary {
    pub number: u8,
    pub content: Box<[u8]>,
}

/// The reading side.
#[derive(Default)]
pub(super) struct Dictionaries(RwLock<Vec<Arc<Dictionary>>>);

impl Dictionaries {
    pub fn get(&self, number: u8, database: &Database) -> Result<Arc<Dictionary>, StoreError> {
        let find = |known: &[Arc<Dictionary>]| known.iter().find(|known| known.number == number).cloned();
        if let Some(known) = self.0.read().ok().and_then(|known| find(&known)) {
            return Ok(known);
        }
        let table = database.begin_read()?.open_table(table::dictionaries)?;
        let row = table.get(number)?.ok_or_else(|| damaged("dictionary", format!("number {number} is missing")))?;
        let content = row.value().get(1..).ok_or_else(|| damaged("dictionary", "it is empty"))?;
        let read = Arc::new(Dictionary { number, content: content.into() });
        if let Ok(mut known) = self.0.write() {
            known.push(read.clone());
        }
        Ok(read)
    }
}

/// The writing side of all kinds.
#[derive(Default)]
pub(super) struct Trainer {
    kinds: [Learner; 2],
    last: u8,
    /// Trained, and not in the table yet: number, kind, content.
    unwritten: Vec<(u8, u8, Vec<u8>)>,
}

#[derive(Default)]
struct Learner {
    stage: usize,
    rows: usize,
    samples: Vec<u8>,
    sizes: Vec<usize>,
    /// Where the next dictionary is being trained; `None` comes of rows that have too little in common to need one.
    training: Option<JoinHandle<Option<Vec<u8>>>>,
    packer: Option<(u8, Compressor<'static>)>,
}

impl Trainer {
    /// Goes on with the dictionaries of a store.
    pub fn of(database: &Database) -> Result<Self, StoreError> {
        let mut trainer = Self::default();
        for entry in database.begin_read()?.open_table(table::dictionaries)?.iter()? {
            let (number, row) = entry?;
            trainer.last = number.value();
            let (kind, content) = row.value().split_first().ok_or_else(|| damaged("dictionary", "it is empty"))?;
            let learner = trainer.kinds.get_mut(usize::from(*kind));
            let learner = learner.ok_or_else(|| damaged("dictionary", format!("there is no kind {kind}")))?;
            learner.stage += 1;
            learner.packer = Some((trainer.last, packer(content)?));
        }
        Ok(trainer)
    }

    /// The packer for a row of a kind, and its dictionary's number; the row is learnt from.
    pub fn packer(&mut self, kind: Alike, row: &[u8]) -> Result<Option<&mut (u8, Compressor<'static>)>, StoreError> {
        let learner = &mut self.kinds[kind as usize];
        if let Some(content) = learner.trained() {
            self.last += 1;
            learner.packer = Some((self.last, packer(&content)?));
            self.unwritten.push((self.last, kind as u8, content));
        }
        // Trainings take memory for a while, so there is one at a time.
        let may_train = self.kinds.iter().all(|learner| learner.training.is_none());
        let learner = &mut self.kinds[kind as usize];
        learner.learn(row, may_train);
        Ok(learner.packer.as_mut())
    }

    /// Writes what is new; in the transaction of the rows that need it.
    pub fn write(&mut self, table: &mut Table<u8, &'static [u8]>) -> Result<(), StoreError> {
        for (number, kind, content) in self.unwritten.drain(..) {
            table.insert(number, [&[kind], content.as_slice()].concat().as_slice())?;
        }
        Ok(())
    }
}

impl Learner {
    /// Takes a row as a sample where one is wanted, and begins to train when there are enough and it may.
    fn learn(&mut self, row: &[u8], may_train: bool) {
        let Some(&(due, wanted, bytes)) = STAGES.get(self.stage) else { return };
        if self.rows < due {
            self.rows += 1;
            if self.rows.is_multiple_of(due / wanted) {
                self.samples.extend_from_slice(row);
                self.sizes.push(row.len());
            }
        }
        if self.rows < due || !may_train {
            return;
        }
        let (samples, sizes) = (std::mem::take(&mut self.samples), std::mem::take(&mut self.sizes));
        (self.stage, self.rows) = (self.stage + 1, 0);
        let train = move || zstd::dict::from_continuous(&samples, &sizes, bytes).ok();
        match thread::Builder::new().name("store-trainer".to_owned()).spawn(train) {
            Ok(training) => self.training = Some(training),
            Err(error) => tracing::warn!(%error, "no thread is left to train a dictionary; rows take more room"),
        }
    }

    /// A dictionary whose training has ended since this was last asked.
    fn trained(&mut self) -> Option<Vec<u8>> {
        let training = self.training.take_if(|training| training.is_finished())?;
        training.join().unwrap_or_else(|_| {
            tracing::warn!("training a dictionary failed; rows take more room");
            None
        })
    }
}

fn packer(content: &[u8]) -> Result<Compressor<'static>, StoreError> {
    Compressor::with_dictionary(LEVEL, content).map_err(|e| StoreError::Refused(format!("zstd does not start: {e}")))
}

#[cfg(test)]
mod tests {
    use redb::backends::InMemoryBackend;

    use super::*;
    use crate::store::{
        codec::{Encoder, Lexicon, unpack_alike},
        schema,
        words::{Numbering, WordList},
    };

    struct Of<'a>(&'a Dictionaries, &'a Database);

    impl Lexicon for Of<'_> {
        fn words(&self, _: u32) -> Result<Arc<WordList>, StoreError> {
            Ok(Arc::default())
        }

        fn dictionary(&self, number: u8) -> Result<Arc<Dictionary>, StoreError> {
            self.0.get(number, self.1)
        }
    }

    /// Some hundred words out of two hundred.
    fn text(number: u64) -> String {
        let mut random = fastrand::Rng::with_seed(number);
        let words = (0..100).map(|_| format!("{:x}", fastrand::Rng::with_seed(random.u64(..200)).u32(..)));
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn rows_are_packed_against_what_earlier_ones_said_and_come_back() {
        let database = Database::builder().create_with_backend(InMemoryBackend::new()).unwrap();
        schema::initialise(&database).unwrap();
        let mut encoder = Encoder::with_words(Numbering::default()).unwrap();
        let mut rows: Vec<Vec<u8>> = Vec::new();
        let mut add = |encoder: &mut Encoder, number: usize| {
            while rows.len() < number {
                rows.push(encoder.pack_alike(Alike::Links, "test", 1, &text(rows.len() as u64)).unwrap());
            }
            rows.len()
        };
        for (stage, (due, ..)) in STAGES.into_iter().enumerate() {
            let begun = add(&mut encoder, 0) + due;
            add(&mut encoder, begun);
            let learner = &encoder.dictionaries.kinds[Alike::Links as usize];
            assert!(learner.training.is_some() && learner.stage == stage + 1, "{due} rows begin a training");
            while encoder.dictionaries.kinds[Alike::Links as usize].training.as_ref().is_some_and(|it| !it.is_finished()) {
                thread::yield_now();
            }
            // The next row is the first that is packed against it.
            add(&mut encoder, begun + 1);
        }
        let numbers: Vec<u8> = rows.iter().map(|row| row[1]).collect();
        let first = STAGES[0].0;
        let second = first + 1 + STAGES[1].0 - 1;
        assert_eq!([first - 1, first, second - 1, numbers.len() - 1].map(|at| numbers[at]), [0, 1, 1, 2]);
        let bytes = |rows: &[Vec<u8>]| rows.iter().map(Vec::len).sum::<usize>() / rows.len();
        assert!(bytes(&rows[first..]) < bytes(&rows[..first]) * 3 / 4);
        let write = database.begin_write().unwrap();
        encoder.dictionaries.write(&mut write.open_table(table::dictionaries).unwrap()).unwrap();
        write.commit().unwrap();
        let known = Dictionaries::default();
        for (number, row) in (0..).zip(&rows) {
            let raw = unpack_alike("test", &row[1..], &Of(&known, &database)).unwrap();
            assert_eq!(postcard::from_bytes::<String>(&raw).unwrap(), text(number));
        }
        // Whoever goes on with the store has the last one, and trains no more.
        let mut later = Trainer::of(&database).unwrap();
        let links = later.packer(Alike::Links, b"a row").unwrap().map(|(number, _)| *number);
        assert_eq!((links, later.kinds[1].stage), (Some(2), STAGES.len()));
        assert!(later.packer(Alike::Pages, b"a row").unwrap().is_none());
    }

    #[test]
    fn a_row_whose_dictionary_is_missing_is_an_error() {
        let database = Database::builder().create_with_backend(InMemoryBackend::new()).unwrap();
        schema::initialise(&database).unwrap();
        let error = unpack_alike("test", &[3, 1, 0, 0, 0, 0], &Of(&Dictionaries::default(), &database)).unwrap_err();
        assert!(error.to_string().contains("number 3 is missing"), "{error}");
    }
}

//! The words of a crawl, numbered: pages and links say them again and again.
//!
//! A word gets a number when it is met on a second page, as long as there are numbers left: those of a topic come early,
//! and rare ones stay as they are.
//!
//! Promises: a number stands for one word as long as the store exists; memory is bounded by [`MOST`] words.
//! Never: takes a number back.

use std::sync::{Arc, RwLock};

use redb::{Database, ReadableDatabase, ReadableTable, Table};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{StoreError, codec::damaged, schema::table};
use crate::text::TermId;

/// Words that have a number at most: some 6 MiB in memory.
const MOST: usize = 1 << 16;

/// Words that are remembered as met once.
const ONCE: usize = 1 << 18;

/// Bytes of a word that gets a number at most.
const LONGEST: usize = 64;

/// The words by number, up to some commit.
#[derive(Debug, Default)]
pub(super) struct WordList {
    words: Vec<Arc<str>>,
    ids: Vec<TermId>,
}

impl WordList {
    pub fn word(&self, number: u32) -> Option<&str> {
        self.words.get(number as usize).map(|word| &**word)
    }

    pub fn id(&self, number: u32) -> Option<TermId> {
        self.ids.get(number as usize).copied()
    }
}

/// The reading side.
#[derive(Default)]
pub(super) struct Words(RwLock<Arc<WordList>>);

impl Words {
    /// The list, with the word of this number in it, where there is one.
    pub fn up_to(&self, number: u32, database: &Database) -> Result<Arc<WordList>, StoreError> {
        let known = self.0.read().map(|list| list.clone()).unwrap_or_default();
        if (number as usize) < known.words.len() {
            return Ok(known);
        }
        let mut list = WordList { words: known.words.clone(), ids: known.ids.clone() };
        let table = database.begin_read()?.open_table(table::words)?;
        for entry in table.range(list.words.len() as u32..)? {
            let (number, word) = entry?;
            if number.value() as usize != list.words.len() {
                return Err(damaged("word", format!("number {} is missing", list.words.len())));
            }
            list.ids.push(TermId::of(word.value()));
            list.words.push(word.value().into());
        }
        let list = Arc::new(list);
        if let Ok(mut newest) = self.0.write()
            && newest.words.len() < list.words.len()
        {
            *newest = list.clone();
        }
        Ok(list)
    }
}

/// The writing side.
#[derive(Default)]
pub(super) struct Numbering {
    words: Vec<Box<str>>,
    numbers: FxHashMap<TermId, u32>,
    once: FxHashSet<TermId>,
    /// Words from here on are not in the table yet.
    written: usize,
}

impl Numbering {
    /// Goes on with the words of a store.
    pub fn of(database: &Database) -> Result<Self, StoreError> {
        let mut numbering = Self::default();
        let table = database.begin_read()?.open_table(table::words)?;
        for entry in table.iter()? {
            numbering.add(entry?.1.value());
        }
        numbering.written = numbering.words.len();
        Ok(numbering)
    }

    fn add(&mut self, word: &str) -> u32 {
        let number = self.words.len() as u32;
        self.numbers.entry(TermId::of(word)).or_insert(number);
        self.words.push(word.into());
        number
    }

    /// The number of the word that has this id.
    pub fn number_of(&self, id: TermId) -> Option<u32> {
        self.numbers.get(&id).copied()
    }

    /// The number of a word, which it may be given now.
    pub fn meet(&mut self, id: TermId, word: &str) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&id) {
            // Two words may have one id; only the first has a number.
            return Some(number).filter(|&number| &*self.words[number as usize] == word);
        }
        if self.words.len() >= MOST || word.len() > LONGEST {
            return None;
        }
        if self.once.remove(&id) {
            return Some(self.add(word));
        }
        if self.once.len() >= ONCE {
            self.once.clear();
        }
        self.once.insert(id);
        None
    }

    /// Writes what is new; in the transaction of the rows that need it.
    pub fn write(&mut self, table: &mut Table<u32, &'static str>) -> Result<(), StoreError> {
        for (number, word) in self.words.iter().enumerate().skip(self.written) {
            table.insert(number as u32, &**word)?;
        }
        self.written = self.words.len();
        Ok(())
    }
}

/// Ascending numbers as the distances between them, which are small.
pub(super) fn distances(numbers: &[u32]) -> Vec<u32> {
    let mut last = 0;
    numbers.iter().map(|&number| number - std::mem::replace(&mut last, number)).collect()
}

/// The numbers that have these distances; `None` where one is too large.
pub(super) fn numbers(distances: &[u32]) -> Option<Vec<u32>> {
    distances
        .iter()
        .scan(0_u32, |last, &distance| {
            let number = last.checked_add(distance);
            *last = number.unwrap_or(u32::MAX);
            Some(number)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meet(numbering: &mut Numbering, word: &str) -> Option<u32> {
        numbering.meet(TermId::of(word), word)
    }

    #[test]
    fn a_word_gets_its_number_at_the_second_meeting_and_keeps_it() {
        let mut numbering = Numbering::default();
        assert_eq!((meet(&mut numbering, "rice"), meet(&mut numbering, "wheat")), (None, None));
        assert_eq!(
            (meet(&mut numbering, "rice"), meet(&mut numbering, "稻"), meet(&mut numbering, "wheat")),
            (Some(0), None, Some(1))
        );
        assert_eq!((meet(&mut numbering, "rice"), numbering.number_of(TermId::of("wheat"))), (Some(0), Some(1)));
        assert_eq!(numbering.number_of(TermId::of("稻")), None);
        let long = "x".repeat(LONGEST + 1);
        assert_eq!((meet(&mut numbering, &long), meet(&mut numbering, &long)), (None, None));
    }

    #[test]
    fn there_are_no_more_numbers_than_there_may_be() {
        let mut numbering = Numbering::default();
        for _ in 0..2 {
            for n in 0..MOST + 10 {
                meet(&mut numbering, &format!("w{n}"));
            }
        }
        assert_eq!(numbering.words.len(), MOST);
        assert!(meet(&mut numbering, "w7").is_some() && meet(&mut numbering, &format!("w{}", MOST + 5)).is_none());
    }

    #[test]
    fn distances_lead_back_to_their_numbers() {
        for list in [&[][..], &[0], &[5, 6, 900, u32::MAX]] {
            assert_eq!(numbers(&distances(list)).as_deref(), Some(list));
        }
        assert_eq!(numbers(&[u32::MAX, 1]), None);
    }
}

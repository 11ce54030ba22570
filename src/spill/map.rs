//! A sorted map from 64-bit keys to 32-bit values: blocks of neighbouring keys, found by their first.
//!
//! Keys that share their high bits share blocks; so the URLs of one host, whose fingerprints do, are found together.

use std::{collections::BTreeMap, io, ops::RangeInclusive};

use super::{
    Room,
    pager::{BLOCK, Block, Pager},
    vector::Fixed,
};

/// Bytes of an entry.
const KEY: usize = 8;
const VALUE: usize = 4;
/// Entries of a block; the number of them takes four bytes. A full block is split at once.
const FULL: usize = (BLOCK - KEYS) / (KEY + VALUE);
/// Where keys and values begin.
const KEYS: usize = 4;
const VALUES: usize = KEYS + FULL * KEY;

/// A block as ascending entries: their number, the keys, the values.
struct Entries<'a>(&'a Block);

impl Entries<'_> {
    fn len(&self) -> usize {
        u32::read(&self.0[..KEYS]) as usize
    }

    fn key(&self, at: usize) -> u64 {
        u64::read(&self.0[KEYS + at * KEY..][..KEY])
    }

    fn value(&self, at: usize) -> u32 {
        u32::read(&self.0[VALUES + at * VALUE..][..VALUE])
    }

    /// How many keys are less.
    fn below(&self, key: u64) -> usize {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            if self.key(middle) < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The place of a key, or the one where it would be.
    fn find(&self, key: u64) -> Result<usize, usize> {
        let at = self.below(key);
        if at < self.len() && self.key(at) == key { Ok(at) } else { Err(at) }
    }
}

/// The same, to be changed.
struct EntriesMut<'a>(&'a mut Block);

impl EntriesMut<'_> {
    fn view(&self) -> Entries<'_> {
        Entries(self.0)
    }

    fn set_len(&mut self, len: usize) {
        (len as u32).write(&mut self.0[..KEYS]);
    }

    fn set_value(&mut self, at: usize, value: u32) {
        value.write(&mut self.0[VALUES + at * VALUE..][..VALUE]);
    }

    fn insert(&mut self, at: usize, key: u64, value: u32) {
        let len = self.view().len();
        self.0.copy_within(KEYS + at * KEY..KEYS + len * KEY, KEYS + (at + 1) * KEY);
        self.0.copy_within(VALUES + at * VALUE..VALUES + len * VALUE, VALUES + (at + 1) * VALUE);
        key.write(&mut self.0[KEYS + at * KEY..][..KEY]);
        self.set_value(at, value);
        self.set_len(len + 1);
    }

    fn remove(&mut self, at: usize) {
        let len = self.view().len();
        self.0.copy_within(KEYS + (at + 1) * KEY..KEYS + len * KEY, KEYS + at * KEY);
        self.0.copy_within(VALUES + (at + 1) * VALUE..VALUES + len * VALUE, VALUES + at * VALUE);
        self.set_len(len - 1);
    }

    /// Takes the upper half out.
    fn split(&mut self) -> Box<Block> {
        let (from, len) = (FULL / 2, self.view().len());
        let mut upper = Box::new([0; BLOCK]);
        let number = len - from;
        upper[KEYS..KEYS + number * KEY].copy_from_slice(&self.0[KEYS + from * KEY..KEYS + len * KEY]);
        upper[VALUES..VALUES + number * VALUE].copy_from_slice(&self.0[VALUES + from * VALUE..VALUES + len * VALUE]);
        EntriesMut(&mut upper).set_len(number);
        self.set_len(from);
        upper
    }
}

/// A map of which only a part is in memory.
#[derive(Debug)]
pub struct PagedMap {
    pager: Pager,
    /// First key that belongs to a block → the block. The first is 0.
    blocks: BTreeMap<u64, u32>,
    /// Blocks that have become empty.
    free: Vec<u32>,
    len: usize,
}

impl Default for PagedMap {
    fn default() -> Self {
        Self::new(Room::default())
    }
}

impl PagedMap {
    #[must_use]
    pub fn new(room: Room) -> Self {
        Self { pager: Pager::new(room), blocks: BTreeMap::new(), free: Vec::new(), len: 0 }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[must_use]
    pub fn get(&self, key: u64) -> Option<u32> {
        let (_, &block) = self.blocks.range(..=key).next_back()?;
        self.pager.read(block as usize, |block| {
            let entries = Entries(block);
            entries.find(key).ok().map(|at| entries.value(at))
        })
    }

    /// The last entries of a range of keys, at most `number`, the greatest key first.
    #[must_use]
    pub fn last_of(&self, keys: RangeInclusive<u64>, number: usize) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        for (&first, &block) in self.blocks.range(..=*keys.end()).rev() {
            self.pager.read(block as usize, |block| {
                let entries = Entries(block);
                let start = entries.below(*keys.start());
                let end = keys.end().checked_add(1).map_or(entries.len(), |end| entries.below(end));
                let wanted = (start..end).rev().take(number - found.len());
                found.extend(wanted.map(|at| (entries.key(at), entries.value(at))));
            });
            if found.len() >= number || first <= *keys.start() {
                break;
            }
        }
        found
    }

    /// Gives `key` a value; returns the one it had.
    pub fn insert(&mut self, key: u64, value: u32) -> Option<u32> {
        if self.blocks.is_empty() {
            let first = self.pager.add();
            self.blocks.insert(0, first as u32);
        }
        let block = self.blocks.range(..=key).next_back().map_or(0, |(_, &block)| block as usize);
        let (old, upper) = self.pager.change(block, |block| {
            let mut entries = EntriesMut(block);
            match entries.view().find(key) {
                Ok(at) => {
                    let old = entries.view().value(at);
                    entries.set_value(at, value);
                    (Some(old), None)
                }
                Err(at) => {
                    entries.insert(at, key, value);
                    // Full: the upper half moves into a block of its own.
                    (None, (entries.view().len() >= FULL).then(|| entries.split()))
                }
            }
        });
        self.len += usize::from(old.is_none());
        if let Some(upper) = upper {
            let block = self.free.pop().unwrap_or_else(|| self.pager.add() as u32);
            self.pager.change(block as usize, |block| *block = *upper);
            self.blocks.insert(Entries(&upper).key(0), block);
        }
        old
    }

    /// Takes a key out; returns the value it had.
    pub fn remove(&mut self, key: u64) -> Option<u32> {
        let (&first, &block) = self.blocks.range(..=key).next_back()?;
        let (old, is_empty) = self.pager.change(block as usize, |block| {
            let mut entries = EntriesMut(block);
            let at = entries.view().find(key).ok()?;
            let old = entries.view().value(at);
            entries.remove(at);
            Some((old, entries.view().len() == 0))
        })?;
        self.len -= 1;
        if is_empty && first > 0 {
            self.blocks.remove(&first);
            self.free.push(block);
        }
        Some(old)
    }

    /// Blocks brought back from the file so far.
    #[must_use]
    pub fn loads(&self) -> u64 {
        self.pager.loads()
    }

    #[must_use]
    pub fn resident_bytes(&self) -> usize {
        // A block's place in the tree takes about three words.
        self.pager.resident_bytes() + self.blocks.len() * 24
    }

    /// # Errors
    /// As for [`Paged::check`](super::Paged::check).
    pub fn check(&self) -> io::Result<()> {
        self.pager.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_that_does_not_fit_holds_what_one_that_fits_holds() {
        let mut random = fastrand::Rng::with_seed(5);
        let (mut paged, mut plain) = (PagedMap::new(Room { bytes: 0, ..Room::default() }), BTreeMap::new());
        for step in 0..100_000_u32 {
            // Keys of a few hosts, and the extremes.
            let key = match random.u32(0..50) {
                0 => 0,
                1 => u64::MAX,
                _ => random.u64(0..40) << 40 | random.u64(0..20_000),
            };
            if step % 4 == 0 {
                assert_eq!(paged.remove(key), plain.remove(&key));
            } else if random.bool() {
                assert_eq!(paged.insert(key, step), plain.insert(key, step));
            } else if step % 64 == 1 {
                let (keys, number) = (key..=key.saturating_add(random.u64(0..30_000)), random.usize(1..2_000));
                let last = plain.range(keys.clone()).rev().take(number).map(|(&key, &value)| (key, value));
                assert_eq!(paged.last_of(keys, number), last.collect::<Vec<_>>());
            } else {
                assert_eq!(paged.get(key), plain.get(&key).copied());
            }
        }
        assert_eq!(paged.len(), plain.len());
        assert!(paged.loads() > 1_000, "nothing was spilled");
        assert!(plain.iter().all(|(&key, &value)| paged.get(key) == Some(value)));
        paged.check().unwrap();
    }
}

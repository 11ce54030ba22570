//! A sorted map from 64-bit keys to 32-bit values: blocks of neighbouring keys, found by their first.
//!
//! Keys that share their high bits share blocks; so the URLs of one host, whose fingerprints do, are found together.

use std::{collections::BTreeMap, io, ops::RangeInclusive};

use super::{
    Room,
    pager::{BLOCK, Block, Pager},
};

/// Bytes of an entry in the file.
const ENTRY: usize = 12;
/// Entries of a block; the number of them takes four bytes.
const FULL: usize = (BLOCK - 4) / ENTRY;

/// Entries of a block, ascending.
#[derive(Debug, Default)]
struct Entries {
    keys: Vec<u64>,
    values: Vec<u32>,
}

impl Block for Entries {
    const RESIDENT: usize = FULL * ENTRY + 96;

    fn write(&self, bytes: &mut [u8; BLOCK]) {
        let (number, entries) = bytes.split_at_mut(4);
        number.copy_from_slice(&(self.keys.len() as u32).to_le_bytes());
        for ((key, value), bytes) in self.keys.iter().zip(&self.values).zip(entries.chunks_exact_mut(ENTRY)) {
            bytes[..8].copy_from_slice(&key.to_le_bytes());
            bytes[8..].copy_from_slice(&value.to_le_bytes());
        }
    }

    fn read(bytes: &[u8; BLOCK]) -> Self {
        let (number, entries) = bytes.split_at(4);
        let number = number.first_chunk().map_or(0, |number| u32::from_le_bytes(*number)) as usize;
        let mut read = Self { keys: Vec::with_capacity(FULL), values: Vec::with_capacity(FULL) };
        for entry in entries.chunks_exact(ENTRY).take(number) {
            if let Some((key, value)) = entry.split_first_chunk() {
                read.keys.push(u64::from_le_bytes(*key));
                read.values.push(value.first_chunk().map_or(0, |value| u32::from_le_bytes(*value)));
            }
        }
        read
    }
}

/// A map of which only a part is in memory.
#[derive(Debug)]
pub struct PagedMap {
    pager: Pager<Entries>,
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
        self.pager.read(block as usize, |entries| entries.keys.binary_search(&key).ok().map(|at| entries.values[at]))
    }

    /// The last entries of a range of keys, at most `number`, the greatest key first.
    #[must_use]
    pub fn last_of(&self, keys: RangeInclusive<u64>, number: usize) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        for (&first, &block) in self.blocks.range(..=*keys.end()).rev() {
            self.pager.read(block as usize, |entries| {
                let start = entries.keys.partition_point(|key| key < keys.start());
                let end = entries.keys.partition_point(|key| key <= keys.end());
                let wanted = (start..end).rev().take(number - found.len());
                found.extend(wanted.map(|at| (entries.keys[at], entries.values[at])));
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
            let first = self.pager.add(Entries::default());
            self.blocks.insert(0, first as u32);
        }
        let block = self.blocks.range(..=key).next_back().map_or(0, |(_, &block)| block as usize);
        let (old, upper) = self.pager.change(block, |entries| match entries.keys.binary_search(&key) {
            Ok(at) => (Some(std::mem::replace(&mut entries.values[at], value)), None),
            Err(at) => {
                entries.keys.insert(at, key);
                entries.values.insert(at, value);
                // Full: the upper half moves into a block of its own.
                let upper = (entries.keys.len() >= FULL)
                    .then(|| Entries { keys: entries.keys.split_off(FULL / 2), values: entries.values.split_off(FULL / 2) });
                (None, upper)
            }
        });
        self.len += usize::from(old.is_none());
        if let Some(upper) = upper {
            let first = upper.keys[0];
            let block = match self.free.pop() {
                Some(block) => self.pager.change(block as usize, |free| {
                    *free = upper;
                    block
                }),
                None => self.pager.add(upper) as u32,
            };
            self.blocks.insert(first, block);
        }
        old
    }

    /// Takes a key out; returns the value it had.
    pub fn remove(&mut self, key: u64) -> Option<u32> {
        let (&first, &block) = self.blocks.range(..=key).next_back()?;
        let (old, is_empty) = self.pager.change(block as usize, |entries| {
            let at = entries.keys.binary_search(&key).ok()?;
            entries.keys.remove(at);
            Some((entries.values.remove(at), entries.keys.is_empty()))
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

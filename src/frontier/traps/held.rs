//! The links that quarantined templates hold: a pile for each template, all in one table.
//!
//! Promises: takes no more memory than its room; a pile gives back what it was given, the latest first.

use std::io;

use crate::{
    spill::{Fixed, Paged, Room},
    topical_rank::NodeId,
};

/// A link in a pile, and the one below it.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    node: u32,
    /// Place of the next entry plus one; 0 at the bottom.
    below: u32,
}

impl Fixed for Entry {
    const SIZE: usize = 8;

    fn write(&self, bytes: &mut [u8]) {
        self.node.write(&mut bytes[..4]);
        self.below.write(&mut bytes[4..]);
    }

    fn read(bytes: &[u8]) -> Self {
        Self { node: u32::read(&bytes[..4]), below: u32::read(&bytes[4..]) }
    }
}

/// The links of one template, in a [`HeldLinks`].
#[derive(Debug, Clone, Default)]
pub(super) struct Pile {
    /// Place of the topmost entry plus one.
    top: u32,
    number: u64,
}

impl Pile {
    pub(super) fn len(&self) -> u64 {
        self.number
    }
}

/// All held links.
#[derive(Debug, Default)]
pub(super) struct HeldLinks {
    entries: Paged<Entry>,
    /// Entries that are free, as a pile.
    free: Pile,
}

/// A copy that is in memory as a whole.
impl Clone for HeldLinks {
    fn clone(&self) -> Self {
        let mut entries = Paged::default();
        self.entries.range(0..self.entries.len()).into_iter().for_each(|entry| entries.push(entry));
        Self { entries, free: self.free.clone() }
    }
}

impl HeldLinks {
    pub(super) fn within(room: Room) -> Self {
        Self { entries: Paged::new(room), free: Pile::default() }
    }

    /// Puts a link on top of a pile.
    pub(super) fn push(&mut self, pile: &mut Pile, node: NodeId) {
        let place = self.free.top.checked_sub(1).unwrap_or(self.entries.len() as u32);
        if self.free.number > 0 {
            self.free = Pile { top: self.entries.get(place as usize).below, number: self.free.number - 1 };
        }
        self.entries.set(place as usize, Entry { node: node.0, below: pile.top });
        *pile = Pile { top: place + 1, number: pile.number + 1 };
    }

    /// Takes the topmost link off a pile.
    pub(super) fn pop(&mut self, pile: &mut Pile) -> Option<NodeId> {
        let place = pile.top.checked_sub(1)?;
        let Entry { node, below } = self.entries.get(place as usize);
        self.entries.set(place as usize, Entry { node: 0, below: self.free.top });
        self.free = Pile { top: place + 1, number: self.free.number + 1 };
        *pile = Pile { top: below, number: pile.number - 1 };
        Some(NodeId(node))
    }

    /// Takes a pile down; its links in the order in which they came.
    pub(super) fn take_all(&mut self, mut pile: Pile) -> Vec<NodeId> {
        let mut all: Vec<NodeId> = std::iter::from_fn(|| self.pop(&mut pile)).collect();
        all.reverse();
        all
    }

    pub(super) fn resident_bytes(&self) -> usize {
        self.entries.resident_bytes()
    }

    pub(super) fn check(&self) -> io::Result<()> {
        self.entries.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piles_that_do_not_fit_into_memory_give_back_what_they_were_given() {
        let mut random = fastrand::Rng::with_seed(6);
        let mut held = HeldLinks::within(Room { bytes: 0, ..Room::default() });
        let mut piles = vec![(Pile::default(), Vec::new()); 9];
        let mut most = 0;
        for step in 0..200_000 {
            let (pile, plain) = &mut piles[random.usize(..9)];
            match random.u32(0..100) {
                0 if random.u32(0..200) == 0 => assert_eq!(held.take_all(std::mem::take(pile)), std::mem::take(plain)),
                0..30 => assert_eq!(held.pop(pile), plain.pop()),
                _ => {
                    held.push(pile, NodeId(step));
                    plain.push(NodeId(step));
                }
            }
            assert_eq!(pile.len(), plain.len() as u64);
            most = most.max(piles.iter().map(|(_, plain)| plain.len()).sum());
        }
        assert!(most > 20_000, "{most}");
        assert_eq!(held.entries.len(), most, "places are used again");
        assert!(held.resident_bytes() < most * Entry::SIZE / 4, "{}", held.resident_bytes());
        held.check().unwrap();
    }
}

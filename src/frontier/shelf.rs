//! The index of the links that are not in memory: where each is kept, in 24 bytes.

use std::io;

use super::{HostId, Link, MAX_IN_LINKS, Priority, host_queue::rounded_up};
use crate::{
    spill::{Fixed, Paged, Room},
    topical_rank::NodeId,
    url::Fingerprint,
};

/// A link that is kept on disk.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shelved {
    pub fingerprint: Fingerprint,
    pub host: HostId,
    /// As of the time it was put there, or a hair's breadth above.
    pub priority: Priority,
    /// In-links that are kept in its row.
    pub kept: u8,
    /// In-links that were counted since, and the relevance of their pages.
    pub more_in_links: i32,
    pub more_relevance: f32,
}

impl Shelved {
    /// A link that is put away as it is.
    #[must_use]
    pub fn of(link: &Link) -> Self {
        Self {
            fingerprint: link.fingerprint,
            host: link.host,
            priority: link.priority,
            kept: link.in_links.len() as u8,
            more_in_links: 0,
            more_relevance: 0.0,
        }
    }

    /// It has as many in-links as are kept: another is only counted.
    #[must_use]
    pub fn is_full(&self) -> bool {
        usize::from(self.kept) >= MAX_IN_LINKS
    }
}

/// Bits for the number of in-links that are kept.
const KEPT_BITS: u32 = 3;

#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    fingerprint: u64,
    /// 0 where the node is not on the shelf.
    host_plus_one: u32,
    priority: f32,
    /// The number of more in-links, and in the last [`KEPT_BITS`] how many are kept.
    more_in_links: u32,
    more_relevance: f32,
}

impl Fixed for Entry {
    const SIZE: usize = 24;

    fn write(&self, bytes: &mut [u8]) {
        self.fingerprint.write(&mut bytes[..8]);
        self.host_plus_one.write(&mut bytes[8..12]);
        self.priority.write(&mut bytes[12..16]);
        self.more_in_links.write(&mut bytes[16..20]);
        self.more_relevance.write(&mut bytes[20..]);
    }

    fn read(bytes: &[u8]) -> Self {
        Self {
            fingerprint: u64::read(&bytes[..8]),
            host_plus_one: u32::read(&bytes[8..12]),
            priority: f32::read(&bytes[12..16]),
            more_in_links: u32::read(&bytes[16..20]),
            more_relevance: f32::read(&bytes[20..]),
        }
    }
}

/// Links that are kept on disk, by node.
#[derive(Debug, Default)]
pub struct Shelf {
    entries: Paged<Entry>,
    number: usize,
}

impl Shelf {
    #[must_use]
    pub fn new(room: Room) -> Self {
        Self { entries: Paged::new(room), number: 0 }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.number
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.number == 0
    }

    #[must_use]
    pub fn get(&self, node: NodeId) -> Option<Shelved> {
        let entry = self.entries.get(node.0 as usize);
        Some(Shelved {
            fingerprint: Fingerprint(entry.fingerprint),
            host: HostId(entry.host_plus_one.checked_sub(1)?),
            priority: Priority(f64::from(entry.priority)),
            kept: (entry.more_in_links & ((1 << KEPT_BITS) - 1)) as u8,
            more_in_links: entry.more_in_links.cast_signed() >> KEPT_BITS,
            more_relevance: entry.more_relevance,
        })
    }

    pub fn put(&mut self, node: NodeId, link: Shelved) {
        self.write(node, link);
        self.number += 1;
    }

    fn write(&mut self, node: NodeId, link: Shelved) {
        let Shelved { fingerprint, host, priority, kept, more_in_links, more_relevance } = link;
        let entry = Entry {
            fingerprint: fingerprint.0,
            host_plus_one: host.0 + 1,
            // A row is looked for from its priority downwards.
            priority: rounded_up(priority.0),
            more_in_links: (more_in_links << KEPT_BITS).cast_unsigned() | u32::from(kept.min((1 << KEPT_BITS) - 1)),
            more_relevance,
        };
        self.entries.set(node.0 as usize, entry);
    }

    /// Counts an in-link of a node that is here; its row keeps it, or not.
    pub fn count(&mut self, node: NodeId, relevance: f64, is_kept: bool) {
        if let Some(mut link) = self.get(node) {
            link.kept += u8::from(is_kept);
            link.more_in_links += 1;
            link.more_relevance += relevance as f32;
            self.write(node, link);
        }
    }

    /// Gives a node that is here a new priority.
    pub(super) fn raise(&mut self, node: NodeId, priority: Priority) {
        if let Some(link) = self.get(node) {
            self.write(node, Shelved { priority, ..link });
        }
    }

    pub fn take(&mut self, node: NodeId) -> Option<Shelved> {
        let found = self.get(node)?;
        self.entries.set(node.0 as usize, Entry::default());
        self.lose(1);
        Some(found)
    }

    /// Counts entries out that stand for nothing.
    pub(super) fn lose(&mut self, number: usize) {
        self.number -= number.min(self.number);
    }

    #[must_use]
    pub fn resident_bytes(&self) -> usize {
        self.entries.resident_bytes()
    }

    /// # Errors
    /// As for [`Paged::check`].
    pub fn check(&self) -> io::Result<()> {
        self.entries.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_come_back_with_what_was_counted_meanwhile_and_are_never_looked_for_too_low() {
        let mut shelf = Shelf::new(Room { bytes: 0, ..Room::default() });
        let link = |node: u32| Shelved {
            fingerprint: Fingerprint(u64::from(node) << 20),
            host: HostId(node % 7),
            priority: Priority((1.0 / f64::from(node + 3)) * if node.is_multiple_of(3) { -1e9 } else { 1.0 }),
            kept: 3,
            more_in_links: 0,
            more_relevance: 0.0,
        };
        (0..20_000).for_each(|node| shelf.put(NodeId(2 * node), link(node)));
        (0..20_000).for_each(|node| shelf.count(NodeId(node), 0.5, node.is_multiple_of(4)));
        assert_eq!(shelf.len(), 20_000);
        assert!(shelf.resident_bytes() < 1 << 16, "{}", shelf.resident_bytes());
        for node in 0..20_000_u32 {
            let counted = i32::from(node < 10_000);
            let kept = 3 + u8::from(counted > 0 && node.is_multiple_of(2));
            let expected = Shelved { kept, more_in_links: counted, more_relevance: 0.5 * counted as f32, ..link(node) };
            let taken = shelf.take(NodeId(2 * node)).unwrap();
            let above = taken.priority.0 - expected.priority.0;
            assert!((0.0..=1e-6 * expected.priority.0.abs()).contains(&above), "{taken:?}");
            assert_eq!(Shelved { priority: expected.priority, ..taken }, expected);
            assert_eq!((shelf.take(NodeId(2 * node)), shelf.take(NodeId(2 * node + 1))), (None, None));
        }
        assert_eq!(shelf.len(), 0);
        shelf.check().unwrap();
    }
}

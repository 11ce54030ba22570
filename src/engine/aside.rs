//! Links that a quarantined template holds, when there are many: not in memory, and not on their host's shelf either.
//!
//! A link that is held keeps its waiting row and comes back when its template is opened. Of a calendar without an end that
//! can be most links of a crawl, so when more than an eighth of the links in memory are held, all held links leave it.
//!
//! Promises: a link set aside is still waiting (it counts, and its row is on disk); when it is released it goes to its
//! host's shelf, from where it is read back like any other.

use std::io;

use rustc_hash::FxHashSet;

use super::Crawl;
use crate::{
    frontier::{HostId, Priority, Shelved},
    spill::{Fixed, Paged, Room},
    store::Batch,
    topical_rank::NodeId,
    url::Fingerprint,
};

/// What is kept of a link that is set aside; `host_plus_one` is 0 where there is none.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    fingerprint: u64,
    /// To the last bit: by it its row is found.
    priority: u64,
    host_plus_one: u32,
    kept: u32,
    more_in_links: u32,
    more_relevance: f32,
}

impl Fixed for Entry {
    const SIZE: usize = 32;

    fn write(&self, bytes: &mut [u8]) {
        self.fingerprint.write(&mut bytes[..8]);
        self.priority.write(&mut bytes[8..16]);
        self.host_plus_one.write(&mut bytes[16..20]);
        self.kept.write(&mut bytes[20..24]);
        self.more_in_links.write(&mut bytes[24..28]);
        self.more_relevance.write(&mut bytes[28..]);
    }

    fn read(bytes: &[u8]) -> Self {
        Self {
            fingerprint: u64::read(&bytes[..8]),
            priority: u64::read(&bytes[8..16]),
            host_plus_one: u32::read(&bytes[16..20]),
            kept: u32::read(&bytes[20..24]),
            more_in_links: u32::read(&bytes[24..28]),
            more_relevance: f32::read(&bytes[28..]),
        }
    }
}

/// Held links: those in memory, and those set aside.
#[derive(Debug, Default)]
pub(super) struct Aside {
    /// In memory, where that is limited; `capacity` of them at most after a commit.
    near: FxHashSet<NodeId>,
    capacity: Option<usize>,
    entries: Paged<Entry>,
    number: usize,
}

impl Aside {
    /// Sets links aside when more than so many are in memory; their index takes no more than `room`.
    pub(super) fn within(links: usize, room: Room) -> Self {
        Self { capacity: Some(links), entries: Paged::new(room), ..Self::default() }
    }

    /// A link in memory is held from now on.
    pub(super) fn hold(&mut self, node: NodeId) {
        if self.capacity.is_some() {
            self.near.insert(node);
        }
    }

    /// Links that are set aside.
    pub(super) fn len(&self) -> usize {
        self.number
    }

    /// Counts an in-link of a link that is set aside.
    pub(super) fn count(&mut self, node: NodeId, relevance: f64) {
        let mut entry = self.entries.get(node.0 as usize);
        if entry.host_plus_one > 0 {
            entry.more_in_links += 1;
            entry.more_relevance += relevance as f32;
            self.entries.set(node.0 as usize, entry);
        }
    }

    fn put(&mut self, node: NodeId, link: Shelved) {
        let entry = Entry {
            fingerprint: link.fingerprint.0,
            host_plus_one: link.host.0 + 1,
            priority: link.priority.0.to_bits(),
            kept: u32::from(link.kept),
            ..Entry::default()
        };
        self.entries.set(node.0 as usize, entry);
        self.number += 1;
    }

    /// Gives a link up that is no longer held; what it is, where it was set aside.
    fn take(&mut self, node: NodeId) -> Option<Shelved> {
        self.near.remove(&node);
        let entry = self.entries.get(node.0 as usize);
        let host = HostId(entry.host_plus_one.checked_sub(1)?);
        self.entries.set(node.0 as usize, Entry::default());
        self.number -= 1;
        Some(Shelved {
            fingerprint: Fingerprint(entry.fingerprint),
            host,
            priority: Priority(f64::from_bits(entry.priority)),
            kept: entry.kept as u8,
            more_in_links: entry.more_in_links.cast_signed(),
            more_relevance: entry.more_relevance,
        })
    }

    pub(super) fn resident_bytes(&self) -> usize {
        self.entries.resident_bytes()
    }

    pub(super) fn check(&self) -> io::Result<()> {
        self.entries.check()
    }
}

impl Crawl {
    /// Takes the held links out of memory when there are many; rows that are not on disk as they are go into `batch`.
    pub(super) fn set_aside(&mut self, batch: &mut Batch, is_due: impl Fn(NodeId) -> bool) {
        if self.aside.capacity.is_none_or(|capacity| self.aside.near.len() <= capacity) {
            return;
        }
        let mut held: Vec<NodeId> = std::mem::take(&mut self.aside.near).into_iter().collect();
        held.sort_unstable();
        for node in held {
            let Some(link) = self.frontier.remove(node) else { continue };
            self.aside.put(node, Shelved::of(&link));
            self.leave_memory(&link, is_due(node), batch);
        }
    }

    /// Brings a link back into memory that somebody asks for, from the shelf or from where held links are.
    pub(super) fn bring_back(&mut self, node: NodeId) {
        if let Some(link) = self.aside.take(node) {
            self.frontier.shelve(node, link);
        }
        self.unshelve(node);
    }

    /// Puts links back that are no longer held.
    pub(super) fn release_held(&mut self) {
        for node in self.traps.released() {
            match self.aside.take(node) {
                Some(link) => self.frontier.shelve(node, link),
                None => self.frontier.put_back(node),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_set_aside_come_back_with_what_was_counted_meanwhile() {
        let mut aside = Aside::within(8, Room { bytes: 0, ..Room::default() });
        let link = |node: u32| Shelved {
            fingerprint: Fingerprint(u64::from(node) << 20),
            host: HostId(node % 7),
            priority: Priority(1.0 / f64::from(node + 3)),
            kept: 3,
            more_in_links: 0,
            more_relevance: 0.0,
        };
        (0..20_000).for_each(|node| aside.put(NodeId(2 * node), link(node)));
        (0..20_000).for_each(|node| aside.count(NodeId(node), 0.5));
        assert_eq!(aside.len(), 20_000);
        assert!(aside.resident_bytes() < 1 << 16, "{}", aside.resident_bytes());
        for node in 0..20_000 {
            let counted = i32::from(node < 10_000);
            let expected = Shelved { more_in_links: counted, more_relevance: 0.5 * counted as f32, ..link(node) };
            assert_eq!(aside.take(NodeId(2 * node)), Some(expected));
            assert_eq!((aside.take(NodeId(2 * node)), aside.take(NodeId(2 * node + 1))), (None, None));
        }
        assert_eq!(aside.len(), 0);
        aside.check().unwrap();
    }
}

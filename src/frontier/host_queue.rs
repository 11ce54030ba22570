//! The back queue of one host: its links in memory, and what is known of those on the shelf.

use std::{
    cmp::{Ordering, Reverse},
    collections::BTreeSet,
    sync::Arc,
};

use crate::{page::Timestamp, topical_rank::NodeId};

/// A host's number in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId(pub u32);

/// How much a link is wanted; greater is sooner. Comparable within one crawl order only.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Priority(pub f64);

impl Eq for Priority {}

impl Ord for Priority {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Priority {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A link in its host's queue: priority, order of discovery.
pub(super) type QueueEntry = (Reverse<Priority>, u64, NodeId);

#[derive(Debug, Default)]
pub(super) struct HostQueue {
    pub(super) name: Arc<str>,
    pub(super) links: BTreeSet<QueueEntry>,
    pub(super) ready_at: Timestamp,
    pub(super) running: u32,
    /// As it stands among all hosts, while it has links to give.
    pub(super) listed: Option<Listed>,
    pub(super) is_ready: bool,
    pub(super) blocked: bool,
    /// Dealt with since hosts were last put to sleep.
    pub(super) used: bool,
    /// Its links that are not in memory.
    pub(super) shelved: HostShelf,
}

/// A host among others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Listed {
    /// Priority and order of its best link.
    pub(super) best: (Reverse<Priority>, u64),
    /// Whether it is listed among those that may be asked now, too.
    pub(super) is_ready: bool,
}

impl HostQueue {
    /// Whether nothing of it has to be in memory.
    pub(super) fn may_sleep(&self) -> bool {
        self.links.is_empty() && self.running == 0 && self.is_ready
    }

    /// How many of its links are beyond the first `level`; all, where none of them is handed out.
    pub(super) fn beyond(&self, level: usize) -> usize {
        self.links.len().saturating_sub(if self.blocked { 0 } else { level })
    }

    /// Priority and order of its best link; one on the shelf comes after its equals in memory.
    pub(super) fn best(&self) -> Option<(Reverse<Priority>, u64)> {
        let here = self.links.first().map(|&(priority, discovered, _)| (priority, discovered));
        let there = (self.shelved.number > 0).then_some((Reverse(self.shelved.promise), u64::MAX));
        here.into_iter().chain(there).min()
    }
}

/// What is known of a host's links on the shelf.
#[derive(Debug, Default)]
pub(super) struct HostShelf {
    pub(super) number: u32,
    /// What the best of them is held to be worth: in 32 bits, never less than it is.
    pub(super) promise: Priority,
    /// The highest priority that one of them was shelved with.
    pub(super) highest: Priority,
    /// How often in a row some came back.
    pub(super) restocks: u8,
}

impl HostShelf {
    /// No more is expected of the best than this.
    pub(super) fn promise(&mut self, worth: Priority) {
        self.promise = Priority(f64::from(rounded_up(worth.0)));
    }
}

/// The next number of 32 bits that is not less.
pub(super) fn rounded_up(priority: f64) -> f32 {
    let near = priority as f32;
    if f64::from(near) < priority { near.next_up() } else { near }
}

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
    frontier::{Shelf, Shelved},
    spill::Room,
    store::Batch,
    topical_rank::NodeId,
};

/// Held links: those in memory, and those set aside.
#[derive(Debug, Default)]
pub(super) struct Aside {
    /// In memory, where that is limited; `capacity` of them at most after a commit.
    near: FxHashSet<NodeId>,
    capacity: Option<usize>,
    far: Shelf,
}

impl Aside {
    /// Sets links aside when more than so many are in memory; their index takes no more than `room`.
    pub(super) fn within(links: usize, room: Room) -> Self {
        Self { capacity: Some(links), far: Shelf::new(room), ..Self::default() }
    }

    /// A link in memory is held from now on.
    pub(super) fn hold(&mut self, node: NodeId) {
        if self.capacity.is_some() {
            self.near.insert(node);
        }
    }

    /// Links that are set aside.
    pub(super) fn len(&self) -> usize {
        self.far.len()
    }

    /// Counts an in-link of a link that is set aside.
    pub(super) fn count(&mut self, node: NodeId, relevance: f64) {
        self.far.count(node, relevance, false);
    }

    /// Gives a link up that is no longer held; what it is, where it was set aside.
    fn take(&mut self, node: NodeId) -> Option<Shelved> {
        self.near.remove(&node);
        self.far.take(node)
    }

    pub(super) fn resident_bytes(&self) -> usize {
        self.far.resident_bytes()
    }

    pub(super) fn check(&self) -> io::Result<()> {
        self.far.check()
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
            self.aside.far.put(node, Shelved::of(&link));
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

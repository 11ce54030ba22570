//! The head of a first-in-first-out queue, from which the best is taken (the Sydney order; Castillo et al. 2006, systems.md 4).
//!
//! Promises: at most `size` links are in the sample; when one leaves, the oldest that waits outside takes its place.
//! Never: compares links; their priorities do that.

use std::io;

use rustc_hash::FxHashSet;

use crate::{
    spill::{Paged, Room},
    topical_rank::NodeId,
};

/// Which waiting links may be compared now; the others wait in the order of discovery.
#[derive(Debug, Default)]
pub struct Sample {
    size: usize,
    members: FxHashSet<NodeId>,
    /// Those that wait outside, and how many at its front have had their turn.
    outside: Paged<u32>,
    gone: usize,
}

impl Sample {
    /// A sample of at most `size` links; of 0, none is ever a member.
    #[must_use]
    pub fn of(size: usize) -> Self {
        Self { size, ..Self::default() }
    }

    /// Keeps no more of the list of those outside in memory than `room`.
    #[must_use]
    pub fn within(self, room: Room) -> Self {
        Self { outside: Paged::new(room), gone: 0, ..self }
    }

    /// A link was discovered.
    pub fn add(&mut self, node: NodeId) {
        if self.members.len() < self.size {
            self.members.insert(node);
        } else if self.size > 0 {
            self.outside.push(node.0);
        }
    }

    #[must_use]
    pub fn holds(&self, node: NodeId) -> bool {
        self.members.contains(&node)
    }

    /// A link is no longer waiting; returns the one that takes its place. `waits` tells which links still do.
    pub fn leave(&mut self, node: NodeId, waits: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        if !self.members.remove(&node) {
            return None;
        }
        while self.gone < self.outside.len() {
            let next = NodeId(self.outside.get(self.gone));
            self.gone += 1;
            if waits(next) {
                self.members.insert(next);
                return Some(next);
            }
        }
        None
    }

    #[must_use]
    pub fn resident_bytes(&self) -> usize {
        self.outside.resident_bytes()
    }

    /// # Errors
    /// As for [`Paged::check`].
    pub fn check(&self) -> io::Result<()> {
        self.outside.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_link_outside_takes_the_place_of_one_that_leaves() {
        let mut sample = Sample::of(2);
        (0..5).map(NodeId).for_each(|node| sample.add(node));
        assert!(sample.holds(NodeId(0)) && sample.holds(NodeId(1)) && !sample.holds(NodeId(2)));
        // Link 2 was finished while it waited outside.
        assert_eq!(sample.leave(NodeId(0), |node| node != NodeId(2)), Some(NodeId(3)));
        assert!(sample.holds(NodeId(3)) && !sample.holds(NodeId(0)));
        assert_eq!(sample.leave(NodeId(0), |_| true), None);
    }

    #[test]
    fn an_order_without_a_sample_keeps_nothing() {
        let mut sample = Sample::of(0);
        sample.add(NodeId(1));
        assert!(!sample.holds(NodeId(1)) && sample.outside.is_empty());
    }
}

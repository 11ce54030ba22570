//! A node of the link graph in 32 bytes.

use std::ops::Range;

use crate::spill::Fixed;

/// A page passes on its rank as if it had this many links at least: a frame or a forward with one link does not vouch
/// for it more than a list does for each of its twenty.
const FEW_LINKS: usize = 20;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Node {
    pub(super) settled: f32,
    pub(super) residual: f32,
    pub(super) relevance: f32,
    /// Start of its links in the arena, and their number plus one; 0 while it is not fetched.
    pub(super) first_edge: u32,
    pub(super) edges_plus_one: u32,
    /// Number of its site; links inside a site share one vote.
    pub(super) site: u32,
    /// `Σ settled(u)/O(u)` over the pages of its own site that link to it, and how many they are.
    pub(super) own_shares: f32,
    pub(super) own_votes: u32,
}

impl Fixed for Node {
    const SIZE: usize = 32;

    fn write(&self, bytes: &mut [u8]) {
        let Self { settled, residual, relevance, first_edge, edges_plus_one, site, own_shares, own_votes } = *self;
        let numbers = [settled, residual, relevance, own_shares].map(f32::to_bits);
        for (number, bytes) in
            numbers.into_iter().chain([first_edge, edges_plus_one, site, own_votes]).zip(bytes.chunks_exact_mut(4))
        {
            number.write(bytes);
        }
    }

    fn read(bytes: &[u8]) -> Self {
        let number = |at: usize| u32::read(&bytes[4 * at..4 * at + 4]);
        let fraction = |at: usize| f32::from_bits(number(at));
        Self {
            settled: fraction(0),
            residual: fraction(1),
            relevance: fraction(2),
            own_shares: fraction(3),
            first_edge: number(4),
            edges_plus_one: number(5),
            site: number(6),
            own_votes: number(7),
        }
    }
}

impl Node {
    pub(super) fn edge_range(&self) -> Range<usize> {
        let first = self.first_edge as usize;
        first..first + (self.edges_plus_one as usize).saturating_sub(1)
    }

    pub(super) fn is_fetched(&self) -> bool {
        self.edges_plus_one > 0
    }

    /// What one page of its own site passes on if their mean is `α · own_shares / own_votes`.
    pub(super) fn own_mean(&self, alpha: f32) -> f32 {
        alpha * self.own_shares / self.own_votes.max(1) as f32
    }
}

/// O(u) of a page with `links` admitted links.
pub(super) fn votes(links: usize) -> f32 {
    links.max(FEW_LINKS) as f32
}

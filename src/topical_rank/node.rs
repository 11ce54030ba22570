//! A node of the link graph in 24 bytes, and what only fetched ones have in 12 more.

use std::ops::Range;

use crate::spill::Fixed;

/// A page passes on its rank as if it had this many links at least: a frame or a forward with one link does not vouch
/// for it more than a list does for each of its twenty.
const FEW_LINKS: usize = 20;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Node {
    pub(super) residual: f32,
    pub(super) relevance: f32,
    /// `Σ settled(u)/O(u)` over the pages of its own site that link to it, and how many they are.
    pub(super) own_shares: f32,
    pub(super) own_votes: u32,
    /// Number of its site; links inside a site share one vote.
    pub(super) site: u32,
    /// Number of its [`Fetched`], plus one; 0 while it is not fetched, and has passed on nothing.
    pub(super) fetched_plus_one: u32,
}

/// What is known of a node that is fetched.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fetched {
    pub(super) settled: f32,
    /// Start of its links in the arena, and their number.
    pub(super) first_edge: u32,
    pub(super) edges: u32,
}

/// What a page gives to each of those it links to, or takes back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Vote {
    /// Pages more that link to them.
    pub(super) pages: i32,
    /// `settled(u)/O(u)` more.
    pub(super) share: f32,
}

impl Fixed for Node {
    const SIZE: usize = 24;

    fn write(&self, bytes: &mut [u8]) {
        let Self { residual, relevance, own_shares, own_votes, site, fetched_plus_one } = *self;
        let [residual, relevance, own_shares] = [residual, relevance, own_shares].map(f32::to_bits);
        write_words(bytes, [residual, relevance, own_shares, own_votes, site, fetched_plus_one]);
    }

    fn read(bytes: &[u8]) -> Self {
        let [residual, relevance, own_shares, own_votes, site, fetched_plus_one] = words(bytes);
        let [residual, relevance, own_shares] = [residual, relevance, own_shares].map(f32::from_bits);
        Self { residual, relevance, own_shares, own_votes, site, fetched_plus_one }
    }
}

impl Fixed for Fetched {
    const SIZE: usize = 12;

    fn write(&self, bytes: &mut [u8]) {
        let Self { settled, first_edge, edges } = *self;
        write_words(bytes, [settled.to_bits(), first_edge, edges]);
    }

    fn read(bytes: &[u8]) -> Self {
        let [settled, first_edge, edges] = words(bytes);
        Self { settled: f32::from_bits(settled), first_edge, edges }
    }
}

fn write_words<const N: usize>(bytes: &mut [u8], words: [u32; N]) {
    for (word, bytes) in words.into_iter().zip(bytes.chunks_exact_mut(4)) {
        word.write(bytes);
    }
}

fn words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    std::array::from_fn(|at| u32::read(&bytes[4 * at..4 * at + 4]))
}

impl Node {
    /// Number of its [`Fetched`].
    pub(super) fn fetched(&self) -> Option<usize> {
        (self.fetched_plus_one as usize).checked_sub(1)
    }

    pub(super) fn is_fetched(&self) -> bool {
        self.fetched_plus_one > 0
    }

    /// Takes a vote of a page of `site`. One page more or less that shares the vote of its own site changes the mean at once.
    pub(super) fn take(&mut self, vote: Vote, site: u32, alpha: f32) {
        if self.site == site {
            let before = self.own_mean(alpha);
            self.own_votes = self.own_votes.saturating_add_signed(vote.pages);
            self.own_shares += vote.share;
            self.residual += self.own_mean(alpha) - before;
        } else {
            self.residual += alpha * vote.share;
        }
    }

    /// What one page of its own site passes on if their mean is `α · own_shares / own_votes`.
    pub(super) fn own_mean(&self, alpha: f32) -> f32 {
        alpha * self.own_shares / self.own_votes.max(1) as f32
    }
}

impl Fetched {
    pub(super) fn edge_range(&self) -> Range<usize> {
        let first = self.first_edge as usize;
        first..first + self.edges as usize
    }
}

/// O(u) of a page with `links` admitted links.
pub(super) fn votes(links: usize) -> f32 {
    links.max(FEW_LINKS) as f32
}

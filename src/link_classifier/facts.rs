//! What is known of a link before its target is fetched: of its URL, of the links that lead to it and the pages they stand on.
//!
//! Never: says what that is worth (that is `learner`).

use serde::{Deserialize, Serialize};

use crate::{page::LinkContext, text::TermId, topic::Matches};

/// What is known of a link's target from its URL and its place in the link graph.
#[derive(Debug, Clone, Default)]
pub struct TargetFacts {
    /// Words of the URL's last part, and of its host and directories.
    pub file_words: Box<[TermId]>,
    pub directory_words: Box<[TermId]>,
    pub file_matches: Matches,
    pub directory_matches: Matches,
    /// Hashes of host; host and first directory; and second; and third (as many as there are).
    pub host_key: u64,
    pub directory_keys: Box<[u64]>,
    /// Hash of host and URL with digits and letters made alike.
    pub shape_key: u64,
}

/// What is known of a page that links stand on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SourceFacts {
    pub relevance: f64,
    pub title_matches: Matches,
    pub url_matches: Matches,
    /// Of the anchor that led to it.
    pub anchor_matches: Matches,
    /// Steps since the last relevant page, 0 if it is one itself.
    pub distance: u8,
}

/// What the words of a link say, by Naive Bayes; within ±4.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WordScores {
    pub anchor: f32,
    pub around: f32,
}

/// The relevance of the links beside one, near ones first.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Neighbours {
    sum: f64,
    mass: f64,
}

impl Neighbours {
    /// Adds one that stands `distance` (1 or more) links away, if that is near enough to say something.
    pub fn add(&mut self, distance: u16, relevance: impl FnOnce() -> f64) {
        /// `e^(−(distance − 1) / 2.5)`.
        const WEIGHTS: [f64; 6] = [1.0, 0.670_32, 0.449_33, 0.301_19, 0.201_90, 0.135_34];
        if let Some(weight) = WEIGHTS.get(usize::from(distance).wrapping_sub(1)) {
            self.sum += weight * relevance();
            self.mass += weight;
        }
    }

    /// Their rate, drawn to the crawl's.
    pub(super) fn rate(self, overall: f64) -> f64 {
        (overall + self.sum) / (1.0 + self.mass)
    }
}

/// One link to a target.
#[derive(Debug, Clone, Copy)]
pub struct InLinkFacts<'a> {
    pub context: &'a LinkContext,
    /// As [`LinkLearner::word_scores`](super::LinkLearner::word_scores) says.
    pub words: WordScores,
    pub anchor_matches: &'a Matches,
    pub around_matches: &'a Matches,
    pub heading_matches: &'a Matches,
    pub source: &'a SourceFacts,
    /// Identity of the page it stands on.
    pub source_key: u64,
    /// Links in the same list on that page.
    pub group_size: usize,
    /// Of the links beside it whose outcome is known.
    pub neighbours: Neighbours,
}

/// How many pages link to a target, beyond the in-links that are kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct Linkers {
    /// All pages that link to it.
    pub number: u32,
    /// Relevance, added up, of those whose in-links were not kept.
    pub forgotten_relevance: f64,
}

const GROUP: u64 = 0x9e37_79b9_7f4a_7c15;
const TAG_PATH: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PARENT: u64 = 0x1656_67b1_9e37_79f9;

fn mix(kind: u64, a: u64, b: u64) -> u64 {
    (a ^ kind).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29) ^ b.wrapping_mul(0xc4ce_b9fe_1a85_ec53)
}

/// The list that a link stands in, as outcomes are counted for it.
pub(super) fn group_key(link: &InLinkFacts<'_>) -> u64 {
    mix(GROUP, link.source_key, u64::from(link.context.group))
}

/// The page that it stands on.
pub(super) fn parent_key(link: &InLinkFacts<'_>) -> u64 {
    mix(PARENT, link.source_key, 0)
}

/// Its place in the structure of its host's pages.
pub(super) fn tag_path_key(link: &InLinkFacts<'_>, target: &TargetFacts) -> u64 {
    mix(TAG_PATH, target.host_key, u64::from(link.context.tag_path))
}

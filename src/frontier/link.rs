//! A waiting link: a discovered URL with all that is known of it.

use std::cell::Cell;

use super::{HostId, Priority};
use crate::{
    link_classifier::{Evidence, TargetFacts, WordScores},
    page::{LinkContext, Relevance, Timestamp},
    topic::Matches,
    topical_rank::NodeId,
    url::{Fingerprint, Url},
};

/// In-links kept of one waiting URL: its first discovery and the best of the rest.
pub const MAX_IN_LINKS: usize = 6;

/// A URL that waits to be fetched.
#[derive(Debug, Clone)]
pub struct Link {
    pub url: Url,
    pub fingerprint: Fingerprint,
    pub host: HostId,
    /// Order of discovery over the whole crawl.
    pub discovered: u64,
    /// Links from a seed.
    pub depth: u16,
    pub tunnel_depth: u8,
    pub facts: TargetFacts,
    pub in_links: Vec<InLinkNote>,
    /// All links that lead here from fetched pages, kept or not.
    pub in_degree: u32,
    /// Relevance of the pages whose links were not kept, added up.
    pub forgotten_relevance: f32,
    pub evidence: Evidence,
    pub estimate: Relevance,
    pub priority: Priority,
    /// Its row on disk; `None` while there is none, or an old one.
    pub filed: Option<Filed>,
    pub tries: u8,
    pub not_before: Timestamp,
}

/// A row on disk that says what is known of its link.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Filed {
    /// The priority in it.
    pub priority: Priority,
    /// Number of the batch that brought it; 0 where readers have long seen it.
    pub batch: u64,
}

/// One link that leads to a waiting URL.
#[derive(Debug, Clone, Default)]
pub struct InLinkNote {
    pub source: NodeId,
    /// Place among the admitted links of its page.
    pub ordinal: u16,
    pub context: LinkContext,
    pub heading: Box<[crate::text::TermId]>,
    pub anchor_matches: Matches,
    pub around_matches: Matches,
    pub heading_matches: Matches,
    /// What its words say, and to which [`WordsVersion`] that belongs.
    pub words: Cell<(WordsVersion, WordScores)>,
}

/// Version of the models that words are scored by: of the page model, and epoch of the link model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WordsVersion {
    pub page_model: u32,
    pub epoch: u32,
}

impl Link {
    /// Whether it is a seed, or what one redirects to.
    #[must_use]
    pub fn is_seed(&self) -> bool {
        self.in_links.is_empty() && self.depth == 0
    }

    /// Whether no page is known to lead here: seeds, and sitemaps that a robots.txt names.
    #[must_use]
    pub fn is_unlinked(&self) -> bool {
        self.in_links.is_empty()
    }

    /// Adds an in-link; when there are too many, the one from the least relevant source goes, never the first.
    /// Whether the in-links that are kept are others now.
    pub fn add_in_link(&mut self, note: InLinkNote, relevance_of: impl Fn(NodeId) -> f64) -> bool {
        let added = note.source;
        self.in_degree += 1;
        self.in_links.push(note);
        if self.in_links.len() > MAX_IN_LINKS {
            let worst = (1..self.in_links.len())
                .min_by(|&a, &b| relevance_of(self.in_links[a].source).total_cmp(&relevance_of(self.in_links[b].source)));
            let gone = self.in_links.remove(worst.unwrap_or(1));
            self.forgotten_relevance += relevance_of(gone.source) as f32;
            return gone.source != added;
        }
        true
    }
}

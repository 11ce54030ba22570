//! Crawl orders. They differ only in the priority of a link.

use serde::{Deserialize, Serialize};

use super::Link;
use crate::{
    link_classifier::{Evidence, Feature},
    topic::Matches,
};

/// What an order may look at.
#[derive(Debug, Clone, Copy)]
pub struct LinkView<'a> {
    pub link: &'a Link,
    /// Its `TopicalRank`.
    pub rank: f64,
    /// A number that is drawn once for each link, uniform in 0..1.
    pub lot: f64,
    /// Whether it is in the head of the queue that [`CrawlOrder::sample_size`] asks for.
    pub sampled: bool,
}

/// Gives each waiting link its priority; the highest is taken first.
pub trait CrawlOrder: Send + Sync {
    fn priority(&self, view: &LinkView<'_>) -> f64;

    /// Whether priorities change as the crawl learns, so that links must be scored anew.
    fn learns(&self) -> bool;

    /// Whether a link's priority is its rank, so that one that is not in memory can be compared.
    fn goes_by_rank(&self) -> bool {
        false
    }

    /// The relevance that ranks are computed from, given the real one; `PageRank` is blind to it.
    fn rank_input(&self, relevance: f64) -> f64 {
        relevance
    }

    /// How many of the links that were found first are compared; the others wait their turn. 0 where all are compared.
    fn sample_size(&self) -> usize {
        0
    }

    /// Whether the links that pages of a site give each other count as one vote in ranks; `PageRank` counts each.
    fn one_vote_per_site(&self) -> bool {
        true
    }
}

/// The orders a user can choose from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// `TopicalRank` over page relevance and the learned link classifier (the default).
    #[default]
    Topical,
    /// The learned link classifier's estimate alone.
    BestFirst,
    /// Share of the keywords in anchor text and URL.
    Keyword,
    /// Relevance of the page the link was found on.
    Parent,
    /// First found, first fetched.
    BreadthFirst,
    /// Last found, first fetched.
    DepthFirst,
    /// Of the 200 links found first, the best by context and anchor (Sydney; Castillo et al. 2006).
    Sydney,
    /// `PageRank` mass by online page importance (OPIC); blind to the topic.
    Pagerank,
    /// Links of pages whose other links led to the topic (HITS-like hubs).
    Hub,
    /// Uniformly random.
    Random,
}

impl Order {
    /// The name used on the command line and in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Topical => "topical",
            Self::BestFirst => "best-first",
            Self::Keyword => "keyword",
            Self::Parent => "parent",
            Self::BreadthFirst => "breadth-first",
            Self::DepthFirst => "depth-first",
            Self::Sydney => "sydney",
            Self::Pagerank => "pagerank",
            Self::Hub => "hub",
            Self::Random => "random",
        }
    }
}

impl CrawlOrder for Order {
    fn priority(&self, view: &LinkView<'_>) -> f64 {
        let evidence = &view.link.evidence;
        match self {
            Self::Topical | Self::Pagerank => view.rank,
            Self::BestFirst => view.link.estimate.get(),
            Self::Keyword => keyword_overlap(view.link),
            Self::Parent => evidence.get(Feature::ParentBest),
            Self::Sydney if view.sampled => link_score(evidence),
            Self::BreadthFirst | Self::Sydney => -(view.link.discovered as f64),
            Self::DepthFirst => view.link.discovered as f64,
            Self::Hub => evidence.get(Feature::Siblings) + evidence.get(Feature::Group),
            Self::Random => view.lot,
        }
    }

    fn learns(&self) -> bool {
        !matches!(self, Self::BreadthFirst | Self::DepthFirst | Self::Random | Self::Keyword)
    }

    fn goes_by_rank(&self) -> bool {
        matches!(self, Self::Topical | Self::Pagerank)
    }

    fn rank_input(&self, relevance: f64) -> f64 {
        if *self == Self::Pagerank { 1.0 } else { relevance }
    }

    fn sample_size(&self) -> usize {
        if *self == Self::Sydney { 200 } else { 0 }
    }

    fn one_vote_per_site(&self) -> bool {
        *self != Self::Pagerank
    }
}

/// `LinkScore` = `URLScore` (the context it was found in: relevance of the page, words around) + `AnchorScore` (systems.md 4).
fn link_score(evidence: &Evidence) -> f64 {
    let url_score = f64::midpoint(evidence.get(Feature::ParentBest), evidence.get(Feature::ContextKeywords));
    url_score + evidence.get(Feature::AnchorKeywords)
}

/// Keywords in the best anchor and in the URL, by number.
fn keyword_overlap(link: &Link) -> f64 {
    let number = |matches: &Matches| matches.iter().map(|&(_, share)| f64::from(share)).sum::<f64>();
    let anchor = link.in_links.iter().map(|note| number(&note.anchor_matches)).fold(0.0, f64::max);
    anchor + number(&link.facts.file_matches) + number(&link.facts.directory_matches)
}

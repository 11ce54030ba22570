//! What a crawl is asked to do: the topic as the engine needs it, and the `[crawl]` section.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Ingredient, Limits};
use crate::{
    frontier::{FrontierConfig, Order},
    link_classifier::TrainedLinkModel,
    page_classifier::{PageClassifierConfig, TrainedPageModel},
    parse::ParseConfig,
    politeness::PaceConfig,
    text::Segmenter,
    topic::KeywordSet,
    topical_rank::RankConfig,
    url::{Scope, Url},
};

/// The `[crawl]` section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineConfig {
    /// Fetches that run at a time, over all hosts.
    pub workers: usize,
    pub order: Order,
    /// Seed of all randomness.
    pub seed: u64,
    /// Share of fetches taken at random from the frontier, as an unbiased control (0..0.5).
    pub control_share: f64,
    /// No control fetches in crawls limited to fewer pages than this.
    pub control_from_pages: u64,
    /// Links scored anew after each fetch, at most.
    pub rescore_budget: usize,
    /// Tries of a URL whose failure may pass.
    pub max_tries: u8,
    /// Ignore `rel=nofollow` and `meta robots nofollow` where false.
    pub obey_nofollow: bool,
    /// Longest time between two commits, in milliseconds.
    pub commit_every_ms: u64,
    /// Visits in one commit, at most.
    pub commit_visits: usize,
    /// Ingredients of the focus to do without, to measure what they are worth.
    pub without: Vec<Ingredient>,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            workers: 10,
            order: Order::Topical,
            seed: 1,
            control_share: 0.02,
            control_from_pages: 500,
            rescore_budget: 400,
            max_tries: 3,
            obey_nofollow: true,
            commit_every_ms: 1_000,
            commit_visits: 64,
            without: Vec::new(),
        }
    }
}

/// All that a crawl is started with.
#[derive(Clone)]
pub struct CrawlPlan {
    pub keywords: Arc<KeywordSet>,
    pub seeds: Vec<Url>,
    pub segmenter: Arc<Segmenter>,
    pub scope: Scope,
    /// Relevance from which a page counts as relevant.
    pub threshold: f64,
    /// Irrelevant pages in a row that are followed.
    pub tunnel_depth: u8,
    pub limits: Limits,
    pub engine: EngineConfig,
    pub frontier: FrontierConfig,
    pub pace: PaceConfig,
    pub parse: ParseConfig,
    pub rank: RankConfig,
    pub page_classifier: PageClassifierConfig,
    /// Models trained before.
    pub trained: Option<Arc<TrainedPageModel>>,
    pub trained_links: Option<TrainedLinkModel>,
    pub examples: Vec<Example>,
    /// The crawler's token in robots.txt.
    pub agent: String,
}

/// A page given as an example of the topic, or of what it is not.
#[derive(Debug, Clone)]
pub struct Example {
    pub terms: Arc<crate::page::TermBag>,
    pub relevant: bool,
}

//! What a crawl is asked to do: the topic as the engine needs it, and the `[crawl]` section.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Ingredient, Limits, Memory, QueueAssignment};
use crate::{
    frontier::{FrontierConfig, Order, Traps},
    link_classifier::TrainedLinkModel,
    page_classifier::{PageClassifierConfig, TrainedPageModel},
    parse::ParseConfig,
    politeness::PaceConfig,
    text::Segmenter,
    topic::KeywordSet,
    topical_rank::RankConfig,
    url::{Fingerprint, Scope, Url},
};

/// Which pages' links are followed (Chakrabarti et al. 1999 call the extremes hard and soft focus).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Focus {
    /// Those of relevant pages, and of irrelevant ones as far as the topic's `tunnel_depth` (the default).
    #[default]
    Tunnel,
    /// Those of relevant pages only.
    Hard,
    /// All; relevance decides only which comes first.
    Soft,
}

impl Focus {
    /// How many irrelevant pages in a row are followed, where the topic asks for `tunnel_depth`.
    #[must_use]
    pub fn depth(self, tunnel_depth: u8) -> u8 {
        match self {
            Self::Tunnel => tunnel_depth,
            Self::Hard => 0,
            Self::Soft => u8::MAX,
        }
    }
}

/// The `[crawl]` section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EngineConfig {
    /// Fetches that run at a time, over all hosts.
    pub workers: usize,
    pub order: Order,
    pub focus: Focus,
    /// `host`, or `hash(n)`: n requests to one host may overlap, at its pace.
    pub queues: QueueAssignment,
    /// Seed of all randomness.
    pub seed: u64,
    /// Share of fetches taken at random from the frontier, as an unbiased control (0..0.5).
    pub control_share: f64,
    /// No control fetches in crawls limited to fewer pages than this.
    pub control_from_pages: u64,
    /// Links scored anew after each fetch, at most; half as many from 500 pages on, a third from 1,000, and so on.
    pub rescore_budget: usize,
    /// How fast the pages of one host lose their worth: it is multiplied by (1 + fetched from the host / 100) to the power of
    /// minus this. 0: a host may take the whole crawl; 1: many hosts, few pages of each.
    pub site_diversity: f64,
    /// Tries of a URL whose failure may pass.
    pub max_tries: u8,
    /// Ignore `rel=nofollow` and `meta robots nofollow` where false.
    pub obey_nofollow: bool,
    /// Keep pages that ask not to be indexed out of the results.
    pub obey_noindex: bool,
    /// Sitemaps and feeds read of one host, at most, and links taken of each.
    pub lists_per_host: u32,
    pub links_per_list: usize,
    /// Stop when all that is left has to wait for longer than this.
    pub max_idle_minutes: u64,
    /// Longest time between two commits, in milliseconds.
    pub commit_every_ms: u64,
    /// Visits in one commit, at most.
    pub commit_visits: usize,
    /// Memory that the crawl may take, in all.
    pub memory: Memory,
    /// Ingredients of the focus to do without, to measure what they are worth.
    pub without: Vec<Ingredient>,
}

impl Default for EngineConfig {
    fn default() -> Self {
        Self {
            workers: 10,
            order: Order::Topical,
            focus: Focus::Tunnel,
            queues: QueueAssignment::Host,
            seed: 1,
            control_share: 0.02,
            control_from_pages: 500,
            rescore_budget: 60,
            site_diversity: 0.15,
            max_tries: 3,
            obey_nofollow: true,
            obey_noindex: true,
            lists_per_host: 10,
            links_per_list: 1_000,
            max_idle_minutes: 15,
            commit_every_ms: 1_000,
            commit_visits: 64,
            memory: Memory::default(),
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
    /// The watch on traps, which knows nothing yet.
    pub traps: Traps,
    pub parse: ParseConfig,
    pub rank: RankConfig,
    pub page_classifier: PageClassifierConfig,
    /// Models trained before.
    pub trained: Option<Arc<TrainedPageModel>>,
    pub trained_links: Option<TrainedLinkModel>,
    pub examples: Vec<Example>,
    /// What people said of pages that the crawl has fetched; they teach it when it goes on.
    pub labels: BTreeMap<Fingerprint, bool>,
    /// The crawler's token in robots.txt.
    pub agent: String,
}

/// A page given as an example of the topic, or of what it is not.
#[derive(Debug, Clone)]
pub struct Example {
    pub terms: Arc<crate::page::TermBag>,
    pub relevant: bool,
    /// Of a page that a person judged in an earlier crawl: what the trained model would add to its log-odds if it had not been
    /// trained on it.
    pub evidence: Option<f64>,
}

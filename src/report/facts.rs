//! What the report is made from: the rows of the store, and the facts that no row holds.

use crate::{
    fetch::DnsCounts,
    page::Timestamp,
    store::{CrawlState, HostRecord, OutlinkRecord, PageRecord},
    text::Language,
    url::Fingerprint,
};

/// Whatever the owner of the rows says went wrong while reading them.
pub type RowError = Box<dyn std::error::Error + Send + Sync>;

/// A stream of rows, each read when it is asked for.
pub type RowStream<'a, T> = Box<dyn Iterator<Item = Result<T, RowError>> + 'a>;

/// The rows of one crawl, as one consistent snapshot.
pub trait Rows {
    /// All finished URLs by ascending `seq`.
    fn pages(&self) -> RowStream<'_, PageRecord>;

    /// All known hosts, in any order.
    fn hosts(&self) -> RowStream<'_, HostRecord>;

    /// The outlinks of the page with this `seq`; empty where it has none.
    ///
    /// # Errors
    /// The rows cannot be read.
    fn outlinks(&self, seq: u64) -> Result<Vec<OutlinkRecord>, RowError>;

    /// The finished URL with this fingerprint.
    ///
    /// # Errors
    /// The rows cannot be read.
    fn page_by_fingerprint(&self, fingerprint: Fingerprint) -> Result<Option<PageRecord>, RowError>;
}

/// What the report tells of a crawl beyond its rows.
#[derive(Debug, Clone, Default)]
pub struct CrawlFacts {
    pub topic_name: String,
    pub keywords: Vec<String>,
    pub seeds: Vec<String>,
    /// Relevance in `0..=1` from which a page counts as relevant.
    pub threshold: f64,
    /// Name of the frontier's order.
    pub order: String,
    pub state: CrawlState,
    /// `None` while the crawl is running.
    pub stop: Option<Stop>,
    /// When the crawl began; the first page's time stands in where it is not known.
    pub started: Option<Timestamp>,
    /// The crawl ran on a recorded web: its times are those of a virtual clock.
    pub virtual_time: bool,
    /// How names were looked up; `None` for a recorded web.
    pub dns: Option<DnsCounts>,
    /// Versions of the page model that judged pages.
    pub model_versions: u32,
    /// The page model's weightiest words, weights above 0, in any order.
    pub top_terms: Vec<(String, f64)>,
    /// What the link model weighs; empty for orders that learn nothing.
    pub link_weights: Vec<LinkWeight>,
    /// `Zh` writes `report.html` in Chinese, everything else in English.
    pub language: Language,
}

/// Why a crawl stopped.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Stop {
    /// The reason's name, for machines.
    pub name: String,
    /// The reason in words, in the language of the report.
    pub words: String,
}

/// One evidence of the link model.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkWeight {
    /// The evidence's name, as it is to be read.
    pub name: String,
    /// Weight (log-odds) before the first page.
    pub prior: f64,
    /// Weight at the end.
    pub now: f64,
}

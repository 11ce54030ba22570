//! `summary.json`: the figures of a crawl, for machines; `report.html` tells the same figures.
//!
//! Promises: within one `schema_version` fields are added, never renamed,
//! removed or given another meaning. Shares are 0 to 1 and `null` where there
//! is nothing to take a share of; times are RFC 3339 in UTC, durations
//! milliseconds, sizes bytes of decoded bodies.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{
    drift::Drift,
    facts::Stop,
    forecast::Forecast,
    harvest::HarvestPoint,
    link_quality::LinkModelQuality,
    share::{ShareEstimate, Yield},
};

pub(super) const SCHEMA_VERSION: u32 = 1;

/// The figures of a crawl.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    pub schema_version: u32,
    pub topic: String,
    pub order: String,
    pub threshold: f64,
    /// `null` while the crawl is running.
    pub stop: Option<Stop>,
    pub timing: Timing,
    pub pages: PageCounts,
    pub harvest: Harvest,
    /// What going on would bring; `null` where nothing was fetched or nothing waits.
    pub forecast: Option<Forecast>,
    /// By ISO 639-1 code; `und` for all languages but Chinese and English.
    pub languages: BTreeMap<&'static str, Yield>,
    /// By links from a seed.
    pub depths: Vec<DepthYield>,
    /// By irrelevant pages in a row above the page.
    pub tunnel: Vec<DepthYield>,
    pub arms: Arms,
    pub link_model: LinkModelQuality,
    pub model_versions: u32,
    pub links: LinkCounts,
    pub hosts: HostCounts,
    /// `null` for a recorded web.
    pub dns: Option<Dns>,
    pub decoding: Decoding,
    pub copies: Copies,
    pub drift: Drift,
}

/// When the crawl ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Timing {
    pub started: Option<String>,
    pub finished: Option<String>,
    /// Running time over all sessions.
    pub elapsed_ms: u64,
    /// Mean and longest time of a request that was answered.
    pub mean_answer_ms: Option<u64>,
    pub longest_answer_ms: Option<u64>,
    /// The clock was that of a replay.
    pub virtual_time: bool,
}

/// Finished URLs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct PageCounts {
    pub finished: u64,
    /// All but the excluded: the rows of `pages.csv`.
    pub requested: u64,
    pub fetched: u64,
    pub relevant: u64,
    pub duplicates: u64,
    pub bytes: u64,
    pub by_outcome: BTreeMap<&'static str, u64>,
    /// By HTTP status; 0 where no answer came.
    pub by_status: BTreeMap<u16, u64>,
    /// Why URLs were excluded, by the reason up to its first `: `.
    pub excluded: BTreeMap<String, u64>,
    /// Why requests failed, likewise.
    pub failed: BTreeMap<String, u64>,
}

/// Relevant pages per fetched page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Harvest {
    pub overall: Option<f64>,
    pub last_100: Option<f64>,
    pub last_1000: Option<f64>,
    /// At most 200 points at equal steps, the last page among them.
    pub series: Vec<HarvestPoint>,
}

/// Fetched pages of one depth.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct DepthYield {
    pub depth: u16,
    #[serde(flatten)]
    pub pages: Yield,
    pub harvest: Option<f64>,
}

/// Fetched pages by why the frontier gave their URL out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Arms {
    pub seed: Arm,
    /// Taken for their promise.
    pub order: Arm,
    /// Taken at random from all that waited: the control.
    pub random: Arm,
    /// Taken unlike what was tried, while the order had lost the topic.
    pub explored: Arm,
}

/// One arm of [`Arms`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Arm {
    #[serde(flatten)]
    pub pages: Yield,
    /// Harvest with its 95 % interval (Wilson).
    pub share: Option<ShareEstimate>,
}

/// Links that were found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LinkCounts {
    /// Distinct URLs that entered the frontier.
    pub discovered: u64,
    /// URLs that still wait.
    pub waiting: u64,
    /// Outlinks by their `fate` in `links.csv`.
    pub by_fate: BTreeMap<String, u64>,
    /// Outlinks refused, by rule, as the crawl counted them.
    pub refused: BTreeMap<String, u64>,
    /// URL templates in quarantine when the crawl stopped, with the waiting links that are held back for each.
    pub quarantined: BTreeMap<String, u64>,
}

/// Servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct HostCounts {
    pub known: u64,
    /// Hosts that were sent a request, robots.txt included.
    pub asked: u64,
    pub with_relevant: u64,
    /// Hosts that asked to slow down at least once.
    pub throttled: u64,
    pub requests: u64,
}

/// Host names that were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Dns {
    /// Asked of a name server, and without an address.
    pub lookups: u64,
    pub failures: u64,
    /// Answered from the cache.
    pub cache_hits: u64,
    /// Mean time of a lookup.
    pub mean_ms: Option<u64>,
}

/// How well bodies could be turned into text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decoding {
    /// Fetched pages by character encoding.
    pub charsets: BTreeMap<String, u64>,
    /// Fetched pages with bytes that are not valid in their encoding; they were replaced by U+FFFD.
    pub damaged: u64,
    /// `damaged` per fetched page.
    pub damaged_rate: Option<f64>,
}

/// Documents that came more than once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Copies {
    /// The same bytes.
    pub exact: u64,
    /// Nearly the same words.
    pub near: u64,
    /// Another address of a page, by its `rel=canonical`.
    pub canonical: u64,
    /// Pages that have copies.
    pub clusters: u64,
    /// The largest clusters, at most 20.
    pub largest: Vec<Cluster>,
}

/// A page and its copies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cluster {
    /// `seq` of the page.
    pub original: u64,
    pub copies: u64,
    /// Address of the first copy.
    pub first_copy: String,
}

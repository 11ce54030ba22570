//! Rows of a crawl: pages, hosts, waiting links, templates, lines of its log.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A finished URL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PageItem {
    pub seq: u64,
    pub url: String,
    pub title: String,
    pub host: String,
    /// HTTP status; 0 where no answer came.
    pub status: u16,
    pub outcome: String,
    pub relevance: f64,
    pub relevant: bool,
    pub language: String,
    pub depth: u16,
    pub tunnel: u8,
    /// `seed`, `order`, `random` or `explored`.
    pub chosen: String,
    #[schema(format = DateTime)]
    pub fetched: String,
    /// What a person said.
    pub label: Option<bool>,
    /// The start of its text.
    pub snippet: String,
}

/// A host.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct HostItem {
    pub host: String,
    pub fetched: u64,
    pub relevant: u64,
    /// Waiting links; at most 100000 are counted.
    pub waiting: u64,
    pub delay_ms: u64,
    #[schema(format = DateTime)]
    pub backoff_until: Option<String>,
    pub requests: u64,
    /// Times that it asked to slow down (429, 503).
    pub refused_429: u64,
    /// What became of its robots.txt.
    pub robots: String,
    pub bytes: u64,
}

/// A link that waits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WaitingItem {
    pub url: String,
    pub host: String,
    /// Greater is sooner; comparable within a crawl.
    pub priority: f64,
    /// What the link classifier expects of it, 0..=1.
    pub estimate: f64,
    pub tunnel_depth: u8,
    /// The page it was found on; `null` for seeds.
    pub from_url: Option<String>,
    pub anchor: String,
}

/// A change to what waits. Give `url` or `pattern`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Steering {
    pub action: Action,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// A regular expression over URLs; it holds for links that are found later, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub pattern: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Fetch before all others.
    Boost,
    /// Never fetch.
    Exclude,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Changed {
    /// Waiting links in memory that were moved or taken out.
    pub changed: u64,
}

/// A URL template in quarantine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TrapItem {
    pub template: String,
    /// `stale` (nothing new) or `dry` (nothing relevant); `held` while the crawl does not run.
    pub state: String,
    /// Fetches, and the share of them that paid; `null` while the crawl does not run.
    pub fetched: Option<u64>,
    #[serde(rename = "yield")]
    pub yielded: Option<f64>,
    /// Links held back.
    pub held: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    pub template: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Released {
    pub released: u64,
}

/// A line of a crawl's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogLine {
    #[schema(format = DateTime)]
    pub at: String,
    /// `info`, `warn` or `error`.
    pub level: String,
    pub message: String,
}

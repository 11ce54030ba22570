//! Crawls.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Alert;

/// What a crawl is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Waits for its turn.
    Queued,
    Running,
    Paused,
    Stopping,
    /// Not running; it can go on.
    Stopped,
    /// Its limit, goal or edge was reached.
    Finished,
    Failed,
}

/// A crawl in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CrawlSummary {
    pub id: String,
    pub name: String,
    pub topic_name: String,
    pub state: State,
    /// Why the last run ended, as `summary.json` names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub stop_reason: Option<String>,
    /// What went wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub error: Option<String>,
    #[schema(format = DateTime)]
    pub created: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    pub started: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    pub finished: Option<String>,
    /// Pages, and those of them that are relevant.
    pub fetched: u64,
    pub relevant: u64,
    /// Share of relevant pages among the last 100.
    pub recent_harvest: f64,
    pub waiting: u64,
    pub active_hosts: u64,
    /// Fetches under way.
    pub running: u64,
    pub bytes: u64,
    /// Time the crawl has run, in its own time.
    pub elapsed_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub max_pages: Option<u64>,
    /// Lately, in real time.
    pub pages_per_second: f64,
    /// Recent harvest over time, 0..=1; at most 40 numbers.
    pub spark: Vec<f64>,
    /// The server that it runs on, if that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub server: Option<String>,
    pub alerts: Vec<Alert>,
}

/// A crawl.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Crawl {
    #[serde(flatten)]
    pub summary: CrawlSummary,
    pub topic_toml: String,
    pub keywords: Vec<String>,
    pub seeds: Vec<String>,
    pub source: Source,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub model: Option<String>,
    pub order: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub schedule: Option<Schedule>,
    /// Its runs, the last 50, the oldest first.
    pub runs: Vec<Run>,
    /// Where it lies on the server.
    pub folder: String,
    pub hosts_in_backoff: u64,
    pub model_version: u32,
    pub memory: MemoryUse,
    pub tunnel: Vec<TunnelDepth>,
    /// Pages that were chosen at random; `null` while there are none.
    pub control: Option<Control>,
}

/// Where pages come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Web,
    /// The demo web that is part of windrow.
    Demo,
    /// A recorded web in the server's folder of recordings, by the name of its file.
    Recording(String),
}

/// A run of a crawl, from its start to its stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[allow(clippy::struct_field_names, reason = "the interface says so")]
pub struct Run {
    /// From 1.
    pub run: u64,
    #[schema(format = DateTime)]
    pub started: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, format = DateTime)]
    pub finished: Option<String>,
    /// Pages of this run.
    pub fetched: u64,
    pub relevant: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub stop_reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct MemoryUse {
    /// The most that was in use, as far as windrow knows; 0 before the first run ended.
    pub peak_bytes: u64,
    pub ceiling_bytes: u64,
}

/// What links at one tunnel depth have brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct TunnelDepth {
    pub depth: u8,
    pub fetched: u64,
    pub relevant: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
pub struct Control {
    pub fetched: u64,
    pub relevant: u64,
}

/// A crawl to be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateCrawl {
    /// 1 to 100 characters [default: the topic's name].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 100)]
    pub name: Option<String>,
    /// The text of a topic file. It, or `topic_fields`; a demo crawl has a topic of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic_fields: Option<TopicFields>,
    #[serde(default = "the_web")]
    pub source: Source,
    /// A model of the server's, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// A crawl order, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub max_pages: Option<u64>,
    /// Least time between two requests to a host, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(maximum = 3_600_000)]
    pub delay_ms: Option<u64>,
    /// Fetches at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 500)]
    pub workers: Option<u32>,
    /// Such as `600MiB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// Pages a second at most, in real time, 0.01 to 10000: so that a recorded web can be watched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0.01, maximum = 10_000.0)]
    pub pages_per_second: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Schedule>,
    /// Start it at once.
    #[serde(default = "yes")]
    pub start: bool,
}

fn the_web() -> Source {
    Source::Web
}

fn yes() -> bool {
    true
}

/// A topic without a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TopicFields {
    pub keywords: Vec<String>,
    pub seeds: Vec<String>,
    /// `zh`, `en` or another code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// When a crawl runs again by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// A cron expression, such as `0 3 * * *`; it, or `every_minutes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 5_256_000)]
    pub every_minutes: Option<u32>,
    /// Such as `Asia/Shanghai`.
    #[serde(default = "utc")]
    pub time_zone: String,
    pub recrawl: Recrawl,
    #[serde(default = "yes")]
    pub enabled: bool,
    /// When it runs next; told by the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(read_only, format = DateTime)]
    pub next: Option<String>,
}

fn utc() -> String {
    "UTC".to_owned()
}

/// What a scheduled run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Recrawl {
    /// Asks for the relevant pages again, and fetches those that have changed.
    Refresh,
    /// Goes on where the crawl stopped, with as many pages more as it was made with.
    Continue,
}

/// The course of a crawl.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Metrics {
    pub points: Vec<Point>,
    pub by_day: Vec<Day>,
}

/// How a crawl stood after so many pages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Point {
    pub pages: u64,
    pub elapsed_ms: u64,
    #[schema(format = DateTime)]
    pub at: String,
    /// Share of relevant pages, of all and of the last 100.
    pub harvest: f64,
    pub recent_harvest: f64,
    /// Of pages chosen at random; `null` while there are none.
    pub control_harvest: Option<f64>,
    pub waiting: u64,
    pub pages_per_second: f64,
    /// Failed fetches so far.
    pub errors: u64,
}

/// What a day brought.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[allow(clippy::struct_field_names, reason = "the interface says so")]
pub struct Day {
    /// In UTC.
    #[schema(format = Date)]
    pub day: String,
    pub fetched: u64,
    pub relevant: u64,
    /// Pages that were asked for again.
    pub changed: u64,
    pub unchanged: u64,
    pub gone: u64,
}

/// Two crawls beside each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Comparison {
    pub a: Compared,
    pub b: Compared,
    pub shared_pages: u64,
    pub only_a: u64,
    pub only_b: u64,
    pub shared_relevant: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Compared {
    #[serde(flatten)]
    pub summary: CrawlSummary,
    pub points: Vec<Point>,
}

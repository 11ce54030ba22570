//! The rows of the store, and the batch that the engine hands to the writer.

use serde::{Deserialize, Serialize};

use crate::{
    fetch::{SentRequest, Validators},
    page::{LinkContext, Outcome, Relevance, TermBag, Timestamp},
    text::{Language, TermId},
    url::{Fingerprint, Refusal},
};

/// One finished URL: its fate and all that was learnt from it. Key: `seq`, 1-based, in the order of commit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageRecord {
    pub seq: u64,
    pub url: String,
    pub fingerprint: Fingerprint,
    pub outcome: Outcome,
    /// HTTP status, 0 where no answer came.
    pub status: u16,
    /// Why it failed or was excluded, in words; where a redirect points; what it duplicates.
    pub reason: Option<String>,
    pub relevance: Relevance,
    /// `relevance` reached the topic's threshold when the page was judged.
    pub relevant: bool,
    /// Frontier priority with which it was taken.
    pub priority: f64,
    /// The link classifier's estimate when it was taken.
    pub estimate: Relevance,
    /// Links from a seed.
    pub depth: u16,
    /// Irrelevant pages in a row above this one (0: its best parent is relevant, or it is a seed).
    pub tunnel_depth: u8,
    pub host: String,
    /// The page it was first found on; `None` for seeds.
    pub source: Option<Fingerprint>,
    pub source_url: Option<String>,
    pub anchor: String,
    pub fetched_at: Timestamp,
    pub elapsed_ms: u32,
    /// Decoded body.
    pub bytes: u64,
    pub content_type: String,
    pub charset: String,
    pub language: Language,
    pub title: String,
    /// The start of the text, for reports.
    pub excerpt: String,
    pub model_version: u32,
    /// xxh3 of the body.
    pub digest: u64,
    /// Near-duplicate fingerprint of the words (simhash), 0 where there are none.
    pub simhash: u64,
    pub archive: Option<ArchivePlace>,
    /// The link classifier's evidence when it was taken, for resume and retraining.
    pub evidence: Vec<f32>,
    /// The page's words with weighted counts, most telling first, bounded; for resume and retraining.
    pub terms: TermBag,
    /// Settled `TopicalRank`.
    pub rank: f64,
    /// `TopicalRank` residual that is not pushed on.
    pub residual: f64,
    /// Whether a link was taken for its promise, at random (control arm), or as a seed.
    pub chosen: Chosen,
    /// Bytes that are not valid in `charset` were replaced.
    pub had_decode_errors: bool,
    /// The page that a duplicate is a copy of.
    pub copy_of: Option<CopyOf>,
    /// What the server gave to ask again with.
    pub validators: Validators,
}

/// Which page a duplicate repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopyOf {
    /// `seq` of the first page of its kind.
    pub seq: u64,
    pub kind: CopyKind,
}

/// How a duplicate was known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyKind {
    /// The same bytes.
    Exact,
    /// Nearly the same words.
    Near,
    /// Its `rel=canonical` says so, and its words agree.
    Canonical,
}

/// Why the frontier gave a URL out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Chosen {
    #[default]
    Seed,
    Order,
    /// A uniformly random waiting URL: unbiased evidence of what the frontier holds.
    Random,
    /// Unlike what was tried, while the order had lost the topic.
    Explored,
}

/// Where a capture lies in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArchivePlace {
    /// `archive/00001.warc.gz` is file 1.
    pub file: u32,
    pub offset: u64,
    pub length: u64,
}

/// A discovered URL that waits to be fetched. Key: its fingerprint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkRecord {
    pub url: String,
    /// Order of discovery.
    pub discovered: u64,
    pub depth: u16,
    pub tunnel_depth: u8,
    /// The best-scored links that lead here, the first discovery among them; bounded.
    pub in_links: Vec<InLink>,
    /// All links that lead here from fetched pages.
    pub in_degree: u32,
    /// Relevance of the pages whose links are not among `in_links`, added up.
    pub forgotten_relevance: f32,
    /// Failed tries so far.
    pub tries: u8,
    /// Not before this time (retry), where set.
    pub not_before: Timestamp,
    /// Priority and estimate are kept to the precision of 32 bits.
    pub priority: f64,
    pub estimate: Relevance,
}

/// One link that leads to a waiting URL; page and ordinal stand for it, and its context never changes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InLink {
    /// `seq` of the page it stands on.
    pub source: u64,
    /// Place among the admitted links of its page.
    pub ordinal: u16,
    pub context: LinkContext,
    /// Words of the nearest heading.
    pub heading: Box<[TermId]>,
}

/// An in-link of a waiting URL that is on disk only.
#[derive(Debug, Clone, PartialEq)]
pub struct AddedInLink {
    pub in_link: InLink,
    /// Links from a seed by this one.
    pub depth: u16,
    pub tunnel_depth: u8,
}

/// What became of one outlink of a page, for `links.csv` and `why`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutlinkRecord {
    pub target: Fingerprint,
    pub url: String,
    pub anchor: String,
    pub fate: OutlinkFate,
}

/// What the engine did with an outlink.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutlinkFate {
    /// New, and now waiting.
    Queued,
    /// Known already.
    Known,
    /// A scope rule kept it out.
    Refused(Refusal),
    /// `rel=nofollow`, or the page asks not to follow.
    NoFollow,
    /// Too many irrelevant pages in a row above it.
    TunnelEnd,
    /// Not part of the recorded web.
    NotRecorded,
}

/// What is remembered of a host.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct HostRecord {
    pub name: String,
    pub requests: u64,
    pub fetched: u64,
    pub relevant: u64,
    pub failures: u64,
    pub throttled: u64,
    pub bytes: u64,
    /// Not to be asked before this time.
    pub next_ready: Timestamp,
    /// The delay that is in force, and the one robots.txt asks for.
    pub delay_ms: u64,
    pub crawl_delay_ms: Option<u64>,
    pub last_elapsed_ms: u64,
    /// The shortest time that was left between two requests.
    pub shortest_pause_ms: Option<u64>,
    /// Doublings of the time out that are not forgiven yet, and when the last time out ends.
    pub strikes: u32,
    pub trouble_until: Timestamp,
    /// When it was asked for the first time.
    pub first_asked: Option<Timestamp>,
    /// robots.txt as it was fetched: status, time, text (capped).
    pub robots: Option<RobotsRecord>,
}

/// A robots.txt as fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RobotsRecord {
    pub status: u16,
    pub fetched_at: Timestamp,
    pub text: String,
    /// Since when it has been out of reach, and how often in a row it was asked for in vain.
    pub unreachable_since: Option<Timestamp>,
    pub failures: u32,
    /// What the server gave to ask again with.
    pub validators: Validators,
}

/// Counters and small state of the whole crawl; one row.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct CrawlState {
    pub pages: u64,
    /// Documents that came: pages fetched, duplicates among them.
    pub fetched: u64,
    pub relevant: u64,
    pub discovered: u64,
    pub bytes: u64,
    /// Outlinks refused, by rule name, and those outside a closed recorded web under `not-recorded`.
    pub refused: std::collections::BTreeMap<String, u64>,
    /// Quarantined URL templates, with the waiting links that are held back for each.
    pub quarantined: std::collections::BTreeMap<String, u64>,
    /// Links to count in `waiting`, for the check on opening.
    pub waiting: u64,
    pub now: Timestamp,
    /// Time the crawl has been running, over all its sessions.
    pub elapsed_ms: u64,
    pub random_state: u64,
    /// Why the last session stopped; `None` while running.
    pub stop: Option<String>,
}

/// A capture for the archive.
#[derive(Debug, Clone)]
pub struct Capture {
    /// `seq` of the page it belongs to; 0 where it belongs to none (robots.txt).
    pub seq: u64,
    pub url: String,
    pub fetched_at: Timestamp,
    pub address: Option<std::net::IpAddr>,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Path and headers that were sent for it; `None` where nothing was, as in a replay.
    pub request: Option<SentRequest>,
}

/// Changes that belong together: committed whole or not at all.
#[derive(Debug, Default)]
pub struct Batch {
    pub pages: Vec<PageRecord>,
    /// Pages that were fetched again and have changed: each takes the place of its row.
    pub renewed: Vec<PageRecord>,
    /// Outlinks by the `seq` of their page; those of a renewed page take the place of its earlier ones.
    pub outlinks: Vec<(u64, Vec<OutlinkRecord>)>,
    /// Waiting URLs, new or changed.
    pub waiting: Vec<(Fingerprint, LinkRecord)>,
    /// One more in-link for URLs that wait already.
    pub in_links: Vec<(Fingerprint, AddedInLink)>,
    /// New priorities of URLs that wait already.
    pub priorities: Vec<(Fingerprint, f64)>,
    /// URLs that wait no longer.
    pub finished: Vec<Fingerprint>,
    /// Ranks of fetched pages that changed: `seq`, rank, residual.
    pub ranks: Vec<(u64, f64, f64)>,
    /// Relevances that were judged anew: `seq`, relevance.
    pub relevances: Vec<(u64, Relevance)>,
    pub hosts: Vec<HostRecord>,
    /// Model snapshots by name.
    pub models: Vec<(String, Vec<u8>)>,
    /// What a model has learnt in this batch, to be learnt again after its snapshot.
    pub lessons: Option<Vec<u8>>,
    /// The snapshot in this batch holds all lessons before it.
    pub lessons_are_kept: bool,
    pub captures: Vec<Capture>,
    pub state: Option<CrawlState>,
}

//! When a crawl is over, and why it stopped.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The `[limits]` of a crawl; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Pages fetched, seeds included.
    pub max_pages: Option<u64>,
    /// Decoded bytes.
    pub max_bytes: Option<u64>,
    /// Minutes of crawling; virtual ones in a replay.
    pub max_minutes: Option<u64>,
    /// Pages of one host.
    pub max_pages_per_host: Option<u64>,
    /// Relevant pages found.
    pub relevant_pages: Option<u64>,
}

/// Why a crawl stopped; machine-readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    MaxPages,
    MaxBytes,
    MaxMinutes,
    RelevantPages,
    /// Nothing waits any more.
    FrontierEmpty,
    /// Not one seed could be fetched.
    SeedsFailed,
    /// The user asked.
    User,
}

impl StopReason {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxPages => "max-pages",
            Self::MaxBytes => "max-bytes",
            Self::MaxMinutes => "max-minutes",
            Self::RelevantPages => "relevant-pages",
            Self::FrontierEmpty => "frontier-empty",
            Self::SeedsFailed => "seeds-failed",
            Self::User => "user",
        }
    }

    /// What it means and what can be done, for a person.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::MaxPages => "the page limit was reached (limits.max_pages)",
            Self::MaxBytes => "the byte limit was reached (limits.max_bytes)",
            Self::MaxMinutes => "the time limit was reached (limits.max_minutes)",
            Self::RelevantPages => "as many relevant pages as asked for were found (limits.relevant_pages)",
            Self::FrontierEmpty => {
                "no link is left to follow; more seeds, a wider scope or a greater tunnel.depth would find more"
            }
            Self::SeedsFailed => "not one seed could be fetched; check the seeds and the network",
            Self::User => "it was asked to stop; the same command goes on with it",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

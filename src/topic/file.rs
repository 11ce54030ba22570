//! The topic file as it is written: sections, keys and their defaults.
//!
//! Promises: a key that is not known is an error, never passed over; the
//! documentation of each key is in `template.toml`, which `topic new` writes.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::url::ScopeConfig;

/// Pages whose relevance reaches this count as relevant, where the file does not say.
pub(super) const DEFAULT_THRESHOLD: f64 = 0.5;
/// Irrelevant pages in a row that are crossed, where the file does not say (systems.md 4).
const DEFAULT_TUNNEL_DEPTH: u8 = 3;

/// One topic file, read but not yet checked.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TopicFile {
    pub(super) name: String,
    pub(super) language: Vec<String>,
    pub(super) keywords: Vec<String>,
    pub(super) seeds: Vec<String>,
    pub(super) seeds_file: Option<String>,
    pub(super) threshold: Option<f64>,
    pub(super) ontology: Option<String>,
    pub(super) weights: BTreeMap<String, f64>,
    pub(super) examples: ExamplesSection,
    pub(super) text: TextSection,
    pub(super) tunnel: TunnelSection,
    pub(super) scope: ScopeConfig,
    pub(super) limits: Limits,
    pub(super) stop: Stop,
    pub(super) model: ModelSection,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ExamplesSection {
    pub(super) positive: Vec<String>,
    pub(super) negative: Vec<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TextSection {
    pub(super) user_dictionary: Option<String>,
    pub(super) words: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TunnelSection {
    pub(super) depth: u8,
}

impl Default for TunnelSection {
    fn default() -> Self {
        Self { depth: DEFAULT_TUNNEL_DEPTH }
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ModelSection {
    pub(super) name: Option<String>,
}

/// How much a crawl may fetch; `None` (0 in the file) sets no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Pages fetched.
    pub max_pages: Option<u64>,
    /// Bytes of decoded bodies.
    pub max_bytes: Option<u64>,
    /// Minutes of crawling.
    pub max_minutes: Option<u64>,
    /// Pages fetched of one host.
    pub max_pages_per_host: Option<u64>,
    /// Bytes of one host.
    pub max_bytes_per_host: Option<u64>,
    /// Minutes from the first request to a host to its last.
    pub max_minutes_per_host: Option<u64>,
}

impl Limits {
    /// Zeros become `None`.
    pub(super) fn without_zeros(self) -> Self {
        let some = |limit: Option<u64>| limit.filter(|&n| n > 0);
        Self {
            max_pages: some(self.max_pages),
            max_bytes: some(self.max_bytes),
            max_minutes: some(self.max_minutes),
            max_pages_per_host: some(self.max_pages_per_host),
            max_bytes_per_host: some(self.max_bytes_per_host),
            max_minutes_per_host: some(self.max_minutes_per_host),
        }
    }
}

/// When a crawl has done its work, or stops finding any.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stop {
    /// Enough relevant pages.
    pub relevant_pages: Option<u64>,
    /// Too few relevant pages lately.
    pub harvest_below: Option<HarvestFloor>,
}

impl Stop {
    /// A zero becomes `None`.
    pub(super) fn without_zeros(self) -> Self {
        Self { relevant_pages: self.relevant_pages.filter(|&n| n > 0), ..self }
    }
}

/// Stop when fewer than `rate` of the last `over` fetched pages were relevant.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HarvestFloor {
    /// A share in `0..=1`.
    pub rate: f64,
    /// Pages, at least 1; nothing is decided before so many were fetched.
    pub over: u64,
}

/// The keys of every section, for telling where an unknown one was meant to go. The first section is the top of the file.
pub(super) const KEYS: &[(&str, &[&str])] = &[
    (
        "",
        &[
            "name",
            "language",
            "keywords",
            "seeds",
            "seeds_file",
            "threshold",
            "ontology",
            "weights",
            "examples",
            "text",
            "tunnel",
            "scope",
            "limits",
            "stop",
            "model",
        ],
    ),
    ("examples", &["positive", "negative"]),
    ("text", &["user_dictionary", "words"]),
    ("tunnel", &["depth"]),
    (
        "scope",
        &[
            "hosts",
            "sites",
            "stay_on_seed_sites",
            "contains",
            "include",
            "exclude",
            "max_depth",
            "max_path_depth",
            "max_repeats",
            "exclude_extensions",
        ],
    ),
    ("limits", &["max_pages", "max_bytes", "max_minutes", "max_pages_per_host", "max_bytes_per_host", "max_minutes_per_host"]),
    ("stop", &["relevant_pages", "harvest_below"]),
    ("stop.harvest_below", &["rate", "over"]),
    ("model", &["name"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_keys_is_the_list_that_is_read() {
        for (section, keys) in KEYS {
            let text = if section.is_empty() { "no-such-key = 1".to_owned() } else { format!("[{section}]\nno-such-key = 1") };
            let message = toml::from_str::<TopicFile>(&text).unwrap_err().message().to_owned();
            let read: Vec<&str> = message.split('`').skip(3).step_by(2).collect();
            assert_eq!(&read, keys, "{message}");
        }
    }

    #[test]
    fn an_empty_file_has_the_defaults() {
        let file: TopicFile = toml::from_str("").unwrap();
        assert_eq!((file.tunnel.depth, file.threshold, file.limits), (3, None, Limits::default()));
        let file: TopicFile = toml::from_str("[limits]\nmax_pages = 0\nmax_bytes = 7").unwrap();
        let limits = file.limits.without_zeros();
        assert_eq!((limits.max_pages, limits.max_bytes), (None, Some(7)));
    }
}

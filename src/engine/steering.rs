//! Steering by hand: links to be fetched first, links never to be fetched, templates let out of quarantine.
//!
//! Promises: what was said is committed with the crawl and holds when it goes on; a pattern holds for links that are found
//! later, too; a link on disk follows it when its turn comes.
//! Never: touches a page that is finished.

use regex::RegexSet;
use serde::{Deserialize, Serialize};

use super::Crawl;
use crate::{
    frontier::Priority,
    store::{Store, StoreError},
    topical_rank::NodeId,
    url::{Fingerprint, Url},
};

/// Name of the row that holds the patterns.
pub(super) const ROW: &str = "steering";
/// Patterns of a crawl, at most, and their length.
const MAX_PATTERNS: usize = 1_000;
const MAX_BYTES: usize = 2_000;

/// What a user wants of the waiting links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Steer {
    /// Fetch these before all others. A URL that was never met is queued.
    Boost(Which),
    /// Never fetch these.
    Exclude(Which),
    /// Let the links of a URL template out of quarantine.
    Release(String),
}

/// Which links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    Url(Url),
    /// Those whose URL a regular expression matches.
    Matching(String),
}

/// Why a crawl cannot be steered so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SteerError {
    #[error("the pattern cannot be used: {0}; give a regular expression of at most {MAX_BYTES} bytes")]
    Pattern(String),
    #[error("there are {MAX_PATTERNS} patterns already")]
    TooMany,
    #[error("no template {0:?} is in quarantine")]
    NoSuchTemplate(String),
}

/// The patterns in force.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "Said", into = "Said")]
pub(super) struct Steering {
    said: Said,
    boosted: RegexSet,
    excluded: RegexSet,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    boost: Vec<String>,
    exclude: Vec<String>,
}

impl TryFrom<Said> for Steering {
    type Error = regex::Error;

    fn try_from(said: Said) -> Result<Self, regex::Error> {
        Ok(Self { boosted: RegexSet::new(&said.boost)?, excluded: RegexSet::new(&said.exclude)?, said })
    }
}

impl From<Steering> for Said {
    fn from(steering: Steering) -> Self {
        steering.said
    }
}

impl Steering {
    /// What was said of the crawl in a store.
    pub(super) fn load(store: &Store) -> Result<Self, StoreError> {
        let row = store.model(ROW)?;
        Ok(row.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default())
    }

    fn row(&self) -> (String, Vec<u8>) {
        // Plain strings always serialise.
        (ROW.to_owned(), serde_json::to_vec(self).unwrap_or_default())
    }

    pub(super) fn boosts(&self, url: &Url) -> bool {
        !self.boosted.is_empty() && self.boosted.is_match(url.as_str())
    }

    pub(super) fn excludes(&self, url: &Url) -> bool {
        !self.excluded.is_empty() && self.excluded.is_match(url.as_str())
    }

    /// Adds a pattern on one side and takes it off the other.
    fn with(&self, pattern: &str, boost: bool) -> Result<Self, SteerError> {
        if pattern.is_empty() || pattern.len() > MAX_BYTES {
            return Err(SteerError::Pattern(format!("it has {} bytes", pattern.len())));
        }
        let mut said = self.said.clone();
        if said.boost.len() + said.exclude.len() >= MAX_PATTERNS {
            return Err(SteerError::TooMany);
        }
        said.boost.retain(|known| known != pattern);
        said.exclude.retain(|known| known != pattern);
        if boost { &mut said.boost } else { &mut said.exclude }.push(pattern.to_owned());
        said.try_into().map_err(|error: regex::Error| SteerError::Pattern(error.to_string().replace('\n', " ")))
    }
}

impl Which {
    fn pattern(&self) -> String {
        match self {
            Self::Url(url) => format!("^{}$", regex::escape(url.as_str())),
            Self::Matching(pattern) => pattern.clone(),
        }
    }
}

/// Whether a row of patterns can be read; for `windrow verify`.
pub(super) fn check(bytes: &[u8]) -> Result<(), String> {
    serde_json::from_slice::<Steering>(bytes).map(drop).map_err(|error| error.to_string())
}

impl Crawl {
    /// Does what a user wants of the waiting links; says how many of those in memory it moved.
    pub(super) fn steer(&mut self, steer: &Steer) -> Result<u64, SteerError> {
        match steer {
            Steer::Boost(which) => self.boost(which),
            Steer::Exclude(which) => self.exclude_by_hand(which),
            Steer::Release(template) => self.traps.release(template).ok_or_else(|| SteerError::NoSuchTemplate(template.clone())),
        }
    }

    fn boost(&mut self, which: &Which) -> Result<u64, SteerError> {
        self.steering = self.steering.with(&which.pattern(), true)?;
        self.pending.model(self.steering.row());
        if let Which::Url(url) = which {
            let Some(node) = self.frontier.seen(Fingerprint::of(url)) else {
                self.add_seed(url.clone());
                return Ok(1);
            };
            self.bring_back(node);
        }
        let chosen = self.waiting_where(|url| self.steering.boosts(url));
        let mut moved = 0;
        for &node in &chosen {
            let before = self.frontier.link(node).map(|link| link.priority);
            self.requeue(node);
            let now = self.frontier.link(node).map(|link| link.priority);
            if now != before {
                moved += 1;
                self.pending.waiting(node);
            }
        }
        Ok(moved)
    }

    fn exclude_by_hand(&mut self, which: &Which) -> Result<u64, SteerError> {
        self.steering = self.steering.with(&which.pattern(), false)?;
        self.pending.model(self.steering.row());
        if let Which::Url(url) = which
            && let Some(node) = self.frontier.seen(Fingerprint::of(url))
        {
            self.bring_back(node);
        }
        let chosen = self.waiting_where(|url| self.steering.excludes(url));
        for &node in &chosen {
            self.exclude(node, BY_HAND.to_owned());
        }
        Ok(chosen.len() as u64)
    }

    /// Waiting links in memory, in a fixed order.
    fn waiting_where(&self, wanted: impl Fn(&Url) -> bool) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = self.frontier.links().filter(|(_, link)| wanted(&link.url)).map(|(node, _)| node).collect();
        nodes.sort_unstable();
        nodes
    }

    /// The priority of a link that a user wants first.
    pub(super) fn boosted(&self, url: &Url) -> Option<Priority> {
        // Just below that of seeds.
        self.steering.boosts(url).then_some(Priority(f64::MAX / 2.0))
    }
}

/// Why a link ends that a user does not want.
pub(super) const BY_HAND: &str = "excluded by hand";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_on_a_pattern_counts_and_survives_the_row() {
        let url = Url::parse("http://e.com/calendar?day=1").unwrap();
        let steering = Steering::default().with("calendar", true).unwrap();
        assert!(steering.boosts(&url) && !steering.excludes(&url));
        let steering = steering.with("calendar", false).unwrap();
        assert!(!steering.boosts(&url) && steering.excludes(&url));
        let read: Steering = serde_json::from_slice(&steering.row().1).unwrap();
        assert_eq!(read.said, steering.said);
        assert!(read.excludes(&url));
        check(&steering.row().1).unwrap();
        assert!(check(b"{\"boost\":[\"(\"],\"exclude\":[]}").is_err());
    }

    #[test]
    fn a_pattern_that_is_none_is_refused_in_words() {
        let said = Steering::default().with("(", true).unwrap_err().to_string();
        assert!(said.contains("unclosed group"), "{said}");
        assert!(Steering::default().with("", false).is_err());
    }

    #[test]
    fn a_url_matches_itself_alone() {
        let url = Url::parse("http://e.com/a?b=c").unwrap();
        let steering = Steering::default().with(&Which::Url(url.clone()).pattern(), false).unwrap();
        assert!(steering.excludes(&url));
        assert!(!steering.excludes(&Url::parse("http://e.com/a?b=cd").unwrap()));
    }
}

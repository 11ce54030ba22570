//! The one enum of a URL's fate.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How the crawl is done with a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A document came and was read.
    Fetched,
    /// The server pointed elsewhere; the target is a URL of its own.
    Redirected,
    /// A rule forbade it: robots.txt, scope, a refused address. Nothing was fetched.
    Excluded,
    /// A document came that the crawl already has.
    Duplicate,
    /// No usable answer, and no more tries: network, server error, unreadable content.
    Failed,
    /// The server says it is not there (404, 410).
    Gone,
    /// Read for its links only: a sitemap, a feed, or a page that asks not to be indexed.
    LinksOnly,
}

impl Outcome {
    pub const ALL: [Self; 7] =
        [Self::Fetched, Self::Redirected, Self::Excluded, Self::Duplicate, Self::Failed, Self::Gone, Self::LinksOnly];

    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fetched => "fetched",
            Self::Redirected => "redirected",
            Self::Excluded => "excluded",
            Self::Duplicate => "duplicate",
            Self::Failed => "failed",
            Self::Gone => "gone",
            Self::LinksOnly => "links-only",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

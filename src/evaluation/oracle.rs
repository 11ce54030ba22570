//! The greedy oracle: takes a waiting target first, then first come first served. An upper bound, for benches only.

use std::collections::BTreeSet;

use crate::{
    frontier::{CrawlOrder, LinkView},
    url::Fingerprint,
};

/// Knows the labels; that is why it lives here and not among the orders a crawl can use.
#[derive(Debug, Clone)]
pub struct OracleOrder {
    targets: BTreeSet<Fingerprint>,
}

impl OracleOrder {
    #[must_use]
    pub fn new(targets: BTreeSet<Fingerprint>) -> Self {
        Self { targets }
    }
}

impl CrawlOrder for OracleOrder {
    fn priority(&self, view: &LinkView<'_>) -> f64 {
        let bonus = if self.targets.contains(&view.link.fingerprint) { 1e12 } else { 0.0 };
        bonus - view.link.discovered as f64
    }

    fn learns(&self) -> bool {
        false
    }
}

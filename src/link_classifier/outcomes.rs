//! What fetches have shown so far of hosts, directories, tag paths, lists: rates, shrunken where data is thin.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// Entries kept at most; past it the table stops learning new keys (the crawl's rate stands in for them).
const MAX_KEYS: usize = 1 << 18;

/// Relevance sum and number of outcomes of one key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tally {
    relevance: f64,
    number: f64,
}

impl Tally {
    fn add(&mut self, relevance: f64, number: f64) {
        self.relevance += relevance;
        self.number += number;
    }

    /// The rate, drawn towards `prior` as if `strength` more outcomes had shown it.
    fn rate(self, prior: f64, strength: f64) -> f64 {
        (self.relevance + strength * prior) / (self.number + strength)
    }
}

/// Outcomes by key; keys of different kinds are told apart by their hash.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Outcomes {
    all: Tally,
    by_key: FxHashMap<u64, Tally>,
}

impl Outcomes {
    /// Counts an outcome for the crawl and for `keys`.
    pub(super) fn add(&mut self, keys: impl IntoIterator<Item = u64>, relevance: f64) {
        self.all.add(relevance, 1.0);
        for key in keys {
            if self.by_key.len() < MAX_KEYS || self.by_key.contains_key(&key) {
                self.by_key.entry(key).or_default().add(relevance, 1.0);
            }
        }
    }

    /// Corrects outcomes counted before, when their page was judged anew.
    pub(super) fn correct(&mut self, keys: impl IntoIterator<Item = u64>, change: f64) {
        self.all.add(change, 0.0);
        for key in keys {
            if let Some(tally) = self.by_key.get_mut(&key) {
                tally.add(change, 0.0);
            }
        }
    }

    /// Mean relevance of all outcomes, 0.2 before there are any.
    pub(super) fn overall(&self) -> f64 {
        self.all.rate(0.2, 3.0)
    }

    /// How many outcomes a key has.
    pub(super) fn number(&self, key: u64) -> f64 {
        self.by_key.get(&key).map_or(0.0, |tally| tally.number)
    }

    /// The shrunken rate of a key.
    pub(super) fn rate(&self, key: u64, prior: f64, strength: f64) -> f64 {
        self.by_key.get(&key).map_or(prior, |tally| tally.rate(prior, strength))
    }
}

/// `ln(p / (1 − p))`, bounded.
pub(super) fn logit(p: f64) -> f64 {
    let p = p.clamp(0.005, 0.995);
    (p / (1.0 - p)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_rests_on_its_prior_until_outcomes_come() {
        let mut outcomes = Outcomes::default();
        assert!((outcomes.rate(7, 0.4, 3.0) - 0.4).abs() < 1e-12);
        for _ in 0..30 {
            outcomes.add([7], 1.0);
            outcomes.add([8], 0.0);
        }
        assert!(outcomes.rate(7, 0.4, 3.0) > 0.9 && outcomes.rate(8, 0.4, 3.0) < 0.1);
        assert!((outcomes.overall() - 0.5).abs() < 0.05);
    }

    #[test]
    fn a_page_judged_anew_corrects_what_it_taught() {
        let mut outcomes = Outcomes::default();
        outcomes.add([7], 0.9);
        outcomes.correct([7], -0.9);
        assert!(outcomes.rate(7, 0.0, 1.0).abs() < 1e-12);
    }
}

//! Naive Bayes over the words of links, with the page model's vocabulary as prior.
//!
//! `λ_t = ln (n⁺_t + M q_t) / (n⁻_t + M q_t) + 0.7 ρ_t · M q_t / (n_t + M q_t) − ln (N⁺ + M) / (N⁻ + M)`: n counts words of
//! links whose outcome is known, q is the word's share among all links seen, ρ what the page model says of the word: a prior
//! that fades as the word is tried, so links are told apart before any outcome is known.
//!
//! Promises: a score depends on what was learnt up to the last [`LinkBayes::settle`] only, so that it may be kept until the next.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::text::TermId;

/// How many outcomes' worth of words the page model's vocabulary counts for.
const PRIOR_MASS: f64 = 4.0;
/// Words kept at most per field.
const MAX_WORDS: usize = 1 << 17;

/// A word of links whose outcome is known.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Tried {
    relevant: f32,
    irrelevant: f32,
    /// Its own log ratio, and how much of the page model's word still counts (0..=1), as last settled.
    own: f32,
    lends: f32,
}

/// Word counts of one field of links (anchor, URL, context).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct LinkBayes {
    /// Of all links that were found: background.
    found: FxHashMap<TermId, f32>,
    found_total: f64,
    tried: FxHashMap<TermId, Tried>,
    relevant: f64,
    irrelevant: f64,
    /// What the class totals say of any word, as last settled.
    base: f32,
}

impl LinkBayes {
    /// Counts the words of a link whose outcome is not known: background.
    pub(super) fn see(&mut self, words: &[TermId]) {
        for &word in words {
            if self.found.len() < MAX_WORDS || self.found.contains_key(&word) {
                *self.found.entry(word).or_default() += 1.0;
                self.found_total += 1.0;
            }
        }
    }

    /// Counts the words of a link that led to a page of the given relevance; `change` is what is new of it.
    pub(super) fn learn(&mut self, words: &[TermId], relevant: f64, irrelevant: f64) {
        for word in words.iter().filter(|word| self.found.contains_key(word)) {
            let tried = self.tried.entry(*word).or_insert(Tried { relevant: 0.0, irrelevant: 0.0, own: 0.0, lends: 1.0 });
            tried.relevant = (tried.relevant + relevant as f32).max(0.0);
            tried.irrelevant = (tried.irrelevant + irrelevant as f32).max(0.0);
            self.relevant = (self.relevant + relevant).max(0.0);
            self.irrelevant = (self.irrelevant + irrelevant).max(0.0);
        }
    }

    /// Lets what was learnt since the last time count.
    pub(super) fn settle(&mut self) {
        self.base = ((self.irrelevant + PRIOR_MASS) / (self.relevant + PRIOR_MASS)).ln() as f32;
        let all = (self.found_total + 0.5 * self.found.len() as f64 + 1.0) as f32;
        for (word, tried) in &mut self.tried {
            let found = self.found.get(word).copied().unwrap_or_default();
            let prior = PRIOR_MASS as f32 * (found + 0.5) / all;
            tried.own = ((tried.relevant + prior) / (tried.irrelevant + prior)).ln();
            tried.lends = prior / (tried.relevant + tried.irrelevant + prior);
        }
    }

    /// `Σ λ / √count`, within ±4: longer texts say more, but not in proportion.
    pub(super) fn score(&self, words: &[TermId], page_weight: super::WordWeight<'_>) -> f32 {
        if words.is_empty() {
            return 0.0;
        }
        let lent = |word| 0.7 * (page_weight(word) as f32).clamp(-3.0, 3.0);
        let log_ratio = |word| self.tried.get(&word).map_or_else(|| lent(word), |tried| tried.own + tried.lends * lent(word));
        let sum: f32 = words.iter().map(|&word| self.base + log_ratio(word)).sum();
        (sum / (words.len() as f32).sqrt()).clamp(-4.0, 4.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(words: &str) -> Vec<TermId> {
        words.split(' ').map(TermId::of).collect()
    }

    #[test]
    fn the_page_models_words_speak_before_any_outcome_is_known() {
        let mut bayes = LinkBayes::default();
        bayes.see(&ids("paddy field report football news"));
        let paddy = TermId::of("paddy");
        let lent = |word: TermId| if word == paddy { 2.0 } else { 0.0 };
        assert!(bayes.score(&ids("paddy"), &lent) > bayes.score(&ids("football"), &lent) + 0.5);
    }

    #[test]
    fn outcomes_overrule_the_lent_vocabulary() {
        let mut bayes = LinkBayes::default();
        for _ in 0..30 {
            bayes.see(&ids("menu news"));
            bayes.learn(&ids("menu"), 0.0, 1.0);
            bayes.learn(&ids("news"), 1.0, 0.0);
        }
        bayes.settle();
        let lent = |word: TermId| if word == TermId::of("menu") { 2.0 } else { 0.0 };
        assert!(bayes.score(&ids("menu"), &lent) < bayes.score(&ids("news"), &lent));
    }
}

//! Naive Bayes over the words of links, with the page model's vocabulary as prior.
//!
//! `λ_t = ln (n⁺_t + M q_t e^{0.7 ρ_t}) / (N⁺ + M) − ln (n⁻_t + M q_t) / (N⁻ + M)`: n counts words of links whose
//! outcome is known, q is the word's share among all links seen, ρ what the page model says of the word.
//! Prior and evidence meet in one formula, so links are told apart before any outcome is known.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::text::TermId;

/// How many outcomes' worth of words the page model's vocabulary counts for.
const PRIOR_MASS: f64 = 4.0;
/// Words kept at most per field.
const MAX_WORDS: usize = 1 << 17;

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct WordCount {
    seen: f32,
    relevant: f32,
    irrelevant: f32,
}

/// Word counts of one field of links (anchor, URL, context).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct LinkBayes {
    words: FxHashMap<TermId, WordCount>,
    seen: f64,
    relevant: f64,
    irrelevant: f64,
}

impl LinkBayes {
    /// Counts the words of a link whose outcome is not known: background.
    pub(super) fn see(&mut self, words: &[TermId]) {
        for &word in words {
            if self.words.len() < MAX_WORDS || self.words.contains_key(&word) {
                self.words.entry(word).or_default().seen += 1.0;
                self.seen += 1.0;
            }
        }
    }

    /// Counts the words of a link that led to a page of the given relevance; `change` is what is new of it.
    pub(super) fn learn(&mut self, words: &[TermId], relevant: f64, irrelevant: f64) {
        for word in words {
            if let Some(count) = self.words.get_mut(word) {
                count.relevant = (count.relevant + relevant as f32).max(0.0);
                count.irrelevant = (count.irrelevant + irrelevant as f32).max(0.0);
                self.relevant = (self.relevant + relevant).max(0.0);
                self.irrelevant = (self.irrelevant + irrelevant).max(0.0);
            }
        }
    }

    fn log_ratio(&self, word: TermId, page_weight: f64, untried: f64, all: f64) -> f64 {
        let lent = 0.7 * page_weight.clamp(-3.0, 3.0);
        let Some(count) = self.words.get(&word).filter(|count| count.relevant > 0.0 || count.irrelevant > 0.0) else {
            // What it was lent is all that is known of it; the word's share cancels out.
            return untried + lent;
        };
        let prior = PRIOR_MASS * (f64::from(count.seen) + 0.5) / all;
        let relevant = f64::from(count.relevant) + prior * lent.exp();
        let irrelevant = f64::from(count.irrelevant) + prior;
        untried + (relevant / irrelevant).ln()
    }

    /// `Σ λ / √count`, within ±4: longer texts say more, but not in proportion.
    pub(super) fn score(&self, words: &[TermId], page_weight: super::WordWeight<'_>) -> f64 {
        if words.is_empty() {
            return 0.0;
        }
        let untried = ((self.irrelevant + PRIOR_MASS) / (self.relevant + PRIOR_MASS)).ln();
        let all = self.seen + 0.5 * self.words.len() as f64 + 1.0;
        let sum: f64 = words.iter().map(|&word| self.log_ratio(word, page_weight(word), untried, all)).sum();
        (sum / (words.len() as f64).sqrt()).clamp(-4.0, 4.0)
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
        let lent = |word: TermId| if word == TermId::of("menu") { 2.0 } else { 0.0 };
        assert!(bayes.score(&ids("menu"), &lent) < bayes.score(&ids("news"), &lent));
    }
}

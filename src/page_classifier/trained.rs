//! A page model made before the crawl: log ratios of words, and what its scores mean as probabilities.
//!
//! Promises: the same judgement on the first page of a crawl as on the last, since nothing in here depends on what a
//! crawl has fetched. Words it has never seen say nothing and dilute nothing.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{
    ClassCounts,
    bayes::{LENGTH_PRIOR, Scale, fit_log_ratios},
    reading::{Reading, sigmoid},
};
use crate::{page::Relevance, text::TermId};

/// Platt's correction of a classifier's log-odds: `slope · z + offset`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    pub slope: f64,
    pub offset: f64,
}

impl Default for Calibration {
    fn default() -> Self {
        Self { slope: 1.0, offset: 0.0 }
    }
}

impl Calibration {
    #[must_use]
    pub fn apply(self, log_odds: f64) -> f64 {
        self.slope * log_odds + self.offset
    }
}

/// What a score is worth: the two classes' means, and the probability that lies behind a score between them.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meaning {
    pub scale: Scale,
    /// From the scaled score to log-odds.
    pub calibration: Calibration,
    /// Share of relevant documents that the calibration was fitted at, in `(0, 1)`.
    pub base_rate: f64,
}

/// How far a trained model may move a crawl's log-odds: beyond it, it is sure of more than it can know.
const MAX_EVIDENCE: f64 = 4.0;

/// A frozen Naive Bayes page model from labelled documents.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedPageModel {
    /// By the whole identity of a word: columns shared by several words cost up to 0.07 of AUC between sources (measured).
    log_ratios: FxHashMap<TermId, f32>,
    meaning: Meaning,
}

impl TrainedPageModel {
    /// Fits words with their weight in relevant and irrelevant documents; `smoothing` is the weight of common text that each
    /// class is smoothed with.
    ///
    /// # Errors
    /// As [`fit_log_ratios`].
    pub fn fit<'a>(
        words: impl Iterator<Item = (&'a str, f64, f64)> + Clone,
        smoothing: f64,
        meaning: Meaning,
    ) -> Result<Self, String> {
        let counts = ClassCounts::of_columns(words.clone().map(|(_, relevant, irrelevant)| (relevant, irrelevant)));
        let ratios = fit_log_ratios(&counts, smoothing)?;
        Ok(Self { log_ratios: words.map(|(word, ..)| TermId::of(word)).zip(ratios).collect(), meaning })
    }

    /// The same words with another meaning of their scores.
    #[must_use]
    pub fn with_meaning(self, meaning: Meaning) -> Self {
        Self { meaning, ..self }
    }

    #[must_use]
    pub fn meaning(&self) -> Meaning {
        self.meaning
    }

    /// The Naive Bayes score per unit of known text; texts of a few known words are drawn to 0.
    #[must_use]
    pub fn score(&self, reading: &Reading) -> f64 {
        let (mut sum, mut known) = (0.0, 0.0);
        for &(word, x) in &reading.words {
            if let Some(&ratio) = self.log_ratios.get(&word) {
                sum += f64::from(x * ratio);
                known += f64::from(x);
            }
        }
        sum / (known + LENGTH_PRIOR)
    }

    /// The probability that a document like those it was trained on is relevant.
    #[must_use]
    pub fn judge(&self, reading: &Reading) -> Relevance {
        sigmoid(self.log_odds(reading))
    }

    fn log_odds(&self, reading: &Reading) -> f64 {
        self.meaning.calibration.apply(self.meaning.scale.apply(self.score(reading)))
    }

    /// What it adds to the log-odds of a page in a crawl, whose share of relevant pages is its own; within ±4.
    pub(crate) fn evidence(&self, reading: &Reading) -> f64 {
        let base = self.meaning.base_rate.clamp(0.001, 0.999);
        (self.log_odds(reading) - (base / (1.0 - base)).ln()).clamp(-MAX_EVIDENCE, MAX_EVIDENCE)
    }

    /// The log ratio of one word, positive for the topic; 0 if it is not known.
    #[must_use]
    pub fn word_weight(&self, word: TermId) -> f64 {
        self.log_ratios.get(&word).copied().map_or(0.0, f64::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{page::TermBag, topic::KeywordSet};

    fn reading(words: &str) -> Reading {
        let bag: TermBag = words.split_whitespace().map(|word| (word, 1.0)).collect();
        Reading::of(&bag, &[], &KeywordSet::default())
    }

    fn model() -> TrainedPageModel {
        let words = [("rice", 50.0, 1.0), ("goal", 1.0, 50.0), ("water", 20.0, 20.0)];
        let scale = Scale { centre: 0.0, half_gap: 0.2 };
        let meaning = Meaning { scale, calibration: Calibration { slope: 2.0, offset: -2.0 }, base_rate: 0.119_203 };
        TrainedPageModel::fit(words.into_iter(), 10.0, meaning).unwrap()
    }

    #[test]
    fn words_it_has_never_seen_change_nothing() {
        let model = model();
        let strange = (0..200).map(|n| format!("strange{n}")).collect::<Vec<_>>().join(" ");
        let (plain, diluted) = (reading("rice rice water"), reading(&format!("rice rice water {strange}")));
        assert!((model.score(&plain) - model.score(&diluted)).abs() < 1e-9);
        assert!(model.score(&reading("unheard")).abs() < 1e-9);
    }

    #[test]
    fn in_a_crawl_the_share_of_relevant_training_documents_does_not_count() {
        let model = model();
        // Scaled score 0, log-odds −2 at a base rate of 1 in 8.4, whose own log-odds are −2 as well.
        assert!(model.evidence(&reading("unheard")).abs() < 1e-4);
        assert!((model.judge(&reading("unheard")).get() - 0.119_203).abs() < 1e-5);
    }

    #[test]
    fn evidence_is_bounded() {
        let many = "rice ".repeat(3_000);
        assert!(model().evidence(&reading(&many)) <= MAX_EVIDENCE);
    }
}

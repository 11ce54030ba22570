//! Word counts of two classes, by word: what a page model is made of, what it is stored as, what retraining adds to.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::page_classifier::{Meaning, TrainedPageModel};

/// Counts of words in relevant and irrelevant documents.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WordCounts {
    /// Weight of the documents behind the counts, relevant and not.
    pub documents: (f64, f64),
    /// Weight of common text that each class is smoothed with.
    pub smoothing: f64,
    words: BTreeMap<String, (f64, f64)>,
}

impl WordCounts {
    #[must_use]
    pub fn new(documents: (f64, f64), smoothing: f64) -> Self {
        Self { documents, smoothing, words: BTreeMap::new() }
    }

    /// Adds to a word's counts.
    pub fn add(&mut self, word: &str, relevant: f64, irrelevant: f64) {
        if let Some(counts) = self.words.get_mut(word) {
            counts.0 += relevant;
            counts.1 += irrelevant;
        } else {
            self.words.insert(word.to_owned(), (relevant, irrelevant));
        }
    }

    /// Adds other counts, scaled.
    pub fn merge(&mut self, other: &Self, scale: f64) {
        for (word, relevant, irrelevant) in other.iter() {
            self.add(word, scale * relevant, scale * irrelevant);
        }
        self.documents.0 += scale * other.documents.0;
        self.documents.1 += scale * other.documents.1;
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Words with their counts in relevant and irrelevant documents, in the order of their spelling.
    pub fn iter(&self) -> impl Iterator<Item = (&str, f64, f64)> + Clone {
        self.words.iter().map(|(word, &(relevant, irrelevant))| (word.as_str(), relevant, irrelevant))
    }

    /// Keeps the `most` words that tell the classes apart best, by what each adds to the divergence of the two.
    pub(super) fn keep_telling(&mut self, most: usize) {
        if self.words.len() <= most {
            return;
        }
        let (all_relevant, all_irrelevant) = self.totals();
        let mut telling: Vec<(f64, String)> = std::mem::take(&mut self.words)
            .into_iter()
            .map(|(word, counts)| {
                let background = self.smoothing * (counts.0 + counts.1) / (all_relevant + all_irrelevant);
                let p = (counts.0 + background) / (all_relevant + self.smoothing);
                let n = (counts.1 + background) / (all_irrelevant + self.smoothing);
                self.words.insert(word.clone(), counts);
                ((p - n) * (p / n).ln(), word)
            })
            .collect();
        telling.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        for (_, word) in telling.drain(most..) {
            self.words.remove(&word);
        }
    }

    /// Weight of all words in relevant and irrelevant documents.
    pub(super) fn totals(&self) -> (f64, f64) {
        self.words.values().fold((0.0, 0.0), |sum, counts| (sum.0 + counts.0, sum.1 + counts.1))
    }

    /// Rounds all counts to four digits and forgets words that round to nothing.
    pub(super) fn round(&mut self) {
        for counts in self.words.values_mut() {
            *counts = (four_digits(counts.0), four_digits(counts.1));
        }
        self.words.retain(|_, counts| counts.0 + counts.1 > 0.0);
        self.documents = (four_digits(self.documents.0), four_digits(self.documents.1));
    }

    /// The page model of these counts.
    ///
    /// # Errors
    /// As [`TrainedPageModel::fit`]; counts that are finite and not negative always fit.
    pub fn model(&self, meaning: Meaning) -> Result<TrainedPageModel, String> {
        TrainedPageModel::fit(self.iter(), self.smoothing, meaning)
    }

    /// What in these counts no model can be made of, if anything.
    pub(super) fn flaw(&self) -> Option<String> {
        let sound = |x: f64| x.is_finite() && x >= 0.0;
        if !(self.smoothing.is_finite() && self.smoothing > 0.0) {
            return Some(format!("smoothing is {}", self.smoothing));
        }
        self.iter()
            .find(|&(_, relevant, irrelevant)| !sound(relevant) || !sound(irrelevant))
            .map(|(word, relevant, irrelevant)| format!("the counts of {word:?} are {relevant} and {irrelevant}"))
    }
}

/// Four digits, and at most three after the point.
fn four_digits(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let places = (3.0 - x.log10().floor()).clamp(0.0, 3.0);
    let unit = 10_f64.powf(places);
    (x * unit).round() / unit
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(words: &[(&str, f64, f64)]) -> WordCounts {
        let mut counts = WordCounts::new((1.0, 1.0), 1.0);
        for &(word, relevant, irrelevant) in words {
            counts.add(word, relevant, irrelevant);
        }
        counts
    }

    #[test]
    fn the_words_kept_are_those_that_tell_the_classes_apart() {
        let mut kept = counts(&[("rice", 50.0, 1.0), ("day", 500.0, 500.0), ("goal", 1.0, 40.0), ("odd", 0.1, 0.0)]);
        kept.keep_telling(2);
        assert_eq!(kept.iter().map(|(word, ..)| word).collect::<Vec<_>>(), ["goal", "rice"]);
    }

    #[test]
    fn counts_are_rounded_to_four_digits() {
        for (exact, rounded) in [(12_345.6, 12_346.0), (12.345_6, 12.35), (0.123_46, 0.123), (0.000_4, 0.0), (0.0, 0.0)] {
            assert!((four_digits(exact) - rounded).abs() < 1e-12, "{exact}");
        }
        let mut rounded = counts(&[("rice", 0.000_1, 0.0), ("goal", 1.0, 0.0)]);
        rounded.round();
        assert_eq!(rounded.len(), 1);
    }

    #[test]
    fn merged_counts_are_those_of_both() {
        let mut sum = counts(&[("rice", 2.0, 0.0)]);
        sum.merge(&counts(&[("rice", 4.0, 2.0), ("goal", 0.0, 6.0)]), 0.5);
        assert_eq!(sum.iter().collect::<Vec<_>>(), [("goal", 0.0, 3.0), ("rice", 4.0, 1.0)]);
        assert_eq!(sum.documents, (1.5, 1.5));
    }

    #[test]
    fn counts_below_zero_are_a_flaw() {
        assert!(counts(&[("rice", -1.0, 0.0)]).flaw().unwrap().contains("rice"));
        assert!(WordCounts::new((0.0, 0.0), 0.0).flaw().is_some());
        assert_eq!(counts(&[("rice", 1.0, 0.0)]).flaw(), None);
    }
}

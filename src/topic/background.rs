//! How common a word is in text about nothing in particular.
//!
//! Chinese from the counts in jieba's dictionary, English from a list of two
//! thousand words in bands. Good for telling a topic's words from everybody's
//! before a crawl has pages of its own; never used to judge a page.

use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;

use crate::text::Segmenter;

/// Words that jieba's dictionary was counted on: the sum of its frequencies, which the crate keeps to itself.
const DICTIONARY_TOTAL: f64 = 60_101_964.0;
/// Distinct words of English that share all probability in the rank law below.
const ENGLISH_WORDS: f64 = 50_000.0;
/// The shift in the Zipf–Mandelbrot law p(rank) = C / (rank + shift) (Mandelbrot 1953), as usual for English.
const SHIFT: f64 = 2.7;

/// Word frequencies of general text.
#[derive(Debug)]
pub struct Background {
    segmenter: Arc<Segmenter>,
    english: FxHashMap<String, f64>,
    /// Of an English word that is not on the list.
    rare: f64,
}

static SHARED: LazyLock<Background> = LazyLock::new(Background::new);

impl Background {
    /// The one background there is, loaded at first use.
    #[must_use]
    pub fn shared() -> &'static Self {
        &SHARED
    }

    /// The probability that a word of general text in the word's own language is this one, in `(0, 1)`.
    ///
    /// `word` is spelt as [`Segmenter`] spells it.
    #[must_use]
    pub fn frequency(&self, word: &str) -> f64 {
        match self.segmenter.dictionary_count(word) {
            Some(count) => count.max(1) as f64 / DICTIONARY_TOTAL,
            None => self.english.get(word).copied().unwrap_or(self.rare),
        }
    }

    fn new() -> Self {
        let segmenter = Segmenter::shared();
        let text: String =
            include_str!("english.txt").lines().filter(|line| !line.starts_with('#')).flat_map(|line| [line, "\n"]).collect();
        // The integral of the law from one rank to another; C makes it 1 over all words.
        let mass = |from: f64, to: f64| ((to + SHIFT) / (from + SHIFT)).ln();
        let scale = 1.0 / mass(0.5, ENGLISH_WORDS + 0.5);
        let mut english = FxHashMap::default();
        let mut rank = 0.5;
        for band in text.split("\n\n").map(|band| band.split_whitespace().collect::<Vec<_>>()) {
            let size = band.len() as f64;
            let frequency = scale * mass(rank, rank + size) / size.max(1.0);
            for word in band {
                // Plurals fold into their singulars, which then are as common as both.
                segmenter.for_each_word(word, |word| *english.entry(word.to_owned()).or_default() += frequency);
            }
            rank += size;
        }
        let rare = scale * mass(rank, ENGLISH_WORDS + 0.5) / (ENGLISH_WORDS - rank);
        Self { segmenter, english, rare }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn general_words_are_more_common_than_special_ones() {
        let frequency = |word| Background::shared().frequency(word);
        assert!(frequency("system") > frequency("website") && frequency("website") > frequency("rainfall"));
        assert!(frequency("公司") > frequency("数据库") && frequency("数据库") > frequency("病虫害"));
        assert!(frequency("agronomy") > 0.0 && frequency("嫁接苗木") > 0.0);
    }

    #[test]
    fn the_total_is_that_of_the_dictionary() {
        // jieba estimates an unknown compound at count(a) · count(b) / total + 1, and gives count + 1 for a known word.
        let count = |word| Segmenter::shared().dictionary_count(word).unwrap() as f64;
        let total = (count("公司") - 1.0) * (count("国家") - 1.0) / (count("公司国家") - 1.0);
        assert!((total / DICTIONARY_TOTAL - 1.0).abs() < 0.05, "{total}");
    }
}

//! Documents to train and measure with, read once and held compactly.

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use crate::{page::TermBag, page_classifier::Reading, text::TermId, topic::KeywordSet};

/// A document as it is handed in.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// Where it comes from; sources are weighed against each other and tested on each other.
    pub source: &'a str,
    /// What it is called, so that it falls on the same side of every split: a URL, or an id within its source.
    pub key: &'a str,
    pub terms: &'a TermBag,
    /// Words of its URL's host and directories, where it has one.
    pub url_words: &'a [TermId],
    /// 1 if it is about the topic, 0 if not; between them where that is only believed.
    pub relevance: f64,
    /// How much it counts beside others.
    pub weight: f64,
    /// Whether its relevance is known, so that it may be calibrated and measured with.
    pub known: bool,
}

/// Documents of one or more sources.
#[derive(Debug, Default)]
pub struct TrainingSet {
    keywords: KeywordSet,
    sources: Vec<String>,
    places: FxHashMap<Box<str>, u32>,
    words: Vec<Box<str>>,
    examples: Vec<Example>,
}

/// A document as it is held.
#[derive(Debug)]
pub(super) struct Example {
    pub(super) source: usize,
    pub(super) key: String,
    hash: u64,
    pub(super) reading: Reading,
    /// Word by number, and `ln(1 + count)`.
    pub(super) words: Vec<(u32, f32)>,
    pub(super) relevance: f64,
    pub(super) weight: f64,
    pub(super) known: bool,
}

impl Example {
    /// Weight of its text.
    pub(super) fn text_weight(&self) -> f64 {
        self.words.iter().map(|&(_, x)| f64::from(x)).sum()
    }

    /// Which of `folds` equal parts it belongs to; the same in every run. Differs from the held-out split.
    pub(super) fn fold(&self, folds: u64) -> u64 {
        (self.hash >> 32) % folds
    }
}

/// A document's place in every split: the same in every run.
fn hash_of(source: &str, key: &str) -> u64 {
    xxh3_64(format!("{source}\n{key}").as_bytes())
}

/// Whether a document is among the `share` of those of its source that are never trained on.
pub(super) fn is_held_out(source: &str, key: &str, share: f64) -> bool {
    below(hash_of(source, key), share)
}

fn below(hash: u64, share: f64) -> bool {
    ((hash & 0xffff) as f64) < share * 65_536.0
}

impl TrainingSet {
    /// An empty set; `keywords` are those of the topic that models will be used with, if any.
    #[must_use]
    pub fn new(keywords: KeywordSet) -> Self {
        Self { keywords, ..Self::default() }
    }

    /// Takes a document in.
    pub fn add(&mut self, document: &Document<'_>) {
        let source = self.sources.iter().position(|known| known == document.source).unwrap_or_else(|| {
            self.sources.push(document.source.to_owned());
            self.sources.len() - 1
        });
        let words = document.terms.iter().map(|term| (self.number(term.word), term.count.ln_1p())).collect();
        self.examples.push(Example {
            source,
            key: document.key.to_owned(),
            hash: hash_of(document.source, document.key),
            reading: Reading::of(document.terms, document.url_words, &self.keywords),
            words,
            relevance: document.relevance.clamp(0.0, 1.0),
            weight: document.weight,
            known: document.known,
        });
    }

    fn number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.places.get(word) {
            return number;
        }
        let number = self.words.len() as u32;
        self.words.push(word.into());
        self.places.insert(word.into(), number);
        number
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.examples.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.examples.is_empty()
    }

    /// Names of the sources, in order of appearance.
    #[must_use]
    pub fn sources(&self) -> &[String] {
        &self.sources
    }

    pub(super) fn words(&self) -> &[Box<str>] {
        &self.words
    }

    pub(super) fn examples(&self) -> &[Example] {
        &self.examples
    }

    pub(super) fn keywords(&self) -> &KeywordSet {
        &self.keywords
    }

    /// Numbers of the documents to train on and of those held out: a `share` of the known ones, by their key.
    #[must_use]
    pub fn split(&self, share: f64) -> (Vec<usize>, Vec<usize>) {
        let held_out = |&at: &usize| self.examples[at].known && below(self.examples[at].hash, share);
        let (held_out, train) = (0..self.examples.len()).partition(held_out);
        (train, held_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_falls_on_the_same_side_whatever_comes_with_it() {
        let terms: TermBag = [("rice", 1.0)].into_iter().collect();
        let keys: Vec<String> = (0..400).map(|n| format!("http://e.com/{n}")).collect();
        let held_out = |keys: &[String]| {
            let mut set = TrainingSet::default();
            for key in keys {
                set.add(&Document { source: "a", key, terms: &terms, url_words: &[], relevance: 1.0, weight: 1.0, known: true });
            }
            let (_, held_out) = set.split(0.25);
            let mut keys: Vec<String> = held_out.into_iter().map(|at| set.examples()[at].key.clone()).collect();
            keys.sort_unstable();
            keys
        };
        let reversed: Vec<String> = keys.iter().rev().cloned().collect();
        let all = held_out(&keys);
        assert_eq!(all, held_out(&reversed));
        assert!((70..130).contains(&all.len()), "{}", all.len());
    }

    #[test]
    fn only_documents_whose_relevance_is_known_are_held_out() {
        let terms: TermBag = [("rice", 1.0)].into_iter().collect();
        let mut set = TrainingSet::default();
        for key in ["1", "2", "3"] {
            set.add(&Document { source: "a", key, terms: &terms, url_words: &[], relevance: 0.9, weight: 0.3, known: false });
        }
        assert_eq!(set.split(1.0), (vec![0, 1, 2], vec![]));
    }
}

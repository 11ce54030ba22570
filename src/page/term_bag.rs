//! A page as a bag of weighted words: what the page classifiers read.

use rustc_hash::{FxBuildHasher, FxHashMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text::TermId;

/// Distinct words kept of one page; those past it are rare and late.
const MAX_TERMS: usize = 4_000;

/// The words of a page with their weighted counts, sorted by id.
#[derive(Debug, Clone, Default)]
pub struct TermBag {
    arena: String,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    id: TermId,
    start: u32,
    len: u16,
    count: f32,
}

/// One word of a [`TermBag`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Term<'a> {
    pub id: TermId,
    pub word: &'a str,
    /// Occurrences, each weighted by where it stands (body 1, link 0.2, title +3, heading +2).
    pub count: f32,
}

impl TermBag {
    /// The words, by ascending id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Term<'_>> {
        self.entries.iter().map(|entry| {
            let start = entry.start as usize;
            Term { id: entry.id, word: &self.arena[start..start + usize::from(entry.len)], count: entry.count }
        })
    }

    /// The weighted count of a word, 0 where it does not occur.
    #[must_use]
    pub fn count(&self, id: TermId) -> f32 {
        self.entries.binary_search_by_key(&id, |entry| entry.id).map_or(0.0, |at| self.entries[at].count)
    }

    /// Distinct words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Sum of the weighted counts: the length of the page.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.entries.iter().map(|entry| f64::from(entry.count)).sum()
    }
}

impl PartialEq for TermBag {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl<'a> FromIterator<(&'a str, f32)> for TermBag {
    fn from_iter<I: IntoIterator<Item = (&'a str, f32)>>(words: I) -> Self {
        let mut builder = TermBagBuilder { bag: Self::default(), places: FxHashMap::default() };
        for (word, weight) in words {
            builder.add(word, weight);
        }
        builder.finish()
    }
}

/// As the list of its words and counts.
impl Serialize for TermBag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(|term| (term.word, term.count)))
    }
}

impl<'de> Deserialize<'de> for TermBag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let words = Vec::<(String, f32)>::deserialize(deserializer)?;
        Ok(words.iter().map(|(word, count)| (word.as_str(), *count)).collect())
    }
}

/// Distinct words that there is room for from the start: those of most pages.
const USUAL_TERMS: usize = 448;

/// Collects a page's words.
#[derive(Debug)]
pub struct TermBagBuilder {
    bag: TermBag,
    places: FxHashMap<TermId, u32>,
}

impl Default for TermBagBuilder {
    fn default() -> Self {
        let bag = TermBag { arena: String::with_capacity(8 * USUAL_TERMS), entries: Vec::with_capacity(USUAL_TERMS) };
        Self { bag, places: FxHashMap::with_capacity_and_hasher(USUAL_TERMS, FxBuildHasher) }
    }
}

impl TermBagBuilder {
    /// Counts one occurrence of `word` with a weight, and returns the word's id.
    #[expect(clippy::cast_possible_truncation, reason = "words are at most 40 bytes and a bag holds 4,000 of them")]
    pub fn add(&mut self, word: &str, weight: f32) -> TermId {
        let id = TermId::of(word);
        if let Some(&at) = self.places.get(&id) {
            self.bag.entries[at as usize].count += weight;
        } else if self.bag.entries.len() < MAX_TERMS {
            self.places.insert(id, self.bag.entries.len() as u32);
            self.bag.entries.push(Entry { id, start: self.bag.arena.len() as u32, len: word.len() as u16, count: weight });
            self.bag.arena.push_str(word);
        }
        id
    }

    /// Adds `by` to the count of a word that was added before; nothing where it was not kept.
    pub fn reweigh(&mut self, id: TermId, by: f32) {
        if let Some(&at) = self.places.get(&id) {
            self.bag.entries[at as usize].count += by;
        }
    }

    #[must_use]
    pub fn finish(mut self) -> TermBag {
        self.bag.entries.sort_unstable_by_key(|entry| entry.id);
        self.bag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_by_weight_and_found_by_id() {
        let bag: TermBag = [("rice", 1.0), ("pest", 1.0), ("rice", 3.0)].into_iter().collect();
        assert_eq!(bag.len(), 2);
        assert!((bag.count(TermId::of("rice")) - 4.0).abs() < 1e-6);
        assert!(bag.count(TermId::of("wheat")).abs() < 1e-6);
        assert!((bag.total() - 5.0).abs() < 1e-9);
        let mut words: Vec<&str> = bag.iter().map(|term| term.word).collect();
        words.sort_unstable();
        assert_eq!(words, ["pest", "rice"]);
    }
}

//! What words mean the same, and which are kinds of others: a user's ontology, by which words are counted.
//!
//! ```text
//! # synonyms: all count as the first
//! 水稻 = 稻子, 稻谷, paddy
//! # kinds: a word counts as what it is a kind of, too
//! 水稻 < 谷物
//! ```
//!
//! Promises: a synonym leads to one word only; circles of kinds end.
//! Never: changes how text is cut (that is the segmenter), but for terms that must stay whole.

use std::collections::{BTreeMap, BTreeSet};

/// An ontology file that cannot be used.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum OntologyError {
    #[error("line {line}: {text:?} is neither `term = synonym, synonym` nor `term < broader, broader`")]
    Line { line: usize, text: String },
    #[error("line {line}: {term:?} is a synonym of {first:?} already")]
    Twice { line: usize, term: String, first: String },
    #[error("{term:?} is {words} words, and words are counted one by one: make it a keyword instead")]
    Phrase { term: String, words: usize },
}

/// Synonyms and broader terms, as they were written.
#[derive(Debug, Clone, Default)]
pub struct Ontology {
    same: BTreeMap<String, String>,
    broader: BTreeMap<String, BTreeSet<String>>,
}

impl Ontology {
    /// Reads the lines of an ontology file; empty ones and those from `#` are passed over.
    ///
    /// # Errors
    /// [`OntologyError`] with the line.
    pub fn parse(text: &str) -> Result<Self, OntologyError> {
        let mut ontology = Self::default();
        for (at, text) in text.lines().enumerate() {
            let line = at + 1;
            let text = text.trim_start_matches('\u{feff}').trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let malformed = || OntologyError::Line { line, text: text.to_owned() };
            let (is_same, (term, others)) = match (text.split_once('='), text.split_once('<')) {
                (Some(parts), None) => (true, parts),
                (None, Some(parts)) => (false, parts),
                _ => return Err(malformed()),
            };
            let term = term.trim();
            let others: Vec<&str> = others.split([',', '，', '、']).map(str::trim).filter(|other| !other.is_empty()).collect();
            if term.is_empty() || others.is_empty() {
                return Err(malformed());
            }
            for other in others.into_iter().filter(|other| *other != term) {
                if !is_same {
                    ontology.broader.entry(term.to_owned()).or_default().insert(other.to_owned());
                    continue;
                }
                if let Some(first) = ontology.same.insert(other.to_owned(), term.to_owned()).filter(|first| first != term) {
                    return Err(OntologyError::Twice { line, term: other.to_owned(), first });
                }
            }
        }
        Ok(ontology)
    }

    /// All terms that it names.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        let pairs = self.same.iter().map(|(a, b)| (a.as_str(), b.as_str()));
        let kinds = self.broader.iter().flat_map(|(a, all)| all.iter().map(move |b| (a.as_str(), b.as_str())));
        pairs.chain(kinds).flat_map(|(a, b)| [a, b])
    }

    /// What each word is counted as, the word itself or its synonym first, then what that is a kind of; `spell` gives the one
    /// word that a term is counted by.
    pub(super) fn meanings(
        &self,
        spell: impl Fn(&str) -> Result<String, OntologyError>,
    ) -> Result<BTreeMap<String, Vec<String>>, OntologyError> {
        let mut same = BTreeMap::new();
        for (term, first) in &self.same {
            same.insert(spell(term)?, spell(first)?);
        }
        let first_of = |word: &str| {
            let mut word = word;
            // A synonym of a synonym; as many steps as there are synonyms end any circle.
            for _ in 0..same.len() {
                match same.get(word) {
                    Some(next) if next != word => word = next,
                    _ => break,
                }
            }
            word.to_owned()
        };
        let mut broader: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (term, kinds) in &self.broader {
            for kind in kinds {
                broader.entry(first_of(&spell(term)?)).or_default().insert(first_of(&spell(kind)?));
            }
        }
        let all: BTreeSet<String> = same.keys().chain(broader.keys()).cloned().collect();
        let meaning = |word: String| {
            let mut counted = vec![first_of(&word)];
            let mut at = 0;
            while at < counted.len() {
                for kind in broader.get(&counted[at]).into_iter().flatten() {
                    if !counted.contains(kind) {
                        counted.push(kind.clone());
                    }
                }
                at += 1;
            }
            (word, counted)
        };
        Ok(all.into_iter().map(meaning).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::{Segmenter, UserWords};

    fn words(ontology: &str, text: &str) -> Vec<String> {
        let mut words = UserWords::default();
        words.give_meaning(&Ontology::parse(ontology).unwrap()).unwrap();
        Segmenter::with_words(&words).words(text)
    }

    #[test]
    fn synonyms_count_as_the_first_term_in_any_language_and_number() {
        assert_eq!(words("水稻 = 稻谷, Paddies\n# more\n", "稻谷 and paddy 水稻"), ["水稻", "水稻", "水稻"]);
        assert_eq!(words("rice = paddy\npaddy = padi", "padi"), ["rice"]);
    }

    #[test]
    fn a_kind_counts_as_what_it_is_a_kind_of_too_and_circles_end() {
        assert_eq!(words("rice < cereal\ncereal < crop", "rice"), ["rice", "cereal", "crop"]);
        assert_eq!(words("a1 < b1\nb1 < a1", "a1 b1"), ["a1", "b1", "b1", "a1"]);
        assert_eq!(words("rice = paddy\nrice < cereal", "paddy field"), ["rice", "cereal", "field"]);
    }

    #[test]
    fn a_compound_that_the_dictionary_lacks_stays_whole() {
        assert_eq!(words("流处理 = 流计算", "实时流计算")[1], "流处理");
    }

    #[test]
    fn a_line_that_means_nothing_is_named() {
        let error = |text: &str| Ontology::parse(text).unwrap_err().to_string();
        assert!(error("rice = paddy\nwheat").starts_with("line 2: \"wheat\" is neither"));
        assert!(error("rice = ").starts_with("line 1"));
        assert_eq!(error("rice = paddy\nfield = paddy"), "line 2: \"paddy\" is a synonym of \"rice\" already");
        let mut words = UserWords::default();
        let phrase = words.give_meaning(&Ontology::parse("varroa = bee mite").unwrap()).unwrap_err().to_string();
        assert!(phrase.contains("\"bee mite\" is 2 words"), "{phrase}");
    }
}

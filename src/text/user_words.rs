//! Words that a user adds to the dictionary, and what each of them is made of.
//!
//! Promises: a word added here is counted whole *and* by its parts, so that
//! 流计算 is a word of its own and still meets 计算 on other pages; a shared
//! dictionary is copied only when it would have cut one of the words apart.
//! Never: weighs words, or knows why they were added.

use std::{collections::BTreeMap, io::BufRead, sync::Arc};

use rustc_hash::FxHashSet;

use super::{
    Ontology, OntologyError, Segmenter,
    dictionary::Dictionary,
    segment::{Additions, MAX_WORD_BYTES, is_han},
};

/// A user dictionary that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SegmenterError {
    #[error("line {line}: {source}")]
    Read { line: usize, source: std::io::Error },
    #[error("line {line}: the frequency of {word:?} is {frequency:?}: write `word`, `word 100` or `word 100 n`")]
    Frequency { line: usize, word: String, frequency: String },
}

/// Words to add, collected before a [`Segmenter`] is built from them.
#[derive(Debug, Clone, Default)]
pub struct UserWords {
    words: Vec<(Box<str>, Option<usize>)>,
    phrases: Vec<Box<str>>,
    meanings: BTreeMap<String, Vec<String>>,
}

impl UserWords {
    /// Reads a dictionary in jieba's format: lines of `word [frequency] [tag]`; empty lines and lines from `#` are skipped.
    ///
    /// Words in other scripts than Han are passed over: they are cut at their blanks anyway.
    ///
    /// # Errors
    /// A line that is not UTF-8, or whose frequency is no number.
    pub fn read(&mut self, dictionary: &mut impl BufRead) -> Result<(), SegmenterError> {
        for (at, text) in dictionary.lines().enumerate() {
            let line = at + 1;
            let text = text.map_err(|source| SegmenterError::Read { line, source })?;
            let mut fields = text.trim_start_matches('\u{feff}').split_whitespace();
            let Some(word) = fields.next().filter(|word| !word.starts_with('#')) else { continue };
            let frequency = match fields.next() {
                None => None,
                // 32 bits, so that no sum of frequencies overflows.
                Some(given) => Some(given.parse::<u32>().map_err(|_| SegmenterError::Frequency {
                    line,
                    word: word.to_owned(),
                    frequency: given.to_owned(),
                })?),
            };
            if is_compound(word) {
                self.words.push((word.into(), frequency.map(|n| n as usize)));
            }
        }
        Ok(())
    }

    /// Counts words as `ontology` says; its Chinese terms become words.
    ///
    /// # Errors
    /// A term of several words.
    pub fn give_meaning(&mut self, ontology: &Ontology) -> Result<(), OntologyError> {
        ontology.terms().for_each(|term| self.add(term));
        let segmenter = Segmenter::extended(self);
        self.meanings = ontology.meanings(|term| {
            let mut tokens = Vec::new();
            segmenter.for_each_token(term, |token| tokens.push(token.to_owned()));
            let words = tokens.len();
            tokens.pop().filter(|_| words == 1).ok_or_else(|| OntologyError::Phrase { term: term.to_owned(), words })
        })?;
        Ok(())
    }

    /// Adds every run of two or more Han characters in `phrase` as a word, and sees to it that
    /// at least one word of `phrase` is counted, even where all of them are stop words.
    pub fn add(&mut self, phrase: &str) {
        for run in phrase.split(|c| !is_han(c)).filter(|run| is_compound(run)) {
            self.words.push((run.into(), None));
        }
        self.phrases.push(phrase.into());
    }
}

/// Whether jieba can hold `word` as one: all Han, of two characters or more, not overlong.
fn is_compound(word: &str) -> bool {
    word.len() <= MAX_WORD_BYTES && word.chars().nth(1).is_some() && word.chars().all(is_han)
}

impl Segmenter {
    /// The shared segmenter with `words` added; the shared one itself where it already cuts them so.
    ///
    /// Copying the dictionary costs about 24 MB.
    #[must_use]
    pub fn with_words(words: &UserWords) -> Arc<Self> {
        let built = Self::extended(words);
        let Additions { parts, kept, meanings } = &built.additions;
        if parts.is_empty() && kept.is_empty() && meanings.is_empty() { Self::shared() } else { Arc::new(built) }
    }

    /// The shared dictionary, copied only if a word is new to it, with `words` added.
    pub(super) fn extended(words: &UserWords) -> Self {
        let shared = Self::shared();
        let new: Vec<&(Box<str>, Option<usize>)> =
            words.words.iter().filter(|(word, frequency)| frequency.is_some() || !shared.is_one_word(word)).collect();
        let mut built = Self { dictionary: shared.dictionary.clone(), additions: Additions::default() };
        if !new.is_empty() {
            let mut jieba = shared.dictionary.get().clone();
            for (word, frequency) in &new {
                jieba.add_word(word, *frequency, None);
            }
            built.dictionary = Dictionary::Extended(Arc::new(jieba));
            let added: FxHashSet<&str> = new.iter().map(|(word, _)| &**word).collect();
            built.additions.parts = added.iter().map(|word| ((*word).into(), parts_of(word, &shared, &added))).collect();
        }
        let uncounted: Vec<_> = words.phrases.iter().filter(|phrase| built.words(phrase).is_empty()).collect();
        let mut kept = FxHashSet::default();
        for phrase in uncounted {
            built.for_each_token(phrase, |token| _ = kept.insert(token.into()));
        }
        built.additions.kept = kept;
        let boxed = |(word, counted): (&String, &Vec<String>)| {
            (word.as_str().into(), counted.iter().map(|word| word.as_str().into()).collect())
        };
        built.additions.meanings = words.meanings.iter().map(boxed).collect();
        built
    }
}

/// The words that jieba finds in `word` without help, and the other added words inside it.
fn parts_of(word: &str, shared: &Segmenter, added: &FxHashSet<&str>) -> Box<[Box<str>]> {
    let mut parts: Vec<Box<str>> = Vec::new();
    let mut push = |part: &str| {
        if part != word && !parts.iter().any(|known| **known == *part) {
            parts.push(part.into());
        }
    };
    shared.for_each_word(word, &mut push);
    let ends = || word.char_indices().map(|(at, c)| at + c.len_utf8());
    for start in word.char_indices().map(|(at, _)| at) {
        for end in ends().filter(|end| *end > start) {
            if added.contains(&word[start..end]) {
                push(&word[start..end]);
            }
        }
    }
    parts.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(dictionary: &str, phrases: &[&str]) -> Arc<Segmenter> {
        let mut words = UserWords::default();
        words.read(&mut dictionary.as_bytes()).unwrap();
        for phrase in phrases {
            words.add(phrase);
        }
        Segmenter::with_words(&words)
    }

    #[test]
    fn an_added_word_is_counted_whole_and_by_its_parts() {
        let segmenter = with("# a comment\n\u{feff}主题爬虫\n", &["流计算", "流计算平台"]);
        assert_eq!(segmenter.words("主题爬虫"), ["主题爬虫", "主题", "爬虫"]);
        assert_eq!(segmenter.words("实时流计算"), ["实时", "流计算", "流", "计算"]);
        assert_eq!(segmenter.words("流计算平台"), ["流计算平台", "流", "计算", "平台", "流计算"]);
        assert_eq!(Segmenter::shared().words("实时流计算"), ["实时", "流", "计算"], "the shared dictionary is left alone");
    }

    #[test]
    fn the_shared_dictionary_serves_where_nothing_is_new() {
        let shared = Segmenter::shared();
        assert!(Arc::ptr_eq(&with("水稻\nRust 5 eng\n", &["病虫害", "crop rotation", "C++"]), &shared));
        assert!(!Arc::ptr_eq(&with("", &["流计算"]), &shared));
    }

    #[test]
    fn a_phrase_of_stop_words_alone_is_counted_all_the_same() {
        let segmenter = with("", &["IT", "我们", "the web"]);
        assert_eq!(segmenter.words("IT: the web 我们 他们"), ["it", "web", "我们"]);
    }

    #[test]
    fn a_frequency_that_is_no_number_is_named_with_its_line() {
        let error = UserWords::default().read(&mut "水稻 10 n\n词语 many n\n".as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("line 2: the frequency of \"词语\" is \"many\""), "{error}");
    }

    #[test]
    fn a_huge_dictionary_of_overlapping_words_stays_linear() {
        let words: Vec<String> = (0..20_000_u32)
            .map(|i| format!("词{}{}\n", char::from_u32(0x4e00 + i % 140).unwrap(), char::from_u32(0x5000 + i / 140).unwrap()))
            .collect();
        assert!(with(&words.concat(), &[]).words("词一倀").contains(&"词一倀".to_owned()));
    }
}

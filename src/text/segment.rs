//! Text → words: jieba on runs of Han characters, letters and digits elsewhere.

use std::{
    io::BufRead,
    sync::{Arc, LazyLock},
};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    TermId,
    dictionary::Dictionary,
    is_stop_word,
    user_words::{SegmenterError, UserWords},
};

/// Splits text into normalised words. Its dictionary is loaded when it first meets a Han character: [`Segmenter::load_ahead`].
#[derive(Debug)]
pub struct Segmenter {
    pub(super) dictionary: Dictionary,
    pub(super) additions: Additions,
}

/// What a segmenter knows beside its dictionary.
#[derive(Debug, Default)]
pub(super) struct Additions {
    /// Added word → the words that are counted along with it.
    pub(super) parts: FxHashMap<Box<str>, Box<[Box<str>]>>,
    /// Stop words that are counted nevertheless.
    pub(super) kept: FxHashSet<Box<str>>,
    /// Word → what it is counted as instead.
    pub(super) meanings: FxHashMap<Box<str>, Box<[Box<str>]>>,
}

static DEFAULT: LazyLock<Arc<Segmenter>> =
    LazyLock::new(|| Arc::new(Segmenter { dictionary: Dictionary::Shared, additions: Additions::default() }));

/// Longest word that is counted, in bytes; longer ones are encoded data.
pub(super) const MAX_WORD_BYTES: usize = 40;

impl Segmenter {
    /// The segmenter with jieba's own dictionary.
    #[must_use]
    pub fn shared() -> Arc<Self> {
        Arc::clone(&DEFAULT)
    }

    /// Begins to load jieba's dictionary on a thread of its own if `text` has a Han character; whoever needs it meanwhile waits.
    pub fn load_ahead(text: &str) {
        if text.contains(is_han) {
            Dictionary::load_ahead();
        }
    }

    /// Loads the dictionary if one of `urls` may hold an escaped Han character: who cuts them into words later need not wait.
    pub fn load_for_urls<'u>(&self, urls: impl IntoIterator<Item = &'u str>) {
        if !self.dictionary.is_loaded() && urls.into_iter().any(may_hold_han) {
            self.dictionary.get();
        }
    }

    /// A segmenter that also knows the words of a user dictionary, each whole and by its parts; see [`UserWords::read`].
    ///
    /// # Errors
    /// A line that cannot be read.
    pub fn with_dictionary(dictionary: &mut impl BufRead) -> Result<Self, SegmenterError> {
        let mut words = UserWords::default();
        words.read(dictionary)?;
        Ok(Self::extended(&words))
    }

    /// Calls `each` with every word of `text`, normalised: lower case, half width, English plurals
    /// folded, stop words and overlong runs left out. A user's word is followed by its parts; a word of an [`Ontology`](super::Ontology)
    /// gives way to what it is counted as.
    pub fn for_each_word(&self, text: &str, mut each: impl FnMut(&str)) {
        let Additions { parts, kept, meanings } = &self.additions;
        self.for_each_token(text, |word| {
            if is_stop_word(word) && !kept.contains(word) {
                return;
            }
            let mut count = |word: &str| match if meanings.is_empty() { None } else { meanings.get(word) } {
                Some(counted) => counted.iter().for_each(|word| each(word)),
                None => each(word),
            };
            count(word);
            // Most segmenters have no additions; they should not pay for a look-up.
            if let Some(parts) = if parts.is_empty() { None } else { parts.get(word) } {
                parts.iter().for_each(|part| count(part));
            }
        });
    }

    /// Calls `each` with every word of `text`, stop words among them, added words unexpanded.
    pub(super) fn for_each_token(&self, text: &str, mut each: impl FnMut(&str)) {
        let mut word = String::new();
        let mut rest = text;
        loop {
            rest = &rest[gap_end(rest)..];
            let (end, kind) = word_end(rest);
            let (found, after) = match kind {
                Kind::None => return,
                Kind::Plain => {
                    let end = end + trailing_sign(&rest[end..]);
                    if end <= MAX_WORD_BYTES {
                        each(&rest[..end]);
                    }
                    rest = &rest[end..];
                    continue;
                }
                Kind::Mixed => rest.split_at(end + trailing_sign(&rest[end..])),
                Kind::Han => rest.split_at(end),
            };
            rest = after;
            if kind == Kind::Han {
                for token in self.dictionary.get().cut(found, true) {
                    if token.word.len() <= MAX_WORD_BYTES {
                        each(token.word);
                    }
                }
                continue;
            }
            normalise(found, &mut word);
            if !word.is_empty() && word.len() <= MAX_WORD_BYTES {
                each(&word);
            }
        }
    }

    /// Whether jieba's dictionary holds `word` and leaves it in one piece.
    #[must_use]
    pub(super) fn is_one_word(&self, word: &str) -> bool {
        let jieba = self.dictionary.get();
        jieba.has_word(word) && jieba.cut(word, true).len() == 1
    }

    /// How often jieba's dictionary counted a Chinese word in its 60 million words of general text;
    /// estimated from its parts where it is unknown, `None` for other scripts.
    #[must_use]
    pub fn dictionary_count(&self, word: &str) -> Option<usize> {
        word.starts_with(is_han).then(|| self.dictionary.get().suggest_freq(word))
    }

    /// The ids of a text's words, in order, with repeats.
    #[must_use]
    pub fn term_ids(&self, text: &str) -> Vec<TermId> {
        let mut ids = Vec::new();
        self.for_each_word(text, |word| ids.push(TermId::of(word)));
        ids
    }

    /// The words of a text, in order, with repeats.
    #[must_use]
    pub fn words(&self, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        self.for_each_word(text, |word| words.push(word.to_owned()));
        words
    }
}

/// Whether a character is a Han ideograph.
pub(super) fn is_han(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2fa1f}' | '々')
}

/// Whether a URL has an escaped byte that a Han character in UTF-8 begins with.
fn may_hold_han(url: &str) -> bool {
    url.split('%').skip(1).any(|escape| {
        let byte = escape.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        byte.is_some_and(|byte| (0xe3..=0xe9).contains(&byte) || byte == 0xef || byte == 0xf0)
    })
}

/// What a text starts with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Nothing: it is empty.
    None,
    /// A word that is spelt as it is counted: ASCII, in lower case, no plural. Most are.
    Plain,
    /// Another word.
    Mixed,
    /// Han characters.
    Han,
}

/// What a byte is to words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Gap,
    /// Letters in lower case, and digits.
    Lower,
    Upper,
    /// Part of a character that is not ASCII.
    Wide,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Gap; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'0'..=b'9' => Class::Lower,
            b'A'..=b'Z' => Class::Upper,
            0x80.. => Class::Wide,
            _ => Class::Gap,
        };
        byte += 1;
    }
    classes
};

/// Where the word ends that a text starts with, and what it is.
fn word_end(text: &str) -> (usize, Kind) {
    let bytes = text.as_bytes();
    let (mut at, mut is_lower) = (0, true);
    while let Some(&byte) = bytes.get(at) {
        match CLASSES[usize::from(byte)] {
            Class::Lower => {}
            Class::Upper => is_lower = false,
            Class::Gap => break,
            Class::Wide if at == 0 && text.starts_with(is_han) => {
                return (text.find(|c| !is_han(c)).unwrap_or(text.len()), Kind::Han);
            }
            Class::Wide => {
                let more = text[at..].find(|c| !is_word_char(c)).unwrap_or(text.len() - at);
                // It may be no letter at all: then the word before it is as plain as any.
                if more > 0 {
                    return (at + more, Kind::Mixed);
                }
                break;
            }
        }
        at += 1;
    }
    match bytes[..at].last() {
        None => (0, Kind::None),
        Some(b's') => (at, Kind::Mixed),
        Some(_) if is_lower => (at, Kind::Plain),
        Some(_) => (at, Kind::Mixed),
    }
}

/// Where the first word begins.
fn gap_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let at = bytes.iter().position(|&byte| CLASSES[usize::from(byte)] != Class::Gap).unwrap_or(bytes.len());
    if bytes.get(at).is_none_or(u8::is_ascii) {
        return at;
    }
    at + text[at..].find(|c| is_word_char(c) || is_han(c)).unwrap_or(text.len() - at)
}

fn is_word_char(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_alphanumeric() } else { c.is_alphanumeric() && !is_han(c) }
}

/// `C++`, `C#` and `F#` keep their sign.
fn trailing_sign(after: &str) -> usize {
    if after.starts_with("++") { 2 } else { usize::from(after.starts_with('#') && !after[1..].starts_with(is_word_char)) }
}

/// Lower case, half width, and the English plural folded, into `out`.
fn normalise(word: &str, out: &mut String) {
    out.clear();
    if word.is_ascii() {
        out.push_str(word);
        out.make_ascii_lowercase();
        fold_plural(out);
        return;
    }
    for c in word.chars() {
        match c {
            c if c.is_ascii() => out.push(c.to_ascii_lowercase()),
            // Full-width forms have the same order as ASCII.
            '\u{ff01}'..='\u{ff5e}' => out.extend(char::from_u32(c as u32 - 0xfee0).map(|c| c.to_ascii_lowercase())),
            c => out.extend(c.to_lowercase()),
        }
    }
    fold_plural(out);
}

/// `crops` → `crop`, `berries` → `berry`, `boxes` → `box`; `glass`, `virus` and `analysis` stay.
fn fold_plural(word: &mut String) {
    if word.len() < 4 || !word.ends_with('s') || !word.is_ascii() {
        return;
    }
    let len = word.len();
    if word.ends_with("ies") && len > 4 {
        word.truncate(len - 3);
        word.push('y');
    } else if ["sses", "xes", "ches", "shes"].iter().any(|end| word.ends_with(end)) {
        word.truncate(len - 2);
    } else if !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        word.truncate(len - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        Segmenter::shared().words(text)
    }

    #[test]
    fn chinese_is_cut_into_words_and_other_scripts_at_their_blanks() {
        assert_eq!(words("水稻病虫害防治"), ["水稻", "病虫害", "防治"]);
        assert_eq!(words("Crops & FRUIT-trees"), ["crop", "fruit", "tree"]);
        assert_eq!(words("学习HTML5画布"), ["学习", "html5", "画布"]);
    }

    #[test]
    fn a_url_that_decodes_to_han_characters_is_known_by_its_escapes() {
        for han in ["水", "㐀", "豈", "𠀀", "々", "鿿"] {
            let url = crate::url::Url::parse(&format!("http://e.com/a/{han}")).unwrap();
            assert!(may_hold_han(url.as_str()), "{url}");
        }
        assert!(!may_hold_han("http://e.com/caf%C3%A9%20%?a=%zz%4"));
    }

    #[test]
    fn width_case_plural_and_signs_are_one_spelling() {
        assert_eq!(words("ＨＴＭＬ５ C++ c# Glass virus"), ["html5", "c++", "c#", "glass", "virus"]);
        assert_eq!(words("berries boxes analysis"), ["berry", "box", "analysis"]);
    }

    #[test]
    fn stop_words_and_overlong_runs_are_left_out() {
        assert_eq!(words("关于水稻的网页 the rice"), ["水稻", "网页", "rice"]);
        assert!(words(&"x".repeat(100)).is_empty());
    }

    #[test]
    fn a_user_dictionary_makes_new_words() {
        let with = Segmenter::with_dictionary(&mut "主题爬虫 100 n\n".as_bytes()).unwrap();
        assert_eq!(with.words("主题爬虫"), ["主题爬虫", "主题", "爬虫"]);
        assert_eq!(words("主题爬虫"), ["主题", "爬虫"]);
        assert!(Segmenter::with_dictionary(&mut "词 many n\n".as_bytes()).is_err());
    }

    #[test]
    fn common_words_have_higher_dictionary_counts() {
        let count = |word| Segmenter::shared().dictionary_count(word);
        assert!(count("公司") > count("水稻") && count("水稻") > count("主题爬虫"));
        assert_eq!(count("rice"), None);
    }
}

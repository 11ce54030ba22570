//! Finds the topic's words in a page's text, and the passage that holds most of them.
//!
//! Promises: what is cut out of a text is cut between characters, and the
//! pieces put together are the passage.

use regex::Regex;

use super::table::one_line;

/// Words that are looked for at most; the weightiest come first.
const MAX_WORDS: usize = 80;
/// Length of a passage in columns: a Han character takes two.
const PASSAGE: usize = 260;
/// What may stand before the first word of a passage, in bytes.
const LEAD: usize = 80;

/// Looks for the words of a topic.
pub struct Marker(Option<Regex>);

/// A part of a text, in pieces.
#[derive(Debug, PartialEq, Eq)]
pub struct Passage<'a> {
    pub pieces: Vec<Piece<'a>>,
    /// The text begins before it.
    pub cut_before: bool,
    /// The text goes on after it.
    pub cut_after: bool,
}

/// A piece of a passage.
#[derive(Debug, PartialEq, Eq)]
pub struct Piece<'a> {
    pub text: &'a str,
    /// It is a word of the topic.
    pub marked: bool,
}

impl Marker {
    /// `words` are phrases or words in lower case, plural folded, as [`crate::text::Segmenter`] writes them.
    #[must_use]
    pub fn new<'a>(words: impl Iterator<Item = &'a str>) -> Self {
        let mut words: Vec<&str> = words.map(str::trim).filter(|word| !word.is_empty()).take(MAX_WORDS).collect();
        // Of several words that begin alike the longest is to be found.
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        let patterns: Vec<String> = words.into_iter().map(pattern).collect();
        // Escaped words in such a number always compile; without them nothing is marked.
        Self((!patterns.is_empty()).then(|| Regex::new(&format!("(?i){}", patterns.join("|"))).ok()).flatten())
    }

    /// The passage of `text` that holds most of the topic's words.
    #[must_use]
    pub fn passage<'a>(&self, text: &'a str) -> Passage<'a> {
        let marks: Vec<(usize, usize)> =
            self.0.iter().flat_map(|regex| regex.find_iter(text)).map(|found| (found.start(), found.end())).collect();
        let (start, end) = densest(text, &marks);
        let mut pieces = Vec::new();
        let mut at = start;
        for &(from, to) in marks.iter().filter(|(from, to)| *from >= start && *to <= end) {
            pieces.push(Piece { text: &text[at..from], marked: false });
            pieces.push(Piece { text: &text[from..to], marked: true });
            at = to;
        }
        pieces.push(Piece { text: &text[at..end], marked: false });
        pieces.retain(|piece| !piece.text.is_empty());
        Passage { pieces, cut_before: start > 0, cut_after: end < text.len() }
    }
}

/// Words of letters match whole words, in singular and plural; Han words match anywhere.
fn pattern(word: &str) -> String {
    let escaped = regex::escape(word);
    if !word.is_ascii() {
        return escaped;
    }
    let stem = match escaped.strip_suffix('y') {
        Some(stem) if stem.len() > 1 => format!("{stem}(?:y|ies)"),
        _ => format!("{escaped}(?:s|es)?"),
    };
    // A boundary of ASCII words: Han characters beside a word are no part of it.
    let edge = |c: Option<char>| if c.is_some_and(|c| c.is_ascii_alphanumeric()) { r"(?-u:\b)" } else { "" };
    format!("{}{stem}{}", edge(word.chars().next()), edge(word.chars().next_back()))
}

/// Start and end of the passage with most marks: the opening, unless one further on holds clearly more.
fn densest(text: &str, marks: &[(usize, usize)]) -> (usize, usize) {
    let mut best = (0, forward(text, 0, PASSAGE));
    let mut most = marks.iter().filter(|(_, to)| *to <= best.1).count();
    let mut first = 0;
    while first < marks.len() && best.1 < text.len() {
        let start = lead(text, marks[first].0);
        let end = forward(text, start, PASSAGE);
        let held = marks[first..].iter().take_while(|(_, to)| *to <= end).count();
        if held > most + usize::from(best.0 == 0) {
            (best, most) = ((start, end), held);
        }
        // Jumping by half a passage keeps long texts cheap.
        let next = forward(text, start, PASSAGE / 2);
        first += marks[first..].iter().take_while(|(from, _)| *from < next).count().max(1);
    }
    best
}

/// A place at most [`LEAD`] bytes before `at`: where a sentence begins, or else a word.
fn lead(text: &str, at: usize) -> usize {
    let earliest = text.floor_char_boundary(at.saturating_sub(LEAD));
    let before = &text[earliest..at];
    let after_sentence =
        ["。", "！", "？", ". ", "! ", "? "].iter().filter_map(|end| before.rfind(end).map(|i| i + end.len())).max();
    let after_word = || {
        before
            .find(|c: char| c.is_whitespace() || "，、；".contains(c))
            .and_then(|i| before[i..].chars().next().map(|c| i + c.len_utf8()))
    };
    if earliest == 0 && after_sentence.is_none() {
        return 0;
    }
    earliest + after_sentence.or_else(after_word).unwrap_or(0)
}

/// The place `columns` columns after `start`, between two characters and, where blanks are written, between two words.
fn forward(text: &str, start: usize, columns: usize) -> usize {
    let mut left = columns;
    let mut last_blank = None;
    for (offset, c) in text[start..].char_indices() {
        let width = unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
        if width > left {
            let here = start + offset;
            return last_blank.filter(|blank| here - blank < LEAD).unwrap_or(here);
        }
        left -= width;
        if c.is_whitespace() {
            last_blank = Some(start + offset);
        }
    }
    text.len()
}

/// A page's opening on one line, as passages are taken from.
pub(super) fn opening(excerpt: &str) -> String {
    const MAX_CHARS: usize = 2_000;
    one_line(excerpt).chars().take(MAX_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(words: &[&str], text: &str) -> Vec<String> {
        let marker = Marker::new(words.iter().copied());
        marker.passage(text).pieces.into_iter().filter(|piece| piece.marked).map(|piece| piece.text.to_owned()).collect()
    }

    #[test]
    fn words_are_found_in_every_inflection_and_only_as_whole_words() {
        assert_eq!(marked(&["crop", "berry"], "Crops, outcropped; berries in a CROP."), ["Crops", "berries", "CROP"]);
        assert_eq!(marked(&["crop rotation", "crop"], "Crop rotation of crops"), ["Crop rotation", "crops"]);
        assert_eq!(marked(&["c++", "html5"], "C++ 和HTML5画布"), ["C++", "HTML5"]);
    }

    #[test]
    fn chinese_words_are_found_without_blanks() {
        assert_eq!(marked(&["水稻", "病虫害"], "防治水稻病虫害"), ["水稻", "病虫害"]);
    }

    #[test]
    fn a_passage_is_short_and_holds_the_most_words() {
        let text =
            format!("{}rice here and rice there, rice everywhere {}", "filler words ".repeat(100), "and more ".repeat(100));
        let marker = Marker::new(["rice"].into_iter());
        let Passage { pieces, cut_before, cut_after } = marker.passage(&text);
        assert!(cut_before && cut_after);
        assert_eq!(pieces.iter().filter(|piece| piece.marked).count(), 3);
        let whole: String = pieces.iter().map(|piece| piece.text).collect();
        assert!(whole.len() <= PASSAGE && text.contains(&whole));
        assert_eq!(marker.passage(""), Passage { pieces: Vec::new(), cut_before: false, cut_after: false });
    }

    #[test]
    fn a_passage_begins_with_a_sentence_where_one_is_near() {
        let text = format!("{} Few know this. Often rice feeds rice pests of rice.", "filler words ".repeat(40));
        let whole: String = Marker::new(["rice"].into_iter()).passage(&text).pieces.iter().map(|piece| piece.text).collect();
        assert_eq!(whole, "Often rice feeds rice pests of rice.");
    }

    #[test]
    fn long_chinese_texts_are_cut_between_characters() {
        let text = "农".repeat(500) + &"水稻".repeat(300);
        let whole: String = Marker::new(["水稻"].into_iter()).passage(&text).pieces.iter().map(|piece| piece.text).collect();
        assert!(whole.chars().count() <= PASSAGE / 2);
    }

    #[test]
    fn nothing_is_marked_without_words() {
        assert!(marked(&["", " "], "rice").is_empty());
    }
}

//! One path pattern of a robots.txt rule.
//!
//! Promises: `*` and `$` as RFC 9309 (2.2.3) says, both sides of a comparison
//! brought to one spelling (2.2.2); matching takes time linear in path and
//! pattern, however many stars there are.

use serde::{Deserialize, Serialize};

/// A pattern, ready to match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Pattern {
    /// What stands between the stars, in the spelling of [`normalized`].
    pieces: Vec<Box<str>>,
    /// `$` at the end: nothing may follow.
    is_anchored: bool,
    /// Bytes as written after normalising: the longest match wins.
    length: usize,
}

impl Pattern {
    /// `None` for an empty pattern, which matches nothing.
    pub fn new(text: &[u8]) -> Option<Self> {
        if text.is_empty() {
            return None;
        }
        let is_anchored = text.ends_with(b"$");
        let text = if is_anchored { &text[..text.len() - 1] } else { text };
        let stars = text.split(|&byte| byte == b'*').count() - 1;
        let pieces = text.split(|&byte| byte == b'*').enumerate();
        // Between two stars in a row there is nothing to find.
        let pieces = pieces.filter(|&(at, piece)| at == 0 || at == stars || !piece.is_empty());
        let pieces: Vec<Box<str>> = pieces.map(|(_, piece)| normalized(piece).into()).collect();
        let length = pieces.iter().map(|piece| piece.len()).sum::<usize>() + stars + usize::from(is_anchored);
        Some(Self { pieces, is_anchored, length })
    }

    /// What decides between two patterns that match.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Whether a path (with its query) matches; it must be [`normalized`].
    pub fn matches(&self, path: &str) -> bool {
        let Some((first, others)) = self.pieces.split_first() else { return false };
        let Some(mut rest) = path.strip_prefix(&**first) else { return false };
        let Some((last, middle)) = others.split_last() else { return !self.is_anchored || rest.is_empty() };
        // Taking the leftmost place for each piece leaves the most room for those behind it: no backtracking.
        for piece in middle {
            let Some(at) = rest.find(&**piece) else { return false };
            rest = &rest[at + piece.len()..];
        }
        if self.is_anchored { rest.ends_with(&**last) } else { rest.contains(&**last) }
    }
}

/// The one spelling of a path: unreserved characters bare, everything that means something to a URI or to a pattern
/// as it is or escaped as it was, the rest escaped, escapes in capitals. `*` and `$` are escaped: in a path they are
/// characters, in a pattern they were taken out before.
pub(super) fn normalized(text: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let escape = (text[at] == b'%').then(|| hex_pair(text.get(at + 1..at + 3)?)).flatten();
        let byte = escape.unwrap_or(text[at]);
        if is_unreserved(byte) || (escape.is_none() && (byte == b'%' || is_kept(byte))) {
            out.push(char::from(byte));
        } else {
            push_escaped(&mut out, byte);
        }
        at += if escape.is_some() { 3 } else { 1 };
    }
    out
}

fn push_escaped(out: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    out.push('%');
    out.push(char::from(DIGITS[usize::from(byte >> 4)]));
    out.push(char::from(DIGITS[usize::from(byte & 15)]));
}

fn hex_pair(pair: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    Some((digit(pair[0])? * 16 + digit(pair[1])?) as u8)
}

/// RFC 3986, 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// RFC 3986, 2.2, without the two that patterns use.
fn is_kept(byte: u8) -> bool {
    matches!(byte, b':' | b'/' | b'?' | b'#' | b'[' | b']' | b'@' | b'!' | b'&' | b'\'' | b'(' | b')' | b'+' | b',' | b';' | b'=')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn matches(pattern: &str, path: &str) -> bool {
        Pattern::new(pattern.as_bytes()).is_some_and(|known| known.matches(&normalized(path.as_bytes())))
    }

    #[test]
    fn stars_and_ends_match_as_the_rfc_says() {
        for (pattern, path) in [
            ("/", "/x"),
            ("/fish", "/fish.html"),
            ("/*.php", "/a/b.php?x"),
            ("/*.php$", "/a/b.php"),
            ("/a*b*c$", "/a-b-b-c-c"),
            ("/a**b", "/ab"),
            ("*", "/"),
            ("*$", "/x"),
            ("/$", "/"),
            ("/x*", "/x"),
            ("/a*aa$", "/aaa"),
        ] {
            assert!(matches(pattern, path), "{pattern} {path}");
        }
        for (pattern, path) in [
            ("", "/"),
            ("/fish", "/Fish"),
            ("/*.php$", "/a.php5"),
            ("/$", "/x"),
            ("/a*aa$", "/aa"),
            ("/ab*ba$", "/aba"),
            ("$", "/"),
        ] {
            assert!(!matches(pattern, path), "{pattern} {path}");
        }
    }

    #[test]
    fn spellings_of_one_path_are_one() {
        for (pattern, path) in [
            ("/%62%61z", "/baz"),
            ("/baz", "/%62%61%7A"),
            ("/ツ", "/%e3%83%84"),
            ("/a%2fb", "/a%2Fb"),
            ("/a b", "/a%20b"),
            ("/with-a-%2A.html", "/with-a-*.html"),
            ("/price%24", "/price$"),
            ("/a$b", "/a%24b"),
            ("/100%", "/100%"),
        ] {
            assert!(matches(&format!("{pattern}$"), path), "{pattern} {path}");
        }
        assert!(!matches("/a%2Fb", "/a/b"));
    }

    /// What a pattern means, without a thought of time.
    fn plainly(pattern: &[u8], path: &[u8]) -> bool {
        match (pattern, path) {
            ([], _) | ([b'$'], []) => true,
            ([b'*', rest @ ..], _) => (0..=path.len()).any(|skipped| plainly(rest, &path[skipped..])),
            ([wanted, rest @ ..], [found, others @ ..]) => wanted == found && plainly(rest, others),
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn matching_means_what_it_says(pattern in "/[ab*]{0,8}[$]?", path in "/[ab]{0,10}") {
            prop_assert_eq!(matches(&pattern, &path), plainly(pattern.as_bytes(), path.as_bytes()));
        }

        #[test]
        fn no_text_is_too_odd(text in proptest::collection::vec(any::<u8>(), 0..200), path in "\\PC{0,200}") {
            let known = normalized(path.as_bytes());
            prop_assert_eq!(normalized(known.as_bytes()), known.clone());
            if let Some(pattern) = Pattern::new(&text) {
                pattern.matches(&known);
            }
        }
    }

    #[test]
    fn a_pattern_of_many_stars_takes_no_more_steps_than_there_are_bytes() {
        // Backtracking would take more steps here than there are atoms.
        let pattern = format!("/{}b", "*a".repeat(5_000));
        assert!(!matches(&pattern, &format!("/{}", "a".repeat(100_000))));
        assert!(matches(&pattern, &format!("/{}b", "a".repeat(100_000))));
    }
}

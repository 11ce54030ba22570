//! A filter's text as words, numbers, texts and signs, each with its place.

use std::fmt;

use super::filter::Fault;

/// The smallest part that means something.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// A field or a keyword.
    Word(String),
    Number(f64),
    /// A text in quotes, without them.
    Text(String),
    Sign(&'static str),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "`{word}`"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => write!(f, "\"{text}\""),
            Self::Sign(sign) => write!(f, "`{sign}`"),
        }
    }
}

/// Longer signs before their own beginnings.
const SIGNS: [&str; 11] = ["<=", ">=", "!=", "!~", "==", "<", ">", "=", "~", "(", ")"];

/// The tokens of a filter with the number of their first character, from 1.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token)>, Fault> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let start = at;
        let token = if c.is_whitespace() {
            at += 1;
            continue;
        } else if c.is_alphabetic() || c == '_' {
            at = end_of(&chars, at, |c| c.is_alphanumeric() || c == '_');
            Token::Word(chars[start..at].iter().collect())
        } else if c.is_ascii_digit() || matches!(c, '.' | '-' | '+') {
            at = end_of(&chars, at + 1, |c| c.is_ascii_alphanumeric() || c == '.');
            let number: String = chars[start..at].iter().collect();
            let parsed = number.parse::<f64>().ok().filter(|parsed| parsed.is_finite());
            Token::Number(parsed.ok_or_else(|| (start + 1, format!("`{number}` is not a number")))?)
        } else if c == '"' || c == '\'' {
            let (text, after) = quoted(&chars, at).ok_or_else(|| (start + 1, "the quote is not closed".to_owned()))?;
            at = after;
            Token::Text(text)
        } else if c == ',' {
            at += 1;
            Token::Sign(",")
        } else {
            let sign = SIGNS.into_iter().find(|sign| sign.chars().enumerate().all(|(i, s)| chars.get(at + i) == Some(&s)));
            let sign = sign.ok_or_else(|| (start + 1, format!("`{c}` means nothing here")))?;
            at += sign.len();
            Token::Sign(if sign == "==" { "=" } else { sign })
        };
        tokens.push((start + 1, token));
    }
    Ok(tokens)
}

fn end_of(chars: &[char], from: usize, belongs: impl Fn(char) -> bool) -> usize {
    chars[from..].iter().position(|&c| !belongs(c)).map_or(chars.len(), |length| from + length)
}

/// The text in quotes that starts at `at`, and the place after it. A backslash keeps a quote;
/// before anything else it stands for itself, as regular expressions need it.
fn quoted(chars: &[char], at: usize) -> Option<(String, usize)> {
    let quote = chars[at];
    let mut text = String::new();
    let mut at = at + 1;
    loop {
        match *chars.get(at)? {
            c if c == quote => return Some((text, at + 1)),
            '\\' if chars.get(at + 1) == Some(&quote) => {
                text.push(quote);
                at += 2;
            }
            c => {
                text.push(c);
                at += 1;
            }
        }
    }
}

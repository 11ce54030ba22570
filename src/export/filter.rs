//! The filter language of `--where`: `relevance > 0.8 and language = "zh"`.
//!
//! ```text
//! expression = term { "or" term }
//! term       = factor { "and" factor }
//! factor     = "not" factor | "(" expression ")" | test
//! test       = FLAG
//!            | FIELD ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) VALUE
//!            | FIELD ( "~" | "!~" ) "REGULAR EXPRESSION"
//!            | FIELD "in" "(" VALUE { "," VALUE } ")"
//! VALUE      = 12 | 0.8 | "text" | 'text' | true | false | null
//! ```
//!
//! Promises: fields and kinds are checked before the first row is read; an
//! error names the character it stands at; a test on an empty field is false,
//! but for `!=`, `!~` and `= null`.
//! Never: recurses deeper than [`MAX_DEPTH`], reads a row itself.

use std::{cmp::Ordering, fmt};

use regex::Regex;

use super::{
    column::{Kind, Value},
    lexer::{Token, tokens},
};
use crate::page::Timestamp;

/// Parentheses and `not` inside each other, at most.
const MAX_DEPTH: usize = 64;

/// A filter that cannot be used: where and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    pub text: String,
    /// Character, from 1.
    pub position: usize,
    pub message: String,
}

impl fmt::Display for FilterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { text, position, message } = self;
        // Wide characters would push the caret aside; it stands under the first line's character at least in Latin text.
        let before: String = text.chars().take(position - 1).collect();
        let indent = unicode_width::UnicodeWidthStr::width(before.as_str());
        write!(f, "--where, character {position}: {message}\n  {text}\n  {:indent$}^", "")
    }
}

impl std::error::Error for FilterError {}

/// A filter over the fields it was parsed for.
#[derive(Debug, Clone)]
pub struct Filter(Node);

#[derive(Debug, Clone)]
enum Node {
    Any(Vec<Node>),
    All(Vec<Node>),
    Not(Box<Node>),
    Flag(usize),
    Compare(usize, Comparison, Literal),
    Matches(usize, Regex),
    OneOf(usize, Vec<Literal>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Debug, Clone, PartialEq)]
enum Literal {
    Null,
    Number(f64),
    Text(String),
    Flag(bool),
    Time(Timestamp),
}

impl Filter {
    /// Reads a filter over `fields`.
    ///
    /// # Errors
    /// [`FilterError`] with the place of the fault.
    pub fn parse(text: &str, fields: &[(&'static str, Kind)]) -> Result<Self, FilterError> {
        let fault = |(position, message)| FilterError { text: text.to_owned(), position, message };
        let tokens = tokens(text).map_err(fault)?;
        let mut parser = Parser { tokens, at: 0, fields, end: text.chars().count() + 1, depth: 0 };
        parser.whole().map(Self).map_err(fault)
    }

    /// Whether a row passes; `value` gives its fields by their place in the list the filter was parsed for.
    pub fn admits<'a>(&self, value: &impl Fn(usize) -> Value<'a>) -> bool {
        self.0.holds(value)
    }
}

impl Node {
    fn holds<'a>(&self, value: &impl Fn(usize) -> Value<'a>) -> bool {
        match self {
            Self::Any(nodes) => nodes.iter().any(|node| node.holds(value)),
            Self::All(nodes) => nodes.iter().all(|node| node.holds(value)),
            Self::Not(node) => !node.holds(value),
            Self::Flag(field) => value(*field) == Value::Flag(true),
            Self::Compare(field, comparison, literal) => comparison.holds(&value(*field), literal),
            Self::Matches(field, regex) => matches!(value(*field), Value::Text(text) if regex.is_match(&text)),
            Self::OneOf(field, literals) => {
                let value = value(*field);
                literals.iter().any(|literal| Comparison::Equal.holds(&value, literal))
            }
        }
    }
}

impl Comparison {
    fn holds(self, value: &Value<'_>, literal: &Literal) -> bool {
        let ordering = match (value, literal) {
            (Value::Null, Literal::Null) => Some(Ordering::Equal),
            (Value::Integer(a), Literal::Number(b)) => (*a as f64).partial_cmp(b),
            (Value::Number(a), Literal::Number(b)) => a.partial_cmp(b),
            (Value::Text(a), Literal::Text(b)) => Some(a.as_ref().cmp(b.as_str())),
            (Value::Flag(a), Literal::Flag(b)) => Some(a.cmp(b)),
            (Value::Time(a), Literal::Time(b)) => Some(a.cmp(b)),
            _ => None,
        };
        ordering.is_some_and(|ordering| match self {
            Self::Equal => ordering.is_eq(),
            Self::Less => ordering.is_lt(),
            Self::LessOrEqual => ordering.is_le(),
            Self::Greater => ordering.is_gt(),
            Self::GreaterOrEqual => ordering.is_ge(),
        })
    }
}

/// Position and message.
pub(super) type Fault = (usize, String);

struct Parser<'f> {
    tokens: Vec<(usize, Token)>,
    at: usize,
    fields: &'f [(&'static str, Kind)],
    /// Position after the last character.
    end: usize,
    depth: usize,
}

impl Parser<'_> {
    fn whole(&mut self) -> Result<Node, Fault> {
        let node = self.any()?;
        match self.tokens.get(self.at) {
            None => Ok(node),
            Some((position, token)) => Err((*position, format!("expected `and`, `or` or the end, found {token}"))),
        }
    }

    fn any(&mut self) -> Result<Node, Fault> {
        let mut nodes = vec![self.all()?];
        while self.takes_word("or") {
            nodes.push(self.all()?);
        }
        Ok(if nodes.len() == 1 { nodes.swap_remove(0) } else { Node::Any(nodes) })
    }

    fn all(&mut self) -> Result<Node, Fault> {
        let mut nodes = vec![self.factor()?];
        while self.takes_word("and") {
            nodes.push(self.factor()?);
        }
        Ok(if nodes.len() == 1 { nodes.swap_remove(0) } else { Node::All(nodes) })
    }

    fn factor(&mut self) -> Result<Node, Fault> {
        let position = self.position();
        if self.depth == MAX_DEPTH {
            return Err((position, format!("more than {MAX_DEPTH} parentheses or `not` inside each other")));
        }
        self.depth += 1;
        let node = if self.takes_word("not") {
            Node::Not(Box::new(self.factor()?))
        } else if self.takes_sign("(") {
            let inner = self.any()?;
            self.expect_sign(")")?;
            inner
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(node)
    }

    fn test(&mut self) -> Result<Node, Fault> {
        let position = self.position();
        let name = match self.next() {
            Some(Token::Word(name)) => name,
            other => return Err((position, format!("expected a field, found {}", found(other.as_ref())))),
        };
        let (field, kind) = self.field(&name).ok_or_else(|| (position, self.unknown_field(&name)))?;
        let operator_at = self.position();
        let Some(Token::Sign(sign)) = self.tokens.get(self.at).map(|(_, token)| token.clone()) else {
            if self.takes_word("in") {
                return self.list(field, kind);
            }
            return if kind == Kind::Flag {
                Ok(Node::Flag(field))
            } else {
                Err((operator_at, format!("expected a comparison such as `=` after `{name}`, which is a {}", kind.name())))
            };
        };
        let comparison = match sign {
            "=" | "!=" => Comparison::Equal,
            "<" => Comparison::Less,
            "<=" => Comparison::LessOrEqual,
            ">" => Comparison::Greater,
            ">=" => Comparison::GreaterOrEqual,
            "~" | "!~" => {
                self.at += 1;
                let node = self.pattern(field, kind, &name)?;
                return Ok(if sign == "!~" { Node::Not(Box::new(node)) } else { node });
            }
            _ if kind == Kind::Flag => return Ok(Node::Flag(field)),
            _ => return Err((operator_at, format!("expected a comparison such as `=` after `{name}`, found `{sign}`"))),
        };
        self.at += 1;
        let value_at = self.position();
        let literal = self.literal(kind)?;
        if comparison != Comparison::Equal && matches!(literal, Literal::Null | Literal::Flag(_)) {
            return Err((value_at, "only `=` and `!=` go with null, true and false".to_owned()));
        }
        let node = Node::Compare(field, comparison, literal);
        Ok(if sign == "!=" { Node::Not(Box::new(node)) } else { node })
    }

    fn pattern(&mut self, field: usize, kind: Kind, name: &str) -> Result<Node, Fault> {
        let position = self.position();
        if kind != Kind::Text {
            return Err((position, format!("`~` is for texts, but `{name}` is a {}", kind.name())));
        }
        match self.next() {
            Some(Token::Text(pattern)) => Regex::new(&pattern).map(|regex| Node::Matches(field, regex)).map_err(|error| {
                let reason = error.to_string();
                (position, format!("not a regular expression: {}", reason.lines().last().unwrap_or_default()))
            }),
            other => Err((position, format!("expected a regular expression in quotes, found {}", found(other.as_ref())))),
        }
    }

    fn list(&mut self, field: usize, kind: Kind) -> Result<Node, Fault> {
        self.expect_sign("(")?;
        let mut literals = vec![self.literal(kind)?];
        while self.takes_sign(",") {
            literals.push(self.literal(kind)?);
        }
        self.expect_sign(")")?;
        Ok(Node::OneOf(field, literals))
    }

    /// A value that a field of `kind` can be compared with.
    fn literal(&mut self, kind: Kind) -> Result<Literal, Fault> {
        let position = self.position();
        let token = self.next();
        let wrong = |token: Option<&Token>| (position, format!("expected {}, found {}", wanted(kind), found(token)));
        match (kind, token) {
            (_, Some(Token::Word(word))) if word == "null" => Ok(Literal::Null),
            (Kind::Integer | Kind::Number, Some(Token::Number(number))) => Ok(Literal::Number(number)),
            (Kind::Text, Some(Token::Text(text))) => Ok(Literal::Text(text)),
            (Kind::Flag, Some(Token::Word(word))) if word == "true" || word == "false" => Ok(Literal::Flag(word == "true")),
            (Kind::Time, Some(Token::Text(text))) => time(&text)
                .map(Literal::Time)
                .ok_or_else(|| (position, format!("\"{text}\" is no time; write \"2026-11-21\" or \"2026-11-21T08:30:00Z\""))),
            (_, token) => Err(wrong(token.as_ref())),
        }
    }

    fn field(&self, name: &str) -> Option<(usize, Kind)> {
        self.fields.iter().position(|(known, _)| *known == name).map(|at| (at, self.fields[at].1))
    }

    fn unknown_field(&self, name: &str) -> String {
        let near = self.fields.iter().map(|(known, _)| (strsim::damerau_levenshtein(known, name), *known)).min();
        match near {
            Some((distance, known)) if distance <= 3 => format!("there is no field `{name}`; did you mean `{known}`?"),
            _ => {
                let all: Vec<&str> = self.fields.iter().map(|(known, _)| *known).collect();
                format!("there is no field `{name}`; the fields are {}", all.join(", "))
            }
        }
    }

    fn position(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |(position, _)| *position)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.at).map(|(_, token)| token.clone());
        self.at += 1;
        token
    }

    fn takes_word(&mut self, word: &str) -> bool {
        let takes = matches!(self.tokens.get(self.at), Some((_, Token::Word(found))) if found == word);
        self.at += usize::from(takes);
        takes
    }

    fn takes_sign(&mut self, sign: &str) -> bool {
        let takes = matches!(self.tokens.get(self.at), Some((_, Token::Sign(found))) if *found == sign);
        self.at += usize::from(takes);
        takes
    }

    fn expect_sign(&mut self, sign: &str) -> Result<(), Fault> {
        let position = self.position();
        if self.takes_sign(sign) {
            return Ok(());
        }
        Err((position, format!("expected `{sign}`, found {}", found(self.tokens.get(self.at).map(|(_, token)| token)))))
    }
}

fn found(token: Option<&Token>) -> String {
    token.map_or_else(|| "the end".to_owned(), ToString::to_string)
}

fn wanted(kind: Kind) -> &'static str {
    match kind {
        Kind::Integer | Kind::Number => "a number",
        Kind::Flag => "true or false",
        Kind::Text => "a text in quotes",
        Kind::Time => "a time in quotes",
    }
}

/// A day (its start, in UTC) or a point in time.
fn time(text: &str) -> Option<Timestamp> {
    let instant = text.parse::<jiff::Timestamp>().ok().or_else(|| {
        let day = text.parse::<jiff::civil::Date>().ok().filter(|_| text.len() == 10)?;
        day.to_zoned(jiff::tz::TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
    })?;
    u64::try_from(instant.as_millisecond()).ok().map(Timestamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: &[(&str, Kind)] = &[
        ("relevance", Kind::Number),
        ("language", Kind::Text),
        ("relevant", Kind::Flag),
        ("status", Kind::Integer),
        ("fetched_at", Kind::Time),
        ("title", Kind::Text),
    ];

    fn row(at: usize) -> Value<'static> {
        match at {
            0 => Value::Number(0.85),
            1 => Value::text("zh"),
            2 => Value::Flag(true),
            3 => Value::Integer(200),
            4 => Value::Time(Timestamp(1_795_219_200_000)),
            _ => Value::Null,
        }
    }

    fn admits(text: &str) -> bool {
        Filter::parse(text, FIELDS).unwrap_or_else(|error| panic!("{error}")).admits(&row)
    }

    #[test]
    fn filters_say_what_they_say() {
        for text in [
            "relevance>0.8 and language=\"zh\"",
            "relevance >= .85 and relevance <= 0.85",
            "relevant",
            "relevant and (status != 200 or language in ('en', 'zh'))",
            "not relevant or relevant = true",
            "language ~ '^z' and language !~ \"en\"",
            "fetched_at >= '2026-11-21' and fetched_at < \"2026-11-21T00:00:01Z\"",
            "title = null and title != 'x' and title !~ 'x'",
            "status = 2e2 and status == 200",
        ] {
            assert!(admits(text), "{text}");
        }
        for text in
            ["relevance > 0.85", "language = 'en'", "not relevant", "title = ''", "title < 'x'", "title ~ ''", "relevant != true"]
        {
            assert!(!admits(text), "{text}");
        }
    }

    #[test]
    fn and_binds_closer_than_or() {
        assert!(admits("relevant or relevant and not relevant"));
        assert!(!admits("(relevant or relevant) and not relevant"));
    }

    #[test]
    fn faults_are_named_with_their_place() {
        for (text, position, message) in [
            ("", 1, "expected a field, found the end"),
            ("relevnce>0.8", 1, "did you mean `relevance`?"),
            ("colour = 'red'", 1, "the fields are relevance, language"),
            ("relevance 0.8", 11, "expected a comparison such as `=`"),
            ("relevance", 10, "which is a number"),
            ("relevance > \"x\"", 13, "expected a number, found \"x\""),
            ("language = zh", 12, "expected a text in quotes, found `zh`"),
            ("language = 'zh", 12, "the quote is not closed"),
            ("(relevant", 10, "expected `)`, found the end"),
            ("relevant relevant", 10, "expected `and`, `or` or the end"),
            ("语言 = 'zh'", 1, "there is no field `语言`"),
            ("language = '中' & relevant", 16, "`&` means nothing here"),
            ("status ~ '2'", 10, "`~` is for texts"),
            ("language ~ '('", 12, "not a regular expression"),
            ("fetched_at > 'today'", 14, "is no time"),
            ("relevant < true", 12, "only `=` and `!=`"),
            ("status = 1.2.3", 10, "not a number"),
        ] {
            let error = Filter::parse(text, FIELDS).unwrap_err();
            assert_eq!(error.position, position, "{error}");
            assert!(error.to_string().contains(message), "{error}");
        }
        let deep = format!("{}relevant", "not ".repeat(1_000));
        assert!(Filter::parse(&deep, FIELDS).unwrap_err().message.contains("inside each other"));
    }

    #[test]
    fn the_caret_stands_under_the_fault() {
        let shown = Filter::parse("relevant and x", FIELDS).unwrap_err().to_string();
        assert!(shown.ends_with("\n  relevant and x\n               ^"), "{shown}");
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_filter_or_says_why(text in "(relevant|relevance|and|or|not|in|[<>=~!(),'\"0-9. ]|\\PC){0,30}") {
            match Filter::parse(&text, FIELDS) {
                Ok(filter) => { filter.admits(&row); }
                Err(error) => proptest::prop_assert!(error.position >= 1 && error.position <= text.chars().count() + 1),
            }
        }
    }
}

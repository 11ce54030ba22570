//! What can be wrong with a topic file: what, where, and the way out.

use std::{fmt, io, ops::Range, path::PathBuf};

use serde::Serialize;

use crate::{
    text::{OntologyError, SegmenterError},
    url::{ScopeError, UrlError},
};

/// A place in a file; line and column count from 1, in characters, and are 0 where the whole file is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    pub file: String,
    pub line: usize,
    pub column: usize,
}

impl Place {
    /// A file as a whole.
    pub(super) fn whole(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: 0, column: 0 }
    }

    /// Where `span` begins in `text`; the whole file where there is none.
    pub(super) fn of(file: &str, text: &str, span: Option<Range<usize>>) -> Self {
        let Some(before) = span.and_then(|span| text.get(..span.start)) else { return Self::whole(file) };
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        Self { file: file.to_owned(), line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if self.line > 0 { write!(f, ":{}:{}", self.line, self.column) } else { Ok(()) }
    }
}

/// Why a topic cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TopicError {
    #[error("{place}: cannot be read: {source}")]
    Read { place: Place, source: io::Error },
    #[error("{place}: cannot be written: {source}")]
    Write { place: Place, source: io::Error },
    #[error("{place}: not valid TOML: {message}")]
    Syntax { place: Place, message: String },
    #[error("{place}: unknown key {key:?}: {help}")]
    UnknownKey { place: Place, key: String, help: String },
    #[error("{place}: {key}: {problem}")]
    Value { place: Place, key: String, problem: String },
    #[error("{place}: no keywords: say in a few words what the topic is, as in keywords = [\"crop rotation\", \"水稻\"]")]
    NoKeywords { place: Place },
    #[error("{place}: no seeds: give the crawl pages to start from, with seeds = [\"https://…\"] or seeds_file = \"seeds.txt\"")]
    NoSeeds { place: Place },
    #[error("{place}: seed {seed:?}: {source}: {help}")]
    Seed { place: Place, seed: String, source: UrlError, help: String },
    #[error("{place}: {key}: there is no file or folder {path:?}: paths are relative to the topic file, so this means {full}", full = full.display())]
    MissingPath { place: Place, key: String, path: String, full: PathBuf },
    #[error("{place}: {source}: a pattern is a regular expression; write \\. for a dot and \\( for a bracket")]
    Scope { place: Place, source: ScopeError },
    #[error("{place}: user dictionary: {source}")]
    Dictionary { place: Place, source: SegmenterError },
    #[error("{place}: ontology: {source}")]
    Ontology { place: Place, source: OntologyError },
}

impl TopicError {
    /// Where the mistake is.
    #[must_use]
    pub fn place(&self) -> &Place {
        match self {
            Self::Read { place, .. }
            | Self::Write { place, .. }
            | Self::Syntax { place, .. }
            | Self::UnknownKey { place, .. }
            | Self::Value { place, .. }
            | Self::NoKeywords { place }
            | Self::NoSeeds { place }
            | Self::Seed { place, .. }
            | Self::MissingPath { place, .. }
            | Self::Scope { place, .. }
            | Self::Dictionary { place, .. }
            | Self::Ontology { place, .. } => place,
        }
    }
}

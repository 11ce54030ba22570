//! Words: what a text is counted in, in Chinese and in languages that write blanks.
//!
//! Promises: one rule for pages, anchors, URLs and keywords, so that equal
//! words get equal [`TermId`]s wherever they stand; ids are stable across runs.
//! Never: weighs words (that is the classifiers' work).

mod dictionary;
mod language;
mod ontology;
mod segment;
mod stop;
mod term;
mod url_words;
mod user_words;

pub use language::Language;
pub use ontology::{Ontology, OntologyError};
pub use segment::Segmenter;
pub use stop::is_stop_word;
pub use term::TermId;
pub use url_words::{UrlWords, url_words};
pub use user_words::{SegmenterError, UserWords};

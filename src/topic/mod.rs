//! The topic: what a crawl is about, in one TOML file.
//!
//! Promises: a [`Topic`] that exists can be crawled: its seeds are canonical
//! URLs, its keywords hold words, its patterns compile, its paths exist. A file
//! that cannot give one is refused with the place and the way out.
//! Never: fetches, parses or judges pages, and never rewrites a file that a
//! person wrote without keeping every comment in it ([`TopicEditor`]).

mod background;
mod check;
mod definition;
mod editor;
mod error;
mod examples;
mod file;
mod keyword;
mod keyword_set;
mod rules;
mod seeds;
mod source;
mod suggest;
mod template;

pub use background::Background;
pub use check::{Confidence, Findings, KeywordFinding, SeedFindings, Weakness};
pub use definition::Topic;
pub use editor::{ExampleKind, TopicEditor};
pub use error::{Place, TopicError};
pub use examples::Examples;
pub use file::{HarvestFloor, Limits, Stop};
pub use keyword::Keyword;
pub use keyword_set::{KeywordSet, Matches};
pub use suggest::{Suggestion, suggest};
pub use template::NewTopic;

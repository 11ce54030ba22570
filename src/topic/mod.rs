//! topic
mod keyword_set;
pub use keyword_set::{KeywordSet, Matches};

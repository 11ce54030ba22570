//! A word's identity: 32 bits of xxh3, stable on disk.

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// The hash of a normalised word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TermId(pub u32);

impl TermId {
    /// The id of a word as [`Segmenter`](super::Segmenter) spells it.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "the low half of the hash is the id")]
    pub fn of(word: &str) -> Self {
        Self(xxh3_64(word.as_bytes()) as u32)
    }
}

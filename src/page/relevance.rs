//! Relevance: how sure the page classifier is that a page belongs to the topic.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A calibrated probability in `0..=1`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Serialize, Deserialize)]
pub struct Relevance(f32);

impl Relevance {
    pub const NONE: Self = Self(0.0);
    pub const FULL: Self = Self(1.0);

    /// Clamps into `0..=1`; not-a-number becomes 0.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "seven digits of a probability are enough")]
    pub fn new(probability: f64) -> Self {
        if probability.is_nan() { Self::NONE } else { Self(probability.clamp(0.0, 1.0) as f32) }
    }

    #[must_use]
    pub fn get(self) -> f64 {
        f64::from(self.0)
    }
}

impl fmt::Display for Relevance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

//! A page model made before the crawl: word counts of two classes and a calibration fitted on labels.

use serde::{Deserialize, Serialize};

use super::{ClassCounts, reading::DIMENSIONS};

/// Platt's correction of a classifier's log-odds: `slope · z + offset`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    pub slope: f64,
    pub offset: f64,
}

impl Default for Calibration {
    fn default() -> Self {
        Self { slope: 1.0, offset: 0.0 }
    }
}

impl Calibration {
    #[must_use]
    pub fn apply(self, log_odds: f64) -> f64 {
        self.slope * log_odds + self.offset
    }
}

/// What `windrow retrain` writes and `windrow crawl --model` reads, beside the model's card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainedPageModel {
    pub counts: ClassCounts,
    /// Documents behind the counts, relevant and not.
    pub documents: (f64, f64),
    pub calibration: Calibration,
}

impl TrainedPageModel {
    /// Whether the counts have the width this version works with.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.counts.relevant.len() == DIMENSIONS && self.counts.irrelevant.len() == DIMENSIONS
    }
}

//! Is a page about the topic? Multinomial Naive Bayes on linfa-bayes beside keyword evidence,
//! calibrated to a probability; cosine of TF-IDF vectors as the alternative (systems.md 4).
//!
//! Promises: a model is a frozen value that judges alike wherever it is read;
//! only the [`PageLearner`] makes new ones, from the keywords, from what the
//! crawl fetched and from labels or a trained model where there are any.
//! Never: sees evaluation labels, knows of links or ranks.

mod bayes;
mod cosine;
mod keyword_trust;
mod learner;
mod pass;
mod platt;
mod reading;
mod trained;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use bayes::{BayesModel, ClassCounts, Scale, fit_log_ratios};
pub use cosine::CosineModel;
pub use keyword_trust::KeywordTrust;
pub use learner::PageLearner;
pub use pass::{Rejudged, Slice};
pub use platt::{ScoredExample, fit_calibration};
pub use reading::{DIMENSIONS, Reading};
pub use trained::{Calibration, Meaning, TrainedPageModel};

use crate::page::Relevance;

/// What a classifier says of a page, and from what.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Judgement {
    pub relevance: Relevance,
    /// Keyword evidence, 0 (none) upwards; about 1 for a page full of keywords.
    pub keyword_score: f64,
    /// Naive Bayes or cosine score, comparable within one model only.
    pub learned_score: f64,
}

/// A frozen page classifier.
pub trait PageClassifier: Send + Sync + fmt::Debug {
    /// Judges one page.
    fn judge(&self, reading: &Reading) -> Judgement;

    /// What one word adds to the learned score of a page, positive for the topic.
    fn word_weight(&self, word: crate::text::TermId) -> f64;
}

/// Which classifier judges pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageClassifierKind {
    #[default]
    Bayes,
    Cosine,
}

/// The `[page_classifier]` section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PageClassifierConfig {
    pub kind: PageClassifierKind,
    /// Fetched pages kept in memory to be judged anew as the model changes.
    pub sample: usize,
    /// Words that are looked at in one go when pages are judged anew.
    pub words_at_once: usize,
    /// New labels after which a crawl that goes on tries to retrain its model first; 0 is never.
    pub retrain_after: usize,
}

impl Default for PageClassifierConfig {
    fn default() -> Self {
        Self { kind: PageClassifierKind::Bayes, sample: 2_000, words_at_once: 1 << 17, retrain_after: 30 }
    }
}

//! Models and labels.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The models of a crawl.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Models {
    /// Trained versions, the newest first.
    pub versions: Vec<ModelVersion>,
    pub page_classifier: PageClassifierState,
    pub link_classifier: LinkClassifierState,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ModelVersion {
    pub version: u32,
    /// The day.
    pub trained: String,
    /// Labelled documents that it was trained on.
    pub documents: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub auc: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ece: Option<f64>,
    /// The crawl starts from it when it runs the next time.
    pub current: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct PageClassifierState {
    pub pages_learned: u64,
    pub positives: u64,
    /// Relevance from which a page counts as relevant.
    pub threshold: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct LinkClassifierState {
    /// Links of which it knows what came.
    pub lessons: u64,
    /// How well it told good links from others, as of the last report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub auc: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Retrain {
    /// Install the model even if it is not better.
    pub force: bool,
}

/// What came of training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Retrained {
    /// The crawl starts from it when it runs the next time.
    pub installed: bool,
    pub before: ModelFigures,
    pub after: ModelFigures,
    pub reason: String,
}

/// How good a page model is, on labelled pages that it has not learnt from.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct ModelFigures {
    pub auc: Option<f64>,
    pub precision: f64,
    pub recall: f64,
    /// Calibration error.
    pub ece: f64,
    pub log_loss: f64,
}

/// A page that should be labelled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ToLabelItem {
    pub seq: u64,
    pub url: String,
    pub title: String,
    pub passages: Vec<MarkedPassage>,
    pub relevance: f64,
    /// `unsure` or `random`.
    pub why: String,
}

/// A piece of text with the topic's words in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MarkedPassage {
    pub text: String,
    /// Start and end of each word, in UTF-16 code units (what JavaScript counts).
    pub marks: Vec<[u32; 2]>,
}

/// What a person says of a page; `null` takes it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Label {
    pub url: String,
    pub relevant: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LabelCounts {
    pub labels: u64,
    pub relevant: u64,
}

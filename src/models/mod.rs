//! Trained models: what they are made of, how they are measured, kept on disk and made better.
//!
//! A model is a folder: `page.json` (word counts of two classes and what their scores mean), `link.json` (weights of the
//! link evidence, where they were trained), `card.json` and `card.md` (what data, which metrics, which parent).
//!
//! ```text
//! manifest + corpora + term lists ─┐
//!                                  ├─> trainer ─> ModelBundle ─> models/NAME/ ─> a crawl
//! a crawl's pages + labels ────────┘      └──── guard: is it better than the one before?
//! ```
//!
//! Promises: a model that loads is whole (checksums) and of this version's format; metrics are measured on documents
//! that the model was not trained on; the same data and seed make the same model.
//! Never: reads a clock or the store, fetches, or replaces a model without keeping the one before.

mod bundle;
mod card;
mod error;
mod guard;
mod jsonl;
mod library;
mod manifest;
mod metrics;
mod retrain;
mod term_list;
mod to_label;
mod trainer;
mod training_set;
mod transfer;
mod words;

pub use bundle::{LabelledExample, ModelBundle, roll_back};
pub use card::{Card, DataSource, Measured};
pub use error::ModelError;
pub use guard::{Difference, Flipped, HeldOut, TermChange, compare};
pub use library::{load, search_path};
pub use manifest::{Manifest, train_from_manifest};
pub use metrics::{Metrics, Scored, auc, expected_calibration_error, log_loss};
pub use retrain::{Candidate, FeatureChange, LabelledPage, LinkDifference, RetrainSettings, retrain};
pub use to_label::{Labelable, ToLabel, WhyLabel, to_label};
pub use trainer::{PageTrainer, TrainedPages};
pub use training_set::{Document, TrainingSet};
pub use transfer::Transfer;
pub use words::WordCounts;

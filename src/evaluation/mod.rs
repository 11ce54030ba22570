//! Comparing crawl orders on recorded webs, by labels from outside.
//!
//! Promises: this is the only place that reads labels, and nothing below can import it, so no crawl
//! can see them; the same fetch budget, parser and seeds for every order.
//! Never: changes how a crawl behaves; tunes anything.
//!
//! Rules (corpora/README): seeds are not counted; the budget is a multiple of the number of labelled
//! pages that can be reached (at least 100); harvest = labelled pages fetched / budget; AUC = mean of the
//! running harvest over the budget.

mod bootstrap;
mod chart;
mod labels;
mod oracle;
mod score;
mod task;
mod trial;
mod web;

pub use bootstrap::{Comparison, compare};
pub use chart::{Curve, draw_curves};
pub use labels::{LabelError, Labels};
pub use oracle::OracleOrder;
pub use score::Score;
pub use task::{Task, TaskError, load_tasks};
pub use trial::{Contestant, Trial, TrialError, run_trial};
pub use web::RecordedWeb;

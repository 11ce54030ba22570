//! A session: a crawl's folder, opened or made, crawled in, asked, labelled, retrained and reported on.
//!
//! What the command line and the monitor have in common. A folder holds `topic.toml` and `config.toml` (what ran),
//! `store.redb`, `archive/`, `model/` (what it started from), `labels.tsv` and `report/`.
//!
//! Promises: the same command on the same folder goes on with its crawl, under the same topic, configuration and model.
//! Never: prints, reads the command line, or knows of HTTP.

mod answers;
mod changes;
mod demo;
mod failure;
mod folder;
mod questions;
mod report;
mod retraining;
mod rules;
mod sentences;
mod start;
mod why;

pub use answers::Answers;
pub use demo::{DEMO_TOPIC, DEMO_WEB};
pub use failure::{is_disk_full, told};
pub use folder::{Basis, CrawlFolder, MODEL, begin};
pub use questions::{Question, text_of, to_ask};
pub use report::write;
pub use retraining::{Retraining, current_model, retrain_from};
pub use rules::{Rules, fate};
pub use sentences::sentences;
pub use start::{Ended, Session, Start, fetcher_of};
pub use why::{HostState, Linker, Original, Why, WhyPage};

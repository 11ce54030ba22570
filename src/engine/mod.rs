//! The engine: the loop that closes a crawl, and the only owner of what it learns.
//!
//! ```text
//! frontier → robots → fetch → decode → parse → read → Visit → engine: judge, learn, rank → store
//!     ^                                                              |
//!     +-------------------- push, re-score --------------------------+
//! ```
//!
//! Promises: only the engine changes frontier, link model and ranks; a visit borrows nothing and returns a
//! value; every URL that was admitted ends in one outcome; a fetch that fails is an outcome, `Err` means the
//! crawl cannot go on; a replay with the same seed is the same crawl.
//! Never: sees evaluation labels (they live above, in `evaluation`).

mod absorb;
mod clock;
mod config;
mod crawl;
mod discover;
mod facts;
mod finish;
mod journal;
mod knowledge;
mod limits;
mod progress;
mod resume;
mod run;
mod runner;
mod score;
mod visit;
mod without;

pub use config::{CrawlPlan, EngineConfig, Example};
pub use crawl::{Crawl, EngineError};
pub use facts::{RunFacts, check_snapshot};
pub use journal::Journal;
pub use limits::{HarvestFloor, Limits, StopReason};
pub use progress::Progress;
pub use run::{Controls, Summary};
pub use without::Ingredient;

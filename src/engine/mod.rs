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
mod aside;
mod clock;
mod config;
mod copies;
mod crawl;
mod discover;
mod facts;
mod finish;
mod host_states;
mod hosts;
mod inside;
mod journal;
mod knowledge;
mod limits;
mod lists;
mod memory;
mod progress;
mod queues;
mod refresh;
mod remote;
mod resume;
mod run;
mod runner;
mod score;
mod shelf;
mod shelf_changes;
mod sources;
mod stages;
mod steering;
mod throttle;
mod visit;
mod watch;
mod why;
mod widen;
mod without;

pub use config::{CrawlPlan, EngineConfig, Example, Focus};
pub use crawl::{Crawl, EngineError};
pub use facts::{RunFacts, check_snapshot};
pub use inside::{Learners, QueuedLink};
pub use journal::Journal;
pub use limits::{HarvestFloor, Limits, StopReason};
pub use memory::{Memory, MemoryReport, Shares};
pub use progress::Progress;
pub use queues::QueueAssignment;
pub use refresh::RefreshCounts;
pub use remote::{Commands, Gone, Remote, remote};
pub use run::{Controls, Summary};
pub use stages::{Stage, Stages};
pub use steering::{Steer, SteerError, Which};
pub use why::{EvidencePart, LinkReasons, LinkedBy, PageReasons, RankParts, TermPart};
pub use without::Ingredient;

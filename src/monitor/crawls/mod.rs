//! The server's crawls: what each is asked to do, how it runs, what was noticed of it.

mod control;
mod job;
mod log;
mod rebuilt;
mod runner;
mod slot;
mod tally;
mod webs;

pub use job::{Job, Wanted};
pub use log::Level;
pub use rebuilt::Rebuilt;
pub use slot::{Live, Phase, Slot};
pub use tally::Tally;
pub use webs::{Source, TheWeb, Webs};

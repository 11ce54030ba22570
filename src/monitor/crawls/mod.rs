//! The server's crawls: what each is asked to do, how it runs, what was noticed of it.

mod control;
mod job;
mod log;
mod open_store;
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

use std::sync::{Mutex, MutexGuard, PoisonError};

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic left behind is still the best there is.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

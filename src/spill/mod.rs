//! Collections whose resident part has a ceiling; the rest lies in a temporary file.
//!
//! [`Paged`] is a vector, [`PagedMap`] a sorted map from 64 to 32 bits, [`SpillLog`] a heap of byte strings. Each is
//! given a [`Room`]: how many bytes it may hold, and where its file goes once that is not enough.
//!
//! Promises: contents never depend on the room; no file is made before the room is used up; a file is gone when its
//! collection is, however the process ends (where the system allows it).
//! Never: survives the process (that is `store`), or returns wrong data: after the first failed read or write, `check`
//! says so, and whoever commits anything asks it before.

mod log;
mod map;
mod pager;
mod vector;

use std::{
    io,
    path::{Path, PathBuf},
};

pub use log::SpillLog;
pub use map::PagedMap;
pub use vector::{Fixed, Paged};

/// Memory that a collection may hold, and the folder of its file.
#[derive(Debug, Clone)]
pub struct Room {
    /// Resident bytes at most.
    pub bytes: usize,
    pub folder: PathBuf,
}

impl Room {
    #[must_use]
    pub fn new(bytes: usize, folder: &Path) -> Self {
        Self { bytes, folder: folder.to_owned() }
    }
}

impl Default for Room {
    /// No ceiling.
    fn default() -> Self {
        Self { bytes: usize::MAX, folder: std::env::temp_dir() }
    }
}

/// An I/O error that can be told more than once.
#[derive(Debug)]
struct Fault {
    kind: io::ErrorKind,
    message: String,
}

impl Fault {
    fn of(error: &io::Error, folder: &Path) -> Self {
        Self { kind: error.kind(), message: format!("memory cannot be spilled to {}: {error}", folder.display()) }
    }

    fn as_result(fault: Option<&Self>) -> io::Result<()> {
        fault.map_or(Ok(()), |fault| Err(io::Error::new(fault.kind, fault.message.clone())))
    }
}

//! Collections whose resident part has a ceiling; the rest lies in a temporary file.
//!
//! [`Paged`] is a vector, [`PagedMap`] a sorted map from 64 to 32 bits, [`SpillSlots`] a heap of byte strings.
//! Each is given a [`Room`]: how many bytes it may hold, and where its file goes once that is not enough.
//!
//! Promises: contents never depend on the room; no file is made before the room is used up; a file is gone when its
//! collection is, however the process ends (where the system allows it).
//! Never: survives the process (that is `store`), or returns wrong data: after the first failed read or write, `check`
//! says so, and whoever commits anything asks it before.

mod map;
mod pager;
mod slots;
mod vector;

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
};

pub use map::PagedMap;
pub use slots::SpillSlots;
pub use vector::{Fixed, Paged};

use crate::disk::{Disk, DiskFile, SystemDisk};

/// Memory that a collection may hold, and the folder of its file.
#[derive(Debug, Clone)]
pub struct Room {
    /// Resident bytes at most.
    pub bytes: usize,
    pub folder: PathBuf,
    pub disk: Arc<dyn Disk>,
}

impl Room {
    #[must_use]
    pub fn new(bytes: usize, folder: &Path) -> Self {
        Self { bytes, folder: folder.to_owned(), disk: SystemDisk::shared() }
    }

    /// The same room, of which some eighths may be used.
    #[must_use]
    pub fn eighths(&self, number: usize) -> Self {
        Self { bytes: self.bytes / 8 * number, ..self.clone() }
    }
}

impl Default for Room {
    /// No ceiling.
    fn default() -> Self {
        Self::new(usize::MAX, &std::env::temp_dir())
    }
}

/// A temporary file, once it is needed.
#[derive(Default)]
struct TemporaryFile(Option<Box<dyn DiskFile>>);

impl fmt::Debug for TemporaryFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "a file" } else { "no file" })
    }
}

impl TemporaryFile {
    /// Writes at a place; the file is made where there is none.
    fn write(&mut self, place: u64, bytes: &[u8], room: &Room) -> io::Result<()> {
        let file = match &mut self.0 {
            Some(file) => file,
            none => none.insert(room.disk.temporary(&room.folder)?),
        };
        file.write_at(place, bytes)
    }

    fn read(&mut self, place: u64, bytes: &mut [u8]) -> io::Result<()> {
        let file = self.0.as_mut().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        file.read_at(place, bytes)
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

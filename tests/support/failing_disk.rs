//! A disk that fails at a chosen moment, for the archive and for temporary files.
//!
//! Promises: what was written before the fault is in the files; of a write that is cut short, a part is.

use std::{
    collections::BTreeMap,
    fs::OpenOptions,
    io::{Error, ErrorKind, Read, Result, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
};

use windrow::disk::{Disk, DiskFile, SystemDisk};

/// When and how files fail; counted over all files, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiskFault {
    #[default]
    None,
    /// This write and all later ones.
    Writes(u64),
    /// This write is done by half, and there is no room from then on.
    ShortWrite(u64),
    /// This read and all later ones.
    Reads(u64),
    /// This sync and all later ones.
    Syncs(u64),
    /// There is room for so many bytes.
    Full(u64),
}

#[derive(Debug, Default)]
struct State {
    fault: DiskFault,
    writes: u64,
    reads: u64,
    syncs: u64,
    bytes: u64,
    /// Length of each named file as of its last sync.
    synced: BTreeMap<PathBuf, u64>,
}

/// The disk; clones are the same one.
#[derive(Debug, Clone, Default)]
pub struct FailingDisk {
    state: Arc<Mutex<State>>,
    only_temporary: bool,
}

impl FailingDisk {
    /// A disk on which only temporary files fail.
    pub fn of_temporary_files() -> Self {
        Self { only_temporary: true, ..Self::default() }
    }

    pub fn arm(&self, fault: DiskFault) {
        *self.state() = State { fault, ..State::default() };
    }

    /// Writes, reads, syncs and bytes written since the last fault was armed.
    pub fn counts(&self) -> (u64, u64, u64, u64) {
        let state = self.state();
        (state.writes, state.reads, state.syncs, state.bytes)
    }

    /// Cuts named files back to what was synced, as losing power does.
    pub fn lose_what_was_not_synced(&self) {
        for (path, &length) in &self.state().synced {
            if let Ok(file) = OpenOptions::new().write(true).open(path) {
                let now = file.metadata().unwrap().len();
                file.set_len(length.min(now)).unwrap();
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    fn wrap(&self, path: Option<&Path>, file: Result<Box<dyn DiskFile>>) -> Result<Box<dyn DiskFile>> {
        let path = path.map(Path::to_owned);
        if path.is_some() && self.only_temporary {
            return file;
        }
        Ok(Box::new(FailingFile { disk: self.clone(), path, file: file? }))
    }
}

impl Disk for FailingDisk {
    fn create(&self, path: &Path) -> Result<Box<dyn DiskFile>> {
        self.state().synced.insert(path.to_owned(), 0);
        self.wrap(Some(path), SystemDisk.create(path))
    }

    fn open(&self, path: &Path) -> Result<Box<dyn DiskFile>> {
        let length = path.metadata()?.len();
        self.state().synced.entry(path.to_owned()).or_insert(length);
        self.wrap(Some(path), SystemDisk.open(path))
    }

    fn temporary(&self, folder: &Path) -> Result<Box<dyn DiskFile>> {
        self.wrap(None, SystemDisk.temporary(folder))
    }
}

struct FailingFile {
    disk: FailingDisk,
    path: Option<PathBuf>,
    file: Box<dyn DiskFile>,
}

fn broken() -> Error {
    Error::other("the disk is broken")
}

impl Write for FailingFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut state = self.disk.state();
        state.writes += 1;
        let allowed = match state.fault {
            DiskFault::Writes(n) if state.writes >= n => return Err(broken()),
            DiskFault::ShortWrite(n) if state.writes == n => bytes.len().div_ceil(2),
            DiskFault::ShortWrite(n) if state.writes > n => 0,
            DiskFault::Full(room) => bytes.len().min((room - state.bytes) as usize),
            _ => bytes.len(),
        };
        if allowed == 0 && !bytes.is_empty() {
            return Err(ErrorKind::StorageFull.into());
        }
        let written = self.file.write(&bytes[..allowed])?;
        state.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

impl Read for FailingFile {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let mut state = self.disk.state();
        state.reads += 1;
        match state.fault {
            DiskFault::Reads(n) if state.reads >= n => Err(broken()),
            _ => self.file.read(bytes),
        }
    }
}

impl Seek for FailingFile {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.file.seek(to)
    }
}

impl DiskFile for FailingFile {
    fn sync(&self) -> Result<()> {
        let mut state = self.disk.state();
        state.syncs += 1;
        if matches!(state.fault, DiskFault::Syncs(n) if state.syncs >= n) {
            return Err(broken());
        }
        self.file.sync()?;
        if let Some(path) = &self.path {
            state.synced.insert(path.clone(), path.metadata()?.len());
        }
        Ok(())
    }
}

//! Where the engine's changes go: to the store, or nowhere.

use std::{path::PathBuf, sync::Arc};

use crate::{
    disk::{Disk, SystemDisk},
    store::{Batch, Store, StoreError, Writer},
};

/// Takes batches of changes that belong together.
pub trait Journal: Send {
    /// Commits a batch, whole or not at all.
    ///
    /// # Errors
    /// What keeps the store from being written; the crawl cannot go on.
    fn commit(&mut self, batch: Batch) -> Result<(), StoreError>;

    /// Makes sure that all is on disk; nothing is committed after it.
    ///
    /// # Errors
    /// As for [`Journal::commit`].
    fn finish(self: Box<Self>) -> Result<(), StoreError>;

    /// Where temporary files go; `None` where nothing is kept, and all stays in memory.
    fn folder(&self) -> Option<PathBuf> {
        None
    }

    /// What temporary files are made on.
    fn disk(&self) -> Arc<dyn Disk> {
        SystemDisk::shared()
    }

    /// The reading side, which may be some commits behind; `None` where nothing is kept.
    fn reader(&self) -> Option<Store> {
        None
    }

    /// Batches committed so far, and those of them that the reading side shows.
    fn progress(&self) -> (u64, u64) {
        (0, 0)
    }

    /// Whether captures are wanted (their bodies are copied only then).
    fn wants_captures(&self) -> bool;
}

impl Journal for Writer {
    fn commit(&mut self, batch: Batch) -> Result<(), StoreError> {
        self.submit(batch)
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        Self::finish(*self)
    }

    fn folder(&self) -> Option<PathBuf> {
        Some(Writer::folder(self).to_owned())
    }

    fn disk(&self) -> Arc<dyn Disk> {
        Writer::disk(self)
    }

    fn reader(&self) -> Option<Store> {
        Some(Writer::reader(self))
    }

    fn progress(&self) -> (u64, u64) {
        Writer::progress(self)
    }

    fn wants_captures(&self) -> bool {
        true
    }
}

//! Where the engine's changes go: to the store, or nowhere.

use crate::store::{Batch, StoreError, Writer};

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

    fn wants_captures(&self) -> bool {
        true
    }
}

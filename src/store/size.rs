//! What a store takes on disk, table by table, and the way to make it smaller.
//!
//! Promises: compaction changes no row.
//! Never: runs while anything else uses the store.

use std::{fs, sync::Arc};

use redb::{CompactionError, ReadableDatabase, TableStats};
use serde::Serialize;

use super::{
    Store, StoreError,
    open::database_path,
    schema::{self, ReadTables},
};
use crate::disk::free_bytes;

/// What a store takes on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sizes {
    pub tables: Vec<TableSize>,
    /// The database file, with free pages that it keeps for later.
    pub file_bytes: u64,
    /// Committed bytes in the last archive file and all before it.
    pub archive_bytes: u64,
}

/// What one table takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TableSize {
    pub name: &'static str,
    pub rows: u64,
    /// Keys and values alone.
    pub stored_bytes: u64,
    /// All of its pages: also inner ones, and room in them that is free.
    pub allocated_bytes: u64,
}

impl TableSize {
    pub(super) fn of(name: &'static str, rows: u64, stats: &TableStats) -> Self {
        let allocated_bytes = stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes();
        Self { name, rows, stored_bytes: stats.stored_bytes(), allocated_bytes }
    }
}

impl Sizes {
    /// Bytes that frontier and URL-seen test take (`waiting`, `queue`, `page_of`) per URL they know; 0 where they know none.
    #[must_use]
    pub fn bytes_per_known_url(&self) -> f64 {
        let of = |name: &str| self.tables.iter().find(|table| table.name == name).map_or((0, 0), |t| (t.rows, t.allocated_bytes));
        let ((waiting, waiting_bytes), (_, queue_bytes), (finished, finished_bytes)) =
            (of("waiting"), of("queue"), of("page_of"));
        let known = waiting + finished;
        if known == 0 { 0.0 } else { (waiting_bytes + queue_bytes + finished_bytes) as f64 / known as f64 }
    }
}

impl Store {
    /// Measures every table; walks all of them.
    ///
    /// # Errors
    /// A database or an archive that cannot be read.
    pub fn sizes(&self) -> Result<Sizes, StoreError> {
        let shared = &self.shared;
        let tables = ReadTables::open(&shared.database.begin_read()?)?.sizes()?;
        let path = database_path(&shared.dir);
        let file_bytes = fs::metadata(&path).map_err(StoreError::io(&path))?.len();
        Ok(Sizes { tables, file_bytes, archive_bytes: super::archive::committed_bytes(&shared.dir, shared.archive_end()?)? })
    }

    /// Compacts where a quarter of the file or more would be given back, and a few megabytes at least.
    ///
    /// # Errors
    /// As for [`Store::compact`].
    pub fn compact_if_worth_it(&mut self) -> Result<u64, StoreError> {
        const LEAST: u64 = 4 << 20;
        let sizes = self.sizes()?;
        let used: u64 = sizes.tables.iter().map(|table| table.allocated_bytes).sum();
        let free = sizes.file_bytes.saturating_sub(used);
        if free >= LEAST && free >= sizes.file_bytes / 4 { self.compact() } else { Ok(0) }
    }

    /// Whether no clone, stream or writer of this store is alive.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        Arc::strong_count(&self.shared) == 1
    }

    /// Packs tables where the disk has room for it, moves their pages together and gives free ones back to the disk; says by how
    /// many bytes the file has shrunk.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while a clone, a stream or a writer of this store is alive.
    pub fn compact(&mut self) -> Result<u64, StoreError> {
        let Sizes { tables, file_bytes: before, .. } = self.sizes()?;
        let shared = Arc::get_mut(&mut self.shared).ok_or(StoreError::Busy)?;
        // Until they take the place of the old ones, packed tables take room of their own; others write to that disk, too.
        let needed: u64 = tables.iter().map(|table| table.allocated_bytes).sum();
        if free_bytes(&shared.dir).is_none_or(|free| free / 2 > needed) {
            schema::pack(&shared.database)?;
        }
        match shared.database.compact() {
            Ok(_) => {}
            Err(CompactionError::Storage(e)) => return Err(e.into()),
            Err(_) => return Err(StoreError::Busy),
        }
        Ok(before.saturating_sub(self.sizes()?.file_bytes))
    }
}

//! Every table of the store, its keys, and the version of the whole.
//!
//! Promises: a table exists if and only if it is listed here; whoever reads or
//! writes all of them does it through [`ReadTables`] or [`WriteTables`], so a
//! new table cannot be forgotten.
//! Never: knows what is inside a row (that is `codec`).

use std::path::Path;

use redb::{
    Database, Key, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata, Table,
    TableDefinition, Value, WriteTransaction,
};

use super::{StoreError, TableSize};

/// Version of the layout as a whole. A change that old rows or tables cannot be read with raises it.
pub(super) const SCHEMA: u32 = 4;

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident: $key:ty => $value:ty,)+) => {
        /// The definitions, by name.
        #[allow(non_upper_case_globals, reason = "a table's definition has the table's name")]
        pub(super) mod table {
            use super::TableDefinition;
            $($(#[$doc])* pub const $name: TableDefinition<$key, $value> = TableDefinition::new(stringify!($name));)+
        }

        /// All tables, as of one commit.
        pub(super) struct ReadTables {
            $(pub $name: ReadOnlyTable<$key, $value>,)+
        }

        impl ReadTables {
            pub fn open(transaction: &ReadTransaction) -> Result<Self, StoreError> {
                Ok(Self { $($name: transaction.open_table(table::$name)?,)+ })
            }

            pub fn sizes(&self) -> Result<Vec<TableSize>, StoreError> {
                Ok(vec![$(TableSize::of(stringify!($name), self.$name.len()?, &self.$name.stats()?),)+])
            }
        }

        /// Packs every table: were some left, what is large among their pages could not move into what the others leave free.
        pub(super) fn pack(database: &Database) -> Result<(), StoreError> {
            $(pack_table(database, table::$name, TableDefinition::new(concat!(stringify!($name), ".packed")))?;)+
            Ok(())
        }

        /// All tables, to be changed in one transaction.
        pub(super) struct WriteTables<'t> {
            $(pub $name: Table<'t, $key, $value>,)+
        }

        impl<'t> WriteTables<'t> {
            /// Opens them, creating those that are not there.
            pub fn open(transaction: &'t WriteTransaction) -> Result<Self, StoreError> {
                Ok(Self { $($name: transaction.open_table(table::$name)?,)+ })
            }
        }
    };
}

tables! {
    /// Single rows by name: [`SCHEMA_KEY`], [`STATE_KEY`], [`ARCHIVE_KEY`].
    meta: &'static str => &'static [u8],
    /// Number → a part of the rows that never change, one after the other.
    log: u64 => &'static [u8],
    /// Number → word that pages and links say.
    words: u32 => &'static str,
    /// Number → kind of the rows that are packed with it, one byte, and the dictionary.
    dictionaries: u8 => &'static [u8],
    /// `seq` → place of the page row in the log.
    pages: u64 => (u64, u32),
    /// Fingerprint of a finished URL → `seq`.
    page_of: u64 => u64,
    /// `seq` → rank, residual, relevance: what changes of a page after it was fetched.
    standing: u64 => (f64, f64, f32),
    /// `seq` → place of the page's outlinks in the log.
    outlinks: u64 => (u64, u32),
    /// Fingerprint of a waiting URL → link row.
    waiting: u64 => &'static [u8],
    /// Host id, inverse priority, fingerprint: one host's waiting URLs, the best first.
    queue: (u32, u16, u64) => (),
    /// Host id → host row.
    hosts: u32 => &'static [u8],
    /// Host name → host id; ids are dense from 0.
    host_ids: &'static str => u32,
    /// Host id → its robots.txt; apart from the host row, which changes with every visit.
    robots: u32 => &'static [u8],
    /// Name → model snapshot.
    models: &'static str => &'static [u8],
    /// Number → what the link model has learnt in one batch; those since its snapshot, in order.
    lessons: u64 => &'static [u8],
}

/// Writes a table anew in the order of its keys, as `fresh`, which takes its place: leaves that are filled in that order are
/// full, while a third of those that are filled in any other is empty.
fn pack_table<K: Key + 'static, V: Value + 'static>(
    database: &Database,
    table: TableDefinition<K, V>,
    fresh: TableDefinition<K, V>,
) -> Result<(), StoreError> {
    let mut transaction = database.begin_write()?;
    // Opening after a crash need not walk the file.
    transaction.set_quick_repair(true);
    {
        let rows = transaction.open_table(table)?;
        let mut packed = transaction.open_table(fresh)?;
        for row in rows.iter()? {
            let (key, value) = row?;
            packed.insert(key.value(), value.value())?;
        }
    }
    transaction.delete_table(table)?;
    transaction.rename_table(fresh, table)?;
    transaction.commit()?;
    Ok(())
}

/// Key in `meta` of the schema version, 4 bytes little-endian.
pub(super) const SCHEMA_KEY: &str = "schema";
/// Key in `meta` of the [`CrawlState`](super::CrawlState).
pub(super) const STATE_KEY: &str = "state";
/// Key in `meta` of the archive's committed end.
pub(super) const ARCHIVE_KEY: &str = "archive";

/// The place of a waiting URL in `queue`.
pub(super) fn queue_key(host: u32, priority: f64, fingerprint: u64) -> (u32, u16, u64) {
    (host, u16::MAX - priority_bucket(priority), fingerprint)
}

/// A priority as 16 bits that sort like it: sign, exponent and 7 bits of mantissa, so
/// that neighbours differ by less than 1 %. Not-a-number sorts as 0.
fn priority_bucket(priority: f64) -> u16 {
    let priority = if priority.is_nan() { 0.0 } else { priority };
    let top = ((priority as f32).to_bits() >> 16) as u16;
    if top & 0x8000 == 0 { top | 0x8000 } else { !top }
}

/// Makes all tables and writes the schema version.
pub(super) fn initialise(database: &Database) -> Result<(), StoreError> {
    let transaction = database.begin_write()?;
    WriteTables::open(&transaction)?.meta.insert(SCHEMA_KEY, SCHEMA.to_le_bytes().as_slice())?;
    transaction.commit()?;
    Ok(())
}

/// Refuses a store of another schema.
pub(super) fn check_version(database: &Database, dir: &Path) -> Result<(), StoreError> {
    let transaction = database.begin_read()?;
    let meta = transaction.open_table(table::meta)?;
    let row = meta.get(SCHEMA_KEY)?;
    let found = row
        .and_then(|row| row.value().try_into().ok().map(u32::from_le_bytes))
        .ok_or_else(|| StoreError::corrupt(dir.display().to_string(), "the schema version is missing"))?;
    match found {
        SCHEMA => Ok(()),
        found if found > SCHEMA => Err(StoreError::Newer { dir: dir.to_owned(), found, known: SCHEMA }),
        found => Err(StoreError::Older { dir: dir.to_owned(), found, needed: SCHEMA }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_gives_the_highest_priority_first() {
        let priorities = [f64::INFINITY, 1e9, 3.5, 1.0, 0.99, 0.5, 1e-6, 0.0, -1e-6, -2.0, f64::NEG_INFINITY];
        let keys: Vec<_> = priorities.iter().map(|&priority| queue_key(7, priority, 1)).collect();
        assert!(keys.is_sorted(), "{keys:?}");
        let distinct: std::collections::BTreeSet<_> = keys.iter().collect();
        assert_eq!(distinct.len(), keys.len());
        assert_eq!(queue_key(7, f64::NAN, 1), queue_key(7, 0.0, 1));
    }
}

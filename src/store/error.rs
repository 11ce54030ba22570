//! What can go wrong with a store, and what to do about it.
//!
//! Promises: a full disk, a second process and a damaged file are told apart;
//! every message names the place and the way out.
//! Never: carries the fate of a URL (that is an outcome, not an error).

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::disk::is_full;

/// A store that cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("{dir} holds no crawl (there is no store.redb in it); start one with `windrow crawl TOPIC.toml --out {dir}`")]
    Missing { dir: PathBuf },
    #[error("{dir} already holds a crawl; continue that one, or choose another directory with --out")]
    Exists { dir: PathBuf },
    #[error("{dir} is in use by another windrow process; wait until it ends or stop it with Ctrl-C, then try again")]
    Locked { dir: PathBuf },
    #[error("{dir} was written by an older windrow (schema {found}, this one needs {needed}); finish it with that version")]
    Older { dir: PathBuf, found: u32, needed: u32 },
    #[error("{dir} was written by a newer windrow (schema {found}, this one knows {known}); use that version or a later one")]
    Newer { dir: PathBuf, found: u32, known: u32 },
    #[error("{place} is damaged: {detail}; `windrow verify --repair` on the crawl's directory mends what can be mended")]
    Corrupt { place: String, detail: String },
    #[error(
        "the database in {dir} is damaged beyond repair: {detail}; its captures are apart from it in {dir}/archive: \
         crawl them again with `windrow crawl TOPIC.toml --replay`, or go back to a copy"
    )]
    BeyondRepair { dir: PathBuf, detail: String },
    #[error("the disk is full: {place} cannot grow; free some space and start the crawl again, it goes on from its last commit")]
    DiskFull { place: String },
    #[error("{place}: {detail}; a line is an address, a tab, and `yes` or `no`: correct it, or take it out")]
    Label { place: String, detail: String },
    #[error("{place}: {source}")]
    Io { place: String, source: io::Error },
    /// The batch breaks a rule of the store; nothing of it was kept.
    #[error("a batch was refused, which is a defect of windrow: {0}")]
    Refused(String),
    #[error("this crawl already has a writer; finish that one first")]
    SecondWriter,
    #[error("the store cannot be compacted while a reader or a writer of it is open")]
    Busy,
    #[error("the database cannot do that, which is a defect of windrow: {0}")]
    Database(#[source] Box<redb::Error>),
    /// The writer thread has ended; why it did.
    #[error(transparent)]
    Writer(Arc<StoreError>),
    #[error("the writer thread broke off, which is a defect of windrow; the crawl can be continued from its last commit")]
    WriterPanicked,
}

/// The name of the database file in messages, where no path is at hand.
const DATABASE: &str = "store.redb";

impl StoreError {
    /// An I/O error at a place; a full disk is recognised.
    pub(super) fn io(place: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let place = place.display().to_string();
        move |source| Self::from_io(place, source)
    }

    pub(crate) fn corrupt(place: impl Into<String>, detail: impl std::fmt::Display) -> Self {
        Self::Corrupt { place: place.into(), detail: detail.to_string() }
    }

    /// An error on opening the database of `dir`.
    pub(super) fn opening(dir: &Path, error: redb::DatabaseError) -> Self {
        match error {
            redb::DatabaseError::DatabaseAlreadyOpen => Self::Locked { dir: dir.to_owned() },
            redb::DatabaseError::Storage(redb::StorageError::Io(e)) if e.kind() == io::ErrorKind::WouldBlock => {
                Self::Locked { dir: dir.to_owned() }
            }
            other => Self::from_redb(dir.join(DATABASE).display().to_string(), other.into()),
        }
    }

    /// An I/O error of a temporary file; its message names the place.
    #[must_use]
    pub fn spilling(error: io::Error) -> Self {
        if is_full(&error) {
            return Self::DiskFull { place: error.to_string() };
        }
        Self::Io { place: "a temporary file".to_owned(), source: error }
    }

    /// Whether the cause is a full disk or an exhausted quota.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::DiskFull { .. } => true,
            Self::Writer(cause) => cause.is_disk_full(),
            _ => false,
        }
    }

    fn from_io(place: String, source: io::Error) -> Self {
        match source.kind() {
            _ if is_full(&source) => Self::DiskFull { place },
            io::ErrorKind::InvalidData => Self::corrupt(place, source),
            _ => Self::Io { place, source },
        }
    }

    fn from_redb(place: String, error: redb::Error) -> Self {
        match error {
            redb::Error::Io(source) => Self::from_io(place, source),
            redb::Error::Corrupted(detail) => Self::corrupt(place, detail),
            redb::Error::TableDoesNotExist(table) => Self::corrupt(place, format!("the table `{table}` is missing")),
            error @ redb::Error::TableTypeMismatch { .. } => Self::corrupt(place, error),
            other => Self::Database(Box::new(other)),
        }
    }
}

macro_rules! from_redb {
    ($($error:ident),+) => {$(
        impl From<redb::$error> for StoreError {
            fn from(error: redb::$error) -> Self {
                Self::from_redb(DATABASE.to_owned(), error.into())
            }
        }
    )+};
}

from_redb!(StorageError, TableError, TransactionError, CommitError, SetDurabilityError, DatabaseError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_recognised_through_every_layer() {
        let full = || io::Error::from(io::ErrorKind::StorageFull);
        let by_path = StoreError::io(Path::new("archive/00001.warc.gz"))(full());
        let by_database = StoreError::from(redb::CommitError::from(redb::StorageError::Io(full())));
        for error in [by_path, by_database] {
            let message = error.to_string();
            assert!(message.contains("disk is full") && message.contains("free some space"), "{message}");
            assert!(StoreError::Writer(Arc::new(error)).is_disk_full());
        }
    }

    #[test]
    fn damage_names_the_command_that_mends_it() {
        let error = StoreError::from(redb::StorageError::Corrupted("page 7".into()));
        assert!(error.to_string().contains("windrow verify --repair"), "{error}");
    }
}

//! Making and opening a store.
//!
//! Promises: a directory holds a whole store or none; a store is opened by one
//! process at a time, and only in the schema it was written in.
//! Never: lets a panic of the database out on opening a damaged file.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, atomic::AtomicBool},
};

use redb::{Builder, Database, ReadableDatabase, StorageBackend};

use super::{
    StoreConfig, StoreError,
    archive::{self, ArchiveEnd},
    codec::{Lexicon, decode},
    dictionary::{Dictionaries, Dictionary},
    on_page::NearLinks,
    schema::{self, ARCHIVE_KEY, table},
    words::{WordList, Words},
};
use crate::disk::{Disk, SystemDisk};

/// What a crawl knows: the reading side, and maintenance. Clones share one open database.
#[derive(Clone)]
pub struct Store {
    pub(super) shared: Arc<Shared>,
}

/// What readers and the writer have in common.
pub(super) struct Shared {
    pub database: Database,
    pub dir: PathBuf,
    /// What the archive is written on.
    pub disk: Arc<dyn Disk>,
    words: Words,
    dictionaries: Dictionaries,
    /// Rows of the log never change, so it does not matter which commit they were read in.
    pub near_links: Mutex<NearLinks>,
    /// A [`Writer`](super::Writer) is alive.
    pub writing: AtomicBool,
}

impl Store {
    /// Makes an empty store in `dir`, which is created where it is missing.
    ///
    /// # Errors
    /// [`StoreError::Exists`] where there is one already.
    pub fn create(dir: &Path) -> Result<Self, StoreError> {
        Self::create_with(dir, &StoreConfig::default())
    }

    /// [`Store::create`] with the memory that `config` allows.
    ///
    /// # Errors
    /// As for [`Store::create`].
    pub fn create_with(dir: &Path, config: &StoreConfig) -> Result<Self, StoreError> {
        if Self::exists(dir) {
            return Err(StoreError::Exists { dir: dir.to_owned() });
        }
        fs::create_dir_all(dir).map_err(StoreError::io(dir))?;
        // Made under another name and renamed when it is whole, so that a crash leaves a store or none.
        let unborn = dir.join("store.redb.new");
        match fs::remove_file(&unborn) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(StoreError::io(&unborn)(e)),
            _ => {}
        }
        let database = Builder::new().create(&unborn).map_err(|e| StoreError::opening(dir, e))?;
        schema::initialise(&database)?;
        database.close()?;
        fs::rename(&unborn, database_path(dir)).map_err(StoreError::io(&unborn))?;
        archive::sync_folder(dir)?;
        Self::open_with(dir, config)
    }

    /// Opens the store in `dir`, and cuts off what a crash left behind its last commit.
    ///
    /// # Errors
    /// [`StoreError::Missing`], [`StoreError::Locked`] by another process, [`StoreError::Older`] or
    /// [`StoreError::Newer`] schemas, [`StoreError::Corrupt`].
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        Self::open_with(dir, &StoreConfig::default())
    }

    /// [`Store::open`] with the memory that `config` allows.
    ///
    /// # Errors
    /// As for [`Store::open`].
    pub fn open_with(dir: &Path, config: &StoreConfig) -> Result<Self, StoreError> {
        Self::open_as_it_is(dir, &builder(config))?.trimmed()
    }

    /// Opens the store in `dir` after checking every byte of its database, and leaves the archive as it is.
    pub(super) fn open_to_verify(dir: &Path) -> Result<Self, StoreError> {
        let mut builder = builder(&StoreConfig::default());
        builder.set_check_integrity_on_open(true);
        Self::open_as_it_is(dir, &builder).map_err(|e| match e {
            StoreError::Corrupt { detail, .. } => StoreError::BeyondRepair { dir: dir.to_owned(), detail },
            other => other,
        })
    }

    /// Whether `dir` holds a store.
    #[must_use]
    pub fn exists(dir: &Path) -> bool {
        database_path(dir).is_file()
    }

    /// Opens a store whose database lies on `backend`, or makes one where that is empty; the archive is in `dir`.
    ///
    /// The seam for tests that make storage fail.
    ///
    /// # Errors
    /// As for [`Store::open`].
    pub fn with_backend(dir: &Path, backend: impl StorageBackend) -> Result<Self, StoreError> {
        Self::with_storage(dir, backend, SystemDisk::shared())
    }

    /// [`Store::with_backend`] whose archive is written on `disk`, as are the temporary files of a crawl.
    ///
    /// # Errors
    /// As for [`Store::open`].
    pub fn with_storage(dir: &Path, backend: impl StorageBackend, disk: Arc<dyn Disk>) -> Result<Self, StoreError> {
        let database = guarded(dir, || {
            builder(&StoreConfig::default()).create_with_backend(backend).map_err(|e| StoreError::opening(dir, e))
        })?;
        if database.begin_read()?.list_tables()?.next().is_none() {
            schema::initialise(&database)?;
        }
        Self::checked(dir, database, disk)?.trimmed()
    }

    fn open_as_it_is(dir: &Path, builder: &Builder) -> Result<Self, StoreError> {
        if !Self::exists(dir) {
            return Err(StoreError::Missing { dir: dir.to_owned() });
        }
        let open = || builder.open(database_path(dir)).map_err(|e| StoreError::opening(dir, e));
        Self::checked(dir, guarded(dir, open)?, SystemDisk::shared())
    }

    fn checked(dir: &Path, database: Database, disk: Arc<dyn Disk>) -> Result<Self, StoreError> {
        guarded(dir, || schema::check_version(&database, dir))?;
        let (words, dictionaries) = (Words::default(), Dictionaries::default());
        let (near_links, writing) = (Mutex::default(), AtomicBool::new(false));
        Ok(Self { shared: Arc::new(Shared { database, dir: dir.to_owned(), disk, words, dictionaries, near_links, writing }) })
    }

    fn trimmed(self) -> Result<Self, StoreError> {
        let shared = &self.shared;
        guarded(&shared.dir, || archive::trim(&shared.dir, shared.archive_end()?))?;
        Ok(self)
    }
}

impl Lexicon for Shared {
    fn words(&self, number: u32) -> Result<Arc<WordList>, StoreError> {
        self.words.up_to(number, &self.database)
    }

    fn dictionary(&self, number: u8) -> Result<Arc<Dictionary>, StoreError> {
        self.dictionaries.get(number, &self.database)
    }
}

impl Shared {
    /// Where the committed archive ends.
    pub fn archive_end(&self) -> Result<ArchiveEnd, StoreError> {
        let meta = self.database.begin_read()?.open_table(table::meta)?;
        meta.get(ARCHIVE_KEY)?.map_or_else(|| Ok(ArchiveEnd::default()), |row| decode(row.value()))
    }
}

pub(super) fn database_path(dir: &Path) -> PathBuf {
    dir.join("store.redb")
}

fn builder(config: &StoreConfig) -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(config.cache_mib << 20);
    builder
}

/// Runs what opens a database. redb trusts a file that was closed cleanly, and may panic on one that was damaged since.
fn guarded<T>(dir: &Path, open: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|panic| {
        let detail = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        Err(StoreError::corrupt(database_path(dir).display().to_string(), detail.unwrap_or("the database gave up on it")))
    })
}

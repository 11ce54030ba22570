//! The store: what a crawl knows, on disk.
//!
//! One directory: `store.redb` with every table (`schema`), and `archive/` with
//! the captures. [`Store`] reads; [`Writer`] owns the thread that writes.
//!
//! Promises: a batch is committed whole or not at all, archive bytes included;
//! a store that was cut off by a crash opens at its last commit. A URL that is
//! being fetched is a row of `waiting` until the batch that finishes it is
//! committed, so nothing is lost and nothing needs to be put back.
//! Never: decides anything about the crawl; it keeps what the engine hands it.

mod apply;
mod archive;
mod check;
mod codec;
mod dictionary;
mod dump;
mod error;
mod fresh;
mod labels;
mod link_row;
mod links_row;
mod log;
mod on_page;
mod open;
mod page_row;
mod read;
mod records;
mod repair;
mod schema;
mod size;
mod verify;
mod words;
mod writer;

use serde::{Deserialize, Serialize};

pub use archive::{Archived, RawCapture, read_capture, read_raw, record as warc};
pub use error::StoreError;
pub use labels::PageLabels;
pub use open::Store;
pub use read::{Known, Stock};
pub use records::{
    AddedInLink, ArchivePlace, Batch, Capture, Chosen, CopyKind, CopyOf, CrawlState, HostRecord, InLink, LinkRecord, OutlinkFate,
    OutlinkRecord, PageRecord, RobotsRecord,
};
pub use size::{Sizes, TableSize};
pub use verify::{CheckModel, Finding, Problem, Severity, Verification, VerifyOptions, verify};
pub use writer::Writer;

/// How the store writes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreConfig {
    /// Memory for pages of the database, in MiB.
    pub cache_mib: usize,
    /// What a power cut may cost at most, in milliseconds of crawling.
    pub commit_every_ms: u64,
    /// Batches that may wait for the writer; the crawl pauses when they do.
    pub queue: usize,
    /// Size at which an archive file is followed by the next, in MiB.
    pub archive_file_mib: u64,
    pub archive: ArchiveChoice,
}

/// What is kept in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArchiveChoice {
    /// Every answer: pages, redirects, errors. A crawl of the archive finds the same pages.
    #[default]
    All,
    /// Pages that were judged relevant.
    Relevant,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self { cache_mib: 128, commit_every_ms: 1_000, queue: 8, archive_file_mib: 1_024, archive: ArchiveChoice::All }
    }
}

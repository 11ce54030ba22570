//! The store: what a crawl knows, on disk.
//!
//! Promises: a batch is committed whole or not at all, archive bytes included;
//! a store that was cut off by a crash opens at its last commit.
//! Never: decides anything about the crawl; it keeps what the engine hands it.

mod records;

pub use records::{
    ArchivePlace, Batch, Capture, Chosen, CrawlState, HostRecord, InLink, LinkRecord, OutlinkFate, OutlinkRecord, PageRecord,
    RobotsRecord,
};

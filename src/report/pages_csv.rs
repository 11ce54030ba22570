//! `pages.csv`: one row per finished URL that was requested, in the order of the crawl.
//! `excluded.csv`: the finished URLs that a rule kept from being requested.
//!
//! Promises: the columns are an interface; their names and order do not change.

use std::path::{Path, PathBuf};

use crate::{page::Outcome, store::PageRecord};

use super::{ReportError, table::Table};

const COLUMNS: [&str; 19] = [
    "seq",
    "url",
    "outcome",
    "status",
    "relevance",
    "relevant",
    "priority",
    "depth",
    "tunnel_depth",
    "host",
    "source_url",
    "anchor",
    "fetched_at",
    "bytes",
    "content_type",
    "charset",
    "language",
    "title",
    "model_version",
];

/// Both tables of finished URLs.
pub(super) struct PagesCsv {
    pages: Table,
    excluded: Table,
}

impl PagesCsv {
    pub fn create(dir: &Path) -> Result<Self, ReportError> {
        Ok(Self {
            pages: Table::create(dir, "pages.csv", COLUMNS)?,
            excluded: Table::create(dir, "excluded.csv", ["url", "reason"])?,
        })
    }

    pub fn add(&mut self, page: &PageRecord) -> Result<(), ReportError> {
        if page.outcome == Outcome::Excluded {
            return self.excluded.row([&page.url, page.reason.as_deref().unwrap_or_default()]);
        }
        self.pages.row([
            &page.seq.to_string(),
            &page.url,
            page.outcome.name(),
            &page.status.to_string(),
            &format!("{:.4}", page.relevance.get()),
            if page.relevant { "true" } else { "false" },
            &format!("{:.6}", page.priority),
            &page.depth.to_string(),
            &page.tunnel_depth.to_string(),
            &page.host,
            page.source_url.as_deref().unwrap_or_default(),
            &page.anchor,
            &page.fetched_at.to_string(),
            &page.bytes.to_string(),
            &page.content_type,
            &page.charset,
            page.language.code(),
            &page.title,
            &page.model_version.to_string(),
        ])
    }

    pub fn finish(self) -> Result<[PathBuf; 2], ReportError> {
        Ok([self.pages.finish()?, self.excluded.finish()?])
    }
}

//! `links.csv`: every outlink of every page, and what became of it.
//!
//! Promises: `fate` is one of `queued`, `known`, `nofollow`, `tunnel-end`,
//! `not-recorded`, or `refused:` with the name of the rule.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use crate::store::{OutlinkFate, OutlinkRecord, PageRecord};

use super::{ReportError, table::Table};

/// The table of links.
pub(super) struct LinksCsv(Table);

impl LinksCsv {
    pub fn create(dir: &Path) -> Result<Self, ReportError> {
        let columns = ["source_seq", "source_url", "target_url", "anchor", "fate"];
        Table::create(dir, "links.csv", columns).map(Self)
    }

    pub fn add(&mut self, page: &PageRecord, outlinks: &[OutlinkRecord]) -> Result<(), ReportError> {
        let seq = page.seq.to_string();
        outlinks.iter().try_for_each(|link| self.0.row([&seq, &page.url, &link.url, &link.anchor, &fate_name(link.fate)]))
    }

    pub fn finish(self) -> Result<PathBuf, ReportError> {
        self.0.finish()
    }
}

/// The name of a fate in tables and in `summary.json`.
pub(super) fn fate_name(fate: OutlinkFate) -> Cow<'static, str> {
    match fate {
        OutlinkFate::Queued => "queued".into(),
        OutlinkFate::Known => "known".into(),
        OutlinkFate::Refused(rule) => format!("refused:{}", rule.name()).into(),
        OutlinkFate::NoFollow => "nofollow".into(),
        OutlinkFate::TunnelEnd => "tunnel-end".into(),
        OutlinkFate::NotRecorded => "not-recorded".into(),
    }
}

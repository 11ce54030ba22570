//! `hosts.csv`: how each server was treated, and what it gave.
//!
//! Promises: a field is empty where there is nothing to say (no robots.txt was
//! asked for, no delay is demanded, nothing was fetched to take a harvest of).

use std::path::{Path, PathBuf};

use crate::store::HostRecord;

use super::{ReportError, table::Table};

const COLUMNS: [&str; 14] = [
    "host",
    "requests",
    "fetched",
    "relevant",
    "harvest",
    "failures",
    "throttled",
    "bytes",
    "robots_status",
    "robots_fetched_at",
    "crawl_delay_ms",
    "delay_ms",
    "last_elapsed_ms",
    "shortest_pause_ms",
];

/// The table of hosts.
pub(super) struct HostsCsv(Table);

impl HostsCsv {
    pub fn create(dir: &Path) -> Result<Self, ReportError> {
        Table::create(dir, "hosts.csv", COLUMNS).map(Self)
    }

    pub fn add(&mut self, host: &HostRecord) -> Result<(), ReportError> {
        let or_empty = |field: Option<String>| field.unwrap_or_default();
        let harvest = (host.fetched > 0).then(|| format!("{:.4}", host.relevant as f64 / host.fetched as f64));
        let robots = host.robots.as_ref();
        self.0.row([
            &host.name,
            &host.requests.to_string(),
            &host.fetched.to_string(),
            &host.relevant.to_string(),
            &or_empty(harvest),
            &host.failures.to_string(),
            &host.throttled.to_string(),
            &host.bytes.to_string(),
            &or_empty(robots.map(|robots| robots.status.to_string())),
            &or_empty(robots.map(|robots| robots.fetched_at.to_string())),
            &or_empty(host.crawl_delay_ms.map(|delay| delay.to_string())),
            &host.delay_ms.to_string(),
            &host.last_elapsed_ms.to_string(),
            &or_empty(host.shortest_pause_ms.map(|pause| pause.to_string())),
        ])
    }

    pub fn finish(self) -> Result<PathBuf, ReportError> {
        self.0.finish()
    }
}

//! The report of a crawl: tables for programs, figures for machines, a page for readers.
//!
//! | file | what it holds |
//! |---|---|
//! | `pages.csv` | every URL that was requested, in order |
//! | `excluded.csv` | URLs that a rule kept from being requested |
//! | `links.csv` | every outlink, and what became of it |
//! | `hosts.csv` | every host, its yield and how it was treated |
//! | `summary.json` | the figures ([`Summary`]) |
//! | `report.html` | the same for a reader, in English or Chinese, in one file |
//!
//! Promises: one pass over the rows with bounded memory; a file has its name
//! only when it is complete; the same rows give the same bytes.
//! Never: reads a clock, changes the crawl, or knows how rows are stored.

mod advice;
mod best;
mod charts;
mod copies;
mod drift;
mod error;
mod facts;
mod forecast;
mod format;
mod harvest;
mod hosts_csv;
mod html;
mod link_quality;
mod links_csv;
mod marks;
mod pages_csv;
mod reasons;
mod share;
mod store;
mod strings;
mod summary;
mod table;
mod tally;
#[cfg(test)]
mod tests;
mod top;

use std::{
    fs,
    path::{Path, PathBuf},
};

pub use best::{Step, way_to};
pub use drift::{Drift, DriftWord};
pub use error::ReportError;
pub use facts::{CrawlFacts, LinkWeight, RowError, RowStream, Rows, Stop};
pub use forecast::Forecast;
pub use harvest::HarvestPoint;
pub use link_quality::{EstimateGroup, LinkModelQuality};
pub use marks::{Marker, Passage, Piece};
pub use share::{ShareEstimate, Yield};
pub use summary::{
    Arm, Arms, Cluster, Copies, Decoding, DepthYield, Harvest, HostCounts, LinkCounts, PageCounts, Summary, Timing,
};

use hosts_csv::HostsCsv;
use html::View;
use links_csv::LinksCsv;
use pages_csv::PagesCsv;
use tally::Tally;

/// Best pages that the page shows.
const PAGES_SHOWN: usize = 20;

/// What was written.
#[derive(Debug)]
pub struct Written {
    /// The page for readers.
    pub html: PathBuf,
    /// All files, the page among them.
    pub files: Vec<PathBuf>,
    pub summary: Summary,
}

/// Writes all files of the report into `dir`, which is made where it is missing; a report that is there is replaced.
///
/// # Errors
/// [`ReportError`]: rows that cannot be read, a file that cannot be written.
pub fn write_report(rows: &dyn Rows, facts: &CrawlFacts, dir: &Path) -> Result<Written, ReportError> {
    fs::create_dir_all(dir).map_err(ReportError::write(dir))?;
    let mut tally = Tally::new();
    let mut files = write_pages(rows, &mut tally, dir)?;
    files.push(write_hosts(rows, &mut tally, dir)?);
    let (summary, mut highlights) = tally.finish(facts);
    files.push(table::write_document(dir, "summary.json", &to_json(&summary, dir)?)?);
    let best = best::best_pages(rows, std::mem::take(&mut highlights.best_pages), PAGES_SHOWN)?;
    let strings = html::strings_in(facts.language);
    let view = View { strings, facts, summary: &summary, highlights: &highlights, best: &best };
    let html = table::write_document(dir, "report.html", &html::document(&view))?;
    files.push(html.clone());
    Ok(Written { html, files, summary })
}

fn write_pages(rows: &dyn Rows, tally: &mut Tally, dir: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let mut pages = PagesCsv::create(dir)?;
    let mut links = LinksCsv::create(dir)?;
    for page in rows.pages() {
        let page = page.map_err(ReportError::read("pages"))?;
        let outlinks = rows.outlinks(page.seq).map_err(ReportError::read("links"))?;
        pages.add(&page)?;
        links.add(&page, &outlinks)?;
        tally.add_links(&outlinks);
        tally.add_page(page);
    }
    let mut files = pages.finish()?.to_vec();
    files.push(links.finish()?);
    Ok(files)
}

fn write_hosts(rows: &dyn Rows, tally: &mut Tally, dir: &Path) -> Result<PathBuf, ReportError> {
    let mut hosts = HostsCsv::create(dir)?;
    for host in rows.hosts() {
        let host = host.map_err(ReportError::read("hosts"))?;
        hosts.add(&host)?;
        tally.add_host(host);
    }
    hosts.finish()
}

fn to_json(summary: &Summary, dir: &Path) -> Result<String, ReportError> {
    serde_json::to_string_pretty(summary)
        .map(|json| json + "\n")
        .map_err(|error| ReportError::write(&dir.join("summary.json"))(error.into()))
}

//! What the store costs as it grows: time per page, and disk per known URL.
//!
//! `cargo bench --bench store -- 10000 100000`: each number is a count of known URLs to crawl up to.
#![allow(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

#[path = "../tests/support/sample_crawl.rs"]
#[expect(dead_code, reason = "a bench does not check what is in the store")]
mod sample_crawl;

use std::{
    env,
    time::{Duration, Instant},
};

use sample_crawl::SampleCrawl;
use windrow::store::{Store, StoreConfig};

/// Links that a page has on average.
const LINKS: usize = 30;
/// Pages made before the clock starts for them.
const CHUNK: usize = 200;

fn main() {
    let sizes: Vec<u64> = env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 100_000] } else { sizes };
    println!(
        "{:>9} {:>7} {:>8} {:>9} {:>9} {:>9} {:>9}",
        "known", "pages", "µs/page", "µs/known", "B/known", "MB file", "MB small"
    );
    for size in sizes {
        measure(size);
    }
}

fn measure(size: u64) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut store = Store::create(dir.path()).expect("a new store");
    let mut crawl = SampleCrawl::new(1, LINKS);
    let mut spent = Duration::ZERO;
    let writer = store.writer(&StoreConfig::default()).expect("a writer");
    let known = |crawl: &SampleCrawl| crawl.expected.state.as_ref().map_or(0, |state| state.discovered);
    while known(&crawl) < size {
        let batches: Vec<_> = (0..CHUNK).map(|_| crawl.next_batch()).collect();
        let start = Instant::now();
        for batch in batches {
            writer.submit(batch).expect("a batch that is taken");
        }
        writer.flush().expect("a batch that is committed");
        spent += start.elapsed();
    }
    writer.finish().expect("a clean end");
    let start = Instant::now();
    let fingerprints: Vec<_> = crawl.expected.waiting.keys().step_by(7).collect();
    for fingerprint in &fingerprints {
        assert!(store.known(**fingerprint).expect("a lookup").is_some());
    }
    let lookup = start.elapsed().as_secs_f64() * 1e6 / fingerprints.len() as f64;
    let pages = crawl.expected.pages.len();
    let grown = store.sizes().expect("sizes");
    store.compact().expect("compaction");
    let small = store.sizes().expect("sizes");
    println!(
        "{:>9} {pages:>7} {:>8.0} {lookup:>9.1} {:>9.0} {:>9.1} {:>9.1}",
        known(&crawl),
        spent.as_secs_f64() * 1e6 / pages as f64,
        small.bytes_per_known_url(),
        grown.file_bytes as f64 / 1e6,
        small.file_bytes as f64 / 1e6,
    );
    for table in small.tables {
        let per_row = table.allocated_bytes as f64 / table.rows.max(1) as f64;
        println!(
            "{:>20} {:>9} rows {per_row:>9.1} B each {:>9.1} MB",
            table.name,
            table.rows,
            table.allocated_bytes as f64 / 1e6
        );
    }
}

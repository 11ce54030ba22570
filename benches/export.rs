//! What an export costs: rows per second and memory, for crawls of any size.
//!
//! `cargo bench --bench export -- 1000000`: each number is a count of pages. Memory is the process's resident set, sampled while
//! the export runs; what it grows by does not grow with the crawl.
#![allow(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use std::{
    env, fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use windrow::{
    export::{Export, Format, Packing, Rows},
    fetch::Validators,
    page::{Outcome, Relevance, Timestamp},
    store::{Batch, Capture, Chosen, HostRecord, OutlinkFate, OutlinkRecord, PageRecord, Store, StoreConfig},
    text::Language,
    url::{Fingerprint, Url},
};

/// Pages in one batch.
const BATCH: u64 = 500;
/// Outlinks of a page.
const LINKS: u64 = 5;
/// One page in so many is in the archive.
const ARCHIVED: u64 = 20;

fn main() {
    let sizes: Vec<u64> = env::args().skip(1).filter_map(|size| size.parse().ok()).collect();
    for size in if sizes.is_empty() { vec![50_000, 200_000] } else { sizes } {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), size);
        let store = Store::open(dir.path()).unwrap();
        // One pass over all rows fills the database's cache, which has a size of its own.
        store.pages(1).unwrap().for_each(|page| drop(page.unwrap()));
        println!("{size} pages: {:.0} MB resident before the first export", resident());
        println!("{:>8} {:>6} {:>10} {:>10} {:>10} {:>10}", "format", "table", "rows", "rows/s", "MB out", "MB more");
        for (format, rows, filter) in [
            (Format::Csv, Rows::Pages, None),
            (Format::Jsonl, Rows::Pages, None),
            (Format::Parquet, Rows::Pages, None),
            (Format::Parquet, Rows::Pages, Some("relevance > 0.8 and language = \"zh\"")),
            (Format::Parquet, Rows::Links, None),
            (Format::Warc, Rows::Pages, None),
            (Format::Wacz, Rows::Pages, None),
            (Format::Cdxj, Rows::Pages, None),
        ] {
            measure(&store, dir.path(), format, rows, filter);
        }
    }
}

fn measure(store: &Store, dir: &Path, format: Format, rows: Rows, filter: Option<&str>) {
    let out = dir.join("out");
    let before = resident();
    let done = Arc::new(AtomicBool::new(false));
    let watched = Arc::clone(&done);
    let watch = thread::spawn(move || {
        let mut peak = 0.0_f64;
        while !watched.load(Ordering::Relaxed) {
            peak = peak.max(resident());
            thread::sleep(Duration::from_millis(20));
        }
        peak
    });
    let start = Instant::now();
    let packing = Packing::default();
    let export = Export { format, rows, out: &out, filter, text: false, file_bytes: 1 << 30, packing, name: "bench" };
    let exported = export.write(store, dir).unwrap();
    let seconds = start.elapsed().as_secs_f64();
    done.store(true, Ordering::Relaxed);
    let peak = watch.join().unwrap();
    let (name, table) = (format!("{format:?}"), format!("{rows:?}"));
    println!(
        "{name:>8} {table:>6} {:>10} {:>10.0} {:>10.1} {:>10.1}",
        exported.rows,
        exported.rows as f64 / seconds,
        size_of(&out) as f64 / 1e6,
        (peak - before).max(0.0),
    );
    if out.is_dir() { fs::remove_dir_all(&out) } else { fs::remove_file(&out) }.unwrap();
}

fn size_of(path: &Path) -> u64 {
    if path.is_file() {
        return fs::metadata(path).unwrap().len();
    }
    fs::read_dir(path).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

/// Megabytes of memory that the process holds; 0 where the system does not say.
fn resident() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok()).unwrap_or(0.0) / 1e3
}

/// Writes a crawl of `size` pages on a thousand hosts.
fn make(dir: &Path, size: u64) {
    let store = Store::create(dir).unwrap();
    let writer = store.writer(&StoreConfig { commit_every_ms: 60_000, ..StoreConfig::default() }).unwrap();
    let mut random = fastrand::Rng::with_seed(1);
    let mut seq = 0;
    while seq < size {
        let mut batch = Batch::default();
        for _ in 0..BATCH.min(size - seq) {
            seq += 1;
            let page = page(seq, &mut random);
            let links = (0..LINKS).map(|n| {
                let url = address(random.u64(1..=size));
                OutlinkRecord {
                    target: Fingerprint::of(&url),
                    url: url.into(),
                    anchor: format!("link {n}"),
                    fate: OutlinkFate::Known,
                }
            });
            batch.outlinks.push((seq, links.collect()));
            if seq.is_multiple_of(ARCHIVED) {
                batch.captures.push(capture(&page));
            }
            batch.pages.push(page);
        }
        batch.hosts.push(HostRecord { name: format!("host{}.example", seq % 1_000), ..HostRecord::default() });
        writer.submit(batch).unwrap();
    }
    writer.finish().unwrap();
}

fn address(seq: u64) -> Url {
    Url::parse(&format!("http://host{}.example/articles/{seq}.html", seq % 1_000)).unwrap()
}

fn capture(page: &PageRecord) -> Capture {
    Capture {
        seq: page.seq,
        url: page.url.clone(),
        fetched_at: page.fetched_at,
        address: None,
        status: 200,
        headers: vec![("content-type".into(), "text/html".into())],
        body: format!("<title>{}</title><p>{}</p>", page.title, page.excerpt.repeat(10)).into_bytes(),
        request: None,
    }
}

fn page(seq: u64, random: &mut fastrand::Rng) -> PageRecord {
    let url = address(seq);
    let relevance = Relevance::new(random.f64());
    PageRecord {
        seq,
        fingerprint: Fingerprint::of(&url),
        host: url.host_str().unwrap().to_owned(),
        url: url.into(),
        outcome: Outcome::Fetched,
        status: 200,
        reason: None,
        relevance,
        relevant: relevance.get() > 0.5,
        priority: random.f64(),
        estimate: relevance,
        depth: random.u16(0..12),
        tunnel_depth: random.u8(0..3),
        source: None,
        source_url: Some(address(random.u64(1..=seq)).into()),
        anchor: format!("article {seq}"),
        fetched_at: Timestamp(1_795_219_200_000 + seq * 1_000),
        elapsed_ms: random.u32(20..2_000),
        bytes: random.u64(2_000..60_000),
        content_type: "text/html; charset=utf-8".into(),
        charset: "utf-8".into(),
        language: if random.bool() { Language::Zh } else { Language::En },
        title: format!("Article {seq} on rice and its pests"),
        excerpt: "水稻 rice pests and what to do about them. ".repeat(5),
        model_version: (seq / 1_000) as u32,
        digest: random.u64(..),
        simhash: random.u64(..),
        archive: None,
        evidence: Vec::new(),
        terms: windrow::page::TermBag::default(),
        rank: random.f64(),
        residual: 0.0,
        chosen: Chosen::Order,
        had_decode_errors: false,
        copy_of: None,
        validators: Validators::default(),
    }
}

//! The store from outside: what goes in comes out, and what must not go in is refused.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "support/sample_crawl.rs"]
mod sample_crawl;

use std::{collections::BTreeMap, fs, path::Path};

use sample_crawl::SampleCrawl;
use windrow::{
    store::{Batch, Known, Sizes, Stock, Store, StoreConfig, StoreError},
    url::Fingerprint,
};

/// A store in a temporary directory with the first `batches` of a crawl in it.
fn crawled(batches: usize) -> (tempfile::TempDir, Store, SampleCrawl) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path()).unwrap();
    let mut crawl = SampleCrawl::new(7, 8);
    submit(&store, &mut crawl, batches);
    (dir, store, crawl)
}

fn submit(store: &Store, crawl: &mut SampleCrawl, batches: usize) {
    let writer = store.writer(&StoreConfig::default()).unwrap();
    for _ in 0..batches {
        writer.submit(crawl.next_batch()).unwrap();
    }
    writer.finish().unwrap();
}

fn refusal(store: &Store, batch: Batch) -> String {
    let writer = store.writer(&StoreConfig::default()).unwrap();
    writer.submit(batch).unwrap();
    writer.finish().unwrap_err().to_string()
}

#[test]
fn what_a_crawl_hands_over_is_there_after_every_batch_and_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    let mut crawl = SampleCrawl::new(1, 6);
    let store = Store::create(dir.path()).unwrap();
    let writer = store.writer(&StoreConfig::default()).unwrap();
    for _ in 0..40 {
        writer.submit(crawl.next_batch()).unwrap();
        writer.flush().unwrap();
        crawl.expected.assert_in(&store, dir.path());
    }
    writer.finish().unwrap();
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    crawl.expected.assert_in(&store, dir.path());
    submit(&store, &mut crawl, 40);
    crawl.expected.assert_in(&store, dir.path());
}

#[test]
fn an_archive_file_that_is_full_is_followed_by_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let mut crawl = SampleCrawl::new(2, 3);
    let store = Store::create(dir.path()).unwrap();
    let writer = store.writer(&StoreConfig { archive_file_mib: 0, ..StoreConfig::default() }).unwrap();
    for _ in 0..8 {
        writer.submit(crawl.next_batch()).unwrap();
    }
    writer.finish().unwrap();
    let files = fs::read_dir(dir.path().join("archive")).unwrap().count();
    assert_eq!(files, crawl.expected.bodies.iter().flatten().count());
    crawl.expected.assert_in(&store, dir.path());
}

#[test]
fn a_host_gives_its_best_links_first() {
    let (_dir, store, crawl) = crawled(60);
    let mut by_host: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for link in crawl.expected.waiting.values() {
        by_host.entry(link.url.split('/').nth(2).unwrap()).or_default().push(link.priority);
    }
    let (host, mut priorities) = by_host.into_iter().max_by_key(|(_, links)| links.len()).unwrap();
    priorities.sort_by(|a, b| b.total_cmp(a));
    let Stock { rows: best, next } = store.best_of_host(host, None, 10, |_| true).unwrap();
    assert_eq!(next.is_some(), priorities.len() > 10);
    let unwanted = best[0].0;
    let wanted = |fingerprint| fingerprint != unwanted;
    let rest = store.best_of_host(host, Some(best[1].1.priority), 3, wanted).unwrap().rows;
    assert!(rest.iter().all(|(fingerprint, _)| *fingerprint != unwanted) && rest.len() == 3);
    assert_eq!(best.len(), priorities.len().min(10));
    assert!(best.len() > 5);
    for ((fingerprint, link), expected) in best.iter().zip(priorities) {
        assert!((link.priority - expected).abs() <= 0.01 * expected, "{} is not {expected}", link.priority);
        assert_eq!(store.waiting_one(*fingerprint).unwrap().as_ref(), Some(link));
        assert_eq!(store.known(*fingerprint).unwrap(), Some(Known::Waiting));
    }
    assert!(store.best_of_host("never.met", None, 10, |_| true).unwrap().rows.is_empty());
}

#[test]
fn single_rows_are_found_by_their_keys() {
    let (_dir, store, crawl) = crawled(20);
    let page = crawl.expected.pages.last().unwrap();
    let mut found = store.page_by_fingerprint(page.fingerprint).unwrap().unwrap();
    assert_eq!(store.page(page.seq).unwrap().unwrap(), found);
    found.archive = None;
    assert_eq!(&found, page);
    assert_eq!(store.host(&page.host).unwrap().as_ref(), crawl.expected.hosts.get(&page.host));
    assert_eq!(store.pages(page.seq).unwrap().count(), 1);
    let nobody = Fingerprint(1);
    assert_eq!(store.known(nobody).unwrap(), None);
    assert!(store.page_by_fingerprint(nobody).unwrap().is_none() && store.waiting_one(nobody).unwrap().is_none());
    assert!(store.page(0).unwrap().is_none() && store.host("never.met").unwrap().is_none());
    assert!(store.model("none").unwrap().is_none());
}

#[test]
fn a_batch_that_breaks_a_rule_is_refused_as_a_whole() {
    let (dir, store, crawl) = crawled(30);
    let pages = &crawl.expected.pages;
    let done = pages[3].clone();
    let (&fingerprint, link) = crawl.expected.waiting.iter().next().unwrap();
    let other = windrow::store::PageRecord { seq: pages.len() as u64 + 2, fingerprint, ..done.clone() };
    let mut waits_again = link.clone();
    waits_again.url.clone_from(&done.url);
    let good = vec![(fingerprint, windrow::store::LinkRecord { tries: 9, ..link.clone() })];
    let cases = [
        (
            "is finished already",
            Batch { pages: vec![windrow::store::PageRecord { seq: pages.len() as u64 + 1, ..done.clone() }], ..Batch::default() },
        ),
        ("follows page", Batch { pages: vec![other], waiting: good.clone(), ..Batch::default() }),
        (
            "cannot wait again",
            Batch { waiting: [good.clone(), vec![(done.fingerprint, waits_again)]].concat(), ..Batch::default() },
        ),
        (
            "is no URL",
            Batch {
                waiting: vec![(Fingerprint(5), windrow::store::LinkRecord { url: "nowhere".into(), ..link.clone() })],
                ..Batch::default()
            },
        ),
        ("page 9999 is to change", Batch { ranks: vec![(9_999, 0.1, 0.1)], waiting: good.clone(), ..Batch::default() }),
        ("without their page", Batch { outlinks: vec![(9_999, Vec::new())], waiting: good, ..Batch::default() }),
    ];
    for (expected, batch) in cases {
        let message = refusal(&store, batch);
        assert!(message.contains(expected), "`{message}` does not say `{expected}`");
        crawl.expected.assert_in(&store, dir.path());
    }
}

#[test]
fn a_writer_that_has_ended_says_why_at_every_call() {
    let (_dir, store, _crawl) = crawled(3);
    let writer = store.writer(&StoreConfig::default()).unwrap();
    writer.submit(Batch { ranks: vec![(9_999, 0.1, 0.1)], ..Batch::default() }).unwrap();
    for error in [writer.flush().unwrap_err(), writer.submit(Batch::default()).unwrap_err(), writer.finish().unwrap_err()] {
        assert!(error.to_string().contains("page 9999"), "{error}");
    }
}

#[test]
fn there_is_one_writer_at_a_time() {
    let (_dir, store, mut crawl) = crawled(3);
    let writer = store.writer(&StoreConfig::default()).unwrap();
    assert!(matches!(store.writer(&StoreConfig::default()).err(), Some(StoreError::SecondWriter)));
    drop(writer);
    submit(&store, &mut crawl, 3);
}

#[test]
fn a_directory_says_what_stands_in_the_way() {
    let dir = tempfile::tempdir().unwrap();
    let says = |result: Result<Store, StoreError>, text: &str| {
        let message = result.err().expect("it must fail").to_string();
        assert!(message.contains(text) && message.contains(&*dir.path().to_string_lossy()), "{message}");
    };
    says(Store::open(dir.path()), "holds no crawl");
    assert!(!Store::exists(dir.path()));
    let store = Store::create(dir.path()).unwrap();
    assert!(Store::exists(dir.path()));
    says(Store::create(dir.path()), "already holds a crawl");
    says(Store::open(dir.path()), "in use by another windrow");
    drop(store);
    fs::write(dir.path().join("store.redb"), b"this is a letter, not a database").unwrap();
    says(Store::open(dir.path()), "windrow verify --repair");
}

#[test]
fn a_store_of_another_schema_is_refused() {
    for (version, text) in [(0_u32, "older windrow"), (u32::MAX, "newer windrow")] {
        let (dir, store, _crawl) = crawled(3);
        drop(store);
        set_schema(dir.path(), version);
        let message = Store::open(dir.path()).err().unwrap().to_string();
        assert!(message.contains(text), "{message}");
    }
}

fn set_schema(dir: &Path, version: u32) {
    let database = redb::Database::open(dir.join("store.redb")).unwrap();
    let write = database.begin_write().unwrap();
    let meta = redb::TableDefinition::<&str, &[u8]>::new("meta");
    write.open_table(meta).unwrap().insert("schema", version.to_le_bytes().as_slice()).unwrap();
    write.commit().unwrap();
}

#[test]
fn what_was_archived_after_the_last_commit_is_cut_off() {
    let (dir, store, mut crawl) = crawled(20);
    drop(store);
    let file = dir.path().join("archive/00001.warc.gz");
    let committed = fs::read(&file).unwrap();
    fs::write(&file, [committed.as_slice(), b"half a record"].concat()).unwrap();
    fs::write(dir.path().join("archive/00002.warc.gz"), b"a new file").unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(fs::read(&file).unwrap(), committed);
    assert!(!dir.path().join("archive/00002.warc.gz").exists());
    submit(&store, &mut crawl, 20);
    crawl.expected.assert_in(&store, dir.path());
}

#[test]
fn an_archive_that_lost_bytes_is_reported() {
    let (dir, store, _crawl) = crawled(20);
    drop(store);
    let file = dir.path().join("archive/00001.warc.gz");
    fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(100).unwrap();
    let message = Store::open(dir.path()).err().unwrap().to_string();
    assert!(message.contains("00001.warc.gz") && message.contains("are missing"), "{message}");
}

fn dump(store: &Store) -> String {
    let mut text = Vec::new();
    store.dump(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn a_dump_shows_every_row_and_only_what_differs_differs() {
    let (_dir, store, mut crawl) = crawled(20);
    let (_other_dir, other, _) = crawled(20);
    let text = dump(&store);
    assert_eq!(text, dump(&other));
    let rows = |table: &str| text.lines().filter(|line| line.split(' ').next() == Some(table)).count();
    let expected = &crawl.expected;
    let (pages, waiting, hosts) = (expected.pages.len(), expected.waiting.len(), expected.hosts.len());
    assert_eq!(
        [rows("pages"), rows("page_of"), rows("standing"), rows("outlinks")],
        [pages, pages, pages, expected.outlinks.len()]
    );
    assert_eq!([rows("waiting"), rows("queue"), rows("hosts"), rows("host_ids")], [waiting, waiting, hosts, hosts]);
    assert_eq!([rows("meta"), rows("models")], [3, 1]);
    assert_eq!(rows("robots"), expected.hosts.values().filter(|host| host.robots.is_some()).count());
    submit(&store, &mut crawl, 1);
    assert_ne!(text, dump(&store));
}

#[test]
fn compaction_shrinks_the_file_and_changes_no_row() {
    let (dir, mut store, mut crawl) = crawled(300);
    let clone = store.clone();
    assert!(matches!(store.compact(), Err(StoreError::Busy)));
    drop(clone);
    let (before, rows) = (store.sizes().unwrap(), dump(&store));
    let freed = store.compact().unwrap();
    let after = store.sizes().unwrap();
    assert!(freed > 0 && after.file_bytes + freed == before.file_bytes, "{freed} of {before:?}");
    assert_eq!(after.archive_bytes, fs::metadata(dir.path().join("archive/00001.warc.gz")).unwrap().len());
    assert!((20.0..2_000.0).contains(&after.bytes_per_known_url()), "{}", after.bytes_per_known_url());
    assert_eq!(dump(&store), rows);
    // Leaves that were filled in no order are full now.
    let packed = |sizes: &Sizes| {
        let waiting = sizes.tables.iter().find(|table| table.name == "waiting").unwrap();
        (waiting.rows, waiting.allocated_bytes as f64 / waiting.stored_bytes as f64)
    };
    assert!(packed(&before).0 > 200 && packed(&before).1 > 1.4, "{:?}", packed(&before));
    assert!(packed(&after).1 < 1.25, "{:?}", packed(&after));
    crawl.expected.assert_in(&store, dir.path());
    submit(&store, &mut crawl, 10);
    crawl.expected.assert_in(&store, dir.path());
}

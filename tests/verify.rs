//! `verify` finds every kind of damage, and `--repair` mends what it says it mends.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "support/sample_crawl.rs"]
mod sample_crawl;

use std::{
    fs::{self, OpenOptions},
    io::{Seek, SeekFrom, Write},
    path::Path,
};

use redb::{Database, ReadableTable, TableDefinition, WriteTransaction};
use sample_crawl::SampleCrawl;
use windrow::store::{CheckModel, Problem, Severity, Store, StoreConfig, StoreError, Verification, VerifyOptions};

const PAGE_OF: TableDefinition<u64, u64> = TableDefinition::new("page_of");
const STANDING: TableDefinition<u64, (f64, f64, f32)> = TableDefinition::new("standing");
const OUTLINKS: TableDefinition<u64, (u64, u32)> = TableDefinition::new("outlinks");
const PAGES: TableDefinition<u64, (u64, u32)> = TableDefinition::new("pages");
const WAITING: TableDefinition<u64, &[u8]> = TableDefinition::new("waiting");
const QUEUE: TableDefinition<(u32, u16, u64), ()> = TableDefinition::new("queue");
const HOSTS: TableDefinition<u32, &[u8]> = TableDefinition::new("hosts");
const HOST_IDS: TableDefinition<&str, u32> = TableDefinition::new("host_ids");
const ROBOTS: TableDefinition<u32, &[u8]> = TableDefinition::new("robots");
const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");

type Damage = fn(&WriteTransaction);

fn crawled() -> (tempfile::TempDir, SampleCrawl) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::create(dir.path()).unwrap();
    let mut crawl = SampleCrawl::new(11, 5);
    let writer = store.writer(&StoreConfig::default()).unwrap();
    for _ in 0..40 {
        writer.submit(crawl.next_batch()).unwrap();
    }
    writer.finish().unwrap();
    (dir, crawl)
}

fn verify(dir: &Path, repair: bool) -> Verification {
    let mut last = (0, 0);
    let progress = &mut |done, total| last = (done, total);
    let found = windrow::store::verify(dir, VerifyOptions { repair, check_model: &|_, _| Ok(()), progress }).unwrap();
    assert_eq!(last, (found.pages, found.pages));
    found
}

fn problems(found: &Verification) -> Vec<Problem> {
    found.findings.iter().map(|finding| finding.problem).collect()
}

/// Changes tables behind the store's back.
fn meddle(dir: &Path, change: impl FnOnce(&WriteTransaction)) {
    let database = Database::open(dir.join("store.redb")).unwrap();
    let write = database.begin_write().unwrap();
    change(&write);
    write.commit().unwrap();
}

#[test]
fn a_crawl_that_ended_well_is_clean_and_counted() {
    let (dir, crawl) = crawled();
    let found = verify(dir.path(), false);
    assert_eq!(found.findings, []);
    assert!(found.is_clean());
    assert_eq!(found.pages, crawl.expected.pages.len() as u64);
    assert_eq!(found.waiting, crawl.expected.waiting.len() as u64);
    assert_eq!(found.hosts, crawl.expected.hosts.len() as u64);
    assert_eq!(found.captures, crawl.expected.bodies.iter().flatten().count() as u64);
    assert_eq!(found.archive_bytes, fs::metadata(dir.path().join("archive/00001.warc.gz")).unwrap().len());
}

#[test]
fn an_empty_store_is_clean() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::create(dir.path()).unwrap());
    assert_eq!(verify(dir.path(), false).findings, []);
}

#[test]
fn what_can_be_derived_is_found_wrong_and_built_anew_without_loss() {
    let damages: [(&str, &[Problem], Damage); 6] = [
        ("index", &[Problem::PageIndex], |write| {
            let mut table = write.open_table(PAGE_OF).unwrap();
            let first = table.first().unwrap().unwrap().0.value();
            table.remove(first).unwrap();
            table.insert(5, 5).unwrap();
        }),
        ("queue entry lost", &[Problem::Queue], |write| {
            write.open_table(QUEUE).unwrap().pop_first().unwrap();
        }),
        ("queue entry too many", &[Problem::Queue], |write| {
            write.open_table(QUEUE).unwrap().insert((0, 7, 7), ()).unwrap();
        }),
        ("names", &[Problem::Hosts], |write| {
            let mut table = write.open_table(HOST_IDS).unwrap();
            let id = table.remove("seed1.org").unwrap().unwrap().value();
            table.insert("seed9.org", id).unwrap();
        }),
        ("counters", &[Problem::Counters], |write| {
            // The row is a version byte and varints; the first is the number of pages.
            let mut table = write.open_table(META).unwrap();
            let mut row = table.get("state").unwrap().unwrap().value().to_vec();
            row[1] += 1;
            table.insert("state", row.as_slice()).unwrap();
        }),
        ("standing too many", &[Problem::Standing], |write| {
            write.open_table(STANDING).unwrap().insert(9_999, (0.0, 0.0, 0.0)).unwrap();
        }),
    ];
    for (name, expected, damage) in damages {
        let (dir, crawl) = crawled();
        meddle(dir.path(), damage);
        let found = verify(dir.path(), false);
        assert_eq!(problems(&found), expected, "{name}");
        assert!(!found.is_clean() && !found.findings[0].examples.is_empty(), "{name}");
        let mended = verify(dir.path(), true);
        assert!(mended.is_clean() && mended.findings[0].repaired, "{name}: {:?}", mended.findings);
        assert_eq!(verify(dir.path(), false).findings, [], "{name}");
        crawl.expected.assert_in(&Store::open(dir.path()).unwrap(), dir.path());
    }
}

#[test]
fn rows_that_cannot_be_read_are_named_and_removed() {
    let damages: [(Problem, Damage); 6] = [
        (Problem::LinkUnreadable, |write| {
            let mut table = write.open_table(WAITING).unwrap();
            let key = table.last().unwrap().unwrap().0.value();
            table.insert(key, [1, 2].as_slice()).unwrap();
        }),
        (Problem::Outlinks, |write| {
            let mut table = write.open_table(OUTLINKS).unwrap();
            let last = table.last().unwrap().unwrap().0.value();
            table.insert(last, (0, 3)).unwrap();
        }),
        (Problem::Robots, |write| {
            write.open_table(ROBOTS).unwrap().pop_first().unwrap();
        }),
        (Problem::Hosts, |write| {
            write.open_table(HOSTS).unwrap().insert(2, [0].as_slice()).unwrap();
        }),
        (Problem::StateUnreadable, |write| {
            write.open_table(META).unwrap().insert("state", [].as_slice()).unwrap();
        }),
        (Problem::Standing, |write| {
            write.open_table(STANDING).unwrap().pop_last().unwrap();
        }),
    ];
    for (problem, damage) in damages {
        let (dir, _crawl) = crawled();
        meddle(dir.path(), damage);
        let found = verify(dir.path(), false);
        assert!(problems(&found).contains(&problem) && !found.is_clean(), "{problem:?}: {:?}", found.findings);
        let mended = verify(dir.path(), true);
        assert!(mended.is_clean(), "{problem:?}: {:?}", mended.findings);
        assert_eq!(verify(dir.path(), false).findings, [], "{problem:?}");
        // Everything can be read again.
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(store.waiting().unwrap().flatten().count() as u64, mended.waiting);
        assert_eq!(store.hosts().unwrap().flatten().count() as u64, mended.hosts);
    }
}

#[test]
fn a_url_that_is_finished_and_waits_waits_no_longer() {
    let (dir, crawl) = crawled();
    let done = crawl.expected.pages[2].fingerprint.0;
    meddle(dir.path(), |write| {
        let mut table = write.open_table(WAITING).unwrap();
        let row = table.first().unwrap().unwrap().1.value().to_vec();
        table.insert(done, row.as_slice()).unwrap();
    });
    assert!(problems(&verify(dir.path(), false)).contains(&Problem::WaitsThoughFinished));
    assert!(verify(dir.path(), true).is_clean());
    crawl.expected.assert_in(&Store::open(dir.path()).unwrap(), dir.path());
}

#[test]
fn a_lost_page_cannot_be_made_up() {
    let (dir, _crawl) = crawled();
    meddle(dir.path(), |write| {
        write.open_table(PAGES).unwrap().remove(3).unwrap();
    });
    let mended = verify(dir.path(), true);
    assert!(!mended.is_clean());
    let missing = mended.findings.iter().find(|finding| finding.problem == Problem::PageMissing).unwrap();
    assert_eq!((missing.count, missing.repaired, missing.examples.as_slice()), (1, false, ["3 to 3".to_owned()].as_slice()));
}

#[test]
fn a_capture_that_changed_is_dropped_and_its_page_kept() {
    let (dir, mut crawl) = crawled();
    let store = Store::open(dir.path()).unwrap();
    let page = store.pages(4).unwrap().map(Result::unwrap).find(|page| page.archive.is_some()).unwrap();
    let place = page.archive.unwrap();
    drop(store);
    let mut file = OpenOptions::new().write(true).open(dir.path().join("archive/00001.warc.gz")).unwrap();
    file.seek(SeekFrom::Start(place.offset + place.length / 2)).unwrap();
    file.write_all(b"x").unwrap();
    let found = verify(dir.path(), false);
    assert_eq!(problems(&found), [Problem::CaptureUnreadable]);
    assert!(found.findings[0].examples[0].starts_with(&format!("page {}: ", page.seq)), "{:?}", found.findings);
    assert!(verify(dir.path(), true).is_clean());
    crawl.expected.bodies[page.seq as usize - 1] = None;
    crawl.expected.assert_in(&Store::open(dir.path()).unwrap(), dir.path());
}

#[test]
fn a_shortened_archive_ends_after_its_last_whole_capture_and_can_be_continued() {
    let (dir, mut crawl) = crawled();
    let path = dir.path().join("archive/00001.warc.gz");
    let length = fs::metadata(&path).unwrap().len();
    OpenOptions::new().write(true).open(&path).unwrap().set_len(length / 2).unwrap();
    let found = verify(dir.path(), false);
    assert_eq!(problems(&found), [Problem::CaptureUnreadable, Problem::ArchiveShort]);
    let mended = verify(dir.path(), true);
    assert!(mended.is_clean());
    let kept = mended.captures as usize;
    assert!(kept > 5 && kept < found.pages as usize - 5, "{kept}");
    for body in crawl.expected.bodies.iter_mut().filter(|body| body.is_some()).skip(kept) {
        *body = None;
    }
    let store = Store::open(dir.path()).unwrap();
    let writer = store.writer(&StoreConfig::default()).unwrap();
    writer.submit(crawl.next_batch()).unwrap();
    writer.finish().unwrap();
    crawl.expected.assert_in(&store, dir.path());
    drop(store);
    assert_eq!(verify(dir.path(), false).findings, []);
}

#[test]
fn an_archive_tail_is_a_note_until_it_is_cut_off() {
    let (dir, crawl) = crawled();
    fs::write(dir.path().join("archive/00002.warc.gz"), b"begun").unwrap();
    let found = verify(dir.path(), false);
    assert_eq!(problems(&found), [Problem::ArchiveTail]);
    assert!(found.is_clean() && found.findings[0].severity == Severity::Note);
    assert!(dir.path().join("archive/00002.warc.gz").exists());
    assert!(verify(dir.path(), true).findings[0].repaired);
    crawl.expected.assert_in(&Store::open(dir.path()).unwrap(), dir.path());
}

#[test]
fn models_are_judged_by_the_caller() {
    let (dir, _crawl) = crawled();
    let check_model: CheckModel<'_> = &|name, bytes| Err(format!("{name} of {} bytes", bytes.len()));
    let options = VerifyOptions { repair: true, check_model, progress: &mut |_, _| {} };
    let found = windrow::store::verify(dir.path(), options).unwrap();
    assert_eq!(problems(&found), [Problem::ModelUnreadable]);
    assert_eq!(found.findings[0].examples, ["link: link of 72 bytes"]);
    assert!(!found.is_clean());
}

#[test]
fn bytes_that_changed_anywhere_in_the_database_never_cause_a_panic() {
    let (dir, _crawl) = crawled();
    let path = dir.path().join("store.redb");
    let sound = fs::read(&path).unwrap();
    let mut rng = fastrand::Rng::with_seed(3);
    for _ in 0..60 {
        let mut bytes = sound.clone();
        for _ in 0..rng.usize(1..4) {
            let at = rng.usize(..bytes.len());
            bytes[at] ^= rng.u8(1..);
        }
        fs::write(&path, bytes).unwrap();
        let options = VerifyOptions { repair: true, check_model: &|_, _| Ok(()), progress: &mut |_, _| {} };
        match windrow::store::verify(dir.path(), options) {
            Ok(found) => assert!(found.is_clean(), "{:?}", found.findings),
            Err(StoreError::BeyondRepair { .. }) => {}
            Err(other) => assert!(!other.to_string().is_empty()),
        }
    }
}

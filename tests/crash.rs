//! Whatever happens to the process or the disk, the store opens at a batch that was whole, and goes on from there.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "support/failing_disk.rs"]
#[expect(dead_code, reason = "temporary files are in tests/memory.rs")]
mod failing_disk;
#[path = "support/power_cut.rs"]
mod power_cut;
#[path = "support/sample_crawl.rs"]
mod sample_crawl;

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::Duration,
};

use failing_disk::{DiskFault, FailingDisk};
use power_cut::{Cut, Fault, Storage};
use sample_crawl::SampleCrawl;
use windrow::store::{Store, StoreConfig, StoreError, VerifyOptions, verify};

/// A crawl to run: batches in all, links per page, size of archive files.
#[derive(Clone, Copy)]
struct Plan {
    batches: usize,
    links: usize,
    file_mib: u64,
}

const SMALL: Plan = Plan { batches: 9, links: 4, file_mib: 1 };

impl Plan {
    fn begin(self) -> SampleCrawl {
        SampleCrawl::new(5, self.links)
    }

    /// The crawl before each batch: `[n]` is what `n` batches make.
    fn history(self) -> Vec<SampleCrawl> {
        let mut crawl = self.begin();
        let mut history = vec![crawl.clone()];
        for _ in 0..self.batches {
            crawl.next_batch();
            history.push(crawl.clone());
        }
        history
    }
}

/// Only flushes decide what is on disk, so that a run repeats exactly; every other batch is flushed.
fn config(file_mib: u64) -> StoreConfig {
    StoreConfig { commit_every_ms: 3_600_000, archive_file_mib: file_mib, ..StoreConfig::default() }
}

/// Crawls on `storage`; returns the batches that a flush said were on disk, and what went wrong.
fn crawl(store: &Store, plan: Plan) -> (usize, Option<StoreError>) {
    let mut crawl = plan.begin();
    let mut safe = 0;
    let mut run = || {
        let writer = store.writer(&config(plan.file_mib))?;
        for batch in 1..=plan.batches {
            writer.submit(crawl.next_batch())?;
            if batch % 2 == 0 {
                writer.flush()?;
                safe = batch;
            }
        }
        writer.finish()?;
        safe = plan.batches;
        Ok(())
    };
    let result: Result<(), StoreError> = run();
    (safe, result.err())
}

/// Runs with a fault, then opens what is left in a directory.
fn crawl_into(dir: &Path, plan: Plan, fault: Fault) -> (usize, Option<StoreError>, Storage) {
    let storage = Storage::default();
    let store = Store::with_backend(dir, storage.clone()).unwrap();
    storage.arm(fault);
    let (safe, error) = crawl(&store, plan);
    drop(store);
    fs::write(dir.join("store.redb"), storage.image()).unwrap();
    (safe, error, storage)
}

/// Runs with an archive whose disk fails, then opens what is left in a directory.
fn crawl_with_archive_on(disk: &FailingDisk, dir: &Path, plan: Plan, fault: DiskFault) -> (usize, Option<StoreError>) {
    let storage = Storage::default();
    let store = Store::with_storage(dir, storage.clone(), Arc::new(disk.clone())).unwrap();
    disk.arm(fault);
    let (safe, error) = crawl(&store, plan);
    drop(store);
    fs::write(dir.join("store.redb"), storage.image()).unwrap();
    (safe, error)
}

/// Checks that the store in `dir` holds a whole number of batches, at least `safe`, and can go on; returns the number.
fn check(dir: &Path, safe: usize, history: &[SampleCrawl]) -> usize {
    assert_clean(dir);
    let store = Store::open(dir).unwrap();
    let batches = batches_in(&store);
    assert!(batches >= safe, "{batches} batches are left of {safe}");
    history[batches].expected.assert_in(&store, dir);
    let mut crawl = history[batches].clone();
    let writer = store.writer(&config(1)).unwrap();
    for _ in 0..3 {
        writer.submit(crawl.next_batch()).unwrap();
    }
    writer.finish().unwrap();
    crawl.expected.assert_in(&store, dir);
    drop(store);
    assert_clean(dir);
    batches
}

fn assert_clean(dir: &Path) {
    let options = VerifyOptions { repair: false, check_model: &|_, _| Ok(()), progress: &mut |_, _| {} };
    let found = verify(dir, options).unwrap();
    assert!(found.is_clean(), "{:?}", found.findings);
}

/// The first batch brings seeds, each later one a page.
fn batches_in(store: &Store) -> usize {
    store.state().unwrap().map_or(0, |state| state.pages as usize + 1)
}

#[test]
fn a_power_cut_at_any_sync_leaves_whole_batches_and_all_that_were_flushed() {
    let history = SMALL.history();
    let probe = tempfile::tempdir().unwrap();
    let (safe, error, storage) = crawl_into(probe.path(), SMALL, Fault::None);
    assert_eq!((safe, error.is_none()), (SMALL.batches, true));
    let (syncs, _) = storage.counts();
    assert!(syncs >= 10, "{syncs}");
    for sync in 1..=syncs {
        for (cut, file_mib) in [(Cut::Nothing, 0), (Cut::Everything, 1), (Cut::Torn(sync), 1), (Cut::Torn(sync + 1_000), 0)] {
            let dir = tempfile::tempdir().unwrap();
            let (safe, _, _) = crawl_into(dir.path(), Plan { file_mib, ..SMALL }, Fault::PowerCut(sync, cut));
            check(dir.path(), safe, &history);
        }
        let dir = tempfile::tempdir().unwrap();
        crawl_into(dir.path(), SMALL, Fault::PowerCut(sync, Cut::SyncsDoNothing));
        check(dir.path(), 0, &history);
    }
}

#[test]
fn a_write_that_fails_ends_the_writer_and_costs_nothing_that_was_flushed() {
    let history = SMALL.history();
    let probe = tempfile::tempdir().unwrap();
    let (_, _, storage) = crawl_into(probe.path(), SMALL, Fault::None);
    let (_, writes) = storage.counts();
    for write in (0..writes).step_by(7) {
        let dir = tempfile::tempdir().unwrap();
        let (safe, error, _) = crawl_into(dir.path(), SMALL, Fault::BrokenWrites(write));
        // The last writes are those of closing the file, after the crawl.
        if safe < SMALL.batches {
            let message = error.expect("a crawl that stopped says why").to_string();
            assert!(message.contains("the disk is broken"), "{message}");
        }
        check(dir.path(), safe, &history);
    }
}

#[test]
fn a_full_disk_is_called_that_and_the_crawl_goes_on_when_there_is_room() {
    let plan = Plan { batches: 60, links: 40, file_mib: 1 };
    let history = plan.history();
    let empty = tempfile::tempdir().unwrap();
    let storage = Storage::default();
    drop(Store::with_backend(empty.path(), storage.clone()).unwrap());
    for more in [0, 4_096, 300_000] {
        let dir = tempfile::tempdir().unwrap();
        let (safe, error, _) = crawl_into(dir.path(), plan, Fault::Full(storage.length() + more));
        let error = error.expect("the disk fills up");
        assert!(error.is_disk_full(), "{error}");
        assert!(error.to_string().contains("free some space"), "{error}");
        let batches = check(dir.path(), safe, &history);
        assert!(batches > 10, "{batches}");
    }
}

/// Crawls, then compacts with a fault, and opens what is left in a directory; returns the syncs and writes that it took, too.
fn compact_into(dir: &Path, fault: Fault) -> (Result<u64, StoreError>, (u64, u64)) {
    let storage = Storage::default();
    let mut store = Store::with_backend(dir, storage.clone()).unwrap();
    assert!(crawl(&store, SMALL).1.is_none());
    // Whose size is asked for; the store itself is in memory.
    fs::write(dir.join("store.redb"), []).unwrap();
    storage.arm(fault);
    let (result, counts) = (store.compact(), storage.counts());
    drop(store);
    fs::write(dir.join("store.redb"), storage.image()).unwrap();
    (result, counts)
}

#[test]
fn a_compaction_that_breaks_off_costs_nothing() {
    let history = SMALL.history();
    let probe = tempfile::tempdir().unwrap();
    let (result, (syncs, writes)) = compact_into(probe.path(), Fault::None);
    result.unwrap();
    assert!(syncs >= 10 && writes >= 100, "{syncs}, {writes}");
    for sync in 1..=syncs {
        for cut in [Cut::Nothing, Cut::Everything, Cut::Torn(sync)] {
            let dir = tempfile::tempdir().unwrap();
            assert!(compact_into(dir.path(), Fault::PowerCut(sync, cut)).0.is_err(), "sync {sync} of {syncs}");
            assert_eq!(check(dir.path(), SMALL.batches, &history), SMALL.batches);
        }
    }
    for fault in (0..writes).step_by(29).map(Fault::BrokenWrites).chain([Fault::Full(0)]) {
        let dir = tempfile::tempdir().unwrap();
        assert!(compact_into(dir.path(), fault).0.is_err(), "{fault:?} of {writes}");
        assert_eq!(check(dir.path(), SMALL.batches, &history), SMALL.batches);
    }
}

/// Captures that the buffer before the file does not hold as a whole, in several files.
const LARGE: Plan = Plan { batches: 12, links: 4, file_mib: 0 };

#[test]
fn an_archive_that_cannot_be_written_ends_the_writer_and_costs_nothing_that_was_flushed() {
    for plan in [SMALL, LARGE] {
        let history = plan.history();
        let (probe, disk) = (tempfile::tempdir().unwrap(), FailingDisk::default());
        let (safe, error) = crawl_with_archive_on(&disk, probe.path(), plan, DiskFault::None);
        assert_eq!((safe, error.is_none()), (plan.batches, true));
        let (writes, _, syncs, bytes) = disk.counts();
        assert!(writes >= 5 && syncs >= 4, "{writes} writes, {syncs} syncs");
        let broken = (1..=writes).map(DiskFault::Writes).chain((1..=syncs).map(DiskFault::Syncs));
        let full = (1..=writes).map(DiskFault::ShortWrite).chain((0..bytes).step_by(bytes as usize / 20).map(DiskFault::Full));
        for fault in broken.chain(full) {
            let dir = tempfile::tempdir().unwrap();
            let (safe, error) = crawl_with_archive_on(&disk, dir.path(), plan, fault);
            let error = error.expect("a crawl that stopped says why");
            let message = error.to_string();
            match fault {
                DiskFault::ShortWrite(_) | DiskFault::Full(_) => {
                    assert!(error.is_disk_full() && message.contains("free some space"), "{fault:?}: {message}");
                }
                _ => assert!(message.contains("the disk is broken"), "{fault:?}: {message}"),
            }
            assert!(message.contains(".warc.gz"), "{fault:?}: {message}");
            check(dir.path(), safe, &history);
        }
    }
}

#[test]
fn a_power_cut_that_takes_the_unsynced_end_of_the_archive_leaves_whole_batches() {
    for plan in [SMALL, LARGE] {
        let history = plan.history();
        let probe = tempfile::tempdir().unwrap();
        let (_, _, storage) = crawl_into(probe.path(), plan, Fault::None);
        let (syncs, _) = storage.counts();
        for (sync, cut) in (1..=syncs).flat_map(|sync| [(sync, Cut::Nothing), (sync, Cut::Everything), (sync, Cut::Torn(sync))]) {
            let (dir, disk, storage) = (tempfile::tempdir().unwrap(), FailingDisk::default(), Storage::default());
            let store = Store::with_storage(dir.path(), storage.clone(), Arc::new(disk.clone())).unwrap();
            storage.arm(Fault::PowerCut(sync, cut));
            let (safe, _) = crawl(&store, plan);
            drop(store);
            fs::write(dir.path().join("store.redb"), storage.image()).unwrap();
            disk.lose_what_was_not_synced();
            check(dir.path(), safe, &history);
        }
    }
}

const CHILD: &str = "WINDROW_TEST_CRAWL_UNTIL_KILLED";

/// The process that [`a_crawl_killed_over_and_over_loses_and_doubles_nothing`] kills; does nothing in a plain test run.
#[test]
fn crawl_until_killed() {
    let Some(dir) = env::var_os(CHILD) else { return };
    let dir = Path::new(&dir);
    let store = if Store::exists(dir) { Store::open(dir).unwrap() } else { Store::create(dir).unwrap() };
    let mut crawl = SMALL.begin();
    let done = batches_in(&store);
    for _ in 0..done {
        crawl.next_batch();
    }
    let writer = store.writer(&StoreConfig { commit_every_ms: 5, ..StoreConfig::default() }).unwrap();
    for batch in done + 1.. {
        writer.submit(crawl.next_batch()).unwrap();
        if batch % 4 == 0 {
            writer.flush().unwrap();
            println!("\nsafe {batch}");
            std::io::stdout().flush().unwrap();
        }
    }
}

#[test]
fn a_crawl_killed_over_and_over_loses_and_doubles_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut rng = fastrand::Rng::with_seed(17);
    let mut crawl = SMALL.begin();
    let mut batches = 0;
    for _ in 0..25 {
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["crawl_until_killed", "--exact", "--nocapture"])
            .env(CHILD, dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let safe_after = |line: String| line.strip_prefix("safe ").map(|batch| batch.parse::<usize>().unwrap());
        let safe = lines.filter_map(safe_after).nth(rng.usize(..6)).expect("the child crawls until it is killed");
        thread::sleep(Duration::from_micros(rng.u64(..20_000)));
        child.kill().unwrap();
        child.wait().unwrap();

        assert_clean(dir.path());
        let store = Store::open(dir.path()).unwrap();
        let now = batches_in(&store);
        assert!(now >= safe, "{now} batches are left of {safe}");
        for _ in batches..now {
            crawl.next_batch();
        }
        batches = now;
        crawl.expected.assert_in(&store, dir.path());
    }
    assert!(batches > 50, "{batches}");
}

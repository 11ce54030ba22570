//! Crawls that do not fit: into memory, or onto the disk. They fetch what a crawl with room enough fetches.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "support/power_cut.rs"]
#[expect(dead_code, reason = "power does not fail here")]
mod power_cut;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use power_cut::{Fault, Storage};
use tokio::sync::watch;
use windrow::{
    config::Config,
    engine::{Controls, Crawl, CrawlPlan, Memory, Progress, StopReason, Summary, check_snapshot},
    fetch::ReplayFetcher,
    frontier::Order,
    store::{Store, StoreConfig, VerifyOptions, verify},
    topic::Topic,
    url::Fingerprint,
};

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora")
}

fn plan(order: Order, memory: Memory, max_pages: u64) -> CrawlPlan {
    let topic = Topic::load(&corpora().join("demo.toml")).unwrap();
    let mut config = Config::default();
    // Which templates stop paying depends on the order.
    config.traps.quarantine = false;
    let mut plan = config.plan(&topic, None).unwrap();
    (plan.engine.order, plan.engine.memory, plan.limits.max_pages) = (order, memory, Some(max_pages));
    // So does which links end a tunnel; here every link is to be followed.
    plan.tunnel_depth = u8::MAX;
    plan
}

/// Crawls the demo web into a store, or goes on with it.
fn crawl(plan: CrawlPlan, store: &Store) -> Summary {
    let order = Arc::new(plan.engine.order);
    let web = Arc::new(ReplayFetcher::open(&[corpora().join("demo.warc.gz")], false).unwrap());
    let writer = Box::new(store.writer(&StoreConfig::default()).unwrap());
    let crawl = match store.state().unwrap() {
        Some(_) => Crawl::resume(plan, order, web, writer, store).unwrap(),
        None => Crawl::new(plan, order, web, writer),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (_stopper, stop) = watch::channel(false);
    let (progress, _) = watch::channel(Progress::default());
    runtime.block_on(crawl.run(Controls { stop, progress })).unwrap()
}

/// The finished pages, in their order; spellings of one address are one page, and which is met first depends on the order.
fn pages(store: &Store) -> Vec<Fingerprint> {
    store.pages(1).unwrap().map(|page| page.unwrap().fingerprint).collect()
}

fn urls(store: &Store) -> Vec<String> {
    store.pages(1).unwrap().map(|page| page.unwrap().url).collect()
}

fn assert_clean(dir: &Path) {
    let options = VerifyOptions { repair: false, check_model: &check_snapshot, progress: &mut |_, _| {} };
    let found = verify(dir, options).unwrap();
    assert!(found.is_clean(), "{:?}", found.findings);
}

const ALL: u64 = 100_000;
/// Room for 64 links and a few blocks of everything else.
const NARROW: Memory = Memory::of_bytes(1 << 16);

#[test]
fn a_crawl_with_hardly_any_memory_fetches_what_one_with_enough_does() {
    for order in [Order::BreadthFirst, Order::Topical] {
        let folder = tempfile::tempdir().unwrap();
        let (wide, narrow) = (folder.path().join("wide"), folder.path().join("narrow"));
        let store = Store::create(&wide).unwrap();
        let summary = crawl(plan(order, Memory::default(), ALL), &store);
        let ended = summary.stop;
        assert!(matches!(ended, StopReason::FrontierEmpty | StopReason::HostsWait), "{ended}");
        assert_eq!(summary.memory.links_on_disk, 0);
        let whole = pages(&store);

        // Stopped half-way, so that most of what is taken up again is on disk only.
        let store = Store::create(&narrow).unwrap();
        let summary = crawl(plan(order, NARROW, 300), &store);
        assert_eq!(summary.stop, StopReason::MaxPages);
        assert!(summary.memory.links <= 400 && summary.memory.links_on_disk > 200, "{:?}", summary.memory);
        drop(store);
        assert_clean(&narrow);
        let store = Store::open(&narrow).unwrap();
        assert_eq!(crawl(plan(order, NARROW, ALL), &store).stop, ended);
        let pages = pages(&store);
        let unique: BTreeSet<&Fingerprint> = pages.iter().collect();
        assert_eq!(unique.len(), pages.len(), "a page was recorded twice");
        let whole: BTreeSet<&Fingerprint> = whole.iter().collect();
        let other: Vec<_> = unique.symmetric_difference(&whole).collect();
        // Of two copies only the one that was met first has its links followed, and that depends on the order.
        assert!(other.len() * 20 <= whole.len(), "{order:?}: {} pages of {} differ", other.len(), whole.len());
        drop(store);
        assert_clean(&narrow);
    }
}

#[test]
fn a_crawl_that_fits_is_the_same_crawl_whatever_the_ceiling() {
    let folder = tempfile::tempdir().unwrap();
    let crawled = |name: &str, memory: &str| {
        let store = Store::create(&folder.path().join(name)).unwrap();
        crawl(plan(Order::Topical, memory.parse().unwrap(), 300), &store);
        urls(&store)
    };
    assert_eq!(crawled("small", "192MiB"), crawled("large", "4GiB"));
}

#[test]
fn a_full_disk_stops_a_crawl_with_that_reason_and_it_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let (full, whole) = (folder.path().join("full"), folder.path().join("whole"));
    fs::create_dir(&full).unwrap();
    let storage = Storage::default();
    let store = Store::with_backend(&full, storage.clone()).unwrap();
    storage.arm(Fault::Full(storage.length() + 1_500_000));
    let summary = crawl(plan(Order::BreadthFirst, Memory::default(), 400), &store);
    assert_eq!(summary.stop, StopReason::DiskFull);
    assert!(summary.trouble.unwrap().contains("free some space"));
    drop(store);
    fs::write(full.join("store.redb"), storage.image()).unwrap();
    assert_clean(&full);

    let store = Store::open(&full).unwrap();
    let before = urls(&store);
    assert!(before.len() < 400);
    assert_eq!(crawl(plan(Order::BreadthFirst, Memory::default(), 400), &store).stop, StopReason::MaxPages);
    let after = urls(&store);
    assert_eq!(after[..before.len()], before);
    let reference = Store::create(&whole).unwrap();
    crawl(plan(Order::BreadthFirst, Memory::default(), 400), &reference);
    let set = |urls: Vec<String>| urls.into_iter().collect::<BTreeSet<_>>();
    assert_eq!(set(after), set(urls(&reference)));
}

//! Crawls that do not fit: into memory, or onto the disk. They fetch what a crawl with room enough fetches.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "support/failing_disk.rs"]
#[expect(dead_code, reason = "no power is lost here")]
mod failing_disk;
#[path = "support/power_cut.rs"]
#[expect(dead_code, reason = "power does not fail here")]
mod power_cut;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use failing_disk::{DiskFault, FailingDisk};
use futures_util::future::BoxFuture;
use power_cut::{Fault, Storage};
use tokio::sync::watch;
use windrow::{
    config::Config,
    engine::{Controls, Crawl, CrawlPlan, EngineError, Memory, Progress, StopReason, Summary, check_snapshot},
    fetch::{Fetched, Fetcher, ReplayFetcher, Request, Response},
    frontier::Order,
    page::Timestamp,
    store::{Store, StoreConfig, VerifyOptions, verify},
    topic::Topic,
    url::{Fingerprint, Url},
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
    try_to_crawl(plan, store).unwrap()
}

fn try_to_crawl(plan: CrawlPlan, store: &Store) -> Result<Summary, EngineError> {
    crawl_on(plan, store, Arc::new(ReplayFetcher::open(&[corpora().join("demo.warc.gz")], false).unwrap()))
}

fn crawl_on(plan: CrawlPlan, store: &Store, web: Arc<dyn Fetcher>) -> Result<Summary, EngineError> {
    let order = Arc::new(plan.engine.order);
    let writer = Box::new(store.writer(&StoreConfig::default()).unwrap());
    let crawl = match store.state().unwrap() {
        Some(_) => Crawl::resume(plan, order, web, writer, store).unwrap(),
        None => Crawl::new(plan, order, web, writer),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (_stopper, stop) = watch::channel(false);
    let (progress, _) = watch::channel(Progress::default());
    runtime.block_on(crawl.run(Controls { stop, progress }))
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

/// A calendar of 2,000 days that say the same but for the last hundred, and news without an end.
struct Calendar;

impl Calendar {
    fn page(url: &Url) -> String {
        let number = |prefix: &str| url.path().strip_prefix(prefix).and_then(|number| number.parse::<u32>().ok());
        let links = |path: &str, from: u32, to: u32| -> String {
            let link = |n| format!("<li><a href='/{path}/{n}'>{path} {n}</a></li>");
            (from..=to).map(link).collect::<Vec<_>>().concat()
        };
        // Words with digits are nobody's own.
        let letters = |digit: char| char::from(b'a' + digit.to_digit(10).map_or(25, |digit| digit as u8));
        let news =
            |n: u32| (0..30).map(|word| format!("{n}x{word}").chars().map(letters).collect()).collect::<Vec<String>>().join(" ");
        let (text, links) = match (url.host_str(), number("/day/"), number("/item/")) {
            (Some("cal.test"), Some(day), _) if day <= 1_900 => ("no event is planned on this day".to_owned(), String::new()),
            (Some("cal.test"), Some(day), _) => (news(10_000 + day), String::new()),
            (Some("cal.test"), None, _) => ("the calendar of events".to_owned(), links("day", 1, 2_000)),
            (_, _, Some(item)) => (news(item), links("item", 3 * item - 1, 3 * item + 1)),
            _ => ("rice news".to_owned(), links("item", 1, 1)),
        };
        format!("<title>rice</title><p>About rice: {text}</p><ul>{links}</ul>")
    }
}

impl Fetcher for Calendar {
    fn fetch(&self, request: Request) -> BoxFuture<'_, Fetched> {
        let status = if request.url.path() == "/robots.txt" { 404 } else { 200 };
        let headers = vec![("content-type".to_owned(), "text/html; charset=utf-8".to_owned())];
        let body = Self::page(&request.url).into_bytes();
        let result = Ok(Response { status, headers, body, truncated: false });
        Box::pin(std::future::ready(Fetched { elapsed: Duration::from_millis(20), address: None, result }))
    }

    fn recorded_at(&self) -> Option<Timestamp> {
        Some(Timestamp(1_000_000))
    }
}

#[test]
fn links_that_a_trap_holds_leave_memory_and_come_back_when_it_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let run = |max_pages: u64| {
        let seeds = ["http://cal.test/", "http://news.test/"].map(str::to_owned).to_vec();
        let topic = Topic::from_parts("farm", ["rice"], seeds).unwrap();
        let mut plan = Config::default().plan(&topic, None).unwrap();
        (plan.engine.order, plan.engine.memory) = (Order::BreadthFirst, NARROW);
        (plan.limits.max_pages, plan.tunnel_depth) = (Some(max_pages), u8::MAX);
        let store = if Store::exists(folder.path()) { Store::open(folder.path()) } else { Store::create(folder.path()) };
        let store = store.unwrap();
        let summary = crawl_on(plan, &store, Arc::new(Calendar)).unwrap();
        assert_eq!(summary.stop, StopReason::MaxPages);
        assert_eq!(summary.state.waiting, store.waiting().unwrap().count() as u64);
        let pages = urls(&store);
        assert_eq!(pages.iter().collect::<BTreeSet<_>>().len(), pages.len(), "a page was recorded twice");
        let days = pages.iter().filter(|url| url.contains("/day/")).count();
        drop(store);
        assert_clean(folder.path());
        (summary, days)
    };
    let (closed, days) = run(70);
    assert!((30..40).contains(&days), "{days}");
    assert_eq!(closed.state.quarantined, [("cal.test/day/#".to_owned(), 2_000 - days as u64)].into());
    assert!(closed.memory.links < 200 && closed.memory.links_on_disk > 1_900, "{:?}", closed.memory);

    // A probe is due at 64 pages more: one of the last days, which are news.
    let (opened, days) = run(400);
    assert!(days > 100, "{days}");
    assert!(opened.memory.links < 300, "{:?}", opened.memory);
}

#[test]
fn a_temporary_file_that_fails_ends_the_crawl_with_the_reason_before_anything_wrong_is_committed() {
    let plan = || {
        let mut plan = plan(Order::Topical, NARROW, 150);
        // When links leave memory must not depend on how busy the machine is.
        plan.engine.commit_every_ms = 3_600_000;
        plan
    };
    let folder = tempfile::tempdir().unwrap();
    let disk = FailingDisk::of_temporary_files();
    let crawled = |name: &str, fault: DiskFault| {
        let dir = folder.path().join(name);
        fs::create_dir(&dir).unwrap();
        let storage = Storage::default();
        let store = Store::with_storage(&dir, storage.clone(), Arc::new(disk.clone())).unwrap();
        disk.arm(fault);
        let ended = try_to_crawl(plan(), &store);
        drop(store);
        fs::write(dir.join("store.redb"), storage.image()).unwrap();
        assert_clean(&dir);
        (Store::open(&dir).unwrap(), ended)
    };
    let (whole, ended) = crawled("whole", DiskFault::None);
    assert_eq!(ended.unwrap().stop, StopReason::MaxPages);
    let whole = urls(&whole);
    let (writes, reads, _, bytes) = disk.counts();
    assert!(writes > 100 && reads > 100, "{writes} writes, {reads} reads");
    for part in [0, 1, 3] {
        for fault in [
            DiskFault::Writes(writes * part / 4 + 1),
            DiskFault::ShortWrite(writes * part / 4 + 1),
            DiskFault::Reads(reads * part / 4 + 1),
            DiskFault::Full(bytes * part / 4),
        ] {
            let (store, ended) = crawled(&format!("{fault:?}"), fault);
            if let DiskFault::ShortWrite(_) | DiskFault::Full(_) = fault {
                let summary = ended.unwrap();
                assert_eq!(summary.stop, StopReason::DiskFull, "{fault:?}");
                assert!(summary.trouble.unwrap().contains("free some space"), "{fault:?}");
            } else {
                let error = ended.expect_err("a crawl that cannot go on says so").to_string();
                assert!(error.contains("temporary file") && error.contains("the disk is broken"), "{fault:?}: {error}");
            }
            let before = urls(&store);
            assert_eq!(before, whole[..before.len()], "{fault:?}");
            // There is room again, or another disk.
            assert_eq!(crawl(plan(), &store).stop, StopReason::MaxPages, "{fault:?}");
            let after = urls(&store);
            assert_eq!(after.iter().collect::<BTreeSet<_>>().len(), after.len(), "{fault:?}: a page was recorded twice");
        }
    }
}

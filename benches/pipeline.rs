//! What a whole crawl costs beside merely fetching and parsing the same pages, in one run.
//!
//! `cargo bench --bench pipeline -- [--pages N] [--workers N] [--memory SIZE] [--keywords A,B] [--seeds URL,URL] [WEB.warc.gz …]`
//!
//! A child process serves a recorded web over HTTP on loopback. Then, over the same pages: (a) fetch only; (b) fetch, decode and
//! parse with scraper, walked once: the floor; (c) the whole crawl with no delay, classifiers, ranks, store and archive on.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a bench that cannot go on has failed")]

#[path = "pipeline/resources.rs"]
mod resources;
#[path = "pipeline/server.rs"]
mod server;

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use resources::{Cost, Meter};
use tokio::sync::watch;
use windrow::{
    config::Config,
    engine::{Controls, Crawl, Focus, Memory, Progress, Shares, Stage, Summary},
    fetch::{Fetcher, HttpFetcher, Request},
    frontier::Order,
    page::Outcome,
    politeness::PaceConfig,
    store::{Store, StoreConfig},
    topic::Topic,
    url::Url,
};

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

struct Arguments {
    web: Vec<PathBuf>,
    pages: u64,
    workers: usize,
    memory: Memory,
    keywords: String,
    seeds: String,
}

fn main() {
    let mut given = std::env::args().skip(1);
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return server::serve(&given.skip(1).map(PathBuf::from).collect::<Vec<_>>());
    }
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/demo.warc.gz");
    let mut arguments = Arguments {
        web: Vec::new(),
        pages: 1_000,
        workers: 32,
        memory: Memory::default(),
        keywords: "水稻,小麦,病虫害,施肥,crop,soil,irrigation".to_owned(),
        seeds: "http://nongye.example/,http://www.wanxiang.example/".to_owned(),
    };
    while let Some(argument) = given.next() {
        match argument.as_str() {
            "--pages" => arguments.pages = given.next().and_then(|n| n.parse().ok()).expect("--pages N"),
            "--workers" => arguments.workers = given.next().and_then(|n| n.parse().ok()).expect("--workers N"),
            "--memory" => arguments.memory = given.next().and_then(|size| size.parse().ok()).expect("--memory 300MiB"),
            "--keywords" => arguments.keywords = given.next().expect("--keywords A,B"),
            "--seeds" => arguments.seeds = given.next().expect("--seeds URL,URL"),
            "--bench" => {}
            web => arguments.web.push(PathBuf::from(web)),
        }
    }
    if arguments.web.is_empty() {
        arguments.web.push(demo);
    }
    compare(&arguments);
}

/// The child that serves the web; gone with this value.
struct Served(Child);

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn compare(arguments: &Arguments) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let mut served = Served(command.arg("serve").args(&arguments.web).stdout(Stdio::piped()).spawn().unwrap());
    let address = server::address_of(&mut served.0);
    let mut config = hurried(&address, arguments.workers);
    config.crawl.memory = arguments.memory;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();

    let folder = tempfile::tempdir().unwrap();
    let (whole, summary, urls) = crawl(&runtime, &config, arguments, folder.path());
    let fetcher = Arc::new(HttpFetcher::new(&config.fetch).unwrap());
    let fetch_only = over(&runtime, &fetcher, &urls, arguments.workers, |_| {});
    let floor = over(&runtime, &fetcher, &urls, arguments.workers, |body| {
        std::hint::black_box(parse_and_walk(body));
    });

    println!("{} pages, {} workers, {} cores", urls.len(), arguments.workers, std::thread::available_parallelism().unwrap());
    println!("{:<34} {:>9} {:>13} {:>9}", "", "pages/s", "CPU µs/page", "MiB RSS");
    let row = |name: &str, cost: &Cost| {
        println!("{name:<34} {:>9.0} {:>13.0} {:>9}", cost.pages_per_second(), cost.micros_per_page(), cost.resident_mib);
    };
    row("(a) fetch only", &fetch_only);
    row("(b) fetch, decode, scraper, one walk", &floor);
    row("(c) whole crawl", &whole);
    println!(
        "c / b: {:.2} in pages/s; c costs {:.2} times the CPU of b",
        whole.pages_per_second() / floor.pages_per_second(),
        whole.micros_per_page() / floor.micros_per_page()
    );
    println!("\nengine, CPU µs per page, one thread:");
    for stage in Stage::ALL {
        println!("  {:<32} {:>7.1}", stage.name(), per_page(summary.stages.of(stage), &whole));
    }
    println!("  {:<32} {:>7.1}", "all of deciding", per_page(summary.stages.total(), &whole));
}

fn per_page(spent: Duration, cost: &Cost) -> f64 {
    spent.as_secs_f64() * 1e6 / cost.pages as f64
}

/// All hosts at one address, and no waiting for any.
fn hurried(address: &str, workers: usize) -> Config {
    let mut config = Config::default();
    config.fetch.resolve_all = Some(address.parse().unwrap());
    config.fetch.allow_private = true;
    config.crawl.workers = workers;
    config.crawl.order = Order::Topical;
    config.crawl.focus = Focus::Soft;
    config.traps.quarantine = false;
    config.politeness = PaceConfig {
        obey_robots: false,
        delay_ms: 0,
        response_factor: 0.0,
        address_delay_ms: 0,
        slow_start_requests: 0,
        per_host_connections: workers as u32,
        per_address_connections: workers as u32,
        ..PaceConfig::default()
    };
    config
}

fn crawl(runtime: &tokio::runtime::Runtime, config: &Config, arguments: &Arguments, out: &Path) -> (Cost, Summary, Vec<Url>) {
    let list = |text: &str| text.split(',').map(|item| format!("{item:?}")).collect::<Vec<_>>().join(", ");
    let toml = format!("name = \"bench\"\nkeywords = [{}]\nseeds = [{}]\n", list(&arguments.keywords), list(&arguments.seeds));
    let topic = Topic::parse(&toml, Path::new("bench.toml")).unwrap();
    let mut plan = config.plan(&topic, None).unwrap();
    plan.limits.max_pages = Some(arguments.pages);
    let fetcher: Arc<dyn Fetcher> = Arc::new(HttpFetcher::new(&config.fetch).unwrap());
    let store = Store::create(out).unwrap();
    let cache_mib = Shares::of(config.crawl.memory).store >> 20;
    let writer = Box::new(store.writer(&StoreConfig { cache_mib, ..StoreConfig::default() }).unwrap());
    let crawl = Crawl::new(plan, Arc::new(config.crawl.order), fetcher, writer);
    let (_stop, stop) = watch::channel(false);
    let (progress, watched) = watch::channel(Progress::default());
    let quarters = runtime.spawn(memory_by_quarters(watched, arguments.pages));
    let meter = Meter::start();
    let summary = runtime.block_on(crawl.run(Controls { stop, progress })).unwrap();
    let cost = meter.stop(summary.state.fetched as usize);
    println!("MiB RSS after each quarter of the crawl: {:?}", runtime.block_on(quarters).unwrap());
    let pages = store.pages(1).unwrap().map(Result::unwrap).filter(|page| page.status == 200);
    let urls = pages.filter(|page| page.outcome != Outcome::Failed).map(|page| Url::parse(&page.url).unwrap()).collect();
    (cost, summary, urls)
}

/// Memory in use when a quarter, half, three quarters and all of `pages` were fetched, in MiB.
async fn memory_by_quarters(mut watched: watch::Receiver<Progress>, pages: u64) -> Vec<u64> {
    let mut measured = Vec::new();
    while watched.changed().await.is_ok() {
        let fetched = watched.borrow().fetched;
        while measured.len() < 4 && fetched * 4 >= pages * (measured.len() as u64 + 1) {
            measured.push(resources::resident_mib());
        }
    }
    measured
}

/// Fetches all URLs, `workers` at a time, and hands each body to `each` on a blocking thread.
fn over(
    runtime: &tokio::runtime::Runtime,
    fetcher: &Arc<HttpFetcher>,
    urls: &[Url],
    workers: usize,
    each: impl Fn(&[u8]) + Copy + Send + Sync + 'static,
) -> Cost {
    let urls: Arc<[Url]> = urls.into();
    let next = Arc::new(AtomicUsize::new(0));
    let meter = Meter::start();
    runtime.block_on(async {
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..workers {
            let (fetcher, urls, next) = (Arc::clone(fetcher), Arc::clone(&urls), Arc::clone(&next));
            all.spawn(async move {
                while let Some(url) = urls.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let answer = fetcher.fetch(Request::get(url.clone())).await;
                    let body = answer.result.expect("an answer of the bench's own server").body;
                    tokio::task::spawn_blocking(move || each(&body)).await.unwrap();
                }
            });
        }
        all.join_all().await;
    });
    meter.stop(urls.len())
}

/// The least that any crawler must do with a page: decode, parse, look at every node.
fn parse_and_walk(body: &[u8]) -> (usize, usize) {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(&body[..body.len().min(4_096)], true);
    let (text, _, _) = detector.guess(None, chardetng::Utf8Detection::Allow).decode(body);
    let document = scraper::Html::parse_document(&text);
    let (mut links, mut length) = (0, 0);
    for node in document.tree.nodes() {
        match node.value() {
            scraper::Node::Element(element) => links += usize::from(element.attr("href").is_some()),
            scraper::Node::Text(text) => length += text.len(),
            _ => {}
        }
    }
    (links, length)
}

//! What a whole crawl costs beside merely fetching and parsing the same pages, in one run.
//!
//! `cargo bench --bench pipeline -- [--pages N] [--workers N] [--cores N] [--memory SIZE] [--keywords A,B] [--seeds URL,URL]
//! [--tls] [--gzip] [--hosts N | WEB.warc.gz …]`, or `-- --all ../shared/corpora` for all variants, one line each.
//!
//! A child process serves a recorded web, or a made-up one of so many hosts, over HTTP on loopback. Then, over the same pages:
//! (a) fetch only; (b) fetch, decode and parse with scraper, walked once: the floor; (b') the same, with the text cut into words and
//! the answer packed as the archive packs it: what no crawl that judges pages and keeps them can be faster than; (c) the whole crawl
//! with no delay, classifiers, ranks, store and archive on.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a bench that cannot go on has failed")]

#[path = "pipeline/alone.rs"]
mod alone;
#[path = "pipeline/arguments.rs"]
mod arguments;
#[path = "pipeline/resources.rs"]
mod resources;
#[path = "pipeline/server.rs"]
mod server;
#[path = "pipeline/variants.rs"]
mod variants;
#[path = "pipeline/wide.rs"]
mod wide;

use std::{
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use arguments::Arguments;
use resources::{Cost, Meter};
use tokio::sync::{Semaphore, watch};
use windrow::{
    config::Config,
    engine::{Controls, Crawl, Focus, Progress, Shares, Stage, Summary},
    fetch::{Fetcher, HttpFetcher, Request},
    frontier::Order,
    page::Outcome,
    politeness::PaceConfig,
    store::{Store, StoreConfig, warc},
    text::Segmenter,
    topic::Topic,
    url::Url,
};

/// The allocator of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    #[cfg(target_os = "linux")]
    {
        // As the binary does.
        let _ = rustix::thread::disable_transparent_huge_pages(true);
    }
    let mut given = std::env::args().skip(1);
    match std::env::args().nth(1).as_deref() {
        Some("serve") => server::serve(given.skip(1)),
        Some("--all") => variants::run(Path::new(&given.nth(1).expect("--all CORPORA"))),
        _ => compare(&Arguments::of(given)),
    }
}

/// The child that serves the web; gone with this value.
struct Served(Child);

impl Served {
    fn start(arguments: &Arguments, certificate: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg("serve").args(arguments.serving.flags()).arg("--hosts").arg(arguments.hosts.to_string());
        Self(command.arg(certificate).args(&arguments.web).stdout(Stdio::piped()).spawn().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A crawl as it was watched.
struct Crawled {
    cost: Cost,
    summary: Summary,
    urls: Vec<Url>,
    watched: Watched,
}

/// What was seen of a crawl while it ran.
#[derive(Default)]
struct Watched {
    /// Memory in use when a quarter, half, three quarters and all of the pages were fetched, in MiB.
    resident_mib: Vec<u64>,
    /// From its start to its first page.
    first_page: Duration,
    /// Processor time of the store's writer.
    writer: Duration,
}

fn compare(arguments: &Arguments) {
    let folder = tempfile::tempdir().unwrap();
    let certificate = folder.path().join("ca.pem");
    let mut served = Served::start(arguments, &certificate);
    let address = server::address_of(&mut served.0);
    resources::keep_to(arguments.cores);
    let mut config = hurried(&address, arguments.workers);
    config.crawl.memory = arguments.memory;
    config.fetch.ca_file = arguments.serving.tls.then_some(certificate);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();

    let Crawled { cost: whole, summary, urls, watched } = crawl(&runtime, &config, arguments, &folder.path().join("crawl"));
    let fetcher = Arc::new(HttpFetcher::new(&config.fetch).unwrap());
    let fetch_only = over(&runtime, &fetcher, &urls, arguments.workers, |_| {});
    let floor = over(&runtime, &fetcher, &urls, arguments.workers, |body| {
        std::hint::black_box(parse_and_walk(body));
    });
    let least = over(&runtime, &fetcher, &urls, arguments.workers, |body| {
        std::hint::black_box(read_and_pack(body));
    });
    let alone = alone::measure(&runtime, fetcher.as_ref(), &urls);

    println!("{} pages of {:.1} kB and {:.0} links, {} workers", urls.len(), alone.bytes / 1e3, alone.links, arguments.workers);
    println!(
        "first page after {:.0} ms; MiB RSS after each quarter: {:?}",
        watched.first_page.as_secs_f64() * 1e3,
        watched.resident_mib
    );
    println!("{:<34} {:>9} {:>13} {:>9}", "", "pages/s", "CPU µs/page", "MiB RSS");
    let row = |name: &str, cost: &Cost| {
        println!("{name:<34} {:>9.0} {:>13.0} {:>9}", cost.pages_per_second(), cost.micros_per_page(), cost.resident_mib);
    };
    row("(a) fetch only", &fetch_only);
    row("(b) fetch, decode, scraper, one walk", &floor);
    row("(b') the same, words, archive record", &least);
    row("(c) whole crawl", &whole);
    let (speed, best) = (whole.pages_per_second(), least.pages_per_second() / floor.pages_per_second());
    println!(
        "c / b: {:.2} in pages/s, of {best:.2} if deciding and storing cost nothing (b' / b); c / b': {:.2}; c costs {:.2} times the CPU of b",
        speed / floor.pages_per_second(),
        speed / least.pages_per_second(),
        whole.micros_per_page() / floor.micros_per_page()
    );
    println!("\nCPU µs per page, and the longest at once in ms:");
    for stage in Stage::ALL {
        let longest = summary.stages.longest(stage).as_secs_f64() * 1e3;
        println!("  {:<32} {:>7.1} {longest:>7.2}", stage.name(), per_page(summary.stages.of(stage), &whole));
    }
    println!("  {:<32} {:>7.1}", "all of deciding", per_page(summary.stages.total(), &whole));
    println!("  {:<32} {:>7.1}", "store's writer, archive included", per_page(watched.writer, &whole));
    println!("measured alone, on the same pages:");
    for (name, micros) in alone.parts {
        println!("  {name:<32} {micros:>7.1}");
    }
    variants::tell([&floor, &least, &whole], &summary, &watched);
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

fn crawl(runtime: &tokio::runtime::Runtime, config: &Config, arguments: &Arguments, out: &Path) -> Crawled {
    let (meter, started) = (Meter::start(), Instant::now());
    let list = |text: &str| text.split(',').map(|item| format!("{item:?}")).collect::<Vec<_>>().join(", ");
    let toml = format!("name = \"bench\"\nkeywords = [{}]\nseeds = [{}]\n", list(&arguments.keywords), list(&arguments.seeds));
    // At the same time, as the binary does.
    let web = std::thread::spawn({
        let config = config.fetch.clone();
        move || HttpFetcher::new(&config).unwrap()
    });
    let topic = Topic::parse(&toml, Path::new("bench.toml")).unwrap();
    let mut plan = config.plan(&topic, None).unwrap();
    plan.limits.max_pages = Some(arguments.pages);
    let fetcher: Arc<dyn Fetcher> = Arc::new(web.join().unwrap());
    let store = Store::create(out).unwrap();
    let cache_mib = Shares::of(config.crawl.memory).store >> 20;
    let writer = Box::new(store.writer(&StoreConfig { cache_mib, ..StoreConfig::default() }).unwrap());
    let crawl = Crawl::new(plan, Arc::new(config.crawl.order), fetcher, writer);
    let (_stop, stop) = watch::channel(false);
    let (progress, watched) = watch::channel(Progress::default());
    let watching = runtime.spawn(watch(watched, arguments.pages, started));
    let summary = runtime.block_on(crawl.run(Controls { stop, progress })).unwrap();
    let cost = meter.stop(summary.state.fetched as usize);
    let watched = runtime.block_on(watching).unwrap();
    let pages = store.pages(1).unwrap().map(Result::unwrap).filter(|page| page.status == 200);
    let urls = pages.filter(|page| page.outcome != Outcome::Failed).map(|page| Url::parse(&page.url).unwrap()).collect();
    Crawled { cost, summary, urls, watched }
}

async fn watch(mut progress: watch::Receiver<Progress>, pages: u64, started: Instant) -> Watched {
    let mut watched = Watched::default();
    while progress.changed().await.is_ok() {
        let fetched = progress.borrow().fetched;
        if fetched > 0 && watched.first_page == Duration::ZERO {
            watched.first_page = started.elapsed();
        }
        while watched.resident_mib.len() < 4 && fetched * 4 >= pages * (watched.resident_mib.len() as u64 + 1) {
            watched.resident_mib.push(resources::resident_mib());
            watched.writer = resources::thread_time("store-writer").unwrap_or(watched.writer);
        }
    }
    watched
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
    // As in the crawl: more at a time than there are processors would only take each other's caches.
    let readers = Arc::new(Semaphore::new(std::thread::available_parallelism().map_or(2, usize::from)));
    let meter = Meter::start();
    runtime.block_on(async {
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..workers {
            let (fetcher, urls, next, readers) =
                (Arc::clone(fetcher), Arc::clone(&urls), Arc::clone(&next), Arc::clone(&readers));
            all.spawn(async move {
                while let Some(url) = urls.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let answer = fetcher.fetch(Request::get(url.clone())).await;
                    let body = answer.result.expect("an answer of the bench's own server").body;
                    let turn = Arc::clone(&readers).acquire_owned().await;
                    let reading = tokio::task::spawn_blocking(move || {
                        each(&body);
                        drop(turn);
                    });
                    reading.await.unwrap();
                }
            });
        }
        all.join_all().await;
    });
    meter.stop(urls.len())
}

/// The least that any crawler must do with a page: decode, parse, look at every node.
fn parse_and_walk(body: &[u8]) -> (usize, usize) {
    let (mut links, mut length) = (0, 0);
    walk(body, |node| match node {
        scraper::Node::Element(element) => links += usize::from(element.attr("href").is_some()),
        scraper::Node::Text(text) => length += text.len(),
        _ => {}
    });
    (links, length)
}

/// The least that any crawler must do with a page whose words it judges and whose answer it keeps, packed.
fn read_and_pack(body: &[u8]) -> (usize, usize) {
    let mut text = String::new();
    walk(body, |node| {
        if let scraper::Node::Text(part) = node {
            text.push_str(part);
        }
    });
    let mut words = 0;
    Segmenter::shared().for_each_word(&text, |_| words += 1);
    (words, warc::member(body).unwrap().len())
}

fn walk(body: &[u8], mut each: impl FnMut(&scraper::Node)) {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(&body[..body.len().min(4_096)], true);
    let (text, _, _) = detector.guess(None, chardetng::Utf8Detection::Allow).decode(body);
    let document = scraper::Html::parse_document(&text);
    document.tree.nodes().for_each(|node| each(node.value()));
}

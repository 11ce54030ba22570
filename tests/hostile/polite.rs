//! The pace, as the servers see it: over real sockets by their own log, and in virtual time by the crawl's records.

use std::{collections::BTreeMap, net::IpAddr, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use tokio::sync::watch;
use windrow::{
    config::Config,
    engine::{Controls, Crawl, Progress, QueueAssignment, StopReason, Summary},
    fetch::{Fetched, Fetcher, Request, Response},
    page::{Outcome, Timestamp},
    store::{PageRecord, Store},
    topic::Topic,
};

use crate::{
    crawls::{crawl, hurried},
    server::{Connection, serve},
};

#[tokio::test]
async fn the_server_s_own_log_shows_no_host_and_no_address_asked_too_early() {
    let server = serve(|mut connection: Connection| async move {
        let body = format!("<p>rice on {} {}: <a href='/a'>rice</a> <a href='/b'>rice</a>", connection.host(), connection.path());
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        connection.send(answer).await;
        let _ = tokio::io::AsyncWriteExt::shutdown(&mut connection.stream).await;
    })
    .await;
    let mut config = hurried(&server);
    (config.politeness.delay_ms, config.politeness.address_delay_ms) = (150, 25);
    let seeds = ["http://a.test/", "http://b.test/", "http://c.test/", "http://d.test/"];
    let crawled = crawl(&seeds, &config, 100).await;
    assert_eq!(crawled.pages.len(), 12);
    let log = server.log.lock().unwrap();
    assert_eq!(log.len(), 16, "a robots.txt and three pages of each host");
    let mut last: BTreeMap<&str, std::time::Instant> = BTreeMap::new();
    for (at, host) in log.iter() {
        if let Some(before) = last.insert(host, *at) {
            // Clocks of milliseconds may be one off; connections take time that the crawler does not see.
            assert!(at.duration_since(before) >= Duration::from_millis(140), "{host}: {:?}", at.duration_since(before));
        }
    }
    let (first, end) = (log[0].0, log[log.len() - 1].0);
    assert!(end.duration_since(first) >= Duration::from_millis(15 * 25 - 20), "all hosts share one address");
}

/// A web in virtual time: fifty hosts of twenty pages, each slow in its own way.
struct Fifty;

impl Fifty {
    const HOSTS: u64 = 50;
    const PAGES: u64 = 20;

    fn answer(request: &Request) -> Response {
        let host: u64 =
            request.url.host_str().unwrap_or_default().trim_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(0);
        let page: u64 = request.url.path().trim_start_matches('/').parse().unwrap_or(0);
        let body = match request.url.path() {
            "/robots.txt" if host.is_multiple_of(7) => format!("User-agent: *\nCrawl-delay: {}", host % 4 + 2),
            "/robots.txt" => String::new(),
            _ => (0..Self::PAGES).fold(format!("words{host}x{page}"), |body, n| body + &format!(" <a href='/{n}'>rice {n}</a>")),
        };
        // Now and then a host is overloaded.
        let is_overloaded = page > 0 && (host * 31 + page * 17).is_multiple_of(41);
        let status = if is_overloaded { 503 } else { 200 };
        Response { status, headers: vec![("content-type".into(), "text/html".into())], body: body.into(), truncated: false }
    }
}

impl Fetcher for Fifty {
    fn fetch(&self, request: Request) -> BoxFuture<'_, Fetched> {
        let elapsed = Duration::from_millis(20 + (request.url.as_str().len() as u64 * 7_919) % 900);
        let result = Ok(Self::answer(&request));
        Box::pin(std::future::ready(Fetched { elapsed, address: Some(IpAddr::from([192, 0, 2, 1])), result }))
    }

    fn recorded_at(&self) -> Option<Timestamp> {
        Some(Timestamp(1_000_000))
    }
}

async fn crawl_virtually(
    fetcher: impl Fetcher,
    seeds: Vec<String>,
    config: &Config,
) -> (Vec<PageRecord>, Summary, Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let topic = Topic::from_parts("polite", ["rice"], seeds).unwrap();
    let store = Store::create(folder.path()).unwrap();
    let writer = Box::new(store.writer(&config.store).unwrap());
    let crawl = Crawl::new(config.plan(&topic, None).unwrap(), Arc::new(config.crawl.order), Arc::new(fetcher), writer);
    let (_stopper, stop) = watch::channel(false);
    let (progress, _) = watch::channel(Progress::default());
    let summary = crawl.run(Controls { stop, progress }).await.unwrap();
    let pages = store.pages(1).unwrap().map(Result::unwrap).collect();
    (pages, summary, store, folder)
}

#[tokio::test]
async fn a_thousand_pages_of_fifty_hosts_are_never_asked_for_too_early() {
    let seeds = (0..Fifty::HOSTS).map(|host| format!("http://h{host}.test/0")).collect();
    let mut config = Config::default();
    config.traps.quarantine = false;
    config.crawl.max_idle_minutes = 60;
    let (pages, _, store, _folder) = crawl_virtually(Fifty, seeds, &config).await;
    assert_eq!(pages.len() as u64, Fifty::HOSTS * Fifty::PAGES);
    for host in 0..Fifty::HOSTS {
        let name = format!("h{host}.test");
        let asked = if host.is_multiple_of(7) { (host % 4 + 2) * 1_000 } else { 0 };
        let least = asked.max(config.politeness.delay_ms);
        let mut ends: Vec<(u64, u64)> = pages
            .iter()
            .filter(|page| page.host == name)
            .map(|page| (page.fetched_at.0 - u64::from(page.elapsed_ms), page.fetched_at.0))
            .collect();
        ends.sort_unstable();
        for pair in ends.windows(2) {
            assert!(pair[1].0 >= pair[0].1 + least, "{name}: {pair:?}, {least} ms asked for");
        }
        let record = store.host(&name).unwrap().unwrap();
        assert!(record.shortest_pause_ms.unwrap() >= least, "{record:?}");
    }
}

/// A host whose robots.txt cannot be had for the first so many times.
struct Recovering {
    failures: u64,
    asked: std::sync::atomic::AtomicU64,
}

impl Fetcher for Recovering {
    fn fetch(&self, request: Request) -> BoxFuture<'_, Fetched> {
        let is_robots = request.url.path() == "/robots.txt";
        let is_down = is_robots && self.asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) < self.failures;
        let status = if is_down { 500 } else { 200 };
        let body = if is_robots { "User-agent: *\nDisallow: /no" } else { "<p>rice <a href='/no'>rice</a>" };
        let headers = vec![("content-type".into(), "text/html".into())];
        let result = Ok(Response { status, headers, body: body.into(), truncated: false });
        Box::pin(std::future::ready(Fetched { elapsed: Duration::from_millis(50), address: None, result }))
    }

    fn recorded_at(&self) -> Option<Timestamp> {
        Some(Timestamp(1_000_000))
    }
}

#[tokio::test]
async fn a_host_whose_robots_txt_comes_back_is_crawled_and_until_then_it_waits() {
    let mut config = Config::default();
    let web = |failures| Recovering { failures, asked: 0.into() };
    config.crawl.max_idle_minutes = 60;
    let (pages, summary, ..) = crawl_virtually(web(3), vec!["http://h.test/".to_owned()], &config).await;
    assert_eq!(summary.stop, StopReason::FrontierEmpty);
    assert_eq!(pages.iter().map(|page| page.outcome).collect::<Vec<_>>(), [Outcome::Fetched, Outcome::Excluded]);
    // Asked for again after 10, 20 and 40 minutes.
    let waited = (pages[0].fetched_at.0 - 1_000_000) / 60_000;
    assert!((70..75).contains(&waited), "{waited} minutes");
    let (pages, summary, store, _folder) = crawl_virtually(web(u64::MAX), vec!["http://h.test/".to_owned()], &config).await;
    assert_eq!((pages.len(), summary.stop), (0, StopReason::SeedsFailed));
    assert_eq!(store.waiting().unwrap().count(), 1, "its links are not lost");
    config.crawl.max_idle_minutes = 60 * 48;
    let (pages, ..) = crawl_virtually(web(u64::MAX), vec!["http://h.test/".to_owned()], &config).await;
    let days = (pages[0].fetched_at.0 - 1_000_000) / 86_400_000;
    assert_eq!((pages[0].outcome, days), (Outcome::Fetched, 30), "after thirty days it counts as missing");
}

/// One slow host.
struct Slow;

impl Fetcher for Slow {
    fn fetch(&self, request: Request) -> BoxFuture<'_, Fetched> {
        let links = (0..20).fold(String::new(), |body, n| body + &format!("<a href='/{n}'>rice {n}</a> "));
        let body = format!("{links} {}", request.url.path());
        let headers = vec![("content-type".into(), "text/html".into())];
        let result = Ok(Response { status: 200, headers, body: body.into(), truncated: false });
        Box::pin(std::future::ready(Fetched { elapsed: Duration::from_secs(5), address: None, result }))
    }

    fn recorded_at(&self) -> Option<Timestamp> {
        Some(Timestamp(1_000_000))
    }
}

#[tokio::test]
async fn hashed_queues_let_requests_overlap_and_keep_the_pace_of_the_host() {
    let mut config = Config::default();
    (config.politeness.response_factor, config.politeness.slow_start_requests) = (0.0, 0);
    let at_once = |pages: &[PageRecord]| {
        let mut times: Vec<(u64, u64)> =
            pages.iter().map(|page| (page.fetched_at.0 - u64::from(page.elapsed_ms), page.fetched_at.0)).collect();
        times.sort_unstable();
        assert!(times.windows(2).all(|pair| pair[1].0 >= pair[0].0 + 1_000), "{times:?}");
        times.iter().map(|(start, _)| times.iter().filter(|(s, end)| s <= start && start < end).count()).max()
    };
    let seeds = || vec!["http://slow.test/".to_owned()];
    let (pages, ..) = crawl_virtually(Slow, seeds(), &config).await;
    assert_eq!((pages.len(), at_once(&pages)), (21, Some(1)));
    config.crawl.queues = QueueAssignment::Hash(3);
    let (pages, ..) = crawl_virtually(Slow, seeds(), &config).await;
    assert_eq!(pages.len(), 21);
    assert!((2..=3).contains(&at_once(&pages).unwrap_or(0)), "{:?} at once", at_once(&pages));
}

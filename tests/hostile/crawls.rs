//! Whole crawls of hosts that trap crawlers, break their robots.txt or send them in circles, with a good host beside
//! them: each ends by itself, within bounds, and the good host loses nothing.

use std::{fmt::Write, sync::Arc};

use tokio::sync::watch;
use windrow::{
    config::Config,
    engine::{Controls, Crawl, Progress, StopReason},
    fetch::HttpFetcher,
    page::Outcome,
    store::{CrawlState, HostRecord, PageRecord, Store},
    topic::Topic,
};

use crate::server::{Connection, Server, serve};

/// Pages of the good host.
const GOOD: usize = 30;

/// What a crawl left behind.
pub struct Crawled {
    pub pages: Vec<PageRecord>,
    pub hosts: Vec<HostRecord>,
    pub state: CrawlState,
    pub stop: StopReason,
    pub waiting: Vec<String>,
}

impl Crawled {
    fn of_host<'a>(&'a self, host: &'a str) -> impl Iterator<Item = &'a PageRecord> {
        self.pages.iter().filter(move |page| page.host == host)
    }

    fn count(&self, host: &str, outcome: Outcome) -> usize {
        self.of_host(host).filter(|page| page.outcome == outcome).count()
    }

    fn assert_good_host_unharmed(&self) {
        assert_eq!(self.count("good.test", Outcome::Fetched), GOOD);
        assert_eq!(self.of_host("good.test").count(), GOOD);
    }
}

/// A configuration without patience, for servers of our own.
pub fn hurried(server: &Server) -> Config {
    let mut config = Config::default();
    config.fetch.resolve_all = Some(server.address);
    config.fetch.header_timeout_ms = 2_000;
    let pace = &mut config.politeness;
    (pace.delay_ms, pace.response_factor, pace.address_delay_ms, pace.slow_start_requests) = (0, 0.0, 0, 0);
    (pace.per_address_connections, pace.backoff_ms, pace.max_backoff_ms) = (64, 1, 2);
    config.crawl.max_tries = 1;
    config.crawl.max_idle_minutes = 1;
    config
}

/// Crawls from seeds until nothing is left or `max_pages` are fetched.
pub async fn crawl(seeds: &[&str], config: &Config, max_pages: u64) -> Crawled {
    let folder = tempfile::tempdir().unwrap();
    let topic = Topic::from_parts("hostile", ["rice", "水稻"], seeds.iter().copied()).unwrap();
    let mut plan = config.plan(&topic, None).unwrap();
    plan.limits.max_pages = Some(max_pages);
    let store = Store::create(folder.path()).unwrap();
    let writer = Box::new(store.writer(&config.store).unwrap());
    let fetcher = Arc::new(HttpFetcher::new(&config.fetch).unwrap());
    let crawl = Crawl::new(plan, Arc::new(config.crawl.order), fetcher, writer);
    let (_stopper, stop) = watch::channel(false);
    let (progress, _) = watch::channel(Progress::default());
    let summary = crawl.run(Controls { stop, progress }).await.unwrap();
    Crawled {
        pages: store.pages(1).unwrap().map(Result::unwrap).collect(),
        hosts: store.hosts().unwrap().map(Result::unwrap).collect(),
        state: summary.state,
        stop: summary.stop,
        waiting: store.waiting().unwrap().map(|row| row.unwrap().1.url).collect(),
    }
}

fn html(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

const NOT_FOUND: &str = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";

/// Different words for each number, so that no page looks like another.
fn prose(seed: u64) -> String {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut text = String::from("rice 水稻 ");
    for _ in 0..120 {
        let word: String = (0..6).map(|_| char::from(random.u8(b'a'..=b'z'))).collect();
        write!(text, "{word} ").unwrap();
    }
    text
}

/// Page `n` of a good host: prose about rice, and a link to the next.
fn good(path: &str) -> String {
    let n: usize = path.trim_start_matches('/').parse().unwrap_or(0);
    match path {
        "/robots.txt" => NOT_FOUND.to_owned(),
        _ if n >= GOOD => NOT_FOUND.to_owned(),
        _ if n + 1 == GOOD => html(&format!("<p>{}", prose(n as u64))),
        _ => html(&format!("<p>{} <a href='/{}'>more rice</a>", prose(n as u64), n + 1)),
    }
}

/// Serves a good host and `hostile`, which gets the path and answers in bytes.
async fn serve_with(hostile: impl Fn(&str) -> String + Send + Sync + 'static) -> Server {
    let hostile = Arc::new(hostile);
    serve(move |mut connection: Connection| {
        let hostile = Arc::clone(&hostile);
        async move {
            let path = connection.path().to_owned();
            let answer = if connection.host() == "good.test" { good(&path) } else { hostile(&path) };
            connection.send(answer).await;
            let _ = tokio::io::AsyncWriteExt::shutdown(&mut connection.stream).await;
        }
    })
    .await
}

const SEEDS: [&str; 2] = ["http://good.test/0", "http://trap.test/"];

/// Crawls a trap beside the good host; the trap must not get more than `most` requests.
async fn crawl_trap(trap: impl Fn(&str) -> String + Send + Sync + 'static, most: u64) -> Crawled {
    let server = serve_with(trap).await;
    let crawled = crawl(&SEEDS, &hurried(&server), 2_000).await;
    crawled.assert_good_host_unharmed();
    let requests = crawled.hosts.iter().find(|host| host.name == "trap.test").unwrap().requests;
    assert!(requests <= most, "{requests} requests to the trap");
    crawled
}

fn number_in(path: &str) -> u64 {
    path.chars().filter(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0)
}

#[tokio::test]
async fn an_endless_calendar_is_quarantined_and_its_links_still_wait() {
    const MONTHS: [&str; 6] = ["January", "February", "March", "April", "May", "June"];
    let calendar = |path: &str| {
        let day = number_in(path);
        let month = MONTHS[day as usize / 30 % 6];
        html(&format!(
            "<h1>Rice events</h1><p>{} {month} {}: no events. Rice 水稻 calendar of the rice society.\
             <a href='/calendar/{}'>rice, previous day</a> <a href='/calendar/{}'>rice, next day</a>",
            day % 30,
            2_000 + day / 360,
            day + 1_000,
            day + 1
        ))
    };
    let crawled = crawl_trap(calendar, 120).await;
    assert_eq!(crawled.stop, StopReason::FrontierEmpty);
    assert!(crawled.state.quarantined.contains_key("trap.test/calendar/#"), "{:?}", crawled.state.quarantined);
    assert!(crawled.waiting.iter().any(|url| url.starts_with("http://trap.test/calendar/")));
    assert_eq!(crawled.state.waiting, crawled.waiting.len() as u64);
}

#[tokio::test]
async fn session_ids_do_not_make_new_pages() {
    let session = |path: &str| {
        let visit = number_in(path);
        let mut links = String::new();
        for n in 0..8 {
            write!(links, "<a href='/shop{n}?visit={}'>rice {n}</a> ", visit * 8 + n + 1).unwrap();
        }
        let page = path.chars().nth(5).and_then(|digit| digit.to_digit(10)).unwrap_or(9);
        html(&format!("<p>{}</p>{links}", prose(1_000 + u64::from(page))))
    };
    let crawled = crawl_trap(session, 400).await;
    assert!(crawled.count("trap.test", Outcome::Fetched) <= 12, "one of each page");
    assert!(crawled.count("trap.test", Outcome::Duplicate) > 0);
}

#[tokio::test]
async fn a_folder_that_contains_itself_is_left_after_a_few_rounds() {
    let folder = |path: &str| {
        let seed = path.len() as u64;
        html(&format!("<p>{}</p><a href='rice/field/'>rice fields</a>", prose(2_000 + seed)))
    };
    let crawled = crawl_trap(folder, 20).await;
    assert_eq!(crawled.state.refused.get("scope.max_repeats"), Some(&1), "{:?}", crawled.state.refused);
}

#[tokio::test]
async fn a_site_that_says_not_found_with_status_200_is_given_up() {
    let soft_404 = |path: &str| {
        let n = number_in(path);
        html(&format!(
            "<h1>Not found</h1><p>Sorry, there is no page {path} here. Perhaps you were looking for rice 水稻? Try one of these: \
             <a href='/rice-{}.html'>rice</a> <a href='/rice-{}.html'>more rice</a>",
            2 * n + 1,
            2 * n + 2
        ))
    };
    crawl_trap(soft_404, 120).await;
}

#[tokio::test]
async fn permuted_queries_are_one_page() {
    let facets = |path: &str| {
        let mut random = fastrand::Rng::with_seed(path.len() as u64 * 31 + number_in(path));
        let mut links = String::new();
        for _ in 0..10 {
            let mut parameters = ["colour=red", "size=big", "sort=price", "view=list"];
            random.shuffle(&mut parameters);
            write!(links, "<a href='/rice?{}'>rice</a> ", parameters.join("&")).unwrap();
        }
        html(&format!("<p>{}</p>{links}", prose(3_000)))
    };
    crawl_trap(facets, 4).await;
}

#[tokio::test]
async fn redirects_in_circles_and_to_ever_new_addresses_end() {
    let circle = |path: &str| {
        let to = match path {
            "/robots.txt" => return NOT_FOUND.to_owned(),
            "/" => return html("<p>rice <a href='/circle/1'>rice</a> <a href='/ever/1'>rice</a> <a href='/self'>rice</a>"),
            "/circle/1" => "/circle/2".to_owned(),
            "/circle/2" => "/circle/1".to_owned(),
            "/self" => "/self".to_owned(),
            other => format!("/ever/{}", number_in(other) + 1),
        };
        format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n")
    };
    let crawled = crawl_trap(circle, 100).await;
    assert!(crawled.state.quarantined.contains_key("trap.test/ever/#"), "{:?}", crawled.state.quarantined);
    assert!(crawled.pages.iter().any(|page| page.url == "http://trap.test/circle/2"));
}

#[tokio::test]
async fn a_storm_of_429_costs_no_page_of_another_host() {
    let storm = |path: &str| match path {
        "/robots.txt" => NOT_FOUND.to_owned(),
        _ => "HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n".to_owned(),
    };
    let crawled = crawl_trap(storm, 5).await;
    assert_eq!(crawled.hosts.iter().find(|host| host.name == "trap.test").unwrap().throttled, 1);
    assert_eq!(crawled.count("trap.test", Outcome::Failed), 1);
}

#[tokio::test]
async fn a_host_that_asks_for_a_day_of_patience_does_not_hold_up_the_crawl() {
    let patient = |path: &str| match path {
        "/robots.txt" => NOT_FOUND.to_owned(),
        "/" => html("<p>rice <a href='/a'>rice a</a> <a href='/b'>rice b</a>"),
        _ => "HTTP/1.1 503 Later\r\nRetry-After: 86400\r\nContent-Length: 0\r\n\r\n".to_owned(),
    };
    let server = serve_with(patient).await;
    let mut config = hurried(&server);
    config.politeness.max_backoff_ms = 86_400_000;
    config.crawl.max_tries = 3;
    let crawled = crawl(&SEEDS, &config, 2_000).await;
    crawled.assert_good_host_unharmed();
    assert_eq!(crawled.stop, StopReason::HostsWait);
    assert_eq!(crawled.waiting.len(), 2, "{:?}", crawled.waiting);
}

#[tokio::test]
async fn a_robots_txt_that_fails_or_breaks_off_forbids_everything_and_loses_nothing() {
    let down = ("HTTP/1.1 503 Down\r\nContent-Length: 0\r\n\r\n", 503);
    let broken = ("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\nUser-agent: *\nAllow: /", 0);
    for (answer, status) in [down, broken] {
        let failing = move |path: &str| match path {
            "/robots.txt" => answer.to_owned(),
            _ => html("<p>rice"),
        };
        let crawled = crawl_trap(failing, 1).await;
        assert_eq!(crawled.stop, StopReason::HostsWait);
        assert_eq!(crawled.waiting, ["http://trap.test/"]);
        let robots = crawled.hosts.iter().find(|host| host.name == "trap.test").unwrap().robots.clone().unwrap();
        assert_eq!((robots.status, robots.failures, robots.unreachable_since.is_some()), (status, 1, true));
    }
}

#[tokio::test]
async fn a_robots_txt_that_sends_in_circles_is_no_robots_txt() {
    let circle = |path: &str| match path {
        "/robots.txt" | "/there" => "HTTP/1.1 301 Moved\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n".to_owned(),
        _ => html("<p>rice, all of it rice"),
    };
    let crawled = crawl_trap(circle, 7).await;
    assert_eq!(crawled.count("trap.test", Outcome::Fetched), 1);
}

#[tokio::test]
async fn an_enormous_robots_txt_is_read_to_its_limit_and_obeyed() {
    let server = serve(|mut connection: Connection| async move {
        let path = connection.path().to_owned();
        match (connection.host(), path.as_str()) {
            ("good.test", path) => drop(connection.send(good(path)).await),
            (_, "/robots.txt") => {
                connection.send("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nDisallow: /private\n").await;
                connection.repeat(&b"# nothing to see here\n".repeat(1_000)).await;
            }
            _ => drop(connection.send(html("<p>rice <a href='/private'>rice</a> <a href='/open'>rice</a>")).await),
        }
        let _ = tokio::io::AsyncWriteExt::shutdown(&mut connection.stream).await;
    })
    .await;
    let crawled = crawl(&SEEDS, &hurried(&server), 2_000).await;
    crawled.assert_good_host_unharmed();
    let private = crawled.pages.iter().find(|page| page.url == "http://trap.test/private").unwrap();
    assert_eq!((private.outcome, private.reason.as_deref()), (Outcome::Excluded, Some("robots.txt: Disallow: /private")));
    assert!(crawled.hosts.iter().all(|host| host.robots.as_ref().is_none_or(|robots| robots.text.len() <= 500 * 1_024)));
}

#[tokio::test]
async fn monstrous_documents_are_read_as_far_as_they_can_be() {
    let documents = |path: &str| match path {
        "/" => html(
            "<p>rice <a href=/deep>rice</a> <a href=/links>rice</a> <a href=/nul>rice</a> <a href=/bytes>rice</a> \
             <a href=/liar>rice</a> <a href=/url>rice</a>",
        ),
        "/deep" => html(&format!("{}rice", "<div>".repeat(100_000))),
        "/links" => {
            let links: String = (0..50_000).fold(String::new(), |mut links, n| {
                write!(links, "<a href='/x{n}'>n</a>").unwrap();
                links
            });
            html(&format!("<p>rice {links}"))
        }
        "/nul" => html(&format!("<p>{} {} rice", prose(7_000), "\0".repeat(10))),
        "/liar" => {
            let body = "<meta charset=gb2312><p>水稻病虫害的防治方法，水稻病虫害的防治方法";
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=big5\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        }
        "/url" => html(&format!("<p>rice <a href='/{}'>rice</a>", "long".repeat(50_000))),
        _ => NOT_FOUND.to_owned(),
    };
    let server = serve_with(documents).await;
    let crawled = crawl(&SEEDS, &hurried(&server), 150).await;
    let page = |path: &str| crawled.pages.iter().find(|page| page.url == format!("http://trap.test{path}")).unwrap();
    for path in ["/deep", "/links", "/nul", "/liar", "/url"] {
        assert_eq!(page(path).outcome, Outcome::Fetched, "{path}");
    }
    assert_eq!(page("/liar").charset, "utf-8");
    assert!(!crawled.waiting.iter().any(|url| url.len() > 2_048));
    assert!(crawled.state.discovered < 2_100, "50,000 links gave {} URLs", crawled.state.discovered);
}

#[tokio::test]
async fn sitemaps_and_feeds_lead_to_pages_that_no_page_links_to() {
    let site = |path: &str| match path {
        "/robots.txt" => {
            let body = "Sitemap: http://trap.test/index.xml\nSitemap: http://elsewhere.test/sitemap.xml\n";
            format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        }
        "/index.xml" => html("<sitemapindex><sitemap><loc>/map.xml</loc></sitemap></sitemapindex>"),
        "/map.xml" => html("<urlset><url><loc>http://trap.test/rice/hidden</loc></url></urlset>"),
        "/" => html("<p>rice 水稻 and more rice <a href='/feed'>news of rice</a>"),
        "/feed" => {
            let body = "<rss><channel><item><title>rice news</title><link>http://trap.test/news</link></item></channel></rss>";
            format!("HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        }
        path => html(&format!("<p>{} {}", prose(4_000 + path.len() as u64), path)),
    };
    let crawled = crawl_trap(site, 10).await;
    let outcome = |path: &str| crawled.pages.iter().find(|page| page.url.ends_with(path)).map(|page| page.outcome);
    for (path, expected) in [
        ("/index.xml", Outcome::LinksOnly),
        ("/map.xml", Outcome::LinksOnly),
        ("/feed", Outcome::LinksOnly),
        ("/rice/hidden", Outcome::Fetched),
        ("/news", Outcome::Fetched),
    ] {
        assert_eq!(outcome(path), Some(expected), "{path}");
    }
    assert!(crawled.hosts.iter().all(|host| host.name != "elsewhere.test"), "a sitemap of another site is not asked for");
    let news = crawled.pages.iter().find(|page| page.url.ends_with("/news")).unwrap();
    assert_eq!(news.anchor, "rice news");
}

#[tokio::test]
async fn pages_that_ask_not_to_be_indexed_or_followed_are_obeyed() {
    let site = |path: &str| {
        let head = |tag: &str, body: &str| {
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{tag}Content-Length: {}\r\n\r\n{body}", body.len())
        };
        let prose = prose(5_000 + path.bytes().map(u64::from).sum::<u64>());
        match path {
            "/robots.txt" => NOT_FOUND.to_owned(),
            "/" => {
                head("", &format!("<p>{prose} <a href=/quiet>rice</a> <a href=/header>rice</a> <a rel=nofollow href=/ad>ad</a>"))
            }
            "/quiet" => head("", &format!("<meta name=robots content=noindex><p>{prose} <a href=/beyond>rice</a>")),
            "/header" => head("X-Robots-Tag: nofollow\r\n", &format!("<p>{prose} <a href=/unfollowed>rice</a>")),
            "/beyond" => head("", &format!("<p>{prose}<link rel=canonical href=/best>")),
            _ => head("", &format!("<p>{prose}")),
        }
    };
    let crawled = crawl_trap(site, 10).await;
    let outcome = |path: &str| crawled.pages.iter().find(|page| page.url.ends_with(path)).map(|page| page.outcome);
    assert_eq!(outcome("/quiet"), Some(Outcome::LinksOnly));
    assert_eq!(
        (outcome("/header"), outcome("/beyond"), outcome("/best")),
        (Some(Outcome::Fetched), Some(Outcome::Fetched), Some(Outcome::Fetched))
    );
    assert_eq!((outcome("/ad"), outcome("/unfollowed")), (None, None));
    let quiet = crawled.pages.iter().find(|page| page.url.ends_with("/quiet")).unwrap();
    assert!(!quiet.relevant && quiet.archive.is_none());
}

#[tokio::test]
async fn limits_per_host_end_a_host_and_nothing_else() {
    let endless = |path: &str| {
        let n = number_in(path);
        html(&format!("<p>{} <a href='/{}'>rice</a>", prose(6_000 + n), n + 1))
    };
    let server = serve_with(endless).await;
    let config = hurried(&server);
    let folder = tempfile::tempdir().unwrap();
    let topic = Topic::from_parts("hostile", ["rice"], SEEDS).unwrap();
    let mut plan = config.plan(&topic, None).unwrap();
    plan.limits.max_bytes_per_host = Some(40_000);
    let store = Store::create(folder.path()).unwrap();
    let writer = Box::new(store.writer(&config.store).unwrap());
    let fetcher = Arc::new(HttpFetcher::new(&config.fetch).unwrap());
    let (_stopper, stop) = watch::channel(false);
    let (progress, _) = watch::channel(Progress::default());
    let crawl = Crawl::new(plan, Arc::new(config.crawl.order), fetcher, writer);
    crawl.run(Controls { stop, progress }).await.unwrap();
    let host = store.host("trap.test").unwrap().unwrap();
    assert!((40_000..45_000).contains(&host.bytes), "{} bytes", host.bytes);
    assert_eq!(store.host("good.test").unwrap().unwrap().fetched, GOOD as u64);
}

//! A crawl over real sockets fetches the same pages as a replay of the same web.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    thread,
};

use futures_util::FutureExt;
use windrow::{
    fetch::{Fetcher, ReplayFetcher, Request, Response},
    url::Url,
};

fn demo_web() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/demo.warc.gz")
}

/// What a server says to a URL.
type Site = dyn Fn(Url) -> Option<Response> + Send + Sync;

/// Serves every host name at one loopback address.
fn serve(site: Arc<Site>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let site = Arc::clone(&site);
            thread::spawn(move || answer(&stream, &*site));
        }
    });
    address
}

/// Answers one request; a client that hangs up early is its own affair.
fn answer(stream: &TcpStream, site: &Site) -> Option<()> {
    let mut lines = BufReader::new(stream).lines();
    let request = lines.next()?.ok()?;
    let path = request.split(' ').nth(1)?.to_owned();
    let mut host = String::new();
    for line in lines {
        let line = line.ok()?;
        if line.is_empty() {
            break;
        }
        if let Some(name) = line.to_ascii_lowercase().strip_prefix("host:") {
            name.trim().clone_into(&mut host);
        }
    }
    let url = Url::parse(&format!("http://{host}{path}")).ok()?;
    let response = site(url)?;
    let mut head = format!("HTTP/1.1 {} Recorded\r\nConnection: close\r\n", response.status);
    for (name, value) in response
        .headers
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "content-length" | "transfer-encoding" | "connection"))
    {
        write!(head, "{name}: {value}\r\n").unwrap();
    }
    write!(head, "Content-Length: {}\r\n\r\n", response.body.len()).unwrap();
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&response.body).ok()
}

/// A configuration that sends every host to `address` and waits for none. Without quarantine, since what is held back
/// depends on which of two servers is quicker.
fn hurried(address: SocketAddr, folder: &Path) -> PathBuf {
    let path = folder.join("config.toml");
    let settings = format!(
        "[fetch]\nresolve_all = \"{address}\"\n[politeness]\ndelay_ms = 0\nresponse_factor = 0.0\n\
         max_crawl_delay_ms = 0\naddress_delay_ms = 0\nper_address_connections = 64\nslow_start_requests = 0\n\
         [traps]\nquarantine = false\n"
    );
    fs::write(&path, settings).unwrap();
    path
}

/// Crawls until the frontier is empty; returns what was fetched.
fn crawl(topic: &Path, out: &Path, more: &[&str]) -> BTreeSet<(String, String)> {
    let output = Command::new(env!("CARGO_BIN_EXE_windrow"))
        .args(["crawl", topic.to_str().unwrap(), "--out", out.to_str().unwrap(), "--order", "breadth-first"])
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut reader = csv::Reader::from_path(out.join("report/pages.csv")).unwrap();
    reader.records().map(Result::unwrap).map(|row| (row[1].to_owned(), row[3].to_owned())).collect()
}

#[test]
fn a_crawl_over_real_sockets_fetches_the_same_pages_as_the_replay() {
    let folder = tempfile::tempdir().unwrap();
    let topic = folder.path().join("topic.toml");
    // Hosts that ask for patience in real time, and those that need TLS, are left to the hostile-server suite.
    let text = r#"
keywords = ["水稻", "小麦", "病虫害", "crop", "soil"]
seeds = ["http://nongye.example/", "http://www.wanxiang.example/"]
tunnel.depth = 8
[scope]
include = ["^http://"]
exclude = ["EXCLUDED"]
"#;
    fs::write(&topic, text.replace("EXCLUDED", &impatient_hosts().join("|"))).unwrap();
    let web = Arc::new(ReplayFetcher::open(&[demo_web()], true).unwrap());
    let config = hurried(serve(Arc::new(move |url| web.fetch(Request::get(url)).now_or_never()?.result.ok())), folder.path());
    let config = config.to_str().unwrap();
    let web = demo_web();
    let both = |name: &str, workers: &str| {
        let out = |kind: &str| folder.path().join(format!("{name}-{kind}"));
        let live = crawl(&topic, &out("live"), &["--config", config, "--workers", workers]);
        let recorded = ["--config", config, "--workers", workers, "--replay", web.to_str().unwrap(), "--open-web"];
        let replayed = crawl(&topic, &out("replay"), &recorded);
        assert!(live.len() > 300, "only {} pages", live.len());
        let differ: Vec<_> = live.symmetric_difference(&replayed).cloned().collect();
        (live.len(), differ)
    };
    let (_, differ) = both("one", "1");
    assert!(differ.is_empty(), "fetched by one only: {differ:?}");
    // Of a page and its copy, the links of whichever comes second are not followed, and with many workers that depends on
    // which of two servers is quicker. All else must be the same.
    let (pages, differ) = both("many", "32");
    assert!(differ.len() * 50 < pages, "fetched by one only: {differ:?}");
}

#[test]
fn a_redirect_to_another_spelling_of_a_page_is_followed_and_the_page_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let site = |url: Url| {
        let (status, header, body) = match url.path() {
            "/seed" => (200, ("content-type", "text/html"), "<p>rice <a href='/field'>rice field</a> and more rice</p>"),
            "/field" => (301, ("location", "/field/"), ""),
            "/field/" => (200, ("content-type", "text/html"), "<p>a rice field, and nothing but rice</p>"),
            _ => (404, ("content-type", "text/html"), "nothing"),
        };
        let headers = vec![(header.0.to_owned(), header.1.to_owned())];
        Some(Response { status, headers, body: body.into(), truncated: false })
    };
    let config = hurried(serve(Arc::new(site)), folder.path());
    let topic = folder.path().join("topic.toml");
    fs::write(&topic, "keywords = [\"rice\"]\nseeds = [\"http://farm.example/seed\"]\n").unwrap();
    let fetched = crawl(&topic, &folder.path().join("out"), &["--config", config.to_str().unwrap()]);
    let expected = ["http://farm.example/field/", "http://farm.example/seed"].map(|url| (url.to_owned(), "200".to_owned()));
    assert_eq!(fetched, BTreeSet::from(expected));
}

/// Hosts whose recorded answers are 429 or 503, or that took seconds.
fn impatient_hosts() -> Vec<String> {
    let web = ReplayFetcher::open(&[demo_web()], false).unwrap();
    let mut hosts = BTreeSet::new();
    for url in web.urls() {
        let url = Url::parse(url).unwrap();
        let fetched = web.fetch(Request::get(url.clone())).now_or_never().unwrap();
        let troubled = fetched.result.as_ref().map_or(true, |response| response.status == 429 || response.status >= 500);
        if troubled || fetched.elapsed.as_millis() > 1_000 {
            hosts.insert(format!("//{}/", url.host_str().unwrap().replace('.', "[.]")));
        }
    }
    hosts.into_iter().collect()
}

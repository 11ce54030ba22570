//! What watching costs: how fast the overview answers while fifty crawls run, and what a crawl loses by being watched.
//!
//! `cargo bench --bench monitor [-- CRAWLS ROUNDS]`; prints two tables.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::Client;
use serde_json::{Value, json};
use tokio::sync::watch;
use windrow::{
    config::Config,
    engine::{Controls, Progress, remote},
    fetch::ReplayFetcher,
    monitor::{Options, Server, Watched, one_crawl},
    session::{DEMO_TOPIC, DEMO_WEB, Session, Start},
    topic::Topic,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let crawls = numbers.first().copied().unwrap_or(50);
    let rounds = numbers.get(1).copied().unwrap_or(11);
    let _ = rustls::crypto::ring::default_provider().install_default();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(overview(crawls));
    watched(rounds);
}

/// Latency of the overview while crawls run.
async fn overview(crawls: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (stop, going_down) = watch::channel(false);
    let options = Options::new(folder.path().to_owned(), "127.0.0.1:0".parse().unwrap());
    let server = Server::bind(options, going_down).await.unwrap();
    let base = format!("http://{}/api/v1", server.address());
    let ended = tokio::spawn(server.run());
    let client = Client::builder().no_proxy().build().unwrap();
    let session: Value = get(&client, &format!("{base}/session")).await.1;
    for number in 0..crawls {
        let body = json!({ "name": format!("demo {number}"), "source": "demo", "max_pages": 1_500 }).to_string();
        let request = client.post(format!("{base}/crawls")).header("x-csrf-token", session["csrf"].as_str().unwrap());
        let answer = request.header("content-type", "application/json").body(body).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 201);
    }
    let (mut times, mut most) = (Vec::new(), 0);
    let started = Instant::now();
    loop {
        let (time, list) = get(&client, &format!("{base}/crawls")).await;
        let running = list["items"].as_array().unwrap().iter().filter(|crawl| crawl["state"] == "running").count();
        most = most.max(running);
        if running == 0 {
            break;
        }
        times.push(time);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let took = started.elapsed();
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    println!(
        "GET /api/v1/crawls while {most} crawls of the demo web ran in one server ({} requests in {took:.1?}):",
        times.len()
    );
    println!("| p50 ms | p95 ms | max ms |\n|---|---|---|\n| {:.1} | {:.1} | {:.1} |\n", at(0.5), at(0.95), at(1.0));
    stop.send_replace(true);
    ended.await.unwrap().unwrap();
}

async fn get(client: &Client, url: &str) -> (Duration, Value) {
    let started = Instant::now();
    let bytes = client.get(url).send().await.unwrap().bytes().await.unwrap();
    let time = started.elapsed();
    (time, serde_json::from_slice(&bytes).unwrap())
}

/// Pages a second of one replay, alone and watched by a server with a listener, in turns.
fn watched(rounds: usize) {
    let (mut alone, mut seen, mut losses) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        // Which comes first changes, so that neither has the warmer caches.
        let (first, second) = (crawl(round % 2 == 0), crawl(round % 2 == 1));
        let (without, with) = if round % 2 == 0 { (second, first) } else { (first, second) };
        alone.push(without);
        seen.push(with);
        losses.push(100.0 * (1.0 - with / without));
    }
    let median = |numbers: &mut Vec<f64>| {
        numbers.sort_unstable_by(f64::total_cmp);
        numbers[numbers.len() / 2]
    };
    let spread = |numbers: &[f64]| (numbers[0], numbers[numbers.len() - 1]);
    let (without, with, lost) = (median(&mut alone), median(&mut seen), median(&mut losses));
    let (least, greatest) = spread(&losses);
    println!("One crawl of the demo web, all its pages, {rounds} pairs:");
    println!("| alone pages/s | watched pages/s | lost % (median of pairs) | least | greatest |\n|---|---|---|---|---|");
    println!("| {without:.0} | {with:.0} | {lost:.1} | {least:.1} | {greatest:.1} |");
}

/// Pages a second of one crawl.
fn crawl(is_watched: bool) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let web = folder.path().join("demo.warc.gz");
    std::fs::write(&web, DEMO_WEB).unwrap();
    let topic = Topic::parse(DEMO_TOPIC, &folder.path().join("demo.toml")).unwrap();
    let config = Config::default();
    let dir = folder.path().join("crawl");
    let start = Start { topic: &topic, config: &config, model: None, max_pages: None, accept_changes: false };
    let fetcher = Arc::new(ReplayFetcher::open(&[web], false).unwrap());
    let Session { mut crawl, store, .. } = Session::open(start, fetcher, &dir, |writer| Ok(Box::new(writer))).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (stopper, stop) = watch::channel(false);
    let (progress, seen) = watch::channel(Progress::default());
    let (down, going_down) = watch::channel(false);
    let summary = runtime.block_on(async {
        if is_watched {
            let (line, commands) = remote();
            crawl = crawl.listen(commands);
            let options = Options::new(folder.path().join("monitor"), "127.0.0.1:0".parse().unwrap());
            let told = Watched {
                name: "demo",
                topic_name: "demo",
                dir: &dir,
                store: store.clone(),
                remote: line,
                progress: seen,
                stop: stopper.clone(),
                virtual_time: true,
                max_pages: None,
            };
            let server = one_crawl(options, told, going_down).await.unwrap();
            let events = format!("http://{}/api/v1/events", server.address());
            tokio::spawn(server.run());
            let client = Client::builder().no_proxy().build().unwrap();
            let mut answer = client.get(events).send().await.unwrap();
            tokio::spawn(async move { while let Ok(Some(_)) = answer.chunk().await {} });
        }
        let started = Instant::now();
        let summary = crawl.run(Controls { stop, progress }).await.unwrap();
        (started.elapsed(), summary)
    });
    down.send_replace(true);
    runtime.shutdown_timeout(Duration::from_millis(200));
    summary.1.state.fetched as f64 / summary.0.as_secs_f64()
}

//! A server that is killed brings its crawls back when it starts again.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use reqwest::Client;
use serde_json::{Value, json};
use windrow::store::Store;

use super::here::{Here, PATIENCE, client};

/// A server as a process of its own, ended with the value.
struct Served {
    child: Child,
    base: String,
    client: Client,
}

impl Served {
    fn start(dir: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windrow"));
        command.args(["--json", "serve", "--listen", "127.0.0.1:0", "--dir", dir.to_str().unwrap()]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        let base = told["address"].as_str().unwrap().trim_end_matches('/').to_owned();
        Self { child, base, client: client() }
    }

    async fn get(&self, path: &str) -> Value {
        let answer = self.client.get(format!("{}/api/v1{path}", self.base)).send().await.unwrap();
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    }

    async fn post(&self, path: &str, body: Value) -> Value {
        let csrf = self.get("/session").await["csrf"].as_str().unwrap().to_owned();
        let request = self.client.post(format!("{}/api/v1{path}", self.base)).header("x-csrf-token", csrf);
        let answer = request.header("content-type", "application/json").body(body.to_string()).send().await.unwrap();
        serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap()
    }

    /// Waits until all crawls are as they should be.
    async fn until(&self, holds: impl Fn(&Value) -> bool) {
        let started = Instant::now();
        loop {
            let list = self.get("/crawls").await;
            if list["items"].as_array().unwrap().iter().all(&holds) {
                return;
            }
            assert!(started.elapsed() < PATIENCE, "{list:#}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Without a chance to put anything in order.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn crawls_that_ran_when_the_server_was_killed_run_to_their_end_when_it_starts() {
    let folder = tempfile::tempdir().unwrap();
    let mut served = Served::start(folder.path());
    for name in ["one", "two", "three"] {
        let body = json!({ "name": name, "source": "demo", "max_pages": 150, "pages_per_second": 25.0 });
        assert_eq!(served.post("/crawls", body).await["id"], name);
    }
    let sleeper = json!({ "name": "sleeper", "source": "demo", "max_pages": 150, "pages_per_second": 25.0 });
    served.post("/crawls", sleeper).await;
    served.until(|crawl| crawl["fetched"].as_u64().unwrap() > 0).await;
    served.post("/crawls/sleeper/pause", json!({})).await;
    served.post("/crawls", json!({ "name": "unstarted", "source": "demo", "start": false })).await;
    served.kill();

    let served = Served::start(folder.path());
    served
        .until(|crawl| {
            let wanted = match crawl["id"].as_str().unwrap() {
                "sleeper" => "paused",
                "unstarted" => "stopped",
                _ => "finished",
            };
            crawl["state"] == wanted
        })
        .await;
    for name in ["one", "two", "three"] {
        let crawl = served.get(&format!("/crawls/{name}")).await;
        assert_eq!(crawl["fetched"], 150, "{name}");
        assert!(crawl["runs"].as_array().unwrap().len() >= 2, "{name}: {}", crawl["runs"]);
        let days: u64 = served.get(&format!("/crawls/{name}/metrics")).await["by_day"][0]["fetched"].as_u64().unwrap();
        assert_eq!(days, 150, "{name}: every page is counted once");
    }
    served.post("/crawls/sleeper/resume", json!({})).await;
    served.until(|crawl| crawl["id"] != "sleeper" || crawl["state"] == "finished").await;
    drop(served);
    let store = Store::open(&folder.path().join("crawls/one")).unwrap();
    let pages: Vec<_> = store.pages(1).unwrap().map(|page| page.unwrap().url).collect();
    let distinct: std::collections::BTreeSet<_> = pages.iter().collect();
    assert_eq!(distinct.len(), pages.len(), "no page twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_stops_in_good_order_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let id = here.demo(json!({ "name": "orderly", "pages_per_second": 20.0, "max_pages": 80 })).await;
    here.until(&id, |crawl| crawl["fetched"].as_u64().unwrap() > 3).await;
    here.stop().await;
    let here = Here::start(folder.path()).await;
    let ended = here.until_state(&id, "finished").await;
    assert_eq!(ended["fetched"], 80);
    // Nobody reads it any more, so the command line may.
    here.stop().await;
    Store::open(&folder.path().join("crawls/orderly")).unwrap();
}

//! Crawls are made, paused, resumed, steered, stopped and deleted.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::Method;
use serde_json::{Value, json};
use windrow::{
    config::Config,
    fetch::{Fetched, Fetcher, Request},
    monitor::{Source, Webs},
    page::Timestamp,
};

use super::here::Here;

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_of_the_demo_web_is_made_paused_resumed_and_ends_at_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let id = here.demo(json!({ "name": "Rice & wheat", "pages_per_second": 30.0 })).await;
    assert_eq!(id, "rice-wheat");
    here.until(&id, |crawl| crawl["fetched"].as_u64().unwrap() > 0).await;
    assert_eq!(here.post("/crawls/rice-wheat/start", json!({}), 409).await["status"], 409);
    here.post("/crawls/rice-wheat/pause", json!({}), 200).await;
    let paused = here.until(&id, |crawl| crawl["state"] == "paused" && crawl["running"] == 0).await;
    assert!(paused["fetched"].as_u64().unwrap() < 60, "{paused}");
    assert!(paused["stop_reason"].is_null() && paused["waiting"].as_u64().unwrap() > 0);
    here.post("/crawls/rice-wheat/pause", json!({}), 409).await;
    assert_eq!(here.expect(Method::DELETE, "/api/v1/crawls/rice-wheat?confirm=rice-wheat", None, 409).await["status"], 409);
    here.post("/crawls/rice-wheat/resume", json!({}), 200).await;
    let ended = here.until_state(&id, "finished").await;
    assert_eq!((ended["fetched"].as_u64(), ended["stop_reason"].as_str()), (Some(60), Some("max-pages")));
    let metrics = here.get("/crawls/rice-wheat/metrics").await;
    assert_eq!(metrics["points"].as_array().unwrap().last().unwrap()["pages"], 60);
    let days: u64 = metrics["by_day"].as_array().unwrap().iter().map(|day| day["fetched"].as_u64().unwrap()).sum();
    assert_eq!(days, 60);
    let log = here.get("/crawls/rice-wheat/log").await.to_string();
    assert!(log.contains("paused") && log.contains("stopped after 60 pages"), "{log}");
    here.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_request_makes_a_crawl_once_and_a_deleted_one_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let make = |name: &'static str| {
        let body = json!({ "name": name, "source": "demo", "max_pages": 5, "start": false }).to_string();
        let request = here.client.post(format!("{}/api/v1/crawls", here.base)).header("x-csrf-token", &here.csrf);
        request.header("content-type", "application/json").header("idempotency-key", "k1").body(body).send()
    };
    let (first, again, other) = (make("one").await.unwrap(), make("one").await.unwrap(), make("two").await.unwrap());
    assert_eq!((first.status().as_u16(), again.status().as_u16(), other.status().as_u16()), (201, 200, 409));
    assert_eq!(first.headers()["location"], "/api/v1/crawls/one");
    assert_eq!(here.get("/crawls").await["items"].as_array().unwrap().len(), 1);
    assert_eq!(here.get("/crawls/one").await["state"], "stopped");
    assert_eq!(here.get("/crawls?state=running").await["items"], json!([]));
    let refused = here.expect(Method::DELETE, "/api/v1/crawls/one", None, 400).await;
    assert_eq!(refused["errors"][0]["field"], "confirm");
    let dir = folder.path().join("crawls/one");
    assert!(dir.join("topic.toml").is_file());
    here.expect(Method::DELETE, "/api/v1/crawls/one?confirm=one", None, 204).await;
    assert!(!dir.exists());
    here.expect(Method::GET, "/api/v1/crawls/one", None, 404).await;
    here.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_crawled_is_refused_field_by_field() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let topic = "name = \"x\"\nkeywords = [\"rice\"]\nseeds = [\"http://e.com/\"]\n";
    for (body, field) in [
        (json!({ "source": "web" }), "topic"),
        (json!({ "topic": "keywords = 1" }), "topic"),
        (json!({ "topic": format!("{topic}ontology = \"/etc/passwd\"") }), "topic"),
        (json!({ "topic": format!("{topic}[model]\nname = \"../x\"") }), "topic"),
        (json!({ "topic": topic, "model": "nowhere" }), "model"),
        (json!({ "topic": topic, "source": { "recording": "../demo.warc.gz" } }), "source"),
        (json!({ "topic": topic, "order": "sideways" }), "order"),
        (json!({ "topic": topic, "memory": "1MiB" }), "memory"),
        (json!({ "topic": topic, "max_pages": 0 }), "max_pages"),
        (json!({ "topic": topic, "name": "" }), "name"),
        (json!({ "topic_fields": { "keywords": [], "seeds": [] } }), "topic_fields"),
        (json!({ "topic": topic, "schedule": { "cron": "x", "recrawl": "refresh" } }), "schedule"),
    ] {
        let refused = here.post("/crawls", body.clone(), 400).await;
        assert_eq!(refused["errors"][0]["field"], field, "{body}: {refused}");
        assert!(!refused.to_string().contains("root:"), "{refused}");
    }
    for body in ["{", "[]", "{\"source\":\"moon\"}", "{\"source\":\"demo\",\"colour\":1}"] {
        let request = here.client.post(format!("{}/api/v1/crawls", here.base)).header("x-csrf-token", &here.csrf);
        let answer = request.header("content-type", "application/json").body(body).send().await.unwrap();
        assert_eq!(answer.status().as_u16(), 400, "{body}");
        assert_eq!(answer.headers()["content-type"], "application/problem+json");
    }
    assert_eq!(here.get("/crawls").await["items"], json!([]));
    here.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn links_excluded_by_hand_stay_out_when_the_crawl_goes_on_and_boosted_ones_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let id = here.demo(json!({ "name": "steered", "pages_per_second": 20.0, "max_pages": 120 })).await;
    here.until(&id, |crawl| crawl["fetched"].as_u64().unwrap() > 5).await;
    here.post("/crawls/steered/pause", json!({}), 200).await;
    here.until(&id, |crawl| crawl["running"] == 0).await;
    let waiting = here.get("/crawls/steered/frontier?limit=200").await["items"].as_array().unwrap().clone();
    let hosts: Vec<&str> = waiting.iter().map(|link| link["host"].as_str().unwrap()).collect();
    let (out, first) = (hosts[0], *hosts.iter().rev().find(|host| **host != hosts[0]).unwrap());
    let only_first = here.get(&format!("/crawls/steered/frontier?host={first}")).await["items"].as_array().unwrap().clone();
    let wanted = only_first.last().unwrap()["url"].as_str().unwrap();
    let pattern = format!("//{}/", out.replace('.', "\\."));
    let excluded = here.post("/crawls/steered/frontier", json!({ "action": "exclude", "pattern": pattern }), 200).await;
    assert!(excluded["changed"].as_u64().unwrap() > 0);
    here.post("/crawls/steered/frontier", json!({ "action": "boost", "url": wanted }), 200).await;
    let head = here.get("/crawls/steered/frontier?limit=3").await["items"].to_string();
    assert!(head.contains(wanted), "{wanted} is not among the first: {head}");
    for (body, status) in [
        (json!({ "action": "boost" }), 400),
        (json!({ "action": "boost", "pattern": "(" }), 400),
        (json!({ "action": "exclude", "url": "nowhere" }), 400),
    ] {
        here.post("/crawls/steered/frontier", body, status).await;
    }
    here.post("/crawls/steered/traps/release", json!({ "template": "none" }), 404).await;
    here.post("/crawls/steered/stop", json!({}), 200).await;
    here.until_state(&id, "stopped").await;
    let before = here.get("/crawls/steered/pages?limit=1").await["items"][0]["seq"].as_u64().unwrap();
    here.post("/crawls/steered/frontier", json!({ "action": "boost", "url": wanted }), 409).await;
    here.post("/crawls/steered/start", json!({}), 200).await;
    here.until_state(&id, "finished").await;
    let later = |which: &str| format!("/crawls/steered/pages?limit=200&where=outcome='fetched'%20and%20seq%3E{before}{which}");
    let from_out = here.get(&later(&format!("%20and%20host='{out}'"))).await;
    assert_eq!(from_out["items"], json!([]), "{out} was excluded");
    assert!(here.get(&later("")).await["items"].as_array().unwrap().len() > 10);
    let pages = here.get(&format!("/crawls/steered/why?url={wanted}")).await;
    assert!(pages["page"].is_object(), "{wanted} was to come first: {}", pages["fate"]);
    here.stop().await;
}

/// The demo web, and one that panics.
struct Trapdoor;

impl Webs for Trapdoor {
    fn open(
        &self,
        source: &Source,
        config: &Config,
        recordings: &std::path::Path,
        dir: &std::path::Path,
    ) -> anyhow::Result<Arc<dyn Fetcher>> {
        match source {
            Source::Web => Ok(Arc::new(Panics)),
            other => windrow::monitor::TheWeb.open(other, config, recordings, dir),
        }
    }
}

struct Panics;

impl Fetcher for Panics {
    fn fetch(&self, _: Request) -> BoxFuture<'_, Fetched> {
        panic!("the floor opens");
    }

    fn recorded_at(&self) -> Option<Timestamp> {
        Some(Timestamp(1))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_that_panics_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::with_webs(folder.path(), Arc::new(Trapdoor)).await;
    let fine = here.demo(json!({ "name": "fine", "pages_per_second": 40.0 })).await;
    let fields = json!({ "keywords": ["rice"], "seeds": ["http://e.com/"] });
    let body = json!({ "name": "bad", "source": "web", "topic_fields": fields });
    let bad = here.post("/crawls", body, 201).await["id"].as_str().unwrap().to_owned();
    let failed = here.until_state(&bad, "failed").await;
    assert!(failed["error"].as_str().unwrap().contains("the floor opens"), "{failed}");
    let ended: Value = here.until_state(&fine, "finished").await;
    assert_eq!(ended["fetched"], 60);
    here.post("/crawls/bad/start", json!({}), 200).await;
    here.until_state(&bad, "failed").await;
    here.stop().await;
}

//! What a crawl has found is listed in parts, explained, labelled, learnt from, exported and compared; events tell of it.

use std::collections::BTreeSet;

use futures_util::StreamExt;
use reqwest::Method;
use serde_json::{Value, json};

use super::here::{Here, PATIENCE};

/// All items of a list, part by part.
async fn all(here: &Here, path: &str) -> Vec<Value> {
    let (mut items, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let at = cursor.map_or(String::new(), |cursor| format!("&cursor={cursor}"));
        let part = here.get(&format!("{path}{at}")).await;
        items.extend(part["items"].as_array().unwrap().iter().cloned());
        match part["next"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => return items,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_and_hosts_come_in_parts_and_every_one_once() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let id = here.demo(json!({ "name": "rows" })).await;
    here.until_state(&id, "finished").await;
    let newest = all(&here, "/crawls/rows/pages?limit=7&sort=newest").await;
    let seqs: Vec<u64> = newest.iter().map(|page| page["seq"].as_u64().unwrap()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] == pair[1] + 1) && seqs.last() == Some(&1), "{seqs:?}");
    let best = all(&here, "/crawls/rows/pages?limit=7&sort=relevance").await;
    assert_eq!(best.iter().map(|page| page["seq"].as_u64().unwrap()).collect::<BTreeSet<_>>(), seqs.iter().copied().collect());
    assert!(best.windows(2).all(|pair| pair[0]["relevance"].as_f64() >= pair[1]["relevance"].as_f64()));
    let relevant = all(&here, "/crawls/rows/pages?limit=7&where=relevant").await;
    assert_eq!(relevant.len() as u64, here.get("/crawls/rows").await["relevant"].as_u64().unwrap());
    let refused = here.expect(Method::GET, "/api/v1/crawls/rows/pages?where=colour", None, 400).await;
    assert!(refused["errors"][0]["message"].as_str().unwrap().contains("character 1"), "{refused}");
    here.expect(Method::GET, "/api/v1/crawls/rows/pages?cursor=x", None, 400).await;
    let hosts = all(&here, "/crawls/rows/hosts?limit=3&sort=pages").await;
    let names: BTreeSet<&str> = hosts.iter().map(|host| host["host"].as_str().unwrap()).collect();
    assert!(names.len() == hosts.len() && hosts.len() > 3);
    assert!(hosts.windows(2).all(|pair| pair[0]["fetched"].as_u64() >= pair[1]["fetched"].as_u64()));
    let waiting = here.get("/crawls/rows/frontier?limit=5").await["items"].as_array().unwrap().clone();
    assert_eq!(waiting.len(), 5);
    assert!(waiting.windows(2).all(|pair| pair[0]["priority"].as_f64() >= pair[1]["priority"].as_f64()));
    here.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_explained_labelled_learnt_from_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let id = here.demo(json!({ "name": "learn" })).await;
    here.until_state(&id, "finished").await;
    let seed = "http://nongye.example/";
    let why = here.get(&format!("/crawls/learn/why?url={seed}")).await;
    assert_eq!(why["page"]["seq"], 1);
    assert!(why["words"].as_array().unwrap().len() > 2);
    let waiting = here.get("/crawls/learn/frontier?limit=1").await["items"][0]["url"].as_str().unwrap().to_owned();
    // It is scored anew when it is asked for, so its place may be another by then.
    assert!(here.get(&format!("/crawls/learn/why?url={waiting}")).await["link"]["place"].as_u64().unwrap() >= 1);
    here.expect(Method::GET, "/api/v1/crawls/learn/why?url=nope", None, 400).await;
    let asked = here.get("/crawls/learn/labels/next?limit=3").await["items"].as_array().unwrap().clone();
    assert_eq!(asked.len(), 3);
    for (number, page) in asked.iter().enumerate() {
        let passage = &page["passages"][0];
        let units: Vec<u16> = passage["text"].as_str().unwrap().encode_utf16().collect();
        for mark in passage["marks"].as_array().unwrap() {
            let (from, to) = (mark[0].as_u64().unwrap() as usize, mark[1].as_u64().unwrap() as usize);
            assert!(from < to && to <= units.len());
        }
        let body = json!({ "url": page["url"], "relevant": number % 2 == 0 });
        let counts = here.expect(Method::PUT, "/api/v1/crawls/learn/labels", Some(body), 200).await;
        assert_eq!(counts["labels"], number as u64 + 1);
    }
    let unknown = json!({ "url": "http://nowhere.example/", "relevant": true });
    here.expect(Method::PUT, "/api/v1/crawls/learn/labels", Some(unknown), 404).await;
    let tsv = here.get("/crawls/learn/labels.tsv").await.as_str().unwrap().to_owned();
    assert_eq!(tsv.lines().count(), 3);
    let rolled = here.post("/crawls/learn/rollback", json!({}), 409).await;
    assert_eq!(rolled["status"], 409);
    let trained = here.post("/crawls/learn/retrain", json!({ "force": true }), 200).await;
    assert_eq!(trained["installed"], true, "{trained}");
    assert_eq!(here.get("/crawls/learn/models").await["versions"][0]["current"], true);
    for format in ["csv", "jsonl", "parquet", "cdxj", "wacz", "warc"] {
        let path = format!("/api/v1/crawls/learn/export?format={format}&where=relevant");
        let answer = here.send(Method::GET, &path, None).await;
        assert_eq!(answer.status().as_u16(), 200, "{format}");
        assert!(answer.headers()["content-disposition"].to_str().unwrap().starts_with("attachment"));
        assert!(answer.bytes().await.unwrap().len() > 1_000, "{format}");
    }
    let report = here.send(Method::GET, "/api/v1/crawls/learn/report", None).await;
    assert!(report.headers()["content-security-policy"].to_str().unwrap().contains("sandbox"));
    assert!(report.bytes().await.unwrap().starts_with(b"<!DOCTYPE html>"));
    let both = here.get("/compare?a=learn&b=learn").await;
    assert_eq!((both["only_a"].as_u64(), both["only_b"].as_u64()), (Some(0), Some(0)));
    assert!(both["shared_relevant"].as_u64() > Some(0) && both["a"]["points"].as_array().unwrap().len() > 10);
    here.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn events_tell_of_pages_and_of_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let answer = here.client.get(format!("{}/api/v1/events", here.base)).send().await.unwrap();
    assert_eq!(answer.headers()["content-type"], "text/event-stream");
    here.demo(json!({ "name": "told", "pages_per_second": 40.0 })).await;
    let mut stream = answer.bytes_stream();
    let mut text = String::new();
    let ended = async {
        while let Some(bytes) = stream.next().await {
            text.push_str(&String::from_utf8_lossy(&bytes.unwrap()));
            if text.contains("\"state\":\"finished\"") {
                return;
            }
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.expect("no event told of the end");
    assert!(text.contains("event: crawl") && text.contains("event: page") && text.contains("\"crawl\":\"told\""), "{text}");
    here.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_crawl_is_read_back_once_for_many_questions_and_again_when_it_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let id = here.demo(json!({ "name": "asked", "max_pages": 1_000, "pages_per_second": 40.0 })).await;
    let stop_after = async |pages: u64| {
        here.until(&id, |crawl| crawl["fetched"].as_u64() >= Some(pages)).await;
        here.post("/crawls/asked/stop", json!({}), 200).await;
        here.until_state(&id, "stopped").await["fetched"].as_u64().unwrap()
    };
    let before = stop_after(30).await;
    let question = |url: &str| format!("/crawls/asked/why?url={url}");
    let seed = "http://nongye.example/";
    let rebuilt = async || {
        let metrics = here.send(Method::GET, "/metrics", None).await.text().await.unwrap();
        let line = metrics.lines().find(|line| line.starts_with("windrow_rebuilt_crawls_total ")).unwrap().to_owned();
        line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()
    };
    assert_eq!(rebuilt().await, 0);
    let waiting = here.get("/crawls/asked/frontier?limit=1").await["items"][0]["url"].as_str().unwrap().to_owned();
    let (seed_question, link_question) = (question(seed), question(&waiting));
    let (first, link, again) = tokio::join!(here.get(&seed_question), here.get(&link_question), here.get(&seed_question));
    assert_eq!(first, again);
    assert!(link["link"]["place"].as_u64().unwrap() >= 1);
    assert_eq!(rebuilt().await, 1, "questions that came at a time, and one after the other");

    here.expect(Method::PUT, "/api/v1/crawls/asked/labels", Some(json!({ "url": seed, "relevant": false })), 200).await;
    assert_eq!(here.get(&seed_question).await["page"]["reasons"]["relevance"], 0.0, "the label counts at once");
    assert_eq!(rebuilt().await, 2);
    here.post("/crawls/asked/start", json!({}), 200).await;
    stop_after(before + 10).await;
    let fetched = here.get("/crawls/asked/pages?limit=1&sort=newest").await["items"][0]["url"].as_str().unwrap().to_owned();
    assert!(here.get(&question(&fetched)).await["page"]["reasons"]["rank"]["rank"].as_f64().unwrap() > 0.0);
    assert_eq!(rebuilt().await, 3);
    here.stop().await;
}

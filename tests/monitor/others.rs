//! Several servers in one console, and whoever is told of alerts.

use reqwest::Method;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use windrow::monitor::{Options, Role, new_token};

use super::here::{Here, PATIENCE};

#[tokio::test(flavor = "multi_thread")]
async fn the_crawls_of_another_server_are_shown_and_steered_beside_ones_own() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    let token = new_token(&file, Role::Steer).unwrap();
    let far_options = Options { tokens: Some(file), ..Options::new(folder.path().join("far"), "127.0.0.1:0".parse().unwrap()) };
    let far = Here::with(far_options).await;
    let near = Here::start(&folder.path().join("near")).await;
    near.demo(json!({ "name": "mine", "start": false })).await;
    let unreachable = json!({ "name": "none", "address": "http://127.0.0.1:1", "token": "" });
    assert_eq!(near.post("/servers", unreachable, 201).await["reachable"], false);
    let wrong = json!({ "name": "wrong", "address": "file:///etc/passwd", "token": "" });
    near.post("/servers", wrong, 400).await;
    let added = near.post("/servers", json!({ "name": "far", "address": far.base, "token": token }), 201).await;
    assert_eq!(added["reachable"], true, "{added}");
    let server = added["id"].as_str().unwrap();
    let all_servers = near.get("/servers").await;
    assert!(!all_servers.to_string().contains(&token), "a token is never told");

    let asked = far.client.post(format!("{}/api/v1/crawls", far.base)).bearer_auth(&token);
    let body = json!({ "name": "theirs", "source": "demo", "max_pages": 30, "start": false }).to_string();
    let made = asked.header("content-type", "application/json").body(body).send().await.unwrap();
    assert_eq!(made.status().as_u16(), 201);
    let all = near.get("/crawls").await["items"].as_array().unwrap().clone();
    let remote = all.iter().find(|crawl| crawl["server"] == server).unwrap();
    let id = remote["id"].as_str().unwrap().to_owned();
    assert_eq!(id, format!("{server}~theirs"));
    near.post(&format!("/crawls/{id}/start"), json!({}), 200).await;
    let ended = near.until(&id, |crawl| crawl["state"] == "finished").await;
    assert_eq!(ended["fetched"], 30);
    assert_eq!(near.get(&format!("/crawls/{id}/pages?limit=3")).await["items"].as_array().unwrap().len(), 3);
    near.expect(Method::GET, "/api/v1/crawls/nobody~x", None, 404).await;
    near.expect(Method::DELETE, &format!("/api/v1/crawls/{id}?confirm={id}"), None, 204).await;
    near.expect(Method::DELETE, &format!("/api/v1/servers/{server}"), None, 204).await;
    assert_eq!(near.get("/crawls").await["items"].as_array().unwrap().len(), 1);
    far.stop().await;
    near.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_alert_is_posted_to_the_webhook() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let hook = format!("http://{}/hook?secret=1", listener.local_addr().unwrap());
    let rules = json!({ "stalled_minutes": 5, "harvest_fell_ratio": 0.2, "disk_low_mib": 0, "error_rate": 0.9 });
    let put = |body: Value| here.expect(Method::PUT, "/api/v1/settings", Some(body), 200);
    let set = put(json!({ "webhook": hook, "alerts": rules })).await;
    assert_eq!((set["webhook"].as_str(), set["alerts"]["stalled_minutes"].as_u64()), (Some(hook.as_str()), Some(5)));
    here.expect(Method::PUT, "/api/v1/settings", Some(json!({ "webhook": "ftp://x" })), 400).await;
    let told = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut text = Vec::new();
        let mut buffer = [0; 4096];
        while !String::from_utf8_lossy(&text).contains("seeds_exhausted") {
            let read = stream.read(&mut buffer).await.unwrap();
            assert!(read > 0, "{}", String::from_utf8_lossy(&text));
            text.extend_from_slice(&buffer[..read]);
        }
        stream.write_all(b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n").await.unwrap();
        String::from_utf8(text).unwrap()
    });
    let fields = json!({ "keywords": ["rice"], "seeds": ["http://nowhere.example/"] });
    here.post("/crawls", json!({ "name": "empty", "source": "demo", "topic_fields": fields }), 201).await;
    let text = tokio::time::timeout(PATIENCE, told).await.expect("the webhook was not told").unwrap();
    assert!(text.starts_with("POST /hook?secret=1 ") && text.contains("\"crawl\":\"empty\""), "{text}");
    let crawl = here.until("empty", |crawl| !crawl["alerts"].as_array().unwrap().is_empty()).await;
    assert_eq!(crawl["alerts"][0]["rule"], "seeds_exhausted");
    assert!(here.send(Method::GET, "/metrics", None).await.text().await.unwrap().contains("rule=\"seeds_exhausted\"} 1"));
    here.stop().await;
}

//! A server in this process, and a client that speaks to it.

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::{Client, Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::{sync::watch, task::JoinHandle};
use windrow::monitor::{Options, Server, Webs};

/// Longer than any server takes that is alive.
pub const PATIENCE: Duration = Duration::from_mins(1);

pub struct Here {
    pub base: String,
    pub client: Client,
    pub csrf: String,
    stop: watch::Sender<bool>,
    ended: JoinHandle<()>,
}

impl Here {
    /// A server of `dir` without tokens.
    pub async fn start(dir: &Path) -> Self {
        Self::with(Options::new(dir.to_owned(), "127.0.0.1:0".parse().unwrap())).await
    }

    pub async fn with_webs(dir: &Path, webs: Arc<dyn Webs>) -> Self {
        Self::with(Options { webs, ..Options::new(dir.to_owned(), "127.0.0.1:0".parse().unwrap()) }).await
    }

    pub async fn with(options: Options) -> Self {
        let (stop, going_down) = watch::channel(false);
        let server = Server::bind(options, going_down).await.unwrap();
        let base = format!("http://{}", server.address());
        let ended = tokio::spawn(async move { server.run().await.unwrap() });
        let client = client();
        let session = client.get(format!("{base}/api/v1/session")).send().await.unwrap().bytes().await.unwrap();
        let session: Value = serde_json::from_slice(&session).unwrap();
        Self { base, client, csrf: session["csrf"].as_str().unwrap().to_owned(), stop, ended }
    }

    /// Stops the server in good order.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        self.ended.await.unwrap();
    }

    pub async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Response {
        let mut request = self.client.request(method, format!("{}{path}", self.base)).header("x-csrf-token", &self.csrf);
        if let Some(body) = body {
            request = request.header("content-type", "application/json").body(body.to_string());
        }
        request.send().await.unwrap()
    }

    /// Asks, and expects an answer of that status.
    pub async fn expect(&self, method: Method, path: &str, body: Option<Value>, status: u16) -> Value {
        let response = self.send(method.clone(), path, body).await;
        let (got, bytes) = (response.status(), response.bytes().await.unwrap());
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(got, StatusCode::from_u16(status).unwrap(), "{method} {path}: {text}");
        if bytes.is_empty() { Value::Null } else { serde_json::from_slice(&bytes).unwrap_or_else(|_| json!(text)) }
    }

    pub async fn get(&self, path: &str) -> Value {
        self.expect(Method::GET, &format!("/api/v1{path}"), None, 200).await
    }

    pub async fn post(&self, path: &str, body: Value, status: u16) -> Value {
        self.expect(Method::POST, &format!("/api/v1{path}"), Some(body), status).await
    }

    /// Makes a crawl of the demo web; its id.
    pub async fn demo(&self, more: Value) -> String {
        let mut body = json!({ "source": "demo", "max_pages": 60 });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.post("/crawls", body, 201).await["id"].as_str().unwrap().to_owned()
    }

    /// Waits until a crawl is as it should be.
    pub async fn until(&self, id: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let crawl = self.get(&format!("/crawls/{id}")).await;
            if holds(&crawl) {
                return crawl;
            }
            assert!(started.elapsed() < PATIENCE, "{crawl:#}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub async fn until_state(&self, id: &str, state: &str) -> Value {
        self.until(id, |crawl| crawl["state"] == state).await
    }
}

pub fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().build().unwrap()
}

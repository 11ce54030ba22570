//! Who may ask, and what for.

use reqwest::{Client, Method};
use serde_json::{Value, json};
use windrow::monitor::{Options, Role, Server, new_token};

use super::here::{Here, client};

async fn status(client: &Client, method: Method, url: String, headers: &[(&'static str, &str)]) -> u16 {
    let mut request = client.request(method, url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.header("content-type", "application/json").body("{}").send().await.unwrap().status().as_u16()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_token_nothing_is_told_and_a_reader_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    let (read, steer) = (new_token(&file, Role::Read).unwrap(), new_token(&file, Role::Steer).unwrap());
    let options = Options { tokens: Some(file), ..Options::new(folder.path().join("s"), "127.0.0.1:0".parse().unwrap()) };
    let here = Here::with(options).await;
    let (client, base) = (client(), here.base.clone());
    let url = |path: &str| format!("{base}{path}");
    for path in ["/api/v1/crawls", "/api/v1/events", "/api/v1/settings", "/metrics", "/api/v1/crawls/x"] {
        assert_eq!(status(&client, Method::GET, url(path), &[]).await, 401, "{path}");
        assert_eq!(status(&client, Method::GET, url(path), &[("authorization", "Bearer wr_wrong")]).await, 401, "{path}");
    }
    for path in ["/", "/healthz", "/readyz", "/api/openapi.json", "/api/docs", "/api/v1/session", "/crawls/any"] {
        assert_eq!(status(&client, Method::GET, url(path), &[]).await, 200, "{path}");
    }
    let (reader, steerer) = (format!("Bearer {read}"), format!("Bearer {steer}"));
    assert_eq!(status(&client, Method::GET, url("/api/v1/crawls"), &[("authorization", &reader)]).await, 200);
    assert_eq!(status(&client, Method::POST, url("/api/v1/crawls"), &[("authorization", &reader)]).await, 403);
    assert_eq!(status(&client, Method::POST, url("/api/v1/crawls"), &[("authorization", &steerer)]).await, 400);
    assert_eq!(status(&client, Method::GET, url("/metrics"), &[("authorization", &reader)]).await, 200);

    let login = |token: String| {
        let body = json!({ "token": token }).to_string();
        client.post(url("/api/v1/session")).header("content-type", "application/json").body(body).send()
    };
    let answer = login(steer.clone()).await.unwrap();
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains(&steer), "{cookie}");
    let session: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
    assert_eq!(session["role"], "steer");
    let (cookie, csrf) = (cookie.split(';').next().unwrap(), session["csrf"].as_str().unwrap());
    let post = |headers: Vec<(&'static str, String)>| {
        let (client, url) = (client.clone(), url("/api/v1/crawls"));
        async move {
            let headers: Vec<(&'static str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
            status(&client, Method::POST, url, &headers).await
        }
    };
    let with = |more: &[(&'static str, &str)]| {
        let mut headers = vec![("cookie", cookie.to_owned())];
        headers.extend(more.iter().map(|(name, value)| (*name, (*value).to_owned())));
        headers
    };
    assert_eq!(post(with(&[])).await, 403, "without the CSRF token");
    assert_eq!(post(with(&[("x-csrf-token", "guessed")])).await, 403);
    assert_eq!(post(with(&[("x-csrf-token", csrf)])).await, 400, "let in: the body is what is wrong");
    assert_eq!(post(with(&[("x-csrf-token", csrf), ("origin", "http://evil.example")])).await, 403);
    assert_eq!(post(with(&[("x-csrf-token", csrf), ("sec-fetch-site", "cross-site")])).await, 403);
    assert_eq!(post(with(&[("x-csrf-token", csrf), ("origin", &base)])).await, 400);
    let out = with(&[("x-csrf-token", csrf)]);
    let out: Vec<(&'static str, &str)> = out.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(status(&client, Method::DELETE, url("/api/v1/session"), &out).await, 204);
    assert_eq!(post(with(&[("x-csrf-token", csrf)])).await, 401, "logged out");

    let mut refused = Vec::new();
    for _ in 0..12 {
        refused.push(login("wr_wrong".to_owned()).await.unwrap().status().as_u16());
    }
    assert_eq!((refused[0], refused[11]), (401, 429), "{refused:?}");
    here.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_tokens_answers_this_machine_and_no_foreign_page() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let (client, url) = (client(), format!("{}/api/v1/crawls", here.base));
    assert_eq!(status(&client, Method::GET, url.clone(), &[]).await, 200);
    assert_eq!(status(&client, Method::GET, url.clone(), &[("host", "evil.example")]).await, 421, "a name bent to this address");
    assert_eq!(status(&client, Method::GET, url.clone(), &[("host", "localhost:8377")]).await, 200);
    assert_eq!(status(&client, Method::POST, url.clone(), &[]).await, 403, "without the CSRF token");
    let csrf = here.csrf.as_str();
    assert_eq!(status(&client, Method::POST, url.clone(), &[("x-csrf-token", csrf), ("origin", "null")]).await, 403);
    assert_eq!(status(&client, Method::POST, url, &[("x-csrf-token", csrf)]).await, 400);
    let page = client.get(format!("{}/crawls/x", here.base)).send().await.unwrap();
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let tag = page.headers()["etag"].to_str().unwrap().to_owned();
    let again = client.get(format!("{}/", here.base)).header("if-none-match", tag).send().await.unwrap();
    assert_eq!(again.status().as_u16(), 304);
    for path in ["/nothing.js", "/../Cargo.toml", "/api/v1/nothing"] {
        assert_eq!(status(&client, Method::GET, format!("{}{path}", here.base), &[]).await, 404, "{path}");
    }
    let long = client.post(format!("{}/api/v1/crawls", here.base)).header("x-csrf-token", csrf);
    let long = long.header("content-type", "application/json").body(vec![b' '; 3 << 20]).send().await.unwrap();
    assert_eq!(long.status().as_u16(), 413);
    here.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_others_can_reach_needs_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let open = Options::new(folder.path().to_owned(), "0.0.0.0:0".parse().unwrap());
    let (_stop, stopped) = tokio::sync::watch::channel(false);
    let refused = Server::bind(open.clone(), stopped.clone()).await.err().unwrap().to_string();
    assert!(refused.contains("windrow token new"), "{refused}");
    let file = folder.path().join("tokens");
    std::fs::write(&file, "").unwrap();
    let empty = Options { tokens: Some(file.clone()), ..open };
    assert!(Server::bind(empty.clone(), stopped.clone()).await.is_err(), "a file without a token lets nobody in");
    new_token(&file, Role::Read).unwrap();
    Server::bind(empty, stopped).await.unwrap();
}

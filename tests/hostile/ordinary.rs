//! Servers that do nothing wrong: what is sent to them, and what is made of it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::io::AsyncReadExt;
use windrow::fetch::{BasicAuth, FetchConfig, FetchError, Fetcher, HttpFetcher, Request, Validators};
use windrow::url::Url;

use crate::server::{config, get, serve, serve_bytes};

const PAGE: &str = "HTTP/1.1 200 OK\r\nX-B: 2\r\nX-A: 1\r\nContent-Length: 4\r\n\r\npage";

#[tokio::test]
async fn the_request_says_who_asks_and_nothing_that_was_not_configured() {
    let server = serve_bytes(PAGE).await;
    let secret = BasicAuth { user: "u".to_owned(), password: "p".to_owned() };
    let config = FetchConfig {
        contact: "https://example.com/bot".to_owned(),
        headers: BTreeMap::from([("a.test".to_owned(), BTreeMap::from([("X-Own".to_owned(), "yes".to_owned())]))]),
        basic_auth: BTreeMap::from([("a.test".to_owned(), secret)]),
        ..config(&server)
    };
    let fetcher = HttpFetcher::new(&config).unwrap();
    let mut request = Request::get(Url::parse("http://a.test/x?y=1").unwrap());
    request.validators = Validators { etag: Some("\"v1\"".to_owned()), last_modified: Some("no\nheader".to_owned()) };
    let first = fetcher.fetch(request).await;
    get(&fetcher, "http://b.test/").await;
    let requests = server.requests.lock().unwrap();
    for said in [
        "GET /x?y=1 HTTP/1.1\r\n",
        "host: a.test\r\n",
        "user-agent: windrow/0.1 (+https://example.com/bot)\r\n",
        "accept-encoding: gzip, br, zstd, deflate\r\n",
        "x-own: yes\r\n",
        "authorization: Basic dTpw\r\n",
        "if-none-match: \"v1\"\r\n",
    ] {
        assert!(requests[0].contains(said), "{said:?} is missing in {}", requests[0]);
    }
    for unsaid in ["if-modified-since", "cookie", "referer"] {
        assert!(!requests[0].contains(unsaid), "{unsaid:?} in {}", requests[0]);
    }
    assert!(!requests[1].contains("x-own") && !requests[1].contains("authorization"), "{}", requests[1]);
    assert_eq!(first.address, Some(server.address.ip()));
    let answer = first.result.unwrap();
    assert_eq!((answer.header("x-a"), answer.header("x-b"), answer.truncated), (Some("1"), Some("2"), false));
}

#[tokio::test]
async fn the_body_limit_of_a_request_is_its_own() {
    let server = serve_bytes(PAGE).await;
    let request = Request { body_limit: 3, ..Request::get(Url::parse("http://a.test/").unwrap()) };
    let answer = HttpFetcher::new(&config(&server)).unwrap().fetch(request).await.result.unwrap();
    assert_eq!((answer.body.as_slice(), answer.truncated), (b"pag".as_slice(), true));
}

#[tokio::test]
async fn cookies_are_kept_only_when_asked_for() {
    for cookies in [false, true] {
        let server = serve_bytes("HTTP/1.1 200 OK\r\nSet-Cookie: a=1; Path=/\r\nContent-Length: 0\r\n\r\n").await;
        let fetcher = HttpFetcher::new(&FetchConfig { cookies, ..config(&server) }).unwrap();
        get(&fetcher, "http://a.test/").await;
        get(&fetcher, "http://a.test/").await;
        get(&fetcher, "http://b.test/").await;
        let requests = server.requests.lock().unwrap();
        assert_eq!(requests[1].contains("cookie: a=1"), cookies);
        assert!(!requests[2].contains("cookie"));
    }
}

#[tokio::test]
async fn a_proxy_gets_the_request_and_hides_the_server() {
    let proxy = serve_bytes(PAGE).await;
    let config = FetchConfig { proxy: Some(format!("http://{}", proxy.address)), ..FetchConfig::default() };
    let fetcher = HttpFetcher::new(&config).unwrap();
    let page = get(&fetcher, "http://far.test/page").await;
    assert_eq!((page.result.unwrap().body.as_slice(), page.address), (b"page".as_slice(), None));
    assert!(proxy.requests.lock().unwrap()[0].starts_with("GET http://far.test/page HTTP/1.1\r\n"));
    assert!(get(&fetcher, "http://localhost/").await.result.is_err());
    assert_eq!(proxy.requests.lock().unwrap().len(), 1);
}

#[test]
fn a_configuration_that_cannot_work_names_its_key() {
    let fails = |config: FetchConfig| HttpFetcher::new(&config).err().map(|error| error.to_string()).unwrap_or_default();
    let own =
        |name: &str, value: &str| BTreeMap::from([("a.test".to_owned(), BTreeMap::from([(name.to_owned(), value.to_owned())]))]);
    assert!(fails(FetchConfig { contact: "line\nbreak".to_owned(), ..FetchConfig::default() }).contains("fetch.contact"));
    assert!(fails(FetchConfig { user_agent: "2bot".to_owned(), ..FetchConfig::default() }).contains("fetch.user_agent"));
    assert!(fails(FetchConfig { headers: own("bad name", "x"), ..FetchConfig::default() }).contains("fetch.headers.\"a.test\""));
    assert!(fails(FetchConfig { proxy: Some("::".to_owned()), ..FetchConfig::default() }).contains("fetch.proxy"));
    assert!(fails(FetchConfig { ca_file: Some("/no/such.pem".into()), ..FetchConfig::default() }).contains("/no/such.pem"));
    assert!(matches!(HttpFetcher::new(&FetchConfig { body_limit: 0, ..FetchConfig::default() }), Err(FetchError::Zero)));
}

#[tokio::test]
async fn connections_stay_open_for_as_many_hosts_as_may_and_no_more() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let server = serve(move |mut connection| {
        let counted = Arc::clone(&counted);
        async move {
            counted.fetch_add(1, Ordering::Relaxed);
            let mut more = [0; 1_024];
            while connection.send(PAGE).await && connection.stream.read(&mut more).await.is_ok_and(|bytes| bytes > 0) {}
        }
    })
    .await;
    let fetcher = HttpFetcher::new(&FetchConfig { pool_max_idle_hosts: 1, ..config(&server) }).unwrap();
    for (host, open) in [("a", 1), ("a", 1), ("b", 2), ("b", 3), ("a", 3)] {
        assert_eq!(get(&fetcher, &format!("http://{host}.test/")).await.result.unwrap().body, b"page");
        assert_eq!(connections.load(Ordering::Relaxed), open, "{host}");
    }
}

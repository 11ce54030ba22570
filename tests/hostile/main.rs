//! Servers that break crawlers: each fetch ends in a recorded failure or a cut
//! answer, within bounded time and memory. Real sockets, on loopback.

mod crawls;
mod ordinary;
mod polite;
mod server;
mod tls;

use std::{io::Write, sync::atomic::Ordering, time::Duration};

use flate2::{Compression, write::GzEncoder};
use futures_util::future::join_all;
use server::{Connection, Server, config, fetch, get, serve, serve_bytes, serve_dns};
use windrow::{
    fetch::{Failure, FetchConfig, Fetched, Fetcher, HttpFetcher, Response},
    url::Url,
};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";

/// What sockets may hold on top of what a fetcher has read.
const SOCKET_BUFFERS: usize = 16 * 1024 * 1024;

fn answer(fetched: Fetched) -> Response {
    fetched.result.expect("an answer")
}

fn fault(fetched: Fetched) -> Failure {
    fetched.result.map(|response| (response.status, response.body.len(), response.truncated)).expect_err("a failure")
}

async fn fault_of(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Failure {
    fault(fetch(&serve_bytes(bytes).await).await)
}

async fn answer_of(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Response {
    answer(fetch(&serve_bytes(bytes).await).await)
}

fn with_body(head: &str, body: &[u8]) -> Vec<u8> {
    [format!("{OK}{head}Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

/// Keeps a connection open and says nothing.
async fn hold(connection: Connection) {
    let _held = connection;
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn an_endless_body_is_cut_at_the_limit() {
    let server = serve(|mut connection: Connection| async move {
        connection.send(format!("{OK}\r\n")).await;
        connection.repeat(&[b'x'; 10_000]).await;
    })
    .await;
    let answer = answer(fetch(&server).await);
    assert_eq!((answer.body.len(), answer.truncated), (100_000, true));
    assert!(server.sent.load(Ordering::Relaxed) < SOCKET_BUFFERS);
}

#[tokio::test]
async fn endless_chunks_of_one_byte_are_cut_at_the_limit() {
    let server = serve(|mut connection: Connection| async move {
        connection.send(format!("{OK}Transfer-Encoding: chunked\r\n\r\n")).await;
        connection.repeat("1\r\nx\r\n".repeat(1_000).as_bytes()).await;
    })
    .await;
    let answer = answer(fetch(&server).await);
    assert_eq!((answer.body.len(), answer.truncated), (100_000, true));
}

#[tokio::test]
async fn endless_headers_are_no_http() {
    let server = serve(|mut connection: Connection| async move {
        connection.send(OK).await;
        connection.repeat(b"X-More: of the same\r\n").await;
    })
    .await;
    assert!(matches!(fault(fetch(&server).await), Failure::Protocol(_)));
    assert!(server.sent.load(Ordering::Relaxed) < SOCKET_BUFFERS);
}

#[tokio::test]
async fn one_enormous_header_is_no_http() {
    let huge = format!("{OK}X-Huge: {}\r\n\r\nbody", "x".repeat(2_000_000));
    assert!(matches!(fault_of(huge).await, Failure::Protocol(_)));
}

#[tokio::test]
async fn an_endless_status_line_is_no_http() {
    let server = serve(|mut connection: Connection| async move { connection.repeat(b"HTTP/1.1 200 OK and so on ").await }).await;
    assert!(matches!(fault(fetch(&server).await), Failure::Protocol(_)));
}

#[tokio::test]
async fn a_body_that_drips_is_given_up() {
    let server = serve(|mut connection: Connection| async move {
        connection.send(format!("{OK}Content-Length: 100000\r\n\r\n")).await;
        connection.drip(&[b'x'; 10_000]).await;
    })
    .await;
    assert_eq!(fault(fetch(&server).await), Failure::Timeout("reading the body, slower than fetch.min_bytes_per_second"));
}

#[tokio::test]
async fn a_body_that_stops_is_given_up() {
    let server = serve(|mut connection: Connection| async move {
        connection.send(format!("{OK}Content-Length: 100000\r\n\r\nsome")).await;
        std::future::pending::<()>().await;
    })
    .await;
    assert!(matches!(fault(fetch(&server).await), Failure::Timeout(_)));
}

#[tokio::test]
async fn a_body_that_is_never_slow_and_never_ends_meets_the_total_time() {
    let server = serve(|mut connection: Connection| async move {
        connection.send(format!("{OK}\r\n")).await;
        while connection.send([b'x'; 10]).await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    let config = FetchConfig { total_timeout_ms: 1_500, min_bytes_per_second: 1, ..config(&server) };
    let fetched = get(&HttpFetcher::new(&config).unwrap(), "http://hostile.test/").await;
    assert_eq!(fault(fetched), Failure::Timeout("reading the body"));
}

#[tokio::test]
async fn headers_that_drip_are_given_up() {
    let server = serve(|mut connection: Connection| async move { connection.drip(OK.repeat(100).as_bytes()).await }).await;
    assert_eq!(fault(fetch(&server).await), Failure::Timeout("waiting for the answer"));
}

#[tokio::test]
async fn a_server_that_accepts_and_is_silent_is_given_up() {
    let server = serve(hold).await;
    assert_eq!(fault(fetch(&server).await), Failure::Timeout("waiting for the answer"));
}

#[tokio::test]
async fn a_flood_of_interim_answers_is_given_up() {
    let server =
        serve(|mut connection: Connection| async move { connection.repeat(b"HTTP/1.1 100 Continue\r\n\r\n").await }).await;
    assert!(matches!(fault(fetch(&server).await), Failure::Timeout(_) | Failure::Protocol(_)));
}

#[tokio::test]
async fn bombs_of_every_encoding_are_defused() {
    let zeros = vec![0; 64 * 1024 * 1024];
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all(&zeros).unwrap();
    let mut deflate = flate2::write::ZlibEncoder::new(Vec::new(), Compression::best());
    deflate.write_all(&zeros).unwrap();
    let mut brotli = Vec::new();
    brotli::CompressorWriter::new(&mut brotli, 4_096, 5, 22).write_all(&zeros).unwrap();
    let bombs = [
        ("gzip", gzip.finish().unwrap()),
        ("deflate", deflate.finish().unwrap()),
        ("br", brotli),
        ("zstd", zstd::encode_all(zeros.as_slice(), 3).unwrap()),
    ];
    for (name, bomb) in bombs {
        let server = serve_bytes(with_body(&format!("Content-Encoding: {name}\r\n"), &bomb)).await;
        let config = FetchConfig { body_limit: 8 * 1024 * 1024, ..config(&server) };
        let fetched = get(&HttpFetcher::new(&config).unwrap(), "http://hostile.test/").await;
        assert_eq!(fault(fetched), Failure::Bomb, "{name}");
    }
}

#[tokio::test]
async fn a_body_shorter_than_announced_is_kept_as_cut() {
    let answer = answer_of(format!("{OK}Content-Length: 500\r\n\r\nonly this")).await;
    assert_eq!((answer.body.as_slice(), answer.truncated), (b"only this".as_slice(), true));
    let answer = answer_of(format!("{OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")).await;
    assert_eq!((answer.body.as_slice(), answer.truncated), (b"hello".as_slice(), true));
    assert!(matches!(fault_of(format!("{OK}Content-Length: 500\r\n\r\n")).await, Failure::Broken(_)));
}

#[tokio::test]
async fn a_body_longer_than_announced_ends_where_it_should() {
    let answer = answer_of(format!("{OK}Content-Length: 4\r\n\r\nbodyHTTP/1.1 200 OK\r\n\r\nsmuggled")).await;
    assert_eq!((answer.body.as_slice(), answer.truncated), (b"body".as_slice(), false));
}

#[tokio::test]
async fn garbage_for_chunks_and_lengths_is_no_http() {
    for garbage in [
        "Transfer-Encoding: chunked\r\n\r\nnot a number\r\nhello",
        "Transfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\nhello",
        "Content-Length: -5\r\n\r\nhello",
        "Content-Length: 5\r\nContent-Length: 9\r\n\r\nhello",
        "Content-Length: 99999999999999999999999\r\n\r\nhello",
    ] {
        let failure = fault_of(format!("{OK}{garbage}")).await;
        assert!(matches!(failure, Failure::Protocol(_)), "{garbage:?} ended in {failure:?}");
    }
}

#[tokio::test]
async fn endless_chunk_extensions_and_trailers_are_no_http() {
    for start in ["5;ext=", "0\r\nTrailer: "] {
        let server = serve(move |mut connection: Connection| async move {
            connection.send(format!("{OK}Transfer-Encoding: chunked\r\n\r\n{start}")).await;
            connection.repeat(&[b'x'; 1_000]).await;
        })
        .await;
        let failure = fault(fetch(&server).await);
        assert!(matches!(failure, Failure::Protocol(_) | Failure::Broken(_)), "{start:?} ended in {failure:?}");
        assert!(server.sent.load(Ordering::Relaxed) < SOCKET_BUFFERS);
    }
}

#[tokio::test]
async fn what_is_not_http_says_so() {
    for bytes in [
        "<html>no head at all</html>",
        "HTTP/1.1 99999 No\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n",
        "SSH-2.0-OpenSSH_9.6\r\n",
        "\0\0\0\0\0\0\0\0",
    ] {
        let failure = fault_of(bytes).await;
        assert!(matches!(failure, Failure::Protocol(_)), "{bytes:?} ended in {failure:?}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_is_told_from_one_that_never_was() {
    let resetting = serve(|mut connection: Connection| async move {
        connection.send(format!("{OK}Content-Length: 5000\r\n\r\nsome")).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        connection.reset();
    })
    .await;
    assert!(matches!(fault(fetch(&resetting).await), Failure::Broken(_)));
    let hanging_up = serve(|_connection: Connection| async {}).await;
    assert!(matches!(fault(fetch(&hanging_up).await), Failure::Broken(_)));
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = FetchConfig { resolve_all: Some(nobody), ..FetchConfig::default() };
    let refused = get(&HttpFetcher::new(&config).unwrap(), "http://hostile.test/").await;
    assert!(matches!(fault(refused), Failure::Connect(_)));
}

#[tokio::test]
async fn headers_that_lie_about_the_encoding_do_not_cost_the_page() {
    let answer = answer_of(with_body("Content-Encoding: gzip\r\n", b"<html>not packed")).await;
    assert_eq!(answer.body, b"<html>not packed");
    assert!(matches!(fault_of(with_body("Content-Encoding: br\r\n", &[0xff; 5_000])).await, Failure::Protocol(_)));
    let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
    gzip.write_all("all the hay ".repeat(5_000).as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let answer = answer_of(with_body("Content-Encoding: gzip\r\n", &gzip[..gzip.len() - 8])).await;
    assert!(answer.truncated && answer.body.starts_with(b"all the hay"));
}

#[tokio::test]
async fn a_cookie_bomb_bounds_what_is_kept_and_what_is_sent() {
    let cookies: Vec<String> = (0..90).map(|n| format!("Set-Cookie: c{n}={}\r\n", "x".repeat(2_000))).collect();
    let server = serve_bytes(with_body(&cookies.concat(), b"page")).await;
    let fetcher = HttpFetcher::new(&FetchConfig { cookies: true, ..config(&server) }).unwrap();
    let answer = answer(get(&fetcher, "http://hostile.test/").await);
    let kept: usize = answer.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
    assert!(kept <= 64 * 1024 && answer.body == b"page");
    get(&fetcher, "http://hostile.test/again").await;
    let requests = server.requests.lock().unwrap();
    assert!(requests[1].contains("cookie: ") && requests[1].len() < 50_000, "{}", requests[1].len());
}

#[tokio::test]
async fn a_redirect_to_a_private_address_is_answered_and_then_refused() {
    let server =
        serve_bytes("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/latest/meta-data\r\nContent-Length: 0\r\n\r\n").await;
    let fetcher = HttpFetcher::new(&config(&server)).unwrap();
    let answer = answer(get(&fetcher, "http://hostile.test/").await);
    assert_eq!((answer.status, answer.header("location")), (302, Some("http://169.254.169.254/latest/meta-data")));
    let port = server.address.port();
    for url in [
        answer.header("location").unwrap().to_owned(),
        format!("http://127.0.0.1:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
    ] {
        assert!(matches!(fault(get(&fetcher, &url).await), Failure::PrivateAddress(_)), "{url}");
    }
    assert_eq!(server.requests.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn a_name_that_leads_to_a_private_address_is_refused_after_resolution() {
    let nameserver = serve_dns(&[[127, 0, 0, 1]]).await;
    let victim = serve_bytes(with_body("", b"secret")).await;
    let config = FetchConfig { nameservers: vec![nameserver], ..FetchConfig::default() };
    let fetcher = HttpFetcher::new(&config).unwrap();
    let url = format!("http://inside.example:{}/", victim.address.port());
    assert_eq!(fault(get(&fetcher, &url).await), Failure::PrivateAddress([127, 0, 0, 1].into()));
    assert!(victim.requests.lock().unwrap().is_empty());
    let allowed = HttpFetcher::new(&FetchConfig { allow_private: true, ..config }).unwrap();
    assert_eq!(answer(get(&allowed, &url).await).body, b"secret");
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_refused_or_remembered_but_never_followed_inside() {
    let nameserver = serve_dns(&[[93, 184, 215, 14], [127, 0, 0, 1]]).await;
    let config = FetchConfig { nameservers: vec![nameserver], dns_ttl_s: 3_600, ..FetchConfig::default() };
    let url = Url::parse("http://rebinding.example/").unwrap();
    let fetcher = HttpFetcher::new(&config).unwrap();
    for _ in 0..3 {
        assert_eq!(fetcher.locate(&url).await, Some([93, 184, 215, 14].into()));
    }
    assert_eq!((fetcher.dns_counts().hits, fetcher.dns_counts().misses), (2, 1));
    let forgetful = HttpFetcher::new(&FetchConfig { dns_ttl_s: 0, ..config }).unwrap();
    for _ in 0..2 {
        assert_eq!(fault(get(&forgetful, url.as_str()).await), Failure::PrivateAddress([127, 0, 0, 1].into()));
    }
}

#[tokio::test]
async fn a_good_server_beside_hostile_ones_is_unharmed() {
    let good = serve_bytes(with_body("", b"good")).await;
    let silent = serve(hold).await;
    let endless = serve(|mut connection: Connection| async move {
        connection.send(format!("{OK}\r\n")).await;
        connection.repeat(&[b'x'; 10_000]).await;
    })
    .await;
    let resolve = [("good.test", &good), ("silent.test", &silent), ("endless.test", &endless)];
    let resolve = resolve.map(|(host, server): (&str, &Server)| (host.to_owned(), server.address)).into();
    let fetcher = HttpFetcher::new(&FetchConfig { resolve, resolve_all: None, ..config(&good) }).unwrap();
    let urls: Vec<String> = (0..60).map(|n| format!("http://{}.test/{n}", ["good", "silent", "endless"][n % 3])).collect();
    let all = join_all(urls.iter().map(|url| get(&fetcher, url))).await;
    for (url, fetched) in urls.iter().zip(all) {
        match fetched.result {
            Ok(answer) if url.contains("good") => assert_eq!(answer.body, b"good"),
            Ok(answer) => assert!(url.contains("endless") && answer.truncated),
            Err(failure) => assert!(url.contains("silent"), "{url} ended in {failure:?}"),
        }
    }
}

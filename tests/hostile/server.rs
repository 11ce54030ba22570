//! Servers on loopback that say exactly what a test wants, byte by byte.

use std::{
    future::Future,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, UdpSocket},
};
use windrow::{
    fetch::{FetchConfig, Fetched, Fetcher, HttpFetcher, Request},
    url::Url,
};

/// A running server and what it has seen; it ends with the test's runtime.
#[derive(Clone)]
pub struct Server {
    pub address: SocketAddr,
    /// Heads of the requests, in the order they came.
    pub requests: Arc<Mutex<Vec<String>>>,
    /// When each request came, and for which host.
    pub log: Arc<Mutex<Vec<(Instant, String)>>>,
    /// Bytes that the other side has taken, socket buffers included.
    pub sent: Arc<AtomicUsize>,
}

/// One connection, its request read.
pub struct Connection {
    pub stream: TcpStream,
    /// The request's head.
    pub head: String,
    sent: Arc<AtomicUsize>,
}

impl Connection {
    /// The host that is asked for.
    pub fn host(&self) -> &str {
        self.head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default()
    }

    /// The path and query that are asked for.
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// Sends bytes; false once the other side has gone.
    pub async fn send(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        let is_sent = self.stream.write_all(bytes.as_ref()).await.is_ok() && self.stream.flush().await.is_ok();
        self.sent.fetch_add(bytes.as_ref().len(), Ordering::Relaxed);
        is_sent
    }

    /// Sends the same bytes until the other side goes.
    pub async fn repeat(&mut self, bytes: &[u8]) {
        while self.send(bytes).await {}
    }

    /// Sends single bytes with pauses until the other side goes.
    pub async fn drip(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if !self.send([*byte]).await {
                break;
            }
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    }

    /// Ends with a reset instead of a close.
    pub fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }
}

/// Starts a server that reads each request's head and leaves the rest to `handle`.
pub async fn serve<H, F>(handle: H) -> Server
where
    H: Fn(Connection) -> F + Send + Sync + 'static,
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server =
        Server { address: listener.local_addr().unwrap(), requests: Arc::default(), log: Arc::default(), sent: Arc::default() };
    let (seen, handle) = (server.clone(), Arc::new(handle));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let (seen, handle) = (seen.clone(), Arc::clone(&handle));
            tokio::spawn(async move {
                let head = read_head(&mut stream).await;
                let connection = Connection { stream, head: head.clone(), sent: seen.sent };
                seen.log.lock().unwrap().push((Instant::now(), connection.host().to_owned()));
                seen.requests.lock().unwrap().push(head);
                handle(connection).await;
            });
        }
    });
    server
}

/// Starts a server that answers every request with the same bytes and closes.
pub async fn serve_bytes(answer: impl AsRef<[u8]> + Send + Sync + 'static) -> Server {
    let answer = Arc::new(answer);
    serve(move |mut connection| {
        let answer = Arc::clone(&answer);
        async move {
            connection.send(answer.as_ref().as_ref()).await;
            let _ = connection.stream.shutdown().await;
        }
    })
    .await
}

async fn read_head(stream: &mut TcpStream) -> String {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).await.is_ok() {
        head.push(byte[0]);
    }
    String::from_utf8_lossy(&head).into_owned()
}

/// Starts a name server that answers each question for an IPv4 address with the next of `answers`, the last one for ever.
pub async fn serve_dns(answers: &'static [[u8; 4]]) -> SocketAddr {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut packet, mut asked) = ([0; 512], 0);
        while let Ok((length, from)) = socket.recv_from(&mut packet).await {
            // The question follows 12 bytes of header: labels, a zero, two bytes of type, two of class.
            let question_end = 12 + packet[12..length].iter().position(|&byte| byte == 0).unwrap() + 5;
            let is_ipv4 = packet[question_end - 3] == 1;
            let mut answer = packet[..question_end].to_vec();
            answer[2..12].copy_from_slice(&[0x81, 0x80, 0, 1, 0, u8::from(is_ipv4), 0, 0, 0, 0]);
            if is_ipv4 {
                // A pointer to the name, type A, class IN, no time to live, four bytes.
                answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4]);
                answer.extend(answers[asked.min(answers.len() - 1)]);
                asked += 1;
            }
            let _ = socket.send_to(&answer, from).await;
        }
    });
    address
}

/// Limits that a test can wait for, and every host at one server.
pub fn config(server: &Server) -> FetchConfig {
    FetchConfig {
        connect_timeout_ms: 5_000,
        header_timeout_ms: 1_500,
        total_timeout_ms: 20_000,
        min_bytes_per_second: 1_000,
        slow_window_ms: 400,
        body_limit: 100_000,
        resolve_all: Some(server.address),
        ..FetchConfig::default()
    }
}

pub async fn get(fetcher: &HttpFetcher, url: &str) -> Fetched {
    fetcher.fetch(Request::get(Url::parse(url).unwrap())).await
}

/// Fetches from a server under the limits of [`config`]. A fetch that does not end fails the test.
pub async fn fetch(server: &Server) -> Fetched {
    let fetcher = HttpFetcher::new(&config(server)).unwrap();
    let ended = tokio::time::timeout(Duration::from_mins(1), get(&fetcher, "http://hostile.test/page")).await;
    ended.expect("the fetch ends by itself")
}

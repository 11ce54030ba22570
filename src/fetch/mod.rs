//! Fetching: one request, one answer.
//!
//! Promises: whatever a server does ends in a [`Fetched`], with bounded time
//! and memory; redirects are answers, not followed (their targets go through
//! frontier, robots and pace like any other URL).
//! Never: decides whether or when a URL may be asked (`politeness`), reads a
//! document (`parse`).

mod decode;
mod dns;
mod guard;
mod http;
mod members;
mod replay;
pub mod warc;

use std::{net::IpAddr, time::Duration};

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

pub use dns::DnsCounts;
pub use http::{BasicAuth, FetchConfig, FetchError, HttpFetcher};
pub use replay::{ReplayError, ReplayFetcher};

use crate::{page::Timestamp, url::Url};

/// Decoded bytes of a body that are kept where nobody says otherwise: 8 MiB.
const DEFAULT_BODY_LIMIT: usize = 8 * 1024 * 1024;

/// Longest validator that is kept, in bytes.
const MAX_VALIDATOR: usize = 256;

/// What is asked of a server.
#[derive(Debug, Clone)]
pub struct Request {
    pub url: Url,
    /// Those of an earlier answer, for a conditional GET.
    pub validators: Validators,
    /// Bytes of the decoded body to read at most; 0 takes the fetcher's own limit.
    pub body_limit: usize,
}

impl Request {
    /// A plain GET.
    #[must_use]
    pub fn get(url: Url) -> Self {
        Self { url, validators: Validators::default(), body_limit: 0 }
    }
}

/// A request as it was sent, for the archive; credentials, cookies and headers of the user's own are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentRequest {
    /// Path and query.
    pub target: String,
    pub headers: Vec<(String, String)>,
}

/// What a server gives to ask again with: it answers 304 while nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Validators {
    /// `ETag`, sent back as `If-None-Match`.
    pub etag: Option<String>,
    /// `Last-Modified`, sent back as `If-Modified-Since`.
    pub last_modified: Option<String>,
}

/// How a fetch ended, and what it took.
#[derive(Debug, Clone)]
pub struct Fetched {
    /// From sending the request to the last byte; virtual in a replay.
    pub elapsed: Duration,
    /// The server's address, where one was reached.
    pub address: Option<IpAddr>,
    pub result: Result<Response, Failure>,
}

/// A server's answer.
#[derive(Debug, Clone)]
pub struct Response {
    pub status: u16,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    /// Transfer and content encodings undone.
    pub body: Vec<u8>,
    /// The body was longer than the limit and was cut there.
    pub truncated: bool,
}

impl Response {
    /// The first header of a name given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// What to ask for the same URL with, the next time; overlong ones are left out.
    #[must_use]
    pub fn validators(&self) -> Validators {
        let kept = |name| self.header(name).filter(|value| value.len() <= MAX_VALIDATOR).map(str::to_owned);
        Validators { etag: kept("etag"), last_modified: kept("last-modified") }
    }
}

/// Why no answer came. Data, not an error of the crawl: it is recorded with the URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    #[error("the host name does not resolve: {0}")]
    Dns(String),
    #[error("the address {0} is private, loopback or link-local; allow it with fetch.allow_private")]
    PrivateAddress(IpAddr),
    #[error("no connection: {0}")]
    Connect(String),
    #[error("TLS failed: {0}")]
    Tls(String),
    #[error("timed out while {0}")]
    Timeout(&'static str),
    #[error("the connection broke: {0}")]
    Broken(String),
    #[error("the answer is not HTTP that can be read: {0}")]
    Protocol(String),
    #[error("the body unpacks to far more than it weighs")]
    Bomb,
    #[error("not in the recorded web")]
    NotRecorded,
}

impl Failure {
    /// Whether asking again later may help.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Dns(_) | Self::Connect(_) | Self::Timeout(_) | Self::Broken(_))
    }
}

/// The web, live or recorded.
pub trait Fetcher: Send + Sync + 'static {
    /// Asks for one URL. Never fails as a call: what goes wrong is in [`Fetched::result`].
    fn fetch(&self, request: Request) -> BoxFuture<'_, Fetched>;

    /// Whether a URL can lead anywhere. The live web says yes; a closed recorded web only to what it holds.
    fn holds(&self, _url: &Url) -> bool {
        true
    }

    /// The address of the server that a request would go to, so that the pace can be kept per server before the
    /// first request; `None` where it is not known without asking.
    fn locate<'a>(&'a self, _url: &'a Url) -> BoxFuture<'a, Option<IpAddr>> {
        Box::pin(std::future::ready(None))
    }

    /// What [`fetch`](Self::fetch) sends for a request; `None` where nothing is sent.
    fn sent(&self, _request: &Request) -> Option<SentRequest> {
        None
    }

    /// How names were looked up so far; `None` where none are.
    fn dns(&self) -> Option<DnsCounts> {
        None
    }

    /// For a recorded web, when its recording began. Time is virtual then: answers come at once and say how long they
    /// took.
    fn recorded_at(&self) -> Option<Timestamp> {
        None
    }
}

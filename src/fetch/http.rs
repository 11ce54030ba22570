//! The live web over HTTP.
//!
//! Promises: an answer or a [`Failure`] within the configured time and memory,
//! whatever the server does; no redirect is followed, no private address is
//! connected to, no environment variable changes where requests go.
//! Never: retries, caches pages, decides when to ask.

mod config;
mod cookies;
mod failure;
mod idle;
mod speed;

use std::{
    collections::BTreeMap,
    fs,
    net::IpAddr,
    path::PathBuf,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_util::future::{BoxFuture, FutureExt};
use reqwest::{
    Certificate, Client, ClientBuilder, Proxy,
    header::{
        ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LOCATION,
    },
    redirect,
};
use tokio::time::{Instant, timeout, timeout_at};

pub use self::config::{BasicAuth, FetchConfig};
use self::{
    cookies::BoundedJar,
    failure::{Stage, failure, is_early_end},
    idle::Idle,
    speed::SpeedGuard,
};
use super::{
    Failure, Fetched, Fetcher, Request, Response, SentRequest,
    decode::{BodyDecoder, Limits},
    dns::{Dns, DnsCounts},
    guard,
};
use crate::url::{Url, authority, escape_bytes};

/// Most bytes of response headers that are kept; later ones are dropped.
const MAX_HEADER_BYTES: usize = 64 * 1024;

/// Most headers of one answer; more is no HTTP that is worth reading.
const MAX_HEADERS: usize = 512;

const ACCEPTED: &str = "text/html,application/xhtml+xml;q=0.9,*/*;q=0.5";
const ENCODINGS: &str = "gzip, br, zstd, deflate";

/// Headers of a request that may be archived; others may be a user's secrets.
const ARCHIVED_HEADERS: [&str; 4] = ["accept", "accept-language", "if-none-match", "if-modified-since"];

/// Why a fetcher cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    #[error("fetch.user_agent or fetch.contact: {0:?} has characters that no header may have; use plain ASCII")]
    Agent(String),
    #[error(
        "fetch.user_agent: {0:?} does not start with a name that robots.txt can call; letters, `-` and `_`, as in windrow/0.1"
    )]
    AgentName(String),
    #[error("fetch.headers.\"{host}\": {name:?} is not a header with a value that can be sent")]
    Header { host: String, name: String },
    #[error("fetch.proxy: {url:?} is not a proxy ({source}); give http://host:port or socks5://host:port")]
    Proxy { url: String, source: reqwest::Error },
    #[error("fetch.ca_file: {}: {reason}; give a PEM file with certificates", path.display())]
    CaFile { path: PathBuf, reason: String },
    #[error("fetch.total_timeout_ms, header_timeout_ms, connect_timeout_ms, slow_window_ms and body_limit must be above 0")]
    Zero,
    #[error("the HTTP client cannot be set up: {0}")]
    Client(#[source] reqwest::Error),
}

/// Fetches over HTTP/1.1 and HTTP/2, with TLS.
pub struct HttpFetcher {
    client: Client,
    /// Closes its connections after each answer; made when it is first needed, since a client reads all CA certificates.
    hasty: OnceLock<Client>,
    idle: Idle,
    jar: Option<Arc<BoundedJar>>,
    dns: Dns,
    config: FetchConfig,
    headers: BTreeMap<String, HeaderMap>,
}

impl HttpFetcher {
    /// Sets up client, resolver and limits; connects to nothing.
    ///
    /// # Errors
    /// [`FetchError`] names the key of the configuration that cannot be used.
    pub fn new(config: &FetchConfig) -> Result<Self, FetchError> {
        let times = [config.total_timeout_ms, config.header_timeout_ms, config.connect_timeout_ms, config.slow_window_ms];
        if times.contains(&0) || config.body_limit == 0 {
            return Err(FetchError::Zero);
        }
        if config.robots_agent().is_empty() {
            return Err(FetchError::AgentName(config.user_agent.clone()));
        }
        // An error says that a provider was installed before, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let proxy_host = config.proxy.as_deref().and_then(|url| Url::parse(url).ok()?.host_str().map(str::to_owned));
        let dns = Dns::new(config, proxy_host);
        let jar = config.cookies.then(Arc::<BoundedJar>::default);
        Ok(Self {
            client: client(config, config.pool_max_idle_per_host, &dns, jar.as_ref())?,
            hasty: OnceLock::new(),
            jar,
            idle: Idle::new(config.pool_max_idle_hosts, Duration::from_millis(config.pool_idle_timeout_ms)),
            headers: headers_by_host(config)?,
            dns,
            config: config.clone(),
        })
    }

    /// How the DNS cache did so far.
    pub fn dns_counts(&self) -> DnsCounts {
        self.dns.counts()
    }

    async fn exchange(&self, request: &Request, address: &mut Option<IpAddr>) -> Result<Response, Failure> {
        if let Some(private) = guard::private_literal(&request.url).filter(|_| !self.is_allowed(&request.url)) {
            return Err(Failure::PrivateAddress(private));
        }
        let may_wait = self.idle.may_wait(&authority(&request.url), Instant::now());
        let sent = self.request(if may_wait { &self.client } else { self.hasty() }, request).send();
        let headers_due = Duration::from_millis(self.config.header_timeout_ms);
        let answer = timeout(headers_due, sent).await.map_err(|_| Failure::Timeout("waiting for the answer"))?;
        let answer = answer.map_err(|error| failure(&error, Stage::Headers))?;
        if self.config.proxy.is_none() {
            *address = answer.remote_addr().map(|remote| remote.ip());
        }
        let body_limit = if request.body_limit == 0 { self.config.body_limit } else { request.body_limit };
        self.read(answer, body_limit).await
    }

    fn hasty(&self) -> &Client {
        // What made the first client makes the second.
        self.hasty.get_or_init(|| client(&self.config, 0, &self.dns, self.jar.as_ref()).unwrap_or_else(|_| self.client.clone()))
    }

    /// The user's word makes private addresses of names good; literals are reached only with `allow_private`.
    fn is_allowed(&self, url: &Url) -> bool {
        let is_fixed = |host: &str| self.config.resolve_all.is_some() || self.config.resolve.contains_key(host);
        self.config.allow_private || (guard::literal(url).is_none() && url.host_str().is_some_and(is_fixed))
    }

    fn request(&self, client: &Client, request: &Request) -> reqwest::RequestBuilder {
        let mut builder = client.get(request.url.clone());
        let known = &request.validators;
        let validators = [(IF_NONE_MATCH, &known.etag), (IF_MODIFIED_SINCE, &known.last_modified)];
        for (name, value) in validators {
            // A validator is the server's own text; one that is no header is not worth a failure.
            if let Some(value) = value.as_deref().and_then(|value| HeaderValue::from_str(value).ok()) {
                builder = builder.header(name, value);
            }
        }
        let host = request.url.host_str().unwrap_or_default();
        if let Some(headers) = self.headers.get(host) {
            builder = builder.headers(headers.clone());
        }
        match self.config.basic_auth.get(host) {
            Some(auth) => builder.basic_auth(&auth.user, Some(&auth.password)),
            None => builder,
        }
    }

    async fn read(&self, mut answer: reqwest::Response, body_limit: usize) -> Result<Response, Failure> {
        let status = answer.status().as_u16();
        let headers = kept_headers(answer.headers());
        let encoding = answer.headers().get(CONTENT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut decoder = BodyDecoder::new(encoding, Limits { body: body_limit, ratio: self.config.max_ratio })?;
        let window = Duration::from_millis(self.config.slow_window_ms);
        let mut speed = SpeedGuard::new(self.config.min_bytes_per_second, window, Instant::now());
        let mut ended_early = false;
        loop {
            let chunk = match timeout_at(speed.end(), answer.chunk()).await {
                Ok(Ok(None)) => break,
                Ok(Ok(chunk)) => chunk,
                Ok(Err(error)) if is_early_end(&error) => {
                    ended_early = true;
                    break;
                }
                Ok(Err(error)) => return Err(failure(&error, Stage::Body)),
                Err(_) => None,
            };
            let chunk = chunk.unwrap_or_default();
            if !decoder.push(&chunk)? {
                break;
            }
            if !speed.count(chunk.len(), Instant::now()) {
                return Err(Failure::Timeout("reading the body, slower than fetch.min_bytes_per_second"));
            }
        }
        let unpacked = decoder.finish()?;
        if ended_early && unpacked.body.is_empty() {
            return Err(Failure::Broken("the connection closed before the body came".to_owned()));
        }
        Ok(Response { status, headers, body: unpacked.body, truncated: unpacked.truncated || ended_early })
    }
}

impl Fetcher for HttpFetcher {
    fn fetch(&self, request: Request) -> BoxFuture<'_, Fetched> {
        async move {
            let started = Instant::now();
            let mut address = None;
            let limit = Duration::from_millis(self.config.total_timeout_ms);
            let result = timeout(limit, self.exchange(&request, &mut address)).await;
            let result = result.unwrap_or(Err(Failure::Timeout("reading the body")));
            Fetched { elapsed: started.elapsed(), address, result }
        }
        .boxed()
    }

    fn dns(&self) -> Option<DnsCounts> {
        Some(self.dns_counts())
    }

    fn sent(&self, request: &Request) -> Option<SentRequest> {
        let built = self.request(&self.client, request).build().ok()?;
        let url = &request.url;
        let target = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
        let always = [
            ("host", authority(url)),
            ("user-agent", self.config.agent_header()),
            ("accept", ACCEPTED.to_owned()),
            ("accept-encoding", ENCODINGS.to_owned()),
        ];
        let mut headers: Vec<(String, String)> = always.map(|(name, value)| (name.to_owned(), value)).into();
        for (name, value) in kept_headers(built.headers()) {
            if ARCHIVED_HEADERS.contains(&name.as_str()) {
                headers.retain(|(known, _)| *known != name);
                headers.push((name, value));
            }
        }
        Some(SentRequest { target, headers })
    }

    /// From the DNS cache, or a lookup that fills it; `None` behind a proxy, which sees the server instead.
    fn locate<'a>(&'a self, url: &'a Url) -> BoxFuture<'a, Option<IpAddr>> {
        async move {
            if self.config.proxy.is_some() {
                return None;
            }
            if let Some(address) = guard::literal(url) {
                return Some(address);
            }
            self.dns.addresses(url.host_str()?).await.ok()?.first().map(std::net::SocketAddr::ip)
        }
        .boxed()
    }
}

/// A client that keeps so many idle connections to a host.
fn client(config: &FetchConfig, idle: usize, dns: &Dns, jar: Option<&Arc<BoundedJar>>) -> Result<Client, FetchError> {
    let builder = || builder(config, dns, jar).map(|builder| builder.pool_max_idle_per_host(idle));
    builder()?.build().or_else(|error| without_roots(builder()?, error))
}

fn builder(config: &FetchConfig, dns: &Dns, jar: Option<&Arc<BoundedJar>>) -> Result<ClientBuilder, FetchError> {
    let agent = config.agent_header();
    let agent = HeaderValue::from_str(&agent).map_err(|_| FetchError::Agent(agent))?;
    let mut always = HeaderMap::new();
    always.insert(ACCEPT, HeaderValue::from_static(ACCEPTED));
    always.insert(ACCEPT_ENCODING, HeaderValue::from_static(ENCODINGS));
    let mut builder = Client::builder()
        .user_agent(agent)
        .default_headers(always)
        .redirect(redirect::Policy::none())
        .referer(false)
        .retry(reqwest::retry::never())
        .no_proxy()
        .dns_resolver(dns.clone())
        .connect_timeout(Duration::from_millis(config.connect_timeout_ms))
        .pool_idle_timeout(Duration::from_millis(config.pool_idle_timeout_ms))
        .http1_max_headers(MAX_HEADERS)
        .http1_allow_obsolete_multiline_headers_in_responses(true)
        .http1_allow_spaces_after_header_name_in_responses(true)
        .http1_ignore_invalid_headers_in_responses(true)
        .http2_max_header_list_size(MAX_HEADER_BYTES as u32);
    if let Some(url) = &config.proxy {
        builder = builder.proxy(proxy(url)?);
    }
    if let Some(jar) = jar {
        builder = builder.cookie_provider(Arc::clone(jar));
    }
    if let Some(path) = &config.ca_file {
        let fault = |reason: String| FetchError::CaFile { path: path.clone(), reason };
        let pem = fs::read(path).map_err(|error| fault(error.to_string()))?;
        let certificates = Certificate::from_pem_bundle(&pem).map_err(|error| fault(error.to_string()))?;
        if certificates.is_empty() {
            return Err(fault("it holds no certificate".to_owned()));
        }
        builder = builder.tls_certs_merge(certificates);
    }
    Ok(builder)
}

/// A client for machines without CA certificates: http works, https fails page by page.
fn without_roots(builder: ClientBuilder, error: reqwest::Error) -> Result<Client, FetchError> {
    let client = builder.tls_certs_only([]).build().map_err(|_| FetchError::Client(error))?;
    tracing::warn!("no CA certificates on this system, so https pages will fail; install ca-certificates or set fetch.ca_file");
    Ok(client)
}

fn proxy(url: &str) -> Result<Proxy, FetchError> {
    Proxy::all(url).map_err(|source| FetchError::Proxy { url: url.to_owned(), source })
}

fn headers_by_host(config: &FetchConfig) -> Result<BTreeMap<String, HeaderMap>, FetchError> {
    let mut hosts: BTreeMap<String, HeaderMap> = BTreeMap::new();
    for (host, headers) in &config.headers {
        for (name, value) in headers {
            let fault = || FetchError::Header { host: host.clone(), name: name.clone() };
            let known = HeaderName::from_bytes(name.as_bytes()).map_err(|_| fault())?;
            let value = HeaderValue::from_str(value).map_err(|_| fault())?;
            hosts.entry(host.to_ascii_lowercase()).or_default().insert(known, value);
        }
    }
    Ok(hosts)
}

fn kept_headers(headers: &HeaderMap) -> Vec<(String, String)> {
    let mut left = MAX_HEADER_BYTES;
    let mut kept = Vec::new();
    for (name, value) in headers {
        let Some(rest) = left.checked_sub(name.as_str().len() + value.len()) else { break };
        left = rest;
        let text =
            if name == LOCATION { escape_bytes(value.as_bytes()) } else { String::from_utf8_lossy(value.as_bytes()).into() };
        kept.push((name.as_str().to_owned(), text));
    }
    kept
}

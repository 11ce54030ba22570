//! Host names to addresses: asynchronous, cached, guarded.
//!
//! Promises: an answer, good or bad, is kept for its time, so that a host is
//! looked up once an hour and not once a page; an address that is not public is
//! dropped *after* resolution, and the connection goes to exactly the addresses
//! that were checked (no rebinding).
//! Never: guards address literals, which no resolver sees (`http` does).

use std::{
    collections::BTreeMap,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use hickory_resolver::{
    TokioResolver,
    config::{ConnectionConfig, LookupIpStrategy, NameServerConfig, ProtocolConfig, ResolverConfig},
    net::{NetError, runtime::TokioRuntimeProvider},
};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::{Failure, FetchConfig, guard};

/// Most hosts in the cache. A full one starts anew: that costs lookups, never a wrong answer.
const MAX_HOSTS: usize = 50_000;

/// For one try of one name server; two tries stay within the time allowed for connecting.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(3);

/// Names that were asked for, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DnsCounts {
    /// Answered from the cache.
    pub hits: u64,
    /// Asked of a name server.
    pub misses: u64,
    /// Of those asked, without an address.
    pub failures: u64,
    /// Time that the lookups took, added up, in milliseconds.
    pub lookup_ms: u64,
}

impl DnsCounts {
    /// Both added up.
    #[must_use]
    pub fn plus(self, more: Self) -> Self {
        Self {
            hits: self.hits + more.hits,
            misses: self.misses + more.misses,
            failures: self.failures + more.failures,
            lookup_ms: self.lookup_ms + more.lookup_ms,
        }
    }
}

/// The resolver; clones share one cache.
#[derive(Clone)]
pub(super) struct Dns(Arc<Inner>);

struct Inner {
    ttl: Duration,
    negative_ttl: Duration,
    allow_private: bool,
    /// Where the user's own word replaces a lookup; not guarded.
    resolve: BTreeMap<String, SocketAddr>,
    resolve_all: Option<SocketAddr>,
    /// The proxy's host, which may well be private.
    proxy: Option<String>,
    nameservers: Vec<SocketAddr>,
    /// Made at the first lookup: it needs a running tokio.
    resolver: OnceLock<Result<TokioResolver, String>>,
    cache: Mutex<FxHashMap<String, Known>>,
    hits: AtomicU64,
    misses: AtomicU64,
    failures: AtomicU64,
    lookup_ms: AtomicU64,
}

#[derive(Clone)]
struct Known {
    until: Instant,
    answer: Result<Vec<IpAddr>, Failure>,
}

impl Dns {
    pub fn new(config: &FetchConfig, proxy: Option<String>) -> Self {
        Self(Arc::new(Inner {
            ttl: Duration::from_secs(config.dns_ttl_s),
            negative_ttl: Duration::from_secs(config.dns_negative_ttl_s),
            allow_private: config.allow_private,
            resolve: config.resolve.clone(),
            resolve_all: config.resolve_all,
            proxy,
            nameservers: config.nameservers.clone(),
            resolver: OnceLock::new(),
            cache: Mutex::default(),
            hits: AtomicU64::default(),
            misses: AtomicU64::default(),
            failures: AtomicU64::default(),
            lookup_ms: AtomicU64::default(),
        }))
    }

    pub fn counts(&self) -> DnsCounts {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        DnsCounts {
            hits: read(&self.0.hits),
            misses: read(&self.0.misses),
            failures: read(&self.0.failures),
            lookup_ms: read(&self.0.lookup_ms),
        }
    }

    /// The addresses to connect to; port 0 stands for the URL's own.
    pub async fn addresses(&self, host: &str) -> Result<Vec<SocketAddr>, Failure> {
        if let Some(&fixed) = self.0.resolve.get(host).or(self.0.resolve_all.as_ref()) {
            return Ok(vec![fixed]);
        }
        let found = self.0.cached(host).await?;
        let is_exempt = self.0.allow_private || self.0.proxy.as_deref() == Some(host);
        let allowed = found.iter().filter(|address| is_exempt || !guard::is_private(**address));
        let allowed: Vec<SocketAddr> = allowed.map(|&address| SocketAddr::new(address, 0)).collect();
        match (allowed.is_empty(), found.first()) {
            (true, Some(&private)) => Err(Failure::PrivateAddress(private)),
            _ => Ok(allowed),
        }
    }
}

impl Resolve for Dns {
    fn resolve(&self, name: Name) -> Resolving {
        let dns = self.clone();
        Box::pin(async move {
            let found = dns.addresses(name.as_str()).await?;
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

impl Inner {
    async fn cached(&self, host: &str) -> Result<Vec<IpAddr>, Failure> {
        let now = Instant::now();
        let known = self.cache.lock().unwrap_or_else(PoisonError::into_inner).get(host).cloned();
        if let Some(known) = known.filter(|known| known.until > now) {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return known.answer;
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let answer = self.look_up(host).await;
        self.lookup_ms.fetch_add(now.elapsed().as_millis() as u64, Ordering::Relaxed);
        if answer.is_err() {
            self.failures.fetch_add(1, Ordering::Relaxed);
        }
        let ttl = if answer.is_ok() { self.ttl } else { self.negative_ttl };
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if cache.len() >= MAX_HOSTS {
            cache.retain(|_, known| known.until > now);
        }
        if cache.len() >= MAX_HOSTS {
            cache.clear();
        }
        cache.insert(host.to_owned(), Known { until: now + ttl, answer: answer.clone() });
        answer
    }

    async fn look_up(&self, host: &str) -> Result<Vec<IpAddr>, Failure> {
        let made = self.resolver.get_or_init(|| resolver(&self.nameservers).map_err(|error| error.to_string()));
        let resolver = made.as_ref().map_err(|error| Failure::Dns(format!("no name server: {error}")))?;
        // A dot at the end keeps the machine's own search domains out of a crawl.
        let full = if host.contains('.') && !host.ends_with('.') { format!("{host}.") } else { host.to_owned() };
        match resolver.lookup_ip(full).await {
            Ok(found) => Ok(found.iter().collect()),
            Err(error) if error.is_nx_domain() => Err(Failure::Dns("no such name".to_owned())),
            Err(error) if error.is_no_records_found() => Err(Failure::Dns("the name has no address".to_owned())),
            Err(error) => Err(Failure::Dns(error.to_string())),
        }
        .and_then(
            |found: Vec<IpAddr>| {
                if found.is_empty() { Err(Failure::Dns("the name has no address".to_owned())) } else { Ok(found) }
            },
        )
    }
}

/// The system's resolver, or one that asks `nameservers` only.
fn resolver(nameservers: &[SocketAddr]) -> Result<TokioResolver, NetError> {
    let mut builder = if nameservers.is_empty() {
        TokioResolver::builder_tokio()?
    } else {
        let servers = nameservers.iter().map(name_server).collect();
        TokioResolver::builder_with_config(ResolverConfig::from_name_servers(servers), TokioRuntimeProvider::default())
    };
    let options = builder.options_mut();
    options.ip_strategy = LookupIpStrategy::Ipv4thenIpv6;
    options.timeout = LOOKUP_TIMEOUT;
    options.attempts = 1;
    // The cache here keeps answers for the time that is configured.
    options.cache_size = 0;
    builder.build()
}

fn name_server(address: &SocketAddr) -> NameServerConfig {
    let connection = |protocol| {
        let mut connection = ConnectionConfig::new(protocol);
        connection.port = address.port();
        connection
    };
    NameServerConfig::new(address.ip(), true, vec![connection(ProtocolConfig::Udp), connection(ProtocolConfig::Tcp)])
}

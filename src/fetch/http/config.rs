//! The `[fetch]` section.

use std::{collections::BTreeMap, fmt, net::SocketAddr, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::fetch::DEFAULT_BODY_LIMIT;

/// How the live web is asked, and what bounds an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FetchConfig {
    /// Name and version sent to servers; the part before `/` is what robots.txt groups are matched with.
    pub user_agent: String,
    /// A page or mail address where site owners learn who crawls; sent behind the user agent.
    pub contact: String,
    /// DNS, TCP and TLS together.
    pub connect_timeout_ms: u64,
    /// From sending the request to the last header, connecting included.
    pub header_timeout_ms: u64,
    /// From sending the request to the last byte.
    pub total_timeout_ms: u64,
    /// A body that comes slower over a whole `slow_window_ms` is given up.
    pub min_bytes_per_second: u64,
    pub slow_window_ms: u64,
    /// Decoded bytes of a body that are kept; the rest is cut.
    pub body_limit: usize,
    /// Decoded bytes per compressed byte above which a body of over 1 MiB is a bomb.
    pub max_ratio: u64,
    /// Connect to loopback, private and link-local addresses, too.
    pub allow_private: bool,
    /// `http://…`, `https://…`, `socks5://…` (names resolved here) or `socks5h://…` (there). Never taken from the environment.
    pub proxy: Option<String>,
    /// PEM file with certificates to trust besides the system's.
    pub ca_file: Option<PathBuf>,
    /// Headers to send, by host.
    pub headers: BTreeMap<String, BTreeMap<String, String>>,
    /// Credentials to send, by host.
    pub basic_auth: BTreeMap<String, BasicAuth>,
    /// Keep cookies while the crawl runs, and send them back.
    pub cookies: bool,
    /// How long a host's addresses are kept, whatever its records say.
    pub dns_ttl_s: u64,
    /// How long it is kept that a host has none.
    pub dns_negative_ttl_s: u64,
    /// Name servers to ask instead of the system's.
    pub nameservers: Vec<SocketAddr>,
    pub pool_idle_timeout_ms: u64,
    pub pool_max_idle_per_host: usize,
    /// Hosts whose connections stay open for a next request, at most.
    pub pool_max_idle_hosts: usize,
    /// Addresses of hosts that are not to be looked up; trusted, private or not. Port 0 stands for the URL's own.
    pub resolve: BTreeMap<String, SocketAddr>,
    /// The address of every host that has none in `resolve`: for tests and benches against one server.
    pub resolve_all: Option<SocketAddr>,
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self {
            user_agent: "windrow/0.1".to_owned(),
            contact: String::new(),
            connect_timeout_ms: 10_000,
            header_timeout_ms: 20_000,
            total_timeout_ms: 60_000,
            min_bytes_per_second: 128,
            slow_window_ms: 10_000,
            body_limit: DEFAULT_BODY_LIMIT,
            max_ratio: 200,
            allow_private: false,
            proxy: None,
            ca_file: None,
            headers: BTreeMap::new(),
            basic_auth: BTreeMap::new(),
            cookies: false,
            dns_ttl_s: 3_600,
            dns_negative_ttl_s: 300,
            nameservers: Vec::new(),
            pool_idle_timeout_ms: 8_000,
            pool_max_idle_per_host: 1,
            pool_max_idle_hosts: 256,
            resolve: BTreeMap::new(),
            resolve_all: None,
        }
    }
}

impl FetchConfig {
    /// The `User-Agent` header: `windrow/0.1 (+contact)`.
    pub fn agent_header(&self) -> String {
        if self.contact.is_empty() { self.user_agent.clone() } else { format!("{} (+{})", self.user_agent, self.contact) }
    }

    /// The product token that robots.txt groups are matched with (RFC 9309, 2.2.1): letters, `_` and `-`.
    pub fn robots_agent(&self) -> &str {
        let end = self.user_agent.find(|c: char| !c.is_ascii_alphabetic() && c != '_' && c != '-');
        &self.user_agent[..end.unwrap_or(self.user_agent.len())]
    }
}

/// A name and a password for HTTP basic authentication.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BasicAuth {
    pub user: String,
    pub password: String,
}

impl fmt::Debug for BasicAuth {
    /// Without the password, which has no place in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasicAuth").field("user", &self.user).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agent_names_a_contact_and_a_product_token() {
        let config = FetchConfig { contact: "https://example.com/bot".to_owned(), ..FetchConfig::default() };
        assert_eq!(config.agent_header(), "windrow/0.1 (+https://example.com/bot)");
        assert_eq!(config.robots_agent(), "windrow");
        assert_eq!(FetchConfig::default().agent_header(), "windrow/0.1");
    }

    #[test]
    fn unknown_keys_are_refused_and_missing_ones_have_defaults() {
        let config: FetchConfig =
            toml::from_str("body_limit = 1000\n[basic_auth.\"e.com\"]\nuser = \"u\"\npassword = \"secret\"").unwrap();
        assert_eq!((config.body_limit, config.connect_timeout_ms), (1_000, 10_000));
        assert!(!format!("{config:?}").contains("secret"));
        assert!(toml::from_str::<FetchConfig>("body_limits = 1").is_err());
    }
}

//! The `[politeness]` section.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How servers are treated. The defaults are polite: one request at a time to a host, a second apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PaceConfig {
    /// Obey robots.txt (RFC 9309). Switch it off only for hosts of your own.
    pub obey_robots: bool,
    /// Wait as long as `Crawl-delay` asks, up to `max_crawl_delay_ms`.
    pub obey_crawl_delay: bool,
    pub max_crawl_delay_ms: u64,
    /// Least time between the end of one request to a host and the start of the next.
    pub delay_ms: u64,
    /// A host that took t to answer is left alone for at least this times t, up to `max_delay_ms`.
    pub response_factor: f64,
    /// Longest delay that slow answers and past overload lead to.
    pub max_delay_ms: u64,
    /// Requests under way to one host at once.
    pub per_host_connections: u32,
    /// Least time between the starts of two requests to one server address, whatever the hosts.
    pub address_delay_ms: u64,
    /// Requests under way to one server address at once.
    pub per_address_connections: u32,
    /// Bytes per second over the whole crawl, at most; 0 sets no ceiling.
    pub max_bytes_per_second: u64,
    /// The first requests to a new host wait longer: how many, and by what factor.
    pub slow_start_requests: u64,
    pub slow_start_factor: f64,
    /// Time out for a host that says 429 or 503 without `Retry-After`, or fails three times in a row; doubled each time.
    pub backoff_ms: u64,
    /// Longest time out, `Retry-After` included.
    pub max_backoff_ms: u64,
    /// After this time without trouble all is forgiven; before, each success takes one doubling back.
    pub forgive_after_ms: u64,
}

impl Default for PaceConfig {
    fn default() -> Self {
        Self {
            obey_robots: true,
            obey_crawl_delay: true,
            max_crawl_delay_ms: 30_000,
            delay_ms: 1_000,
            response_factor: 2.0,
            max_delay_ms: 60_000,
            per_host_connections: 1,
            address_delay_ms: 250,
            per_address_connections: 4,
            max_bytes_per_second: 0,
            slow_start_requests: 3,
            slow_start_factor: 2.0,
            backoff_ms: 60_000,
            max_backoff_ms: 24 * 60 * 60 * 1_000,
            forgive_after_ms: 30 * 60 * 1_000,
        }
    }
}

impl PaceConfig {
    /// What is wrong with the values, naming the key and the way out.
    ///
    /// # Errors
    /// One sentence for the first key that cannot be obeyed.
    pub fn check(&self) -> Result<(), PaceConfigError> {
        let fails = |key, what| Err(PaceConfigError { key, what });
        if !self.response_factor.is_finite() || self.response_factor < 0.0 {
            return fails("response_factor", "0 or a positive number");
        }
        if !self.slow_start_factor.is_finite() || self.slow_start_factor < 1.0 {
            return fails("slow_start_factor", "1 or more");
        }
        if self.per_host_connections == 0 {
            return fails("per_host_connections", "1 or more");
        }
        if self.per_address_connections == 0 {
            return fails("per_address_connections", "1 or more");
        }
        Ok(())
    }

    pub(super) fn crawl_delay(&self, asked: Option<Duration>) -> Duration {
        let most = Duration::from_millis(self.max_crawl_delay_ms);
        asked.filter(|_| self.obey_crawl_delay).map_or(Duration::ZERO, |asked| asked.min(most))
    }
}

/// A value of `[politeness]` that cannot be obeyed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("politeness.{key} must be {what}")]
pub struct PaceConfigError {
    key: &'static str,
    what: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_obeyed_is_named() {
        assert_eq!(PaceConfig::default().check(), Ok(()));
        for (text, key) in [
            ("response_factor = -1.0", "response_factor"),
            ("response_factor = nan", "response_factor"),
            ("slow_start_factor = 0.5", "slow_start_factor"),
            ("per_host_connections = 0", "per_host_connections"),
            ("per_address_connections = 0", "per_address_connections"),
        ] {
            let config: PaceConfig = toml::from_str(text).unwrap();
            assert!(config.check().unwrap_err().to_string().contains(key), "{text}");
        }
        assert!(toml::from_str::<PaceConfig>("delay = 1").is_err());
    }
}

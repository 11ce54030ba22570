//! Which hosts' connections stay open for a next request: a crawl of ten thousand hosts must not hold as many sockets.
//!
//! Promises: no more hosts than are allowed have a connection that waits.
//! Never: opens or closes one; the client that a request is sent by does.

use std::{sync::Mutex, time::Duration};

use rustc_hash::FxHashMap;
use tokio::time::Instant;

/// The hosts whose connections may wait, and since when.
pub(super) struct Idle {
    hosts: Mutex<FxHashMap<String, Instant>>,
    most: usize,
    /// A connection that waited so long is closed.
    timeout: Duration,
}

impl Idle {
    pub(super) fn new(most: usize, timeout: Duration) -> Self {
        Self { hosts: Mutex::default(), most, timeout }
    }

    /// Whether the connection of a host that is asked now may stay open afterwards.
    pub(super) fn may_wait(&self, host: &str, now: Instant) -> bool {
        let Ok(mut hosts) = self.hosts.lock() else { return false };
        if let Some(since) = hosts.get_mut(host) {
            *since = now;
            return true;
        }
        if hosts.len() >= self.most {
            hosts.retain(|_, since| now.saturating_duration_since(*since) < self.timeout);
        }
        let has_room = hosts.len() < self.most;
        if has_room {
            hosts.insert(host.to_owned(), now);
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_hosts_wait_than_may_until_one_has_waited_too_long() {
        let idle = Idle::new(2, Duration::from_secs(8));
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        assert!(idle.may_wait("a", at(0)) && idle.may_wait("b", at(1)) && !idle.may_wait("c", at(2)));
        assert!(idle.may_wait("a", at(7)) && !idle.may_wait("c", at(8)));
        assert!(idle.may_wait("c", at(9)) && !idle.may_wait("b", at(9)));
        assert!(!Idle::new(0, Duration::ZERO).may_wait("a", at(0)));
    }
}

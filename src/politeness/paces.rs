//! The paces of all hosts, and of the server addresses behind them.
//!
//! Promises: what is ready for its host is ready for its address, too: hosts
//! that share a server share its patience.
//! Never: decides which of the ready hosts is asked (`frontier`).

use std::{net::IpAddr, time::Duration};

use rustc_hash::FxHashMap;

use super::{
    PaceConfig,
    pace::{Ledger, Pace, Reply},
};
use crate::page::Timestamp;

/// Addresses remembered before those at rest are dropped.
const MAX_ADDRESSES: usize = 10_000;

/// Every host that is being crawled, named by [`authority`](crate::url::authority).
///
/// Grows with the hosts until they are [forgotten](Self::forget); addresses at rest are dropped.
#[derive(Debug, Default)]
pub struct Paces {
    config: PaceConfig,
    hosts: FxHashMap<String, Pace>,
    addresses: FxHashMap<IpAddr, AddressPace>,
}

#[derive(Debug, Default)]
struct AddressPace {
    next_ready: Timestamp,
    under_way: u32,
}

impl Paces {
    #[must_use]
    pub fn new(config: PaceConfig) -> Self {
        Self { config, ..Self::default() }
    }

    /// Goes on with a host from what was remembered of it.
    pub fn restore(&mut self, host: &str, pace: Pace) {
        self.hosts.insert(host.to_owned(), pace);
    }

    /// Lets go of a host; its pace is what [`restore`](Self::restore) takes.
    pub fn forget(&mut self, host: &str) -> Option<Pace> {
        self.hosts.remove(host)
    }

    /// From when on a host may be asked; `None` while as many requests to it, or to its address, are under way as may be.
    pub fn ready_at(&self, host: &str, address: Option<IpAddr>) -> Option<Timestamp> {
        let host = self.hosts.get(host).map_or(Some(Timestamp::default()), |pace| pace.ready_at(&self.config))?;
        let Some(server) = address.and_then(|address| self.addresses.get(&address)) else { return Some(host) };
        (server.under_way < self.config.per_address_connections).then(|| host.max(server.next_ready))
    }

    /// A request starts; `address` is where it will go, if that is known.
    pub fn on_request(&mut self, host: &str, address: Option<IpAddr>, now: Timestamp) {
        self.hosts.entry(host.to_owned()).or_default().on_request(now, &self.config);
        let Some(address) = address else { return };
        if self.addresses.len() >= MAX_ADDRESSES {
            self.addresses.retain(|_, server| server.under_way > 0 || server.next_ready > now);
        }
        let server = self.addresses.entry(address).or_default();
        server.under_way += 1;
        server.next_ready = server.next_ready.max(now + Duration::from_millis(self.config.address_delay_ms));
    }

    /// A request ends; `address` is what [`on_request`](Self::on_request) was told. `random` is drawn from 0..1, for jitter.
    pub fn on_response(&mut self, host: &str, address: Option<IpAddr>, now: Timestamp, reply: &Reply, random: f64) {
        if let Some(pace) = self.hosts.get_mut(host) {
            pace.on_response(now, reply, random, &self.config);
        }
        if let Some(server) = address.and_then(|address| self.addresses.get_mut(&address)) {
            server.under_way = server.under_way.saturating_sub(1);
        }
    }

    /// Takes note of what a host's robots.txt asks for.
    pub fn on_robots(&mut self, host: &str, status: u16, crawl_delay: Option<Duration>) {
        self.hosts.entry(host.to_owned()).or_default().on_robots(status, crawl_delay, &self.config);
    }

    /// What is remembered of a host.
    pub fn ledger(&self, host: &str) -> Option<&Ledger> {
        self.hosts.get(host).map(Pace::ledger)
    }
}

#[cfg(test)]
mod tests {
    use std::{cmp::Reverse, collections::BinaryHeap};

    use super::*;

    const PAGES: usize = 1_000;
    const HOSTS: usize = 50;
    const ADDRESSES: usize = 20;

    /// What a server's log would say of one request.
    #[derive(Debug, Clone, Copy)]
    struct Visit {
        host: usize,
        start: u64,
        end: u64,
        reply: Reply,
    }

    fn name(host: usize) -> String {
        format!("host{host}.test")
    }

    fn address(host: usize) -> Option<IpAddr> {
        // The last ten hosts' servers are not known.
        (host < 40).then(|| IpAddr::from([10, 0, 0, (host % ADDRESSES) as u8]))
    }

    fn crawl_delay(host: usize) -> Option<Duration> {
        host.is_multiple_of(7).then(|| Duration::from_secs(host as u64))
    }

    fn random_reply(random: &mut fastrand::Rng) -> Reply {
        let status = *random.choice(&[200, 200, 200, 200, 200, 200, 404, 301, 429, 503, 500, 0]).unwrap();
        let retry_after = (matches!(status, 429 | 503) && random.bool()).then(|| Duration::from_secs(random.u64(0..200)));
        Reply { elapsed: Duration::from_millis(random.u64(1..4_000)), status, retry_after, bytes: 1 }
    }

    /// Crawls as fast as the paces allow, in virtual time, and returns the log in the order of the starts.
    fn crawl(config: &PaceConfig, seed: u64) -> Vec<Visit> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut paces = Paces::new(config.clone());
        for host in 0..HOSTS {
            paces.on_robots(&name(host), 200, crawl_delay(host));
        }
        let (mut log, mut now, mut ends) = (Vec::new(), 1_000_000_u64, BinaryHeap::new());
        while log.len() < PAGES {
            let ready = (0..HOSTS).filter(|&host| paces.ready_at(&name(host), address(host)).is_some_and(|at| at.0 <= now));
            let ready: Vec<usize> = ready.collect();
            if let Some(&host) = random.choice(&ready) {
                paces.on_request(&name(host), address(host), Timestamp(now));
                let reply = random_reply(&mut random);
                let visit = Visit { host, start: now, end: now + reply.elapsed.as_millis() as u64, reply };
                ends.push(Reverse((visit.end, log.len())));
                log.push(visit);
                continue;
            }
            // Nothing may start: on to the next end, or the next time at which something may.
            let waits = (0..HOSTS).filter_map(|host| paces.ready_at(&name(host), address(host)));
            let next_ready = waits.map(|at| at.0).filter(|&at| at > now).min().unwrap_or(u64::MAX);
            now = next_ready.min(ends.peek().map_or(u64::MAX, |Reverse((end, _))| *end)).max(now);
            while ends.peek().is_some_and(|Reverse((end, _))| *end <= now) {
                let Some(Reverse((_, at))) = ends.pop() else { break };
                let Visit { host, reply, .. } = log[at];
                paces.on_response(&name(host), address(host), Timestamp(now), &reply, random.f64());
            }
        }
        log
    }

    /// The least pause that a visit asks for, reckoned without the code that is tested.
    fn least_pause(config: &PaceConfig, visit: &Visit, nth: usize) -> u64 {
        let elapsed = visit.reply.elapsed.as_millis() as u64;
        let asked = crawl_delay(visit.host).map_or(0, |delay| delay.as_millis() as u64).min(config.max_crawl_delay_ms);
        let base = config.delay_ms.max(asked) * if nth < 3 { 2 } else { 1 };
        let overload = match (visit.reply.status, visit.reply.retry_after) {
            (429 | 503, Some(asked)) => asked.as_millis() as u64,
            (429 | 503, None) => config.backoff_ms,
            _ => 0,
        };
        base.max((2 * elapsed).min(config.max_delay_ms)).max(overload)
    }

    #[test]
    fn no_host_is_asked_earlier_than_its_delay_ever() {
        let config = PaceConfig::default();
        for seed in 0..5 {
            let log = crawl(&config, seed);
            for host in 0..HOSTS {
                let visits: Vec<&Visit> = log.iter().filter(|visit| visit.host == host).collect();
                for (nth, pair) in visits.windows(2).enumerate() {
                    let least = least_pause(&config, pair[0], nth);
                    assert!(
                        pair[1].start >= pair[0].end + least,
                        "seed {seed}, host {host}, request {nth}: {least} ms, {pair:?}"
                    );
                }
            }
            assert!((0..HOSTS).all(|host| log.iter().any(|visit| visit.host == host)), "every host had its turn");
        }
    }

    #[test]
    fn no_address_is_asked_earlier_than_its_delay_ever() {
        let config = PaceConfig { address_delay_ms: 700, per_address_connections: 2, ..PaceConfig::default() };
        for seed in 0..5 {
            let log = crawl(&config, seed);
            for server in (0..ADDRESSES).map(address) {
                let visits: Vec<&Visit> = log.iter().filter(|visit| address(visit.host) == server).collect();
                for pair in visits.windows(2) {
                    assert!(pair[1].start >= pair[0].start + 700, "seed {seed}: {pair:?}");
                }
                for visit in &visits {
                    let at_once = visits.iter().filter(|other| other.start <= visit.start && visit.start < other.end).count();
                    assert!(at_once <= 2, "seed {seed}: {at_once} requests under way at {visit:?}");
                }
            }
        }
    }

    #[test]
    fn a_host_that_was_let_go_is_taken_up_where_it_was() {
        let mut paces = Paces::new(PaceConfig::default());
        paces.on_request("a", None, Timestamp(1_000));
        assert_eq!(paces.ready_at("a", None), None);
        let reply =
            Reply { elapsed: Duration::from_millis(10), status: 429, retry_after: Some(Duration::from_secs(99)), bytes: 0 };
        paces.on_response("a", None, Timestamp(1_010), &reply, 0.0);
        let pace = paces.forget("a").unwrap();
        assert_eq!(paces.ready_at("a", None), Some(Timestamp(0)));
        paces.restore("a", pace);
        assert_eq!(paces.ready_at("a", None), Some(Timestamp(1_010 + 99_000)));
        assert_eq!(paces.ledger("a").map(|known| known.throttled), Some(1));
    }
}

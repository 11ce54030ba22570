//! When one host may be asked again.
//!
//! Promises: pure state over the times that are handed in; the next request
//! starts no earlier than the longest of the configured delay, the crawl-delay,
//! a multiple of the last response time, and what an overloaded server asks
//! for. Whoever causes trouble is left alone longer each time, and forgiven.
//! Never: reads a clock or draws a random number.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::PaceConfig;
use crate::page::Timestamp;

/// Failures in a row that count as trouble.
const FAILURES_IN_A_ROW: u32 = 3;

/// Doublings beyond which nothing grows any more.
const MAX_STRIKES: u32 = 20;

/// What is remembered of the treatment of one host; for reports, and to go on after a restart.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Ledger {
    pub requests: u64,
    /// Requests without an answer, and answers of 5xx.
    pub failures: u64,
    /// Answers of 429 and 503.
    pub throttled: u64,
    pub bytes: u64,
    /// Not to be asked before this time.
    pub next_ready: Timestamp,
    /// The delay in force.
    pub delay_ms: u64,
    /// The delay that robots.txt asks for.
    pub crawl_delay_ms: Option<u64>,
    pub last_elapsed_ms: u64,
    /// The shortest time that was left between two requests, from the end of one to the start of the next.
    pub shortest_pause_ms: Option<u64>,
    /// Status of the last fetch of robots.txt, 0 where no answer came.
    pub robots_status: Option<u16>,
    /// Doublings of the time out that are not forgiven yet.
    pub strikes: u32,
    /// When the last time out ends or ended.
    pub trouble_until: Timestamp,
}

/// How a request ended, as far as pace goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    pub elapsed: Duration,
    /// 0 where no answer came.
    pub status: u16,
    /// What `Retry-After` asked for, by [`retry_after`](super::retry_after).
    pub retry_after: Option<Duration>,
    pub bytes: u64,
}

/// The pace of one host.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Pace {
    ledger: Ledger,
    under_way: u32,
    failures_in_a_row: u32,
    last_end: Option<Timestamp>,
}

impl Pace {
    /// Goes on from what was remembered, with nothing under way.
    #[must_use]
    pub fn resume(ledger: Ledger) -> Self {
        Self { ledger, ..Self::default() }
    }

    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Takes note of what robots.txt asks for; a delay counts from the end of the request that brought it.
    pub fn on_robots(&mut self, status: u16, crawl_delay: Option<Duration>, config: &PaceConfig) {
        self.ledger.robots_status = Some(status);
        self.ledger.crawl_delay_ms = crawl_delay.map(millis);
        if let Some(end) = self.last_end {
            self.pause(end, config);
        }
    }

    /// From when on the next request may start; `None` while as many are under way as may be.
    pub fn ready_at(&self, config: &PaceConfig) -> Option<Timestamp> {
        (self.under_way < config.per_host_connections).then_some(self.ledger.next_ready)
    }

    /// A request starts.
    pub fn on_request(&mut self, now: Timestamp, config: &PaceConfig) {
        self.under_way += 1;
        self.ledger.requests += 1;
        if let Some(end) = self.last_end {
            let pause = millis(now.since(end));
            self.ledger.shortest_pause_ms = Some(self.ledger.shortest_pause_ms.map_or(pause, |known| known.min(pause)));
        }
        self.pause(now, config);
    }

    /// A request ends. `random` is drawn from 0..1, for jitter.
    pub fn on_response(&mut self, now: Timestamp, reply: &Reply, random: f64, config: &PaceConfig) {
        self.under_way = self.under_way.saturating_sub(1);
        self.last_end = Some(now);
        self.ledger.last_elapsed_ms = millis(reply.elapsed);
        self.ledger.bytes += reply.bytes;
        let is_throttled = matches!(reply.status, 429 | 503);
        let is_failed = reply.status == 0 || reply.status >= 500;
        self.ledger.throttled += u64::from(is_throttled);
        self.ledger.failures += u64::from(is_failed);
        self.failures_in_a_row = if is_failed { self.failures_in_a_row + 1 } else { 0 };
        if is_throttled || self.failures_in_a_row >= FAILURES_IN_A_ROW {
            let time_out = self.time_out(reply.retry_after, random, config);
            self.ledger.strikes = (self.ledger.strikes + 1).min(MAX_STRIKES);
            self.ledger.trouble_until = now + time_out;
            self.wait_until(now + time_out);
        } else if !is_failed {
            self.ledger.strikes = self.ledger.strikes.saturating_sub(1);
        }
        self.pause(now, config);
    }

    fn wait_until(&mut self, time: Timestamp) {
        self.ledger.next_ready = self.ledger.next_ready.max(time);
    }

    /// What the server asks for, or else the configured time out, doubled for each strike, and up to half as much again.
    fn time_out(&self, asked: Option<Duration>, random: f64, config: &PaceConfig) -> Duration {
        let most = Duration::from_millis(config.max_backoff_ms);
        if let Some(asked) = asked {
            return asked.min(most);
        }
        let doubled = Duration::from_millis(config.backoff_ms.saturating_mul(1 << self.ledger.strikes.min(MAX_STRIKES)));
        times(doubled, 1.0 + random.clamp(0.0, 1.0) / 2.0).min(most)
    }

    /// Leaves the host alone for the delay in force; forgives trouble that lies back far enough.
    fn pause(&mut self, now: Timestamp, config: &PaceConfig) {
        if now.since(self.ledger.trouble_until) >= Duration::from_millis(config.forgive_after_ms) {
            self.ledger.strikes = 0;
        }
        let asked = self.ledger.crawl_delay_ms.map(Duration::from_millis);
        let mut delay = Duration::from_millis(config.delay_ms).max(config.crawl_delay(asked));
        if self.ledger.requests <= config.slow_start_requests {
            delay = times(delay, config.slow_start_factor);
        }
        let adaptive = times(Duration::from_millis(self.ledger.last_elapsed_ms), config.response_factor);
        let slowed = delay.saturating_mul(1 << self.ledger.strikes.min(MAX_STRIKES));
        let most = Duration::from_millis(config.max_delay_ms);
        delay = delay.max(adaptive.max(slowed).min(most));
        self.ledger.delay_ms = millis(delay);
        self.wait_until(now + delay);
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A multiple that neither panics nor wraps.
fn times(duration: Duration, factor: f64) -> Duration {
    Duration::try_from_secs_f64(duration.as_secs_f64() * factor.max(0.0)).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    fn reply(status: u16) -> Reply {
        Reply { elapsed: Duration::from_millis(100), status, retry_after: None, bytes: 10 }
    }

    /// A host past its slow start, and the time.
    fn settled(config: &PaceConfig) -> (Pace, Timestamp) {
        let mut pace = Pace::default();
        let mut now = Timestamp(1_000_000_000_000);
        for _ in 0..=config.slow_start_requests {
            now = exchange(&mut pace, now, &reply(200), config);
        }
        (pace, now)
    }

    /// One request at `now`; returns when the next may start.
    fn exchange(pace: &mut Pace, now: Timestamp, reply: &Reply, config: &PaceConfig) -> Timestamp {
        pace.on_request(now, config);
        pace.on_response(now + reply.elapsed, reply, 0.5, config);
        pace.ready_at(config).unwrap()
    }

    /// How long the host is left alone after a reply.
    fn pause(pace: &mut Pace, now: &mut Timestamp, reply: &Reply, config: &PaceConfig) -> Duration {
        let end = *now + reply.elapsed;
        *now = exchange(pace, *now, reply, config);
        now.since(end)
    }

    #[test]
    fn the_longest_of_all_delays_holds() {
        let config = PaceConfig::default();
        for (crawl_delay, elapsed_ms, expected_ms) in [
            (None, 100, 1_000),
            (Some(seconds(5)), 100, 5_000),
            (Some(seconds(500)), 100, 30_000),
            (None, 4_000, 8_000),
            (Some(seconds(5)), 4_000, 8_000),
            (None, 200_000, 60_000),
            (Some(seconds(0)), 0, 1_000),
        ] {
            let (mut pace, mut now) = settled(&config);
            pace.on_robots(200, crawl_delay, &config);
            let reply = Reply { elapsed: Duration::from_millis(elapsed_ms), ..reply(200) };
            let given = pause(&mut pace, &mut now, &reply, &config);
            assert_eq!(given.as_millis(), expected_ms, "{crawl_delay:?} {elapsed_ms}");
            assert_eq!(u128::from(pace.ledger().delay_ms), expected_ms);
        }
    }

    #[test]
    fn a_crawl_delay_is_ignored_only_when_the_user_says_so() {
        let config = PaceConfig { obey_crawl_delay: false, ..PaceConfig::default() };
        let (mut pace, mut now) = settled(&config);
        pace.on_robots(200, Some(seconds(20)), &config);
        assert_eq!(pause(&mut pace, &mut now, &reply(200), &config), seconds(1));
        assert_eq!(pace.ledger().crawl_delay_ms, Some(20_000));
    }

    #[test]
    fn a_crawl_delay_holds_from_the_request_that_brought_it() {
        let config = PaceConfig { slow_start_requests: 0, ..PaceConfig::default() };
        let (mut pace, now) = (Pace::default(), Timestamp(5_000));
        assert_eq!(exchange(&mut pace, now, &reply(200), &config), now + Duration::from_millis(1_100));
        pace.on_robots(200, Some(seconds(10)), &config);
        assert_eq!(pace.ready_at(&config), Some(now + Duration::from_millis(10_100)));
    }

    #[test]
    fn a_new_host_is_approached_slowly() {
        let config = PaceConfig::default();
        let (mut pace, mut now) = (Pace::default(), Timestamp(5));
        let pauses: Vec<u64> = (0..5).map(|_| pause(&mut pace, &mut now, &reply(200), &config).as_secs()).collect();
        assert_eq!(pauses, [2, 2, 2, 1, 1]);
    }

    #[test]
    fn what_an_overloaded_server_asks_for_is_given_up_to_a_cap() {
        let config = PaceConfig::default();
        for (asked, expected) in [(90, 90), (7, 7), (1_000_000, 86_400)] {
            let (mut pace, mut now) = settled(&config);
            let reply = Reply { retry_after: Some(seconds(asked)), ..reply(429) };
            assert_eq!(pause(&mut pace, &mut now, &reply, &config), seconds(expected));
        }
    }

    #[test]
    fn without_a_word_the_time_out_doubles_and_success_takes_it_back() {
        let config = PaceConfig::default();
        let (mut pace, mut now) = settled(&config);
        let mut pauses = |statuses: &[u16]| -> Vec<u64> {
            statuses.iter().map(|&status| pause(&mut pace, &mut now, &reply(status), &config).as_secs()).collect()
        };
        // A quarter on top: half of the jitter's random number.
        assert_eq!(pauses(&[429, 503, 429]), [75, 150, 300]);
        // Three doublings are taken back one by one, in the delay as well, which is counted from the start of the request.
        assert_eq!(pauses(&[200, 200, 200, 200]), [7, 3, 1, 1]);
        assert_eq!(pauses(&[429, 200, 429]), [75, 1, 75]);
        assert_eq!(pauses(&[429; 30]).last(), Some(&86_400));
        assert_eq!(pace.ledger().throttled, 35);
    }

    #[test]
    fn half_an_hour_without_trouble_forgives_all() {
        let config = PaceConfig::default();
        let (mut pace, mut now) = settled(&config);
        for _ in 0..4 {
            pause(&mut pace, &mut now, &reply(429), &config);
        }
        now = now + seconds(30 * 60);
        assert_eq!(pause(&mut pace, &mut now, &reply(200), &config), seconds(1));
        assert_eq!(pause(&mut pace, &mut now, &reply(429), &config), seconds(75));
    }

    #[test]
    fn failures_in_a_row_are_trouble_and_single_ones_are_not() {
        let config = PaceConfig::default();
        let (mut pace, mut now) = settled(&config);
        let mut pauses = |statuses: &[u16]| -> Vec<u64> {
            statuses.iter().map(|&status| pause(&mut pace, &mut now, &reply(status), &config).as_secs()).collect()
        };
        assert_eq!(pauses(&[0, 500, 200, 0, 502]), [1, 1, 1, 1, 1]);
        assert_eq!(pauses(&[500, 0]), [75, 150]);
        assert_eq!(pace.ledger().failures, 6);
    }

    #[test]
    fn no_more_requests_are_under_way_than_allowed() {
        let config = PaceConfig { per_host_connections: 2, ..PaceConfig::default() };
        let (mut pace, now) = (Pace::default(), Timestamp(1_000));
        pace.on_request(now, &config);
        assert_eq!(pace.ready_at(&config), Some(now + seconds(2)));
        pace.on_request(now + seconds(2), &config);
        assert_eq!(pace.ready_at(&config), None);
        pace.on_response(now + seconds(3), &reply(200), 0.0, &config);
        assert_eq!(pace.ready_at(&config), Some(now + seconds(5)));
    }

    #[test]
    fn the_pace_goes_on_after_a_restart() {
        let config = PaceConfig::default();
        let (mut pace, mut now) = settled(&config);
        pause(&mut pace, &mut now, &reply(429), &config);
        let written = serde_json::to_string(pace.ledger()).unwrap();
        let resumed = Pace::resume(serde_json::from_str(&written).unwrap());
        assert_eq!(resumed.ready_at(&config), Some(now));
        assert_eq!(resumed.ledger().requests, config.slow_start_requests + 2);
    }
}

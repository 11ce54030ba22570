//! Hosts: their addresses, their turns, their limits, and what their robots.txt says.

use std::time::Duration;

use super::{
    Crawl,
    host_states::KnownRobots,
    limits::Limits,
    visit::{Answer, Content, Purpose, Visit},
};
use crate::{
    fetch::{Response, Validators},
    frontier::HostId,
    page::Timestamp,
    politeness::{Ledger, MAX_ROBOTS_BYTES, Reply, Robots, retry_after, robots_text},
    store::{Capture, HostRecord, RobotsRecord},
    url::Url,
};

/// Redirects of a robots.txt that are followed (RFC 9309, 2.3.1.2).
const MAX_ROBOTS_HOPS: u8 = 5;

impl Crawl {
    /// Sends for a host's address, unless that was done: who is asked for the first time shares its server's patience
    /// from the first request on. Whether an errand was sent.
    pub(super) async fn locate(&mut self, host: HostId, url: &Url, now: Timestamp) -> bool {
        if !self.runner.is_live() || self.hosts.get(host).is_located {
            return false;
        }
        self.hosts.get_mut(host).is_located = true;
        self.run_errand(host, url.clone(), Purpose::Locate, Validators::default(), now).await;
        true
    }

    /// Takes in where a host is; it may be asked at once.
    pub(super) fn absorb_location(&mut self, visit: &Visit) {
        let host = visit.errand.host;
        self.hosts.get_mut(host).address = visit.address;
        let ready_at = self.frontier.ready_at(host);
        self.frontier.release(host, ready_at);
    }

    /// The host's next turn, from how this one went.
    pub(super) fn settle_pace(&mut self, visit: &Visit) {
        let now = self.clock.now();
        let host = visit.errand.host;
        let answer = visit.result.as_ref().ok().map(|answer| &answer.response);
        let reply = Reply {
            elapsed: visit.elapsed,
            status: answer.map_or(0, |response| response.status),
            retry_after: answer.and_then(|response| response.header("retry-after")).and_then(|value| retry_after(value, now)),
            bytes: answer.map_or(0, |response| response.body.len() as u64),
        };
        let jitter = self.random.f64();
        let name = self.frontier.host_name(host);
        self.bandwidth.spend(reply.bytes, now);
        let (paces, asked) = self.hosts.pace(host);
        paces.on_response(&name, asked, now, &reply, jitter);
        // A request that reached no server says nothing of where the server is.
        let address = visit.address.or(asked);
        let ready_at = paces.ready_at(&name, address).unwrap_or(now);
        let ledger = paces.ledger(&name).cloned().unwrap_or_default();
        let state = self.host_state(host);
        state.address = address;
        let record = &mut state.record;
        record.first_asked = record.first_asked.or(Some(visit.errand.started));
        note(record, &ledger);
        self.frontier.release(host, ready_at);
        self.close_full_host(host);
    }

    /// Takes in a robots.txt, or sends for where it has moved to.
    pub(super) fn absorb_robots(&mut self, visit: Visit, hops: u8) {
        let now = self.clock.now();
        let host = visit.errand.host;
        let mut validators = Validators::default();
        let (status, body) = match visit.result {
            Ok(Answer { content: Content::Redirect(Some(target)), .. }) if hops < MAX_ROBOTS_HOPS => {
                self.robots_hops.insert((self.frontier.ready_at(host), host, target, hops + 1));
                return;
            }
            Ok(answer) if answer.response.status == 304 && self.renew_robots(host, now) => return,
            Ok(answer) => {
                validators = answer.response.validators();
                if self.journal.wants_captures() {
                    self.pending.capture(Capture {
                        seq: 0,
                        url: visit.errand.url.to_string(),
                        fetched_at: now,
                        address: visit.address,
                        status: answer.response.status,
                        headers: answer.response.headers,
                        body: answer.response.body.clone(),
                        request: self.web.fetcher.sent(&visit.errand.request()),
                    });
                }
                let Response { status, body, truncated, .. } = answer.response;
                // Rules that broke off would allow what the rest forbids: it is asked for again.
                let is_whole = !truncated || body.len() > MAX_ROBOTS_BYTES || !(200..300).contains(&status);
                if is_whole {
                    (status, body)
                } else {
                    validators = Validators::default();
                    (0, Vec::new())
                }
            }
            Err(_) => (0, Vec::new()),
        };
        let rules = Robots::parse(status, &body, &self.plan.agent);
        let name = self.frontier.host_name(host);
        self.hosts.pace(host).0.on_robots(&name, status, rules.crawl_delay());
        let state = self.host_state(host);
        let (since, failures) = state.robots.take().map_or((None, 0), |known| (known.unreachable_since, known.failures));
        let unreachable_since = rules.is_unreachable().then(|| since.unwrap_or(now));
        let failures = if rules.is_unreachable() { failures.saturating_add(1) } else { 0 };
        let text = robots_text(&body);
        let record = RobotsRecord { status, fetched_at: now, text, unreachable_since, failures, validators };
        let known = known_robots(rules, &record, now);
        let sitemaps = known.rules.sitemaps().to_vec();
        state.record.robots = Some(record);
        state.robots = Some(known);
        self.admit_sitemaps(host, &sitemaps);
    }

    /// The server says that its robots.txt has not changed. False where none is known.
    fn renew_robots(&mut self, host: HostId, now: Timestamp) -> bool {
        let state = self.host_state(host);
        let (Some(known), Some(record)) = (&mut state.robots, &mut state.record.robots) else { return false };
        record.fetched_at = now;
        known.expires = known.rules.expires(now, 0);
        true
    }

    /// What to ask for a host's robots.txt with.
    pub(super) fn robots_validators(&mut self, host: HostId) -> Validators {
        let record = self.hosts.get(host).record.robots.as_ref();
        record.map(|record| record.validators.clone()).unwrap_or_default()
    }

    /// Stops asking a host that has given as much as it may.
    pub(super) fn close_full_host(&mut self, host: HostId) {
        let now = self.clock.now();
        if is_full(&self.plan.limits, &self.hosts.get(host).record, now) {
            self.frontier.block(host, true);
        }
    }
}

/// Whether a host has reached a limit.
pub(super) fn is_full(limits: &Limits, host: &HostRecord, now: Timestamp) -> bool {
    let minutes = host.first_asked.map_or(Duration::ZERO, |first| now.since(first)).as_secs() / 60;
    let reached = |limit: Option<u64>, value: u64| limit.is_some_and(|limit| value >= limit);
    reached(limits.max_pages_per_host, host.fetched)
        || reached(limits.max_bytes_per_host, host.bytes)
        || reached(limits.max_minutes_per_host, minutes)
}

/// The rules of a robots.txt as it was fetched, until they expire.
pub(super) fn known_robots(rules: Robots, record: &RobotsRecord, now: Timestamp) -> KnownRobots {
    let RobotsRecord { fetched_at, unreachable_since, failures, .. } = *record;
    let rules = rules.forgiven(unreachable_since.unwrap_or(now), now);
    KnownRobots { expires: rules.expires(fetched_at, failures), rules, unreachable_since, failures }
}

/// Writes into a host's record how it was treated.
fn note(record: &mut HostRecord, ledger: &Ledger) {
    record.requests = ledger.requests;
    record.failures = ledger.failures;
    record.throttled = ledger.throttled;
    record.bytes = ledger.bytes;
    record.next_ready = ledger.next_ready;
    record.delay_ms = ledger.delay_ms;
    record.crawl_delay_ms = ledger.crawl_delay_ms;
    record.last_elapsed_ms = ledger.last_elapsed_ms;
    record.shortest_pause_ms = ledger.shortest_pause_ms;
    record.strikes = ledger.strikes;
    record.trouble_until = ledger.trouble_until;
}

/// The reverse of [`note`], to go on with a host.
pub(super) fn ledger_of(record: &HostRecord) -> Ledger {
    Ledger {
        requests: record.requests,
        failures: record.failures,
        throttled: record.throttled,
        bytes: record.bytes,
        next_ready: record.next_ready,
        delay_ms: record.delay_ms,
        crawl_delay_ms: record.crawl_delay_ms,
        last_elapsed_ms: record.last_elapsed_ms,
        shortest_pause_ms: record.shortest_pause_ms,
        robots_status: record.robots.as_ref().map(|robots| robots.status),
        strikes: record.strikes,
        trouble_until: record.trouble_until,
    }
}

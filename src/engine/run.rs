//! The loop.

use std::time::Duration;

use tokio::{sync::watch, time::Instant};

use super::{
    Crawl, EngineError, MemoryReport, Progress, RefreshCounts, Stages, StopReason, remote,
    runner::Event,
    steering::BY_HAND,
    visit::{Errand, Purpose},
};
use crate::{
    fetch::Validators,
    frontier::{Gate, HostId, Link, Taken},
    page::Timestamp,
    store::{Chosen, CrawlState},
    topical_rank::NodeId,
    url::Url,
};

/// How a crawl is steered and watched from outside.
pub struct Controls {
    /// Set to true to stop cleanly.
    pub stop: watch::Receiver<bool>,
    pub progress: watch::Sender<Progress>,
}

/// How a crawl ended.
#[derive(Debug, Clone)]
pub struct Summary {
    pub stop: StopReason,
    pub state: CrawlState,
    pub model_version: u32,
    /// What judging, learning, ranking and scoring have cost: all but fetching, reading and storing.
    pub stages: Stages,
    pub memory: MemoryReport,
    /// Where the disk is full, if it is.
    pub trouble: Option<String>,
    /// What became of pages that were asked for again, where that was wanted.
    pub refreshed: Option<RefreshCounts>,
}

impl Crawl {
    /// Runs until something stops it; everything is committed when it returns.
    ///
    /// # Errors
    /// The store cannot be written for another reason than a full disk, or a page could not be processed for a defect of windrow.
    pub async fn run(self, mut controls: Controls) -> Result<Summary, EngineError> {
        // What awaits holds a pointer, not the crawl.
        let mut crawl = Box::new(self);
        let mut ended = crawl.until_stopped(&mut controls).await;
        let memory = crawl.memory_report();
        if ended.is_ok() {
            ended = crawl.journal.finish().map_err(EngineError::from).and(ended);
        }
        let (stop, trouble) = match ended {
            Ok(stop) => (stop, None),
            // What was committed is whole; the rest is fetched again once there is room.
            Err(EngineError::Store(error)) if error.is_disk_full() => (StopReason::DiskFull, Some(error.to_string())),
            Err(error) => return Err(error),
        };
        Ok(Summary {
            stop,
            state: crawl.state,
            model_version: crawl.pages.version(),
            stages: crawl.stages,
            memory,
            trouble,
            refreshed: crawl.refreshed,
        })
    }

    /// Crawls until something stops it, and commits everything.
    async fn until_stopped(&mut self, controls: &mut Controls) -> Result<StopReason, EngineError> {
        let stop = loop {
            let limit = self.limit_reached();
            let stopping = if *controls.stop.borrow() { Some(StopReason::User) } else { self.feed_refresh(limit)? };
            let pauses = self.paused_at.is_some() && stopping.is_none();
            if let Some(until) = self.throttle.until().filter(|_| stopping.is_none() && !pauses) {
                self.hold_back(until, controls).await?;
                continue;
            }
            let wake = if stopping.is_none() && !pauses { self.dispatch().await } else { None };
            if self.runner.len() == 0 {
                if let Some(reason) = stopping {
                    break reason;
                }
                if pauses {
                    self.rest(controls).await?;
                    continue;
                }
                match wake {
                    None if self.traps.release_dry() => continue,
                    None => break self.exhausted(),
                    Some(at) if self.is_too_far(at) => break self.out_of_patience(),
                    Some(_) => {}
                }
            }
            tokio::select! {
                biased;
                command = remote::next(&mut self.commands) => self.obey(command),
                event = self.runner.next(wake, &mut self.clock) => match event? {
                    Event::Visit(visit) => {
                        self.absorb(*visit)?;
                        self.throttle.count(self.state.fetched);
                        self.report(controls);
                    }
                    Event::Time => self.commit(false)?,
                },
                Ok(()) = controls.stop.changed() => {}
            }
        };
        self.state.stop = Some(stop.name().to_owned());
        self.commit(true)?;
        self.report(controls);
        Ok(stop)
    }

    /// Commits everything and does nothing until it is told to go on, or to stop.
    async fn rest(&mut self, controls: &mut Controls) -> Result<(), EngineError> {
        self.commit(true)?;
        self.report(controls);
        if self.commands.is_none() {
            // Nobody is left who could say so.
            self.paused_at = None;
            return Ok(());
        }
        tokio::select! {
            command = remote::next(&mut self.commands) => self.obey(command),
            Ok(()) = controls.stop.changed() => {}
        }
        Ok(())
    }

    /// Waits for its turn where pages per second are limited; listens meanwhile.
    async fn hold_back(&mut self, until: Instant, controls: &mut Controls) -> Result<(), EngineError> {
        tokio::select! {
            biased;
            command = remote::next(&mut self.commands) => self.obey(command),
            Ok(()) = controls.stop.changed() => {}
            () = tokio::time::sleep_until(until) => {
                self.throttle.pass();
                self.commit(false)?;
            }
        }
        Ok(())
    }

    /// Starts errands until all workers are busy; returns when there will be more to do, if that is known.
    async fn dispatch(&mut self) -> Option<Timestamp> {
        loop {
            let now = self.clock.now();
            self.wake_retries(now);
            self.release_held();
            let busy_until = self.bandwidth.busy_until(now);
            if busy_until.is_some() {
                return busy_until;
            }
            let hop = self.follow_robots(now).await;
            if self.refresh.is_some() {
                let wake = self.dispatch_again(now).await;
                return wake.into_iter().chain(hop.filter(|_| self.runner.len() == 0)).min();
            }
            let next_retry = self.retries.first().map(|&(at, _)| at).into_iter().chain(hop).min();
            if self.runner.len() >= self.plan.engine.workers || self.budget_is_spoken_for() {
                return next_retry.filter(|_| self.runner.len() == 0);
            }
            if let Some((node, host)) = self.draw_control(now) {
                self.chosen.insert(node, Chosen::Random);
                self.send(node, host, now).await;
                continue;
            }
            if let Some((node, host)) = self.draw_unlike(now) {
                self.chosen.insert(node, Chosen::Explored);
                self.send(node, host, now).await;
                continue;
            }
            match self.frontier.take(now) {
                Taken::Link(node, host) => self.send(node, host, now).await,
                Taken::Restock(host) => self.restock(host),
                Taken::Wait(at) => return Some(next_retry.map_or(at, |retry| retry.min(at))),
                Taken::Busy | Taken::Empty => return next_retry,
            }
        }
    }

    /// Sends a link's fetch off, or what must come first: for its host's address, for its robots.txt. Ends it if
    /// robots.txt forbids it, keeps it if its host is out of reach or its template is in quarantine.
    pub(super) async fn send(&mut self, node: NodeId, host: HostId, now: Timestamp) {
        let Some(url) = self.frontier.link(node).map(|link| link.url.clone()) else {
            return self.frontier.release(host, now);
        };
        if self.steering.excludes(&url) {
            self.leave(host);
            return self.exclude(node, BY_HAND.to_owned());
        }
        if self.locate(host, &url, now).await {
            return self.frontier.put_back(node);
        }
        let (paces, address) = self.hosts.pace(host);
        // Hosts that share a server share its patience.
        match paces.ready_at(&self.frontier.host_name(host), address) {
            Some(at) if at <= now => {}
            later => {
                let pause = Duration::from_millis(self.plan.pace.address_delay_ms.max(10));
                self.frontier.put_back(node);
                return self.frontier.release(host, later.unwrap_or(now + pause));
            }
        }
        if self.plan.pace.obey_robots {
            let Some(robots) = self.hosts.get(host).robots.as_ref().filter(|robots| now < robots.expires) else {
                self.frontier.put_back(node);
                let validators = self.robots_validators(host);
                return self.start(host, robots_url(&url), Purpose::Robots(0), validators, now).await;
            };
            if robots.rules.is_unreachable() {
                let expires = robots.expires;
                self.frontier.put_back(node);
                return self.frontier.release(host, expires);
            }
            let verdict = robots.rules.allows(&url);
            if !verdict.allowed {
                self.leave(host);
                return self.exclude(node, format!("robots.txt: {}", verdict.rule.unwrap_or_default()));
            }
        }
        if self.is_again(node) {
            if !self.enter_queue(node, host, &url) {
                return self.leave(host);
            }
            self.set_out_again(node, host);
            let validators = self.validators_of(node);
            return self.start(host, url, Purpose::Page(node), validators, now).await;
        }
        let is_seed = self.frontier.link(node).is_some_and(Link::is_seed);
        if !is_seed && self.traps.gate(node, &url) == Gate::Held {
            self.chosen.remove(&node);
            self.aside.hold(node);
            return self.leave(host);
        }
        if !self.enter_queue(node, host, &url) {
            return self.leave(host);
        }
        // Drawn once for each page, however long it has to wait for its host.
        self.control_due |= self.random.f64() < self.plan.engine.control_share;
        self.start(host, url, Purpose::Page(node), Validators::default(), now).await;
    }

    /// Goes away from a host without having asked for anything.
    fn leave(&mut self, host: HostId) {
        let ready_at = self.frontier.ready_at(host);
        self.frontier.release(host, ready_at);
    }

    async fn start(&mut self, host: HostId, url: Url, purpose: Purpose, validators: Validators, now: Timestamp) {
        let name = self.frontier.host_name(host);
        let (paces, address) = self.hosts.pace(host);
        paces.on_request(&name, address, now);
        self.run_errand(host, url, purpose, validators, now).await;
    }

    /// Sends an errand off.
    pub(super) async fn run_errand(&mut self, host: HostId, url: Url, purpose: Purpose, validators: Validators, now: Timestamp) {
        let errand = Errand { host, url, purpose, started: now, validators };
        self.runner.start(&self.web, errand).await;
    }

    /// Follows redirects of robots.txt whose turn has come; says when the next one has.
    async fn follow_robots(&mut self, now: Timestamp) -> Option<Timestamp> {
        while let Some((at, host, url, hops)) = self.robots_hops.pop_first() {
            if at > now {
                self.robots_hops.insert((at, host, url, hops));
                return Some(at);
            }
            self.frontier.occupy(host);
            self.start(host, url, Purpose::Robots(hops), Validators::default(), now).await;
        }
        None
    }

    /// Now and then a waiting link at random, in crawls long enough to afford it.
    fn draw_control(&mut self, now: Timestamp) -> Option<(NodeId, HostId)> {
        const DRAWS: usize = 8;
        let config = &self.plan.engine;
        let long_enough = self.plan.limits.max_pages.is_none_or(|pages| pages >= config.control_from_pages);
        if !long_enough || !self.order.learns() || self.seeds_left > 0 || !self.control_due {
            return None;
        }
        for _ in 0..DRAWS.min(self.pool.len()) {
            let at = self.random.usize(0..self.pool.len());
            let node = NodeId(self.pool.get(at));
            self.unshelve(node);
            let Some(link) = self.frontier.link(node) else {
                self.pool.swap_remove(at);
                if self.pool.is_empty() {
                    return None;
                }
                continue;
            };
            let host = link.host;
            if !self.frontier.is_blocked(host) && self.frontier.take_node(node, now) {
                self.control_due = false;
                return Some((node, host));
            }
        }
        None
    }

    /// Whether the fetches under way may already use up the page limit.
    fn budget_is_spoken_for(&self) -> bool {
        let running = self.runner.len() as u64;
        self.plan.limits.max_pages.is_some_and(|max| self.state.fetched + running >= max)
    }

    fn wake_retries(&mut self, now: Timestamp) {
        while let Some(&(at, node)) = self.retries.first().filter(|&&(at, _)| at <= now) {
            self.retries.remove(&(at, node));
            self.frontier.put_back(node);
        }
    }

    fn limit_reached(&self) -> Option<StopReason> {
        let (limits, state) = (&self.plan.limits, &self.state);
        let minutes = self.clock.now().since(self.started).as_secs() / 60;
        let reached = |limit: Option<u64>, value: u64| limit.is_some_and(|limit| value >= limit);
        [
            (reached(limits.max_pages, state.fetched), StopReason::MaxPages),
            (reached(limits.max_bytes, state.bytes), StopReason::MaxBytes),
            (reached(limits.max_minutes, minutes), StopReason::MaxMinutes),
            (reached(limits.relevant_pages, state.relevant), StopReason::RelevantPages),
            (self.harvest_is_below_floor(), StopReason::HarvestBelow),
        ]
        .into_iter()
        .find_map(|(reached, reason)| reached.then_some(reason))
    }

    fn harvest_is_below_floor(&self) -> bool {
        let floor = self.plan.limits.harvest_below;
        floor.is_some_and(|floor| self.watched.is_full() && self.watched.harvest() < floor.rate)
    }

    /// Whether nothing can be done before a time that is not worth waiting for.
    fn is_too_far(&self, at: Timestamp) -> bool {
        at.since(self.clock.now()) > Duration::from_mins(self.plan.engine.max_idle_minutes)
    }

    fn out_of_patience(&self) -> StopReason {
        if self.seeds_fetched == 0 && self.elapsed_before == 0 { StopReason::SeedsFailed } else { StopReason::HostsWait }
    }

    fn exhausted(&self) -> StopReason {
        if self.seeds_fetched == 0 && self.elapsed_before == 0 { StopReason::SeedsFailed } else { StopReason::FrontierEmpty }
    }

    fn report(&self, controls: &Controls) {
        let now = self.clock.now();
        controls.progress.send_replace(Progress {
            fetched: self.state.fetched,
            relevant: self.state.relevant,
            recent_harvest: self.recent.harvest(),
            finished: self.state.pages,
            waiting: self.frontier.len() as u64,
            active_hosts: self.frontier.active_hosts() as u64,
            running: self.runner.len() as u64,
            bytes: self.state.bytes,
            now,
            elapsed_ms: self.elapsed_before + now.since(self.started).as_millis() as u64,
            max_pages: self.plan.limits.max_pages,
            model_version: self.pages.version(),
            last_url: self.last_url.clone(),
        });
    }
}

/// Where a URL's host keeps its robots.txt.
fn robots_url(url: &Url) -> Url {
    let mut robots = url.clone();
    robots.set_path("/robots.txt");
    robots.set_query(None);
    robots
}

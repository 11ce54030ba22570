//! Taking in what a visit brought: outcome, learning, ranks, new links, record.

use std::collections::BTreeMap;

use super::{
    Crawl, EngineError, Ingredient,
    crawl::KnownRobots,
    knowledge::Source,
    resume::is_site_root,
    visit::{Answer, Content, Purpose, ReadDocument, Visit},
};
use crate::{
    fetch::{Failure, Response},
    frontier::{HostId, Link},
    link_classifier::SourceFacts,
    page::{Outcome, Relevance},
    politeness::{MAX_ROBOTS_BYTES, Reply, Robots, retry_after},
    store::{Capture, Chosen, PageRecord, RobotsRecord},
    topic::Matches,
    topical_rank::NodeId,
    url::{Fingerprint, Url},
};

/// Characters of a page's text kept for reports.
const EXCERPT: usize = 300;

impl Crawl {
    /// Takes in one visit.
    pub(super) fn absorb(&mut self, visit: Visit) -> Result<(), EngineError> {
        self.settle_pace(&visit);
        match visit.errand.purpose {
            Purpose::Robots(hops) => self.absorb_robots(visit, hops),
            Purpose::Page(node) => self.absorb_page(visit, node),
        }
        self.commit(false)
    }

    /// The host's next turn, from how this one went.
    fn settle_pace(&mut self, visit: &Visit) {
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
        let (name, asked) = (self.frontier.host_name(host).to_owned(), self.hosts[host.0 as usize].address);
        self.paces.on_response(&name, asked, now, &reply, jitter);
        let ready_at = self.paces.ready_at(&name, visit.address).unwrap_or(now);
        let ledger = self.paces.ledger(&name).cloned().unwrap_or_default();
        let state = self.host_state(host);
        state.address = visit.address;
        state.record.requests = ledger.requests;
        state.record.failures = ledger.failures;
        state.record.throttled = ledger.throttled;
        state.record.bytes = ledger.bytes;
        state.record.next_ready = ledger.next_ready;
        state.record.delay_ms = ledger.delay_ms;
        state.record.crawl_delay_ms = ledger.crawl_delay_ms;
        state.record.last_elapsed_ms = ledger.last_elapsed_ms;
        self.frontier.release(host, ready_at);
    }

    /// Takes in a robots.txt, or sends for where it has moved to (RFC 9309: five redirects).
    fn absorb_robots(&mut self, visit: Visit, hops: u8) {
        const MAX_HOPS: u8 = 5;
        let now = self.clock.now();
        let host = visit.errand.host;
        let (status, body) = match visit.result {
            Ok(Answer { content: Content::Redirect(Some(target)), .. }) if hops < MAX_HOPS => {
                self.robots_hops.insert((self.frontier.ready_at(host), host, target, hops + 1));
                return;
            }
            Ok(answer) => (answer.response.status, answer.response.body),
            Err(_) => (0, Vec::new()),
        };
        let agent = self.plan.agent.clone();
        let rules = Robots::parse(status, &body, &agent);
        let name = self.frontier.host_name(host).to_owned();
        self.paces.on_robots(&name, status, rules.crawl_delay());
        let state = self.host_state(host);
        let before = state.robots.take().and_then(|known| known.unreachable_since);
        let unreachable_since = rules.is_unreachable().then(|| before.unwrap_or(now));
        let rules = rules.forgiven(unreachable_since.unwrap_or(now), now);
        let text = String::from_utf8_lossy(&body[..body.len().min(MAX_ROBOTS_BYTES)]).into_owned();
        state.record.robots = Some(RobotsRecord { status, fetched_at: now, text });
        state.robots = Some(KnownRobots { expires: rules.expires(now), rules, unreachable_since });
    }

    fn absorb_page(&mut self, visit: Visit, node: NodeId) {
        let is_transient = match &visit.result {
            Ok(answer) => matches!(answer.response.status, 408 | 429 | 500 | 502..=504),
            Err(failure) => failure.is_transient(),
        };
        if is_transient && self.retry_later(node) {
            return;
        }
        if let Ok(Answer { content: Content::Redirect(Some(target)), .. }) = &visit.result
            && self.moves_in_place(node, target)
        {
            return;
        }
        let Some(link) = self.frontier.remove(node) else { return };
        let chosen = if link.is_seed() { Chosen::Seed } else { self.chosen.remove(&node).unwrap_or(Chosen::Order) };
        if chosen == Chosen::Seed {
            self.seeds_left = self.seeds_left.saturating_sub(1);
        }
        match visit.result {
            Err(failure) => self.fail(&link, node, chosen, &failure),
            Ok(Answer { response, content }) => {
                let elapsed_ms = visit.elapsed.as_millis() as u32;
                let fill = |record: &mut PageRecord, response: &Response| {
                    record.elapsed_ms = elapsed_ms;
                    record.status = response.status;
                    record.bytes = response.body.len() as u64;
                    response.header("content-type").unwrap_or_default().clone_into(&mut record.content_type);
                };
                match content {
                    Content::Document(document) => {
                        let mut record = self.record_of(&link, node, Outcome::Fetched, chosen);
                        fill(&mut record, &response);
                        self.absorb_document(&link, node, *document, &mut record);
                        self.keep_capture(&record, response, visit.address);
                        self.close(link.host, record);
                    }
                    Content::Redirect(target) => {
                        let mut record = self.record_of(&link, node, Outcome::Redirected, chosen);
                        fill(&mut record, &response);
                        record.reason = Some(target.as_ref().map_or("no usable Location".to_owned(), Url::to_string));
                        if let Some(target) = target {
                            self.follow_redirect(&link, target);
                        } else {
                            record.outcome = Outcome::Failed;
                        }
                        self.close(link.host, record);
                    }
                    Content::Status | Content::Raw => {
                        let outcome = if matches!(response.status, 404 | 410) { Outcome::Gone } else { Outcome::Failed };
                        let mut record = self.record_of(&link, node, outcome, chosen);
                        fill(&mut record, &response);
                        record.reason = Some(format!("HTTP status {}", response.status));
                        self.close(link.host, record);
                    }
                    Content::Unreadable(reason) => {
                        let mut record = self.record_of(&link, node, Outcome::Failed, chosen);
                        fill(&mut record, &response);
                        record.reason = Some(reason);
                        self.close(link.host, record);
                    }
                }
            }
        }
    }

    /// A redirect to another spelling of the same page (https for http, a slash) is not a page of its own: the link is
    /// asked for again under its new spelling. Whether it was such a redirect and tries were left.
    fn moves_in_place(&mut self, node: NodeId, target: &Url) -> bool {
        let max_tries = self.plan.engine.max_tries;
        let Some(link) = self.frontier.link_mut(node) else { return false };
        if link.url == *target || Fingerprint::of(target) != link.fingerprint || link.tries >= max_tries {
            return false;
        }
        link.tries += 1;
        link.url = target.clone();
        self.frontier.put_back(node);
        self.pending.waiting(node);
        true
    }

    /// Puts a link back for another try, if it has one left.
    fn retry_later(&mut self, node: NodeId) -> bool {
        let max_tries = self.plan.engine.max_tries;
        let now = self.clock.now();
        let Some(link) = self.frontier.link_mut(node) else { return false };
        link.tries += 1;
        if link.tries >= max_tries {
            return false;
        }
        // 30 s, 2 min, 8 min … on top of the host's own pace.
        let wait = std::time::Duration::from_secs(30 << (2 * u32::from(link.tries - 1)).min(12));
        link.not_before = now + wait;
        self.retries.insert((link.not_before, node));
        self.pending.waiting(node);
        true
    }

    fn fail(&mut self, link: &Link, node: NodeId, chosen: Chosen, failure: &Failure) {
        let mut record = self.record_of(link, node, Outcome::Failed, chosen);
        if matches!(failure, Failure::PrivateAddress(_)) {
            record.outcome = Outcome::Excluded;
        }
        record.reason = Some(failure.to_string());
        self.close(link.host, record);
    }

    /// Ends a URL that may not be fetched.
    pub(super) fn exclude(&mut self, node: NodeId, reason: String) {
        let Some(link) = self.frontier.remove(node) else { return };
        if link.is_seed() {
            self.seeds_left = self.seeds_left.saturating_sub(1);
        }
        let mut record = self.record_of(&link, node, Outcome::Excluded, Chosen::Order);
        record.reason = Some(reason);
        self.close(link.host, record);
    }

    /// The target of a redirect takes over what is known of the link that led to it.
    fn follow_redirect(&mut self, link: &Link, target: Url) {
        let fingerprint = Fingerprint::of(&target);
        let admitted = self.plan.scope.admits(&target, link.depth).is_ok() && self.web.fetcher.holds(&target);
        if self.frontier.seen(fingerprint).is_some() || !admitted {
            return;
        }
        let mut heir = self.new_link(target, fingerprint, link.depth, link.tunnel_depth);
        heir.in_links.clone_from(&link.in_links);
        heir.in_degree = link.in_degree;
        heir.forgotten_relevance = link.forgotten_relevance;
        heir.evidence = link.evidence;
        heir.estimate = link.estimate;
        heir.priority = link.priority;
        self.seeds_left += usize::from(heir.is_seed());
        self.admit(heir);
    }

    fn absorb_document(&mut self, link: &Link, node: NodeId, document: ReadDocument, record: &mut PageRecord) {
        let ReadDocument { page, reading, digest } = document;
        page.charset.clone_into(&mut record.charset);
        record.language = page.language;
        record.title.clone_from(&page.title);
        record.excerpt = page.text.chars().take(EXCERPT).collect();
        record.digest = digest;
        record.simhash = page.simhash;
        if let Some(&original) = self.digests.get(&digest) {
            record.outcome = Outcome::Duplicate;
            record.reason = Some(format!("same content as page {original}"));
            return;
        }
        self.digests.insert(digest, record.seq);
        record.terms = page.terms.iter().map(|term| (term.word.to_owned(), term.count)).collect();
        let judgement = if link.is_seed() && !self.plan.lacks(Ingredient::SeedTrust) {
            self.pages.observe_seed(record.seq, reading, is_site_root(&link.url))
        } else {
            self.pages.observe(record.seq, reading)
        };
        record.relevance = judgement.relevance;
        record.relevant = judgement.relevance.get() >= self.plan.threshold;
        if record.relevant {
            self.lexicon.add(page.terms.iter().map(|term| term.word));
        }
        self.enter_source(link, node, &page, record);
        let found = self.discover(node, &page);
        self.pending.outlinks(record.seq, found.records);
        let mut touched = std::mem::take(&mut self.touched);
        self.graph.fetch(node, self.order.rank_input(judgement.relevance.get()), &found.nodes, &mut touched);
        self.touched = touched;
        let mut weights_changed = self.learn_link(link, record.seq, judgement.relevance);
        if self.pages.is_due() {
            let rejudged = self.pages.rejudge();
            self.links.set_keyword_weights(self.pages.keyword_weights());
            self.apply_rejudged(&rejudged);
            weights_changed = true;
        }
        let mut new_links = found.nodes;
        new_links.sort_unstable();
        self.rescore(&[node], &new_links, weights_changed);
        (record.rank, record.residual) = self.graph.state(node);
    }

    /// Remembers a page as one that links stand on.
    fn enter_source(&mut self, link: &Link, node: NodeId, page: &crate::page::Page, record: &PageRecord) {
        let parents = link.in_links.iter().filter_map(|note| self.knowledge.sources.get(&note.source));
        let distance = parents.map(|source| source.facts.distance.saturating_add(1)).min().unwrap_or(1);
        let mut group_sizes = Vec::new();
        for outlink in &page.outlinks {
            let group = usize::from(outlink.context.group).min(4_095);
            if group_sizes.len() <= group {
                group_sizes.resize(group + 1, 0_u16);
            }
            group_sizes[group] = group_sizes[group].saturating_add(1);
        }
        let source = Source {
            seq: record.seq,
            fingerprint: link.fingerprint,
            url: record.url.clone(),
            facts: SourceFacts {
                relevance: record.relevance.get(),
                title_matches: self.plan.keywords.matches(&page.title_terms),
                url_matches: link.facts.file_matches.clone(),
                anchor_matches: union(link.in_links.iter().map(|note| &note.anchor_matches)),
                distance: if record.relevant { 0 } else { distance },
            },
            depth: link.depth,
            tunnel_depth: link.tunnel_depth,
            relevant: record.relevant,
            group_sizes,
            stands_on: link.in_links.iter().map(|note| (note.source, note.ordinal)).collect(),
        };
        self.knowledge.sources.insert(node, source);
        self.node_of_seq.insert(record.seq, node);
    }

    /// Teaches the link model what came of a link.
    fn learn_link(&mut self, link: &Link, seq: u64, relevance: Relevance) -> bool {
        let links = &mut self.links;
        self.knowledge.with_facts(link, &self.graph, |facts| links.learn(seq, &link.facts, facts, link.evidence, relevance))
    }

    fn keep_capture(&mut self, record: &PageRecord, response: Response, address: Option<std::net::IpAddr>) {
        if self.journal.wants_captures() && record.outcome == Outcome::Fetched {
            self.pending.capture(Capture {
                seq: record.seq,
                url: record.url.clone(),
                fetched_at: record.fetched_at,
                address,
                status: response.status,
                headers: response.headers,
                body: response.body,
                relevance: record.relevance,
            });
        }
    }

    /// Counts a finished URL and hands its record over.
    fn close(&mut self, host: HostId, record: PageRecord) {
        if matches!(record.outcome, Outcome::Fetched | Outcome::Duplicate) {
            self.state.fetched += 1;
            self.state.relevant += u64::from(record.relevant);
            self.state.bytes += record.bytes;
            self.recent.add(record.relevant);
            self.watched.add(record.relevant);
            self.seeds_fetched += usize::from(record.chosen == Chosen::Seed);
            self.count_for_host(host, record.relevant);
        }
        self.last_url.clone_from(&record.url);
        self.pending.page(record);
    }

    fn count_for_host(&mut self, host: HostId, relevant: bool) {
        let limit = self.plan.limits.max_pages_per_host;
        let state = self.host_state(host);
        state.record.fetched += 1;
        state.record.relevant += u64::from(relevant);
        if limit.is_some_and(|limit| state.record.fetched >= limit) {
            self.frontier.block(host, true);
        }
    }
}

/// The strongest match of each keyword.
fn union<'a>(all: impl Iterator<Item = &'a Matches>) -> Matches {
    let mut best: BTreeMap<u16, f32> = BTreeMap::new();
    for &(keyword, share) in all.flatten() {
        let entry = best.entry(keyword).or_default();
        *entry = entry.max(share);
    }
    best.into_iter().collect()
}

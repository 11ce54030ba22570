//! Taking in what a visit brought: outcome, learning, ranks, new links, record.

use std::collections::BTreeMap;

use super::{
    Crawl, EngineError, Ingredient,
    resume::is_site_root,
    sources::{Source, group_sizes},
    stages::{Lap, Stage},
    visit::{Answer, Content, Purpose, ReadDocument, Visit},
    watch::in_words,
};
use crate::{
    fetch::{Failure, Response, SentRequest},
    frontier::{HostId, Link},
    link_classifier::SourceFacts,
    page::{Outcome, Relevance},
    store::{Capture, Chosen, PageRecord},
    topic::Matches,
    topical_rank::NodeId,
    url::{Fingerprint, Url},
};

/// Characters of a page's text kept for reports.
pub(super) const EXCERPT: usize = 300;

impl Crawl {
    /// Takes in one visit.
    pub(super) fn absorb(&mut self, visit: Visit) -> Result<(), EngineError> {
        if visit.errand.purpose != Purpose::Locate {
            self.settle_pace(&visit);
        }
        match visit.errand.purpose {
            Purpose::Locate => self.absorb_location(&visit),
            Purpose::Robots(hops) => self.absorb_robots(visit, hops),
            Purpose::Page(node) => {
                self.leave_queue(visit.errand.host, &visit.errand.url);
                if self.is_again(node) {
                    self.absorb_again(visit, node);
                } else {
                    self.absorb_page(visit, node);
                }
            }
        }
        self.commit(false)
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
        let Some(link) = self.take_out(node) else { return };
        let chosen = if link.is_seed() { Chosen::Seed } else { self.chosen.remove(&node).unwrap_or(Chosen::Order) };
        if chosen == Chosen::Seed {
            self.seeds_left = self.seeds_left.saturating_sub(1);
        }
        match visit.result {
            Err(failure) => self.fail(&link, node, chosen, &failure),
            Ok(Answer { response, content }) => {
                let sent = self.journal.wants_captures().then(|| self.web.fetcher.sent(&visit.errand.request())).flatten();
                let elapsed_ms = visit.elapsed.as_millis() as u32;
                let fill = |record: &mut PageRecord, response: &Response| {
                    record.elapsed_ms = elapsed_ms;
                    record.status = response.status;
                    record.validators = response.validators();
                    record.bytes = response.body.len() as u64;
                    response.header("content-type").unwrap_or_default().clone_into(&mut record.content_type);
                };
                match content {
                    Content::Document(document) => {
                        let mut record = self.record_of(&link, node, Outcome::Fetched, chosen);
                        fill(&mut record, &response);
                        let keeps_out = document.list.is_none() && self.keeps_out(&document);
                        self.absorb_document(&link, node, *document, &mut record);
                        self.widening.add(chosen, record.relevant);
                        if !keeps_out {
                            self.keep_capture(&record, response, visit.address, sent);
                        }
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
                        self.keep_capture(&record, response, visit.address, sent);
                        self.close(link.host, record);
                    }
                    Content::Status | Content::Raw => {
                        let outcome = if matches!(response.status, 404 | 410) { Outcome::Gone } else { Outcome::Failed };
                        let mut record = self.record_of(&link, node, outcome, chosen);
                        fill(&mut record, &response);
                        record.reason = Some(format!("HTTP status {}", response.status));
                        self.keep_capture(&record, response, visit.address, sent);
                        self.close(link.host, record);
                    }
                    Content::Unreadable(reason) => {
                        let mut record = self.record_of(&link, node, Outcome::Failed, chosen);
                        fill(&mut record, &response);
                        record.reason = Some(reason);
                        self.keep_capture(&record, response, visit.address, sent);
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
        if self.leave_as_it_is(node) {
            return;
        }
        let Some(link) = self.take_out(node) else { return };
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
        if document.list.is_some() || self.keeps_out(&document) {
            return self.absorb_links(link, node, document, record);
        }
        let mut lap = Lap::begin();
        let ReadDocument { mut page, reading, digest, print, link_matches, .. } = document;
        page.charset.clone_into(&mut record.charset);
        record.had_decode_errors = page.had_decode_errors;
        record.language = page.language;
        record.title.clone_from(&page.title);
        record.excerpt = page.text.chars().take(EXCERPT).collect();
        record.digest = digest;
        record.simhash = page.simhash;
        if let Some(copy) = self.copy_of(&page, &link.url, digest, &print) {
            self.copies.add_content(digest, copy.seq);
            record.outcome = Outcome::Duplicate;
            record.reason = Some(in_words(copy));
            record.copy_of = Some(copy);
            return;
        }
        self.copies.add(record.seq, digest, print);
        record.terms = std::mem::take(&mut page.terms);
        let judgement = if link.is_seed() && !self.plan.lacks(Ingredient::SeedTrust) {
            self.pages.observe_seed(record.seq, reading, is_site_root(&link.url))
        } else {
            self.pages.observe(record.seq, reading)
        };
        record.relevance = judgement.relevance;
        record.relevant = judgement.relevance.get() >= self.plan.threshold;
        if record.relevant {
            self.lexicon.add(record.terms.iter());
        }
        self.stages.add(Stage::Judge, &mut lap);
        self.enter_source(link, node, &page, record);
        let found = self.discover(node, page, link_matches);
        self.pending.outlinks(record.seq, found.records);
        self.stages.add(Stage::Discover, &mut lap);
        let mut touched = std::mem::take(&mut self.touched);
        self.graph.fetch(node, self.order.rank_input(judgement.relevance.get()), &found.nodes, &mut touched);
        self.touched = touched;
        self.stages.add(Stage::Rank, &mut lap);
        let mut weights_changed = self.learn_link(link, node, record.seq, judgement.relevance);
        self.stages.add(Stage::Learn, &mut lap);
        if self.pages.is_due() {
            weights_changed |= self.judge_anew();
            self.stages.add(Stage::Rejudge, &mut lap);
        }
        let mut new_links = found.nodes;
        new_links.sort_unstable();
        self.rescore(&[node], &new_links, weights_changed);
        (record.rank, record.residual) = self.graph.state(node);
        self.stages.add(Stage::Score, &mut lap);
    }

    /// Whether a page asks not to be indexed, and is heard.
    fn keeps_out(&self, document: &ReadDocument) -> bool {
        document.page.directives.noindex && self.plan.engine.obey_noindex
    }

    /// Remembers a page as one that links stand on.
    pub(super) fn enter_source(&mut self, link: &Link, node: NodeId, page: &crate::page::Page, record: &PageRecord) {
        let parents = link.in_links.iter().filter_map(|note| self.knowledge.sources.get(note.source));
        let distance = parents.map(|source| source.facts.distance.saturating_add(1)).min().unwrap_or(1);
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
            group_sizes: group_sizes(page),
            brought: 0.0,
            followed: 0,
            outcomes: Vec::new(),
            stands_on: link.in_links.iter().map(|note| (note.source, note.ordinal)).collect(),
        };
        self.knowledge.sources.insert(node, source);
        self.enter_seq(record.seq, node);
    }

    /// Teaches the link model what came of a link.
    fn learn_link(&mut self, link: &Link, node: NodeId, seq: u64, relevance: Relevance) -> bool {
        let rewards = !self.plan.lacks(Ingredient::DelayedReward);
        if !link.is_seed() {
            self.payback.add(link.tunnel_depth, relevance.get());
        }
        let links = &mut self.links;
        for note in link.in_links.iter().filter(|_| rewards) {
            let led_to =
                self.knowledge.sources.change(note.source, |source| (source.seq, source.led_to(node, note.ordinal, relevance)));
            if let Some((seq, beyond)) = led_to {
                links.reward(seq, beyond);
            }
        }
        self.knowledge.with_facts(link, &self.graph, |facts| links.learn(seq, &link.facts, facts, link.evidence, relevance))
    }

    /// Hands an answer to the archive: also redirects and errors, so that a replay of the archive finds the same pages.
    fn keep_capture(
        &mut self,
        record: &PageRecord,
        response: Response,
        address: Option<std::net::IpAddr>,
        request: Option<SentRequest>,
    ) {
        if self.journal.wants_captures() {
            self.pending.capture(Capture {
                seq: record.seq,
                url: record.url.clone(),
                fetched_at: record.fetched_at,
                address,
                status: response.status,
                headers: response.headers,
                body: response.body,
                request,
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
        self.watch(&record);
        self.last_url.clone_from(&record.url);
        self.pending.page(record);
    }

    fn count_for_host(&mut self, host: HostId, relevant: bool) {
        self.hosts.count_fetched(host, relevant);
        self.close_full_host(host);
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

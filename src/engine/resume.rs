//! Going on with a crawl that was stopped or killed, from its store.
//!
//! Frontier, graph, hosts and digests are read back row by row. The page model is taught again from the words
//! of every fetched page, in their order, and so becomes the model it was. The link model comes from its last
//! snapshot; pages committed after that one teach it their evidence.

use std::sync::Arc;

use super::{Crawl, CrawlPlan, EngineError, Journal, RunFacts, clock::Clock, crawl::KnownRobots, knowledge::Source};
use crate::{
    fetch::Fetcher,
    frontier::{CrawlOrder, InLinkNote, Priority},
    link_classifier::{Evidence, LinkLearner, SourceFacts},
    page::{Outcome, TermBag},
    page_classifier::Reading,
    politeness::Robots,
    store::{Chosen, HostRecord, LinkRecord, OutlinkFate, PageRecord, Store, StoreError},
    text::url_words,
    topical_rank::NodeId,
    url::{Fingerprint, Url, canonicalize},
};

/// Name of the row with the link model's snapshot.
pub(super) const LINKS: &str = "links";

impl Crawl {
    /// The crawl of a store, ready to go on. Seeds that are new in the plan are queued.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn resume(
        plan: CrawlPlan,
        order: Arc<dyn CrawlOrder>,
        fetcher: Arc<dyn Fetcher>,
        journal: Box<dyn Journal>,
        store: &Store,
    ) -> Result<Self, EngineError> {
        let seeds = plan.seeds.clone();
        let mut crawl = Self::empty(plan, order, fetcher, journal);
        if let Some(state) = store.state()? {
            if let Clock::Virtual(_) = crawl.clock {
                crawl.clock = Clock::Virtual(state.now);
            }
            crawl.started = crawl.clock.now();
            crawl.elapsed_before = state.elapsed_ms;
            crawl.random = fastrand::Rng::with_seed(state.random_state);
            crawl.state = state;
            crawl.state.stop = None;
        }
        crawl.first_started = RunFacts::load(store)?.started;
        for host in store.hosts()? {
            crawl.restore_host(host?);
        }
        for page in store.pages(1)? {
            crawl.restore_page(&page?);
        }
        let discovered = crawl.state.discovered;
        for waiting in store.waiting()? {
            let (fingerprint, record) = waiting?;
            crawl.restore_waiting(fingerprint, &record);
        }
        // Links that were put back were discovered before.
        crawl.state.discovered = discovered;
        for page in store.pages(1)? {
            crawl.restore_edges(&page?, store)?;
        }
        for waiting in store.waiting()? {
            let (fingerprint, record) = waiting?;
            crawl.restore_in_links(fingerprint, record);
        }
        crawl.restore_links_model(store)?;
        for seed in seeds {
            crawl.add_seed(seed);
        }
        let all: Vec<NodeId> = crawl.frontier.links().map(|(node, _)| node).collect();
        crawl.rescore_all(all);
        Ok(crawl)
    }

    fn restore_host(&mut self, record: HostRecord) {
        let host = self.frontier.host(&record.name);
        self.enter_host(host, record.name.clone());
        let ledger = crate::politeness::Ledger {
            requests: record.requests,
            failures: record.failures,
            throttled: record.throttled,
            bytes: record.bytes,
            next_ready: record.next_ready,
            delay_ms: record.delay_ms,
            crawl_delay_ms: record.crawl_delay_ms,
            last_elapsed_ms: record.last_elapsed_ms,
            ..crate::politeness::Ledger::default()
        };
        self.paces.resume(&record.name, ledger);
        self.frontier.occupy(host);
        self.frontier.release(host, record.next_ready);
        let state = &mut self.hosts[host.0 as usize];
        state.robots = record.robots.as_ref().map(|robots| {
            let rules = Robots::parse(robots.status, robots.text.as_bytes(), &self.plan.agent);
            let unreachable_since = rules.is_unreachable().then_some(robots.fetched_at);
            KnownRobots { expires: rules.expires(robots.fetched_at), rules, unreachable_since }
        });
        let is_full = self.plan.limits.max_pages_per_host.is_some_and(|limit| record.fetched >= limit);
        state.record = record;
        self.frontier.block(host, is_full);
    }

    /// A finished URL: its node, what was learnt of its text, and its place as a source.
    fn restore_page(&mut self, page: &PageRecord) {
        let host = self.frontier.host(&page.host);
        self.enter_host(host, page.host.clone());
        let node = self.new_node(page.relevance.get(), host);
        self.frontier.mark_seen(page.fingerprint, node);
        self.seeds_fetched += usize::from(page.chosen == Chosen::Seed && page.outcome == Outcome::Fetched);
        if page.outcome != Outcome::Fetched {
            return;
        }
        self.recent.add(page.relevant);
        self.watched.add(page.relevant);
        self.digests.entry(page.digest).or_insert(page.seq);
        let Ok(url) = canonicalize(&page.url, None) else { return };
        let bag: TermBag = page.terms.iter().map(|(word, count)| (word.as_str(), *count)).collect();
        let words = url_words(&url, &self.web.segmenter);
        let reading = Reading::of(&bag, &words.directory, &self.plan.keywords);
        self.node_of_seq.insert(page.seq, node);
        if page.chosen == Chosen::Seed {
            self.pages.observe_seed(page.seq, reading, is_site_root(&url));
        } else {
            self.pages.observe(page.seq, reading);
        }
        if page.relevant {
            self.lexicon.add(bag.iter().map(|term| term.word));
        }
        if self.pages.is_due() {
            self.pages.rejudge();
            self.links.set_keyword_weights(self.pages.keyword_weights());
        }
        let keywords = &self.plan.keywords;
        let source = Source {
            seq: page.seq,
            fingerprint: page.fingerprint,
            url: page.url.clone(),
            facts: SourceFacts {
                relevance: page.relevance.get(),
                title_matches: keywords.matches(&self.web.segmenter.term_ids(&page.title)),
                url_matches: keywords.matches(&words.file),
                anchor_matches: keywords.matches(&self.web.segmenter.term_ids(&page.anchor)),
                distance: if page.relevant { 0 } else { page.tunnel_depth.saturating_add(1) },
            },
            depth: page.depth,
            tunnel_depth: page.tunnel_depth,
            relevant: page.relevant,
            group_sizes: Vec::new(),
            stands_on: Vec::new(),
        };
        self.knowledge.sources.insert(node, source);
    }

    fn restore_waiting(&mut self, fingerprint: Fingerprint, record: &LinkRecord) {
        let Ok(url) = canonicalize(&record.url, None) else { return };
        let is_seed = record.in_links.is_empty() && record.depth == 0;
        let mut link = self.new_link(url, fingerprint, record.depth, record.tunnel_depth);
        link.discovered = record.discovered;
        link.in_degree = record.in_degree;
        link.estimate = record.estimate;
        link.priority = Priority(record.priority);
        link.tries = record.tries;
        link.not_before = record.not_before;
        self.seeds_left += usize::from(is_seed);
        let node = self.admit(link);
        self.graph.restore_waiting(node, record.estimate.get(), record.rank_received);
    }

    fn restore_edges(&mut self, page: &PageRecord, store: &Store) -> Result<(), StoreError> {
        let Some(node) = self.frontier.seen(page.fingerprint) else { return Ok(()) };
        if page.outcome != Outcome::Fetched {
            return Ok(());
        }
        let mut targets: Vec<NodeId> = Vec::new();
        for outlink in store.outlinks(page.seq)? {
            let admitted = matches!(outlink.fate, OutlinkFate::Queued | OutlinkFate::Known);
            let target = self.frontier.seen(outlink.target).filter(|&target| admitted && target != node);
            if let Some(target) = target.filter(|target| !targets.contains(target)) {
                targets.push(target);
            }
        }
        self.graph.restore(node, page.relevance.get(), page.rank, page.residual, &targets);
        Ok(())
    }

    fn restore_in_links(&mut self, fingerprint: Fingerprint, record: LinkRecord) {
        let Some(node) = self.frontier.seen(fingerprint) else { return };
        let keywords = &self.plan.keywords;
        let notes: Vec<InLinkNote> = record
            .in_links
            .into_iter()
            .filter_map(|in_link| {
                let source = self.node_of_seq.get(&in_link.source).copied()?;
                let ordinal = self.graph.outlinks(source).iter().position(|&target| target == node)?;
                Some(InLinkNote {
                    source,
                    ordinal: ordinal as u16,
                    anchor_matches: keywords.matches(&in_link.context.anchor),
                    around_matches: keywords.matches(&in_link.context.around),
                    heading_matches: keywords.matches(&in_link.heading),
                    heading: in_link.heading,
                    context: in_link.context,
                })
            })
            .collect();
        // How long each list was is not stored; the links of it that still wait are counted instead.
        for note in &notes {
            let group = usize::from(note.context.group).min(4_095);
            if let Some(source) = self.knowledge.sources.get_mut(&note.source) {
                source.group_sizes.resize(source.group_sizes.len().max(group + 1), 0);
                source.group_sizes[group] += 1;
            }
        }
        if let Some(link) = self.frontier.link_mut(node) {
            link.in_links = notes;
        }
    }

    fn restore_links_model(&mut self, store: &Store) -> Result<(), StoreError> {
        let snapshot = store.model(LINKS)?.and_then(|bytes| LinkLearner::from_bytes(&bytes));
        let from = snapshot.as_ref().map_or(1, |(seq, _)| seq + 1);
        if let Some((_, learner)) = snapshot {
            self.links = learner;
            self.leave_out();
        }
        self.links.set_keyword_weights(self.pages.keyword_weights());
        for page in store.pages(from)? {
            let page = page?;
            let evidence = Evidence::from_slice(&page.evidence);
            if let Some(evidence) = evidence.filter(|_| page.outcome == Outcome::Fetched && page.chosen != Chosen::Seed) {
                self.links.learn_evidence(page.seq, evidence, page.relevance);
            }
        }
        Ok(())
    }
}

/// Whether a URL is the home page of its host.
pub(super) fn is_site_root(url: &Url) -> bool {
    url.path().len() <= 1 && url.query().is_none()
}

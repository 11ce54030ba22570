//! Going on with a crawl that was stopped or killed, from its store.
//!
//! Frontier, graph, hosts, copies and the watch on traps are read back row by row. The page model is taught again from the words
//! of every fetched page, in their order, and so becomes the model it was. The link model comes from its last
//! snapshot and the lessons that were committed since, and is the model it was, too.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::{
    Crawl, CrawlPlan, EngineError, Journal, RunFacts,
    clock::Clock,
    copies::TextPrint,
    host_states::HostState,
    hosts::{is_full, known_robots, ledger_of},
    sources::Source,
    steering::Steering,
};
use crate::{
    fetch::Fetcher,
    frontier::{CrawlOrder, HostId, MAX_IN_LINKS, Shelved},
    link_classifier::{Lesson, LinkLearner, SourceFacts},
    page::{Outcome, Relevance, Timestamp},
    page_classifier::Reading,
    politeness::{Pace, Robots},
    store::{Chosen, HostRecord, Known, LinkRecord, OutlinkFate, PageRecord, Store, StoreError},
    text::{TermId, url_words},
    topical_rank::NodeId,
    url::{Fingerprint, Url, canonicalize},
};

/// Name of the row with the link model's snapshot.
pub(super) const LINKS: &str = "links";

/// Number and relevance, added up, of the pages that link to a waiting URL.
type Linkers = FxHashMap<NodeId, (u32, f32)>;

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
        // Killed before its first commit, a crawl has no facts yet.
        let RunFacts { started, dns, .. } = RunFacts::load(store)?;
        if started > Timestamp::default() {
            crawl.first_started = started;
        }
        crawl.dns_before = dns.unwrap_or_default();
        crawl.steering = Steering::load(store)?;
        for host in store.hosts()? {
            crawl.restore_host(host?);
        }
        for page in store.pages(1)? {
            crawl.restore_page(&crawl.as_labelled(page?));
        }
        let fits = crawl.shares.is_none_or(|shares| crawl.state.waiting <= shares.number_of_links() as u64);
        for waiting in store.waiting()? {
            let (fingerprint, row) = waiting?;
            crawl.restore_waiting(fingerprint, &row, fits);
        }
        let mut linkers = Linkers::default();
        for page in store.pages(1)? {
            crawl.restore_edges(&crawl.as_labelled(page?), store, &mut linkers)?;
        }
        crawl.graph.settle_all();
        for waiting in store.waiting()?.take_while(|_| fits) {
            let (fingerprint, row) = waiting?;
            crawl.restore_in_links(fingerprint, &row, &linkers);
        }
        crawl.restore_links_model(store)?;
        for seed in seeds {
            crawl.add_seed(seed);
        }
        crawl.refill_sample();
        let all: Vec<NodeId> = crawl.frontier.links().map(|(node, _)| node).collect();
        crawl.rescore_all(&all);
        crawl.touched.clear();
        Ok(crawl)
    }

    /// A page with the relevance that a person gave it, if one did; the store keeps what the crawl judged.
    fn as_labelled(&self, mut page: PageRecord) -> PageRecord {
        if let Some(&relevant) = self.plan.labels.get(&page.fingerprint) {
            page.relevance = Relevance::new(f64::from(u8::from(relevant)));
            page.relevant = relevant;
        }
        page
    }

    fn restore_host(&mut self, record: HostRecord) {
        let host = self.frontier.host(&record.name);
        self.hosts.enter(host, || record.name.clone());
        self.frontier.occupy(host);
        self.frontier.release(host, record.next_ready);
        let now = self.clock.now();
        let robots = record.robots.as_ref().map(|robots| {
            let rules = Robots::parse(robots.status, robots.text.as_bytes(), &self.plan.agent);
            known_robots(rules, robots, now)
        });
        self.frontier.block(host, is_full(&self.plan.limits, &record, now));
        let pace = Pace::resume(ledger_of(&record));
        self.hosts.restore(host, HostState { robots, record, ..HostState::default() }, pace);
        self.hosts.make_room();
        self.frontier.make_room(now);
    }

    /// A finished URL: its node, what was learnt of its text, and its place as a source.
    fn restore_page(&mut self, page: &PageRecord) {
        let host = self.frontier.host(&page.host);
        self.hosts.enter(host, || page.host.clone());
        let node = self.new_node(self.order.rank_input(page.relevance.get()), host);
        self.frontier.mark_seen(page.fingerprint, node);
        self.seeds_fetched += usize::from(page.chosen == Chosen::Seed && page.outcome == Outcome::Fetched);
        self.watch(page);
        if let Some(copy) = page.copy_of {
            self.copies.add_content(page.digest, copy.seq);
        }
        if page.outcome == Outcome::LinksOnly {
            self.restore_list(page, node, host);
        }
        if page.outcome != Outcome::Fetched {
            return;
        }
        self.recent.add(page.relevant);
        self.watched.add(page.relevant);
        let Ok(url) = canonicalize(&page.url, None) else { return };
        self.copies.add(page.seq, page.digest, TextPrint::of(page.simhash, &page.terms));
        let words = url_words(&url, &self.web.segmenter);
        let reading = Reading::of(&page.terms, &words.directory, &self.plan.keywords);
        self.enter_seq(page.seq, node);
        if page.chosen != Chosen::Seed {
            self.payback.add(page.tunnel_depth, page.relevance.get());
        }
        if let Some(&relevant) = self.plan.labels.get(&page.fingerprint) {
            self.pages.observe_judged(page.seq, reading, relevant, None);
        } else if page.chosen == Chosen::Seed {
            self.pages.observe_seed(page.seq, reading, is_site_root(&url));
        } else {
            self.pages.observe(page.seq, reading);
        }
        if page.relevant {
            self.lexicon.add(page.terms.iter());
        }
        // Whose judgement moved by it is in the store; the link model gets the keywords' weights when it is read.
        if self.pages.is_due() {
            self.pages.judge_anew();
        }
        self.restore_source(page, node, &words.file);
    }

    /// A sitemap, feed or such: a source of links, and nothing else.
    fn restore_list(&mut self, page: &PageRecord, node: NodeId, host: HostId) {
        let Ok(url) = canonicalize(&page.url, None) else { return };
        self.hosts.get_mut(host).lists += u32::from(page.source.is_none());
        let words = url_words(&url, &self.web.segmenter);
        self.enter_seq(page.seq, node);
        self.restore_source(page, node, &words.file);
    }

    fn restore_source(&mut self, page: &PageRecord, node: NodeId, url_words: &[TermId]) {
        let keywords = &self.plan.keywords;
        let source = Source {
            seq: page.seq,
            fingerprint: page.fingerprint,
            url: page.url.clone(),
            facts: SourceFacts {
                relevance: page.relevance.get(),
                title_matches: keywords.matches(&self.web.segmenter.term_ids(&page.title)),
                url_matches: keywords.matches(url_words),
                anchor_matches: keywords.matches(&self.web.segmenter.term_ids(&page.anchor)),
                distance: if page.relevant { 0 } else { page.tunnel_depth.saturating_add(1) },
            },
            depth: page.depth,
            tunnel_depth: page.tunnel_depth,
            relevant: page.relevant,
            brought: 0.0,
            followed: 0,
            outcomes: Vec::new(),
            group_sizes: Vec::new(),
            stands_on: Vec::new(),
        };
        self.knowledge.sources.insert(node, source);
    }

    /// A waiting URL: its node, and the link itself where all of them fit in memory.
    fn restore_waiting(&mut self, fingerprint: Fingerprint, row: &LinkRecord, fits: bool) {
        let is_seed = row.in_links.is_empty() && row.depth == 0;
        let Some(link) = self.link_of(fingerprint, row) else { return };
        self.seeds_left += usize::from(is_seed);
        let (host, priority) = (link.host, link.priority);
        let node = self.new_node(self.order.rank_input(row.estimate.get()), host);
        self.frontier.mark_seen(fingerprint, node);
        self.pool.push(node.0);
        if fits || row.in_links.is_empty() {
            self.frontier.push(node, link);
        } else {
            // All links that lead here are counted below, those that the row has among them.
            let counted = Shelved {
                fingerprint,
                host,
                priority,
                kept: row.in_links.len().min(MAX_IN_LINKS) as u8,
                more_in_links: -i32::try_from(row.in_degree).unwrap_or(i32::MAX),
                more_relevance: -row.forgotten_relevance - self.kept_relevance(row),
            };
            self.frontier.shelve(node, counted);
        }
    }

    /// Relevance of the pages whose links a row has, added up.
    fn kept_relevance(&self, row: &LinkRecord) -> f32 {
        let sources = row.in_links.iter().filter_map(|in_link| self.node_of(in_link.source));
        sources.map(|source| self.knowledge.relevance(source) as f32).sum()
    }

    /// Number and relevance of the pages that link to each waiting URL in memory go into `linkers`.
    fn restore_edges(&mut self, page: &PageRecord, store: &Store, linkers: &mut Linkers) -> Result<(), StoreError> {
        let Some(node) = self.frontier.seen(page.fingerprint) else { return Ok(()) };
        if !matches!(page.outcome, Outcome::Fetched | Outcome::LinksOnly) {
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
        for &target in &targets {
            if self.frontier.link(target).is_some() {
                let (number, relevance) = linkers.entry(target).or_default();
                *number += 1;
                *relevance += page.relevance.get() as f32;
            } else {
                self.frontier.count_in_link(target, page.relevance.get(), false);
            }
        }
        let is_fetched = |&(_, &target): &(usize, &NodeId)| self.knowledge.sources.get(target).is_some();
        let outcomes = targets.iter().enumerate().filter(is_fetched).map(|(at, &target)| (at as u16, target)).collect();
        self.knowledge.sources.change(node, |source| source.outcomes = outcomes);
        self.graph.restore(node, &targets);
        Ok(())
    }

    fn restore_in_links(&mut self, fingerprint: Fingerprint, row: &LinkRecord, linkers: &Linkers) {
        let Some(node) = self.frontier.seen(fingerprint) else { return };
        let notes = self.in_links_of(row);
        let kept = self.kept_relevance(row);
        if let Some(link) = self.frontier.link_mut(node) {
            let &(number, relevance) = linkers.get(&node).unwrap_or(&(0, 0.0));
            link.in_degree = link.in_degree.max(number);
            link.forgotten_relevance = link.forgotten_relevance.max(relevance - kept);
            link.in_links = notes;
        }
    }

    /// The link model as of its last snapshot, and what it has learnt since.
    fn restore_links_model(&mut self, store: &Store) -> Result<(), StoreError> {
        if let Some((_, learner)) = store.model(LINKS)?.and_then(|bytes| LinkLearner::from_bytes(&bytes)) {
            self.links = learner;
            self.leave_out();
        }
        for lessons in store.lessons()? {
            // `windrow verify` names lessons that cannot be read; a crawl goes on without them.
            let lessons: Vec<Lesson> = postcard::from_bytes(&lessons?).unwrap_or_default();
            for lesson in lessons {
                self.links.repeat(lesson);
            }
        }
        for (&page, &relevant) in &self.plan.labels {
            if let Some(Known::Finished(seq)) = store.known(page)? {
                self.links.relabel(seq, Relevance::new(f64::from(u8::from(relevant))));
            }
        }
        self.links.keep_lessons();
        self.links.set_keyword_weights(self.pages.keyword_weights());
        Ok(())
    }
}

/// Whether a URL is the home page of its host.
pub(super) fn is_site_root(url: &Url) -> bool {
    url.path().len() <= 1 && url.query().is_none()
}

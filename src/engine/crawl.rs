//! A crawl's state: everything that only the engine may change.

use std::{collections::BTreeSet, sync::Arc};

use rustc_hash::FxHashMap;

use super::{
    Commands, CrawlPlan, Ingredient, Journal,
    aside::Aside,
    clock::Clock,
    copies::Copies,
    facts::Lexicon,
    finish::Pending,
    host_states::{HostState, Hosts},
    knowledge::{Knowledge, target_facts},
    memory::Shares,
    progress::Recent,
    refresh::{RefreshCounts, Refreshing},
    runner::Runner,
    shelf::LeavingRows,
    shelf_changes::ShelfChanges,
    stages::Stages,
    steering::Steering,
    throttle::Throttle,
    visit::Web,
    widen::Widening,
};
use crate::{
    fetch::{DnsCounts, Fetcher},
    frontier::{CrawlOrder, Frontier, HostId, Link, Priority, Sample, Traps, TunnelPayback},
    link_classifier::{Evidence, LinkLearner},
    page::{Relevance, Timestamp},
    page_classifier::{PageLearner, Reading},
    politeness::{Bandwidth, PaceConfig},
    spill::Paged,
    store::{CrawlState, StoreError},
    topical_rank::{LinkGraph, NodeId, RankConfig},
    url::{Fingerprint, Url, authority},
};

/// What makes a crawl impossible to go on with.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a page could not be processed: {0}")]
    Worker(#[from] tokio::task::JoinError),
}

/// One crawl, ready to run.
pub struct Crawl {
    pub(super) plan: CrawlPlan,
    pub(super) order: Arc<dyn CrawlOrder>,
    pub(super) web: Arc<Web>,
    pub(super) clock: Clock,
    pub(super) runner: Runner,
    pub(super) frontier: Frontier,
    pub(super) graph: LinkGraph,
    pub(super) links: LinkLearner,
    pub(super) pages: PageLearner,
    pub(super) knowledge: Knowledge,
    pub(super) hosts: Hosts,
    /// Queues with a fetch under way, with the links that wait for its end.
    pub(super) queues: FxHashMap<(HostId, u32), Vec<NodeId>>,
    /// Redirects of robots.txt that wait for their host's turn.
    pub(super) robots_hops: BTreeSet<(Timestamp, HostId, Url, u8)>,
    pub(super) bandwidth: Bandwidth,
    pub(super) traps: Traps,
    pub(super) aside: Aside,
    pub(super) copies: Copies,
    /// Waiting nodes in no order, for random draws; stale ones are dropped when drawn.
    pub(super) pool: Paged<u32>,
    /// The head of the queue, for orders that compare only that.
    pub(super) sample: Sample,
    pub(super) sweep_at: usize,
    pub(super) random: fastrand::Rng,
    pub(super) state: CrawlState,
    pub(super) started: Timestamp,
    pub(super) elapsed_before: u64,
    /// Names looked up in earlier sessions.
    pub(super) dns_before: DnsCounts,
    /// When the crawl's first session started.
    pub(super) first_started: Timestamp,
    pub(super) lexicon: Lexicon,
    pub(super) recent: Recent,
    /// As many pages as `limits.harvest_below` looks at.
    pub(super) watched: Recent,
    pub(super) pending: Pending,
    pub(super) journal: Box<dyn Journal>,
    /// Links to be tried again at a time.
    pub(super) retries: BTreeSet<(Timestamp, NodeId)>,
    pub(super) seeds_left: usize,
    pub(super) seeds_fetched: usize,
    pub(super) touched: Vec<NodeId>,
    /// Links under way that were not chosen by the order.
    pub(super) chosen: FxHashMap<NodeId, crate::store::Chosen>,
    /// The next fetch is to be one at random.
    pub(super) control_due: bool,
    pub(super) widening: Widening,
    /// What links of irrelevant pages have brought, by tunnel depth.
    pub(super) payback: TunnelPayback,
    pub(super) last_url: String,
    /// Time spent on what [`Crawl::absorb_document`] does.
    pub(super) stages: Stages,
    /// Finished URLs at which the link model is next kept whole.
    pub(super) snapshot_at: u64,
    /// Nodes of fetched pages plus one, by `seq`.
    pub(super) node_of_seq: Paged<u32>,
    /// What went wrong with the shelf; ends the crawl before anything else is committed.
    pub(super) shelf_error: Option<StoreError>,
    /// Rows of links that left memory and are not on disk yet.
    pub(super) leaving: LeavingRows,
    pub(super) shelf_changes: ShelfChanges,
    /// How memory is divided, where it is limited.
    pub(super) shares: Option<Shares>,
    /// What a user said of the waiting links.
    pub(super) steering: Steering,
    /// The line to whoever steers the crawl.
    pub(super) commands: Option<Commands>,
    /// Since when it pauses.
    pub(super) paused_at: Option<Timestamp>,
    pub(super) throttle: Throttle,
    /// Pages that are asked for again, and what became of them.
    pub(super) refresh: Option<Refreshing>,
    pub(super) refreshed: Option<RefreshCounts>,
    /// Links known before.
    pub(super) links_before_refresh: u64,
}

impl Crawl {
    /// A new crawl with its seeds queued. `order` is normally `plan.engine.order`; a bench may bring its own.
    #[must_use]
    pub fn new(plan: CrawlPlan, order: Arc<dyn CrawlOrder>, fetcher: Arc<dyn Fetcher>, journal: Box<dyn Journal>) -> Self {
        let mut crawl = Self::empty(plan, order, fetcher, journal);
        for seed in crawl.plan.seeds.clone() {
            crawl.add_seed(seed);
        }
        crawl
    }

    /// A crawl that knows nothing yet but its topic.
    pub(super) fn empty(
        plan: CrawlPlan,
        order: Arc<dyn CrawlOrder>,
        fetcher: Arc<dyn Fetcher>,
        journal: Box<dyn Journal>,
    ) -> Self {
        let clock = fetcher.recorded_at().map_or(Clock::System, Clock::Virtual);
        let mut frontier = plan.frontier;
        if let Clock::Virtual(_) = clock {
            frontier.patience = frontier.replay_patience;
        }
        let connections = plan.engine.queues.connections(plan.pace.per_host_connections);
        let alpha = if plan.lacks(Ingredient::Rank) { 0.0 } else { plan.rank.alpha };
        let rank = RankConfig { alpha, ..plan.rank };
        let mut pages = PageLearner::new(&plan.page_classifier, plan.keywords.len(), plan.trained.as_deref());
        for (number, example) in plan.examples.iter().enumerate() {
            let reading = Reading::of(&example.terms, &[], &plan.keywords);
            // Examples are numbered from the top, pages of the crawl from the bottom.
            let number = u64::MAX - number as u64;
            match example.evidence {
                Some(evidence) => pages.observe_judged(number, reading, example.relevant, Some(evidence)),
                None => pages.observe_label(number, reading, example.relevant),
            }
        }
        if pages.has_examples() {
            pages.rejudge();
        }
        let mut links = plan.trained_links.as_ref().map_or_else(LinkLearner::default, LinkLearner::starting_from);
        links.set_keyword_weights(pages.keyword_weights());
        let mut crawl = Self {
            web: Arc::new(Web {
                fetcher,
                segmenter: Arc::clone(&plan.segmenter),
                keywords: Arc::clone(&plan.keywords),
                parse: plan.parse.clone(),
                links_per_list: plan.engine.links_per_list,
                agent: plan.agent.clone(),
            }),
            clock,
            runner: Runner::new(clock),
            frontier: Frontier::new(frontier, connections),
            graph: LinkGraph::new(rank),
            links,
            pages,
            knowledge: Knowledge::default(),
            hosts: Hosts::new(PaceConfig { per_host_connections: connections, ..plan.pace.clone() }),
            queues: FxHashMap::default(),
            robots_hops: BTreeSet::new(),
            bandwidth: Bandwidth::new(plan.pace.max_bytes_per_second),
            traps: plan.traps.clone(),
            aside: Aside::default(),
            copies: Copies::default(),
            pool: Paged::default(),
            sample: Sample::of(order.sample_size()),
            sweep_at: 0,
            random: fastrand::Rng::with_seed(plan.engine.seed),
            state: CrawlState::default(),
            started: clock.now(),
            elapsed_before: 0,
            dns_before: DnsCounts::default(),
            first_started: clock.now(),
            lexicon: Lexicon::default(),
            recent: Recent::default(),
            watched: Recent::over(plan.limits.harvest_below.map_or(1, |floor| floor.over as usize)),
            pending: Pending::default(),
            journal,
            retries: BTreeSet::new(),
            seeds_left: 0,
            seeds_fetched: 0,
            touched: Vec::new(),
            chosen: FxHashMap::default(),
            control_due: false,
            widening: Widening::default(),
            payback: TunnelPayback::default(),
            last_url: String::new(),
            stages: Stages::default(),
            snapshot_at: 0,
            node_of_seq: Paged::default(),
            shelf_error: None,
            leaving: LeavingRows::default(),
            shelf_changes: ShelfChanges::default(),
            shares: None,
            steering: Steering::default(),
            commands: None,
            paused_at: None,
            throttle: Throttle::default(),
            refresh: None,
            refreshed: None,
            links_before_refresh: 0,
            order,
            plan,
        };
        crawl.leave_out();
        crawl.limit_memory();
        crawl
    }

    /// Queues a seed before everything else; one that is known already is left alone.
    pub(super) fn add_seed(&mut self, url: Url) {
        let fingerprint = Fingerprint::of(&url);
        if self.frontier.seen(fingerprint).is_some() {
            return;
        }
        self.seeds_left += 1;
        let mut link = self.new_link(url, fingerprint, 0, 0);
        link.estimate = Relevance::FULL;
        link.priority = Priority(f64::MAX);
        self.admit(link);
    }

    /// A link with what its URL alone says.
    pub(super) fn new_link(&mut self, url: Url, fingerprint: Fingerprint, depth: u16, tunnel_depth: u8) -> Link {
        self.state.discovered += 1;
        self.known_link(url, fingerprint, depth, tunnel_depth)
    }

    /// The same for a link that was discovered before.
    pub(super) fn known_link(&mut self, url: Url, fingerprint: Fingerprint, depth: u16, tunnel_depth: u8) -> Link {
        let host = self.host(&url);
        let facts = target_facts(&url, &self.web.segmenter, &self.plan.keywords);
        Link {
            url,
            fingerprint,
            host,
            discovered: self.state.discovered,
            depth,
            tunnel_depth,
            facts,
            in_links: Vec::new(),
            in_degree: 0,
            forgotten_relevance: 0.0,
            evidence: Evidence::default(),
            estimate: Relevance::NONE,
            priority: Priority::default(),
            filed: None,
            tries: 0,
            not_before: Timestamp::default(),
        }
    }

    /// Gives a link a node, marks it as seen and queues it.
    pub(super) fn admit(&mut self, link: Link) -> NodeId {
        let node = self.new_node(link.estimate.get(), link.host);
        self.frontier.mark_seen(link.fingerprint, node);
        self.frontier.push(node, link);
        self.pool.push(node.0);
        self.sample.add(node);
        self.pending.waiting(node);
        node
    }

    /// Remembers which node a fetched page is.
    pub(super) fn enter_seq(&mut self, seq: u64, node: NodeId) {
        self.node_of_seq.set(seq as usize, node.0 + 1);
    }

    /// The node of a fetched page.
    pub(super) fn node_of(&self, seq: u64) -> Option<NodeId> {
        self.node_of_seq.get(seq as usize).checked_sub(1).map(NodeId)
    }

    /// Takes a link out of the frontier for good: it is being finished.
    pub(super) fn take_out(&mut self, node: NodeId) -> Option<Link> {
        let link = self.frontier.remove(node)?;
        if let Some(next) =
            self.sample.leave(node, |next| self.frontier.link(next).is_some() || self.frontier.shelved(next).is_some())
        {
            self.requeue(next);
        }
        Some(link)
    }

    /// Chooses the sample anew, as when a crawl goes on.
    pub(super) fn refill_sample(&mut self) {
        let mut waiting: Vec<(u64, NodeId)> = self.frontier.links().map(|(node, link)| (link.discovered, node)).collect();
        waiting.sort_unstable();
        self.sample = self.new_sample();
        for (_, node) in waiting {
            self.sample.add(node);
        }
    }

    /// A node of the link graph for a URL of `host`.
    pub(super) fn new_node(&mut self, estimate: f64, host: HostId) -> NodeId {
        // A node that is a site of its own shares its votes with no other.
        let site = if self.order.one_vote_per_site() { host.0 } else { self.graph.len() as u32 };
        self.graph.add(estimate, site)
    }

    /// The host of a URL, made known if it is new.
    pub(super) fn host(&mut self, url: &Url) -> HostId {
        let name = authority(url);
        let host = self.frontier.host(&name);
        self.hosts.enter(host, || name);
        host
    }

    pub(super) fn host_state(&mut self, host: HostId) -> &mut HostState {
        self.hosts.change(host)
    }
}

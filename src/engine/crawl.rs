//! A crawl's state: everything that only the engine may change.

use std::{collections::BTreeSet, net::IpAddr, sync::Arc};

use rustc_hash::FxHashMap;

use super::{
    CrawlPlan, Ingredient, Journal,
    clock::Clock,
    facts::Lexicon,
    finish::Pending,
    knowledge::{Knowledge, target_facts},
    progress::Recent,
    runner::Runner,
    visit::Web,
};
use crate::{
    fetch::Fetcher,
    frontier::{CrawlOrder, Frontier, HostId, Link, Priority},
    link_classifier::{Evidence, LinkLearner},
    page::{Relevance, Timestamp},
    page_classifier::{PageLearner, Reading},
    politeness::{Paces, Robots},
    store::{CrawlState, HostRecord, StoreError},
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

/// A host as the engine deals with it.
pub(super) struct HostState {
    pub(super) robots: Option<KnownRobots>,
    /// Where its last answer came from.
    pub(super) address: Option<IpAddr>,
    pub(super) record: HostRecord,
    pub(super) changed: bool,
}

/// A host's robots.txt, as last fetched.
pub(super) struct KnownRobots {
    pub(super) rules: Robots,
    pub(super) expires: Timestamp,
    /// Since when it has been out of reach.
    pub(super) unreachable_since: Option<Timestamp>,
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
    pub(super) hosts: Vec<HostState>,
    pub(super) paces: Paces,
    /// Redirects of robots.txt that wait for their host's turn.
    pub(super) robots_hops: BTreeSet<(Timestamp, HostId, Url, u8)>,
    /// Content digests seen, with the `seq` of the first page that had them.
    pub(super) digests: FxHashMap<u64, u64>,
    /// Waiting nodes in no order, for random draws; stale ones are dropped when drawn.
    pub(super) pool: Vec<NodeId>,
    pub(super) sweep_at: usize,
    pub(super) random: fastrand::Rng,
    pub(super) state: CrawlState,
    pub(super) started: Timestamp,
    pub(super) elapsed_before: u64,
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
    pub(super) last_url: String,
    /// Finished URLs at which the link model is next kept whole.
    pub(super) snapshot_at: u64,
    /// Fetched pages by their `seq`.
    pub(super) node_of_seq: FxHashMap<u64, NodeId>,
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
        let alpha = if plan.lacks(Ingredient::Rank) { 0.0 } else { plan.rank.alpha };
        let rank = RankConfig { alpha, ..plan.rank };
        let mut pages = PageLearner::new(&plan.page_classifier, plan.keywords.len(), plan.trained.as_deref());
        for (number, example) in plan.examples.iter().enumerate() {
            let reading = Reading::of(&example.terms, &[], &plan.keywords);
            // Examples are numbered from the top, pages of the crawl from the bottom.
            pages.observe_label(u64::MAX - number as u64, reading, example.relevant);
        }
        let mut links = plan.trained_links.as_ref().map_or_else(LinkLearner::default, LinkLearner::starting_from);
        links.set_keyword_weights(pages.keyword_weights());
        let mut crawl = Self {
            web: Arc::new(Web {
                fetcher,
                segmenter: Arc::clone(&plan.segmenter),
                keywords: Arc::clone(&plan.keywords),
                parse: plan.parse.clone(),
                agent: plan.agent.clone(),
            }),
            clock,
            runner: Runner::new(clock),
            frontier: Frontier::new(frontier, plan.pace.per_host_connections),
            graph: LinkGraph::new(rank),
            links,
            pages,
            knowledge: Knowledge::default(),
            hosts: Vec::new(),
            paces: Paces::new(plan.pace.clone()),
            robots_hops: BTreeSet::new(),
            digests: FxHashMap::default(),
            pool: Vec::new(),
            sweep_at: 0,
            random: fastrand::Rng::with_seed(plan.engine.seed),
            state: CrawlState::default(),
            started: clock.now(),
            elapsed_before: 0,
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
            last_url: String::new(),
            snapshot_at: 0,
            node_of_seq: FxHashMap::default(),
            order,
            plan,
        };
        crawl.leave_out();
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
        let host = self.host(&url);
        let facts = target_facts(&url, &self.web.segmenter, &self.plan.keywords);
        self.state.discovered += 1;
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
            tries: 0,
            not_before: Timestamp::default(),
        }
    }

    /// Gives a link a node, marks it as seen and queues it.
    pub(super) fn admit(&mut self, link: Link) -> NodeId {
        let node = self.new_node(link.estimate.get(), link.host);
        self.frontier.mark_seen(link.fingerprint, node);
        self.frontier.push(node, link);
        self.pool.push(node);
        self.pending.waiting(node);
        node
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
        self.enter_host(host, name);
        host
    }

    /// Makes room for a host's state, if it has none.
    pub(super) fn enter_host(&mut self, host: HostId, name: String) {
        if host.0 as usize == self.hosts.len() {
            self.hosts.push(HostState {
                robots: None,
                address: None,
                record: HostRecord { name, ..HostRecord::default() },
                changed: true,
            });
        }
    }

    pub(super) fn host_state(&mut self, host: HostId) -> &mut HostState {
        let state = &mut self.hosts[host.0 as usize];
        state.changed = true;
        state
    }
}

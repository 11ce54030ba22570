//! `TopicalRank`: `TR(v) = α Σ_{u→v} TR(u)/O(u) + β R(v)`, kept exact while the crawl grows (systems.md 5).
//!
//! R is the page's relevance once it is fetched and the link classifier's estimate before. O counts the links
//! that were admitted, but twenty at least. The pages of v's own site count as one in the sum, by their mean
//! (a host votes once: Bharat & Henzinger, SIGIR 1998): a menu that every page of a site repeats says no more
//! than one page that has it. Counted page by page, menus outrank everything after a hundred fetches (measured).
//!
//! Ranks are settled by residual push, never by a global sweep: every node holds what it has passed on (`settled`)
//! and what it has not (`residual`), and `residual = β R + α Aᵀ settled − settled` holds at all times, where A
//! holds the shares 1/O (those inside a site divided by their number); so the error is bounded by the residuals.
//!
//! Promises: `rank` is within `2 ‖residual‖₁` of the exact solution; work per fetch is bounded by the mass moved.
//! Never: knows URLs, hosts or what a rank is used for.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A node of the link graph: any URL that was discovered and admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    fn index(self) -> usize {
        self.0 as usize
    }
}

/// The `[topical_rank]` section.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RankConfig {
    /// Weight of what pages that link here pass on, 0..1.
    pub alpha: f64,
    /// Weight of the page's own relevance, 0..1.
    pub beta: f64,
    /// Residuals up to this size are not passed on.
    pub epsilon: f64,
}

impl Default for RankConfig {
    fn default() -> Self {
        Self { alpha: 0.5, beta: 0.5, epsilon: 1e-3 }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Node {
    settled: f32,
    residual: f32,
    relevance: f32,
    /// Start of its links in the arena, and their number plus one; 0 while it is not fetched.
    first_edge: u32,
    edges_plus_one: u32,
    /// Number of its site; links inside a site share one vote.
    site: u32,
    /// `Σ settled(u)/O(u)` over the pages of its own site that link to it, and how many they are.
    own_shares: f32,
    own_votes: u32,
}

impl Node {
    /// What one page of its own site passes on if their mean is `α · own_shares / own_votes`.
    fn own_mean(&self, alpha: f32) -> f32 {
        alpha * self.own_shares / self.own_votes.max(1) as f32
    }
}

/// A page passes on its rank as if it had this many links at least: a frame or a forward with one link does not vouch
/// for it more than a list does for each of its twenty.
const FEW_LINKS: usize = 20;

/// The part of the web that the crawl has seen, with ranks.
#[derive(Debug, Clone, Default)]
pub struct LinkGraph {
    config: RankConfig,
    nodes: Vec<Node>,
    edges: Vec<NodeId>,
    pushes: u64,
}

impl LinkGraph {
    #[must_use]
    pub fn new(config: RankConfig) -> Self {
        Self { config, ..Self::default() }
    }

    /// Adds a discovered URL with its estimated relevance; `site` is the same number for all pages of one site.
    pub fn add(&mut self, estimate: f64, site: u32) -> NodeId {
        let node = NodeId(self.nodes.len() as u32);
        let residual = (self.config.beta * estimate) as f32;
        self.nodes.push(Node { residual, relevance: estimate as f32, site, ..Node::default() });
        node
    }

    /// Changes a node's relevance, estimated or judged. Nodes that are not fetched and whose rank moved are added to `touched`.
    pub fn set_relevance(&mut self, node: NodeId, relevance: f64, touched: &mut Vec<NodeId>) {
        let entry = &mut self.nodes[node.index()];
        entry.residual += (self.config.beta * (relevance - f64::from(entry.relevance))) as f32;
        entry.relevance = relevance as f32;
        if entry.edges_plus_one > 0 {
            self.push_from(node, touched);
        } else {
            touched.push(node);
        }
    }

    /// Records a fetch: the node's judged relevance and the links it was admitted with, in page order.
    pub fn fetch(&mut self, node: NodeId, relevance: f64, outlinks: &[NodeId], touched: &mut Vec<NodeId>) {
        let first_edge = self.edges.len() as u32;
        self.edges.extend_from_slice(outlinks);
        let entry = &mut self.nodes[node.index()];
        entry.first_edge = first_edge;
        entry.edges_plus_one = outlinks.len() as u32 + 1;
        let site = entry.site;
        entry.residual += (self.config.beta * (relevance - f64::from(entry.relevance))) as f32;
        entry.relevance = relevance as f32;
        let alpha = self.config.alpha as f32;
        for &target in outlinks {
            let target = &mut self.nodes[target.index()];
            if target.site == site {
                // One more page shares the site's vote: the mean falls until its own share has been passed on.
                let before = target.own_mean(alpha);
                target.own_votes += 1;
                target.residual += target.own_mean(alpha) - before;
            }
        }
        self.settle(node, touched);
        let mut queue: Vec<NodeId> = self.outlinks(node).to_vec();
        self.drain(&mut queue, touched);
    }

    /// The rank: what is settled plus what is not.
    #[must_use]
    pub fn rank(&self, node: NodeId) -> f64 {
        let entry = &self.nodes[node.index()];
        f64::from(entry.settled) + f64::from(entry.residual)
    }

    /// How much of a rank comes from links (α term); the rest is the node's own relevance (β term).
    #[must_use]
    pub fn link_share(&self, node: NodeId) -> f64 {
        self.rank(node) - self.config.beta * f64::from(self.nodes[node.index()].relevance)
    }

    #[must_use]
    pub fn relevance(&self, node: NodeId) -> f64 {
        f64::from(self.nodes[node.index()].relevance)
    }

    #[must_use]
    pub fn is_fetched(&self, node: NodeId) -> bool {
        self.nodes[node.index()].edges_plus_one > 0
    }

    /// The links a fetched node was admitted with, in page order; none for others.
    #[must_use]
    pub fn outlinks(&self, node: NodeId) -> &[NodeId] {
        &self.edges[self.edge_range(node)]
    }

    /// Settled rank and residual, as they are stored.
    #[must_use]
    pub fn state(&self, node: NodeId) -> (f64, f64) {
        let entry = &self.nodes[node.index()];
        (f64::from(entry.settled), f64::from(entry.residual))
    }

    /// Puts back a fetched node's stored state, links included, without passing anything on.
    pub fn restore(&mut self, node: NodeId, relevance: f64, settled: f64, residual: f64, outlinks: &[NodeId]) {
        let first_edge = self.edges.len() as u32;
        self.edges.extend_from_slice(outlinks);
        let entry = &mut self.nodes[node.index()];
        entry.settled = settled as f32;
        entry.residual = residual as f32;
        entry.relevance = relevance as f32;
        entry.first_edge = first_edge;
        entry.edges_plus_one = outlinks.len() as u32 + 1;
        let (site, share) = (entry.site, settled as f32 / votes(outlinks.len()));
        for &target in outlinks {
            let target = &mut self.nodes[target.index()];
            if target.site == site {
                target.own_votes += 1;
                target.own_shares += share;
            }
        }
    }

    /// Puts back what a waiting node has received.
    pub fn restore_waiting(&mut self, node: NodeId, estimate: f64, received: f64) {
        let entry = &mut self.nodes[node.index()];
        entry.relevance = estimate as f32;
        entry.residual = (self.config.beta * estimate + received) as f32;
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Number of residual pushes so far: the work that ranks have cost.
    #[must_use]
    pub fn pushes(&self) -> u64 {
        self.pushes
    }

    /// The greatest violation of `residual = β R + α Aᵀ settled − settled` over all nodes; rounding only, if all is well.
    #[must_use]
    pub fn identity_error(&self) -> f64 {
        let mut expected: Vec<f64> =
            self.nodes.iter().map(|node| self.config.beta * f64::from(node.relevance) - f64::from(node.settled)).collect();
        for (index, source) in self.nodes.iter().enumerate() {
            let outlinks = self.outlinks(NodeId(index as u32));
            let share = self.config.alpha * f64::from(source.settled) / f64::from(votes(outlinks.len()));
            for target in outlinks {
                expected[target.index()] += share / self.sharers(source, *target);
            }
        }
        self.nodes.iter().zip(expected).map(|(node, expected)| (f64::from(node.residual) - expected).abs()).fold(0.0, f64::max)
    }

    /// Among how many pages a vote of `source` for `target` is divided.
    fn sharers(&self, source: &Node, target: NodeId) -> f64 {
        let target = &self.nodes[target.index()];
        if target.site == source.site { f64::from(target.own_votes.max(1)) } else { 1.0 }
    }

    fn edge_range(&self, node: NodeId) -> Range<usize> {
        let entry = &self.nodes[node.index()];
        let first = entry.first_edge as usize;
        first..first + (entry.edges_plus_one as usize).saturating_sub(1)
    }

    fn push_from(&mut self, node: NodeId, touched: &mut Vec<NodeId>) {
        let mut queue = vec![node];
        self.drain(&mut queue, touched);
    }

    /// Pushes every fetched node of the queue whose residual is large, and those it makes large.
    fn drain(&mut self, queue: &mut Vec<NodeId>, touched: &mut Vec<NodeId>) {
        while let Some(node) = queue.pop() {
            let entry = &self.nodes[node.index()];
            if entry.edges_plus_one > 0 && f64::from(entry.residual).abs() > self.config.epsilon {
                self.settle(node, touched);
                queue.extend_from_slice(&self.edges[self.edge_range(node)]);
            }
        }
    }

    /// Settles a fetched node's residual and passes its share on to the nodes it links to.
    fn settle(&mut self, node: NodeId, touched: &mut Vec<NodeId>) {
        self.pushes += 1;
        let range = self.edge_range(node);
        let entry = &mut self.nodes[node.index()];
        let moved = std::mem::take(&mut entry.residual);
        entry.settled += moved;
        let site = entry.site;
        let share = moved / votes(range.len());
        let alpha = self.config.alpha as f32;
        for at in range {
            let target = self.edges[at];
            let entry = &mut self.nodes[target.index()];
            if entry.site == site {
                let before = entry.own_mean(alpha);
                entry.own_shares += share;
                entry.residual += entry.own_mean(alpha) - before;
            } else {
                entry.residual += alpha * share;
            }
            if entry.edges_plus_one == 0 {
                touched.push(target);
            }
        }
    }
}

/// O(u) of a page with `links` admitted links.
fn votes(links: usize) -> f32 {
    links.max(FEW_LINKS) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Jacobi iteration to convergence.
    fn exact(graph: &LinkGraph) -> Vec<f64> {
        let own: Vec<f64> = graph.nodes.iter().map(|node| graph.config.beta * f64::from(node.relevance)).collect();
        let mut ranks = own.clone();
        for _ in 0..100 {
            let mut next = own.clone();
            for (index, rank) in ranks.iter().enumerate() {
                let outlinks = graph.outlinks(NodeId(index as u32));
                for &target in outlinks {
                    let share = graph.config.alpha * rank / f64::from(votes(outlinks.len()));
                    next[target.index()] += share / graph.sharers(&graph.nodes[index], target);
                }
            }
            ranks = next;
        }
        ranks
    }

    fn random_crawl(steps: u32) -> LinkGraph {
        let mut random = fastrand::Rng::with_seed(7);
        let mut graph = LinkGraph::new(RankConfig::default());
        let mut touched = Vec::new();
        graph.add(1.0, 0);
        for step in 0..steps {
            let outlinks: Vec<NodeId> = (0..random.usize(1..12))
                .map(|_| {
                    if random.bool() {
                        graph.add(random.f64(), random.u32(0..3))
                    } else {
                        NodeId(random.u32(0..graph.len() as u32))
                    }
                })
                .collect();
            graph.fetch(NodeId(step), random.f64(), &outlinks, &mut touched);
            if step % 7 == 0 {
                graph.set_relevance(NodeId(random.u32(0..graph.len() as u32)), random.f64(), &mut touched);
            }
        }
        graph
    }

    #[test]
    fn pushed_ranks_stay_close_to_the_exact_solution() {
        let graph = random_crawl(400);
        let worst = exact(&graph)
            .iter()
            .enumerate()
            .map(|(index, rank)| (rank - graph.rank(NodeId(index as u32))).abs())
            .fold(0.0, f64::max);
        assert!(worst < 0.02, "{worst}");
        assert!(graph.identity_error() < 1e-4, "{}", graph.identity_error());
    }

    #[test]
    fn a_page_that_many_relevant_pages_link_to_ranks_above_its_equals() {
        let mut graph = LinkGraph::new(RankConfig::default());
        let mut touched = Vec::new();
        let (a, b) = (graph.add(0.9, 1), graph.add(0.9, 2));
        let (cited_twice, cited_once) = (graph.add(0.3, 3), graph.add(0.3, 3));
        graph.fetch(a, 0.9, &[cited_twice, cited_once], &mut touched);
        graph.fetch(b, 0.9, &[cited_twice], &mut touched);
        assert!(graph.rank(cited_twice) > graph.rank(cited_once));
        assert!(graph.link_share(cited_twice) > 0.0);
        assert!(touched.contains(&cited_twice));
    }

    #[test]
    fn a_menu_that_every_page_of_a_site_repeats_votes_once() {
        let mut graph = LinkGraph::new(RankConfig::default());
        let mut touched = Vec::new();
        let pages: Vec<NodeId> = (0..30).map(|_| graph.add(0.9, 0)).collect();
        let (menu, article) = (graph.add(0.1, 0), graph.add(0.2, 0));
        for (number, &page) in pages.iter().enumerate() {
            let links = if number == 0 { vec![menu, article] } else { vec![menu] };
            graph.fetch(page, 0.9, &links, &mut touched);
        }
        assert!(graph.rank(article) > graph.rank(menu));
        assert!(graph.identity_error() < 1e-5, "{}", graph.identity_error());
    }

    #[test]
    fn restored_state_ranks_as_before() {
        let graph = random_crawl(50);
        let mut restored = LinkGraph::new(RankConfig::default());
        for node in &graph.nodes {
            let _ = restored.add(0.0, node.site);
        }
        for index in 0..graph.len() {
            let node = NodeId(index as u32);
            let (settled, residual) = graph.state(node);
            if graph.is_fetched(node) {
                restored.restore(node, graph.relevance(node), settled, residual, graph.outlinks(node));
            } else {
                restored.restore_waiting(node, graph.relevance(node), graph.link_share(node));
            }
        }
        for index in 0..graph.len() {
            let node = NodeId(index as u32);
            assert!((graph.rank(node) - restored.rank(node)).abs() < 1e-5);
        }
        assert!(restored.identity_error() < 1e-4);
    }
}

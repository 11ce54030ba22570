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
//! Nodes and links are in memory as far as their room goes; the rest is spilled, and changes nothing but the time.
//! Never: knows URLs, hosts or what a rank is used for.

use std::{io, ops::Range};

use serde::{Deserialize, Serialize};

use crate::spill::{Fixed, Paged, Room};

/// A node of the link graph: any URL that was discovered and admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
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

impl Fixed for Node {
    const SIZE: usize = 32;

    fn write(&self, bytes: &mut [u8]) {
        let Self { settled, residual, relevance, first_edge, edges_plus_one, site, own_shares, own_votes } = *self;
        let numbers = [settled, residual, relevance, own_shares].map(f32::to_bits);
        for (number, bytes) in
            numbers.into_iter().chain([first_edge, edges_plus_one, site, own_votes]).zip(bytes.chunks_exact_mut(4))
        {
            number.write(bytes);
        }
    }

    fn read(bytes: &[u8]) -> Self {
        let number = |at: usize| u32::read(&bytes[4 * at..4 * at + 4]);
        let fraction = |at: usize| f32::from_bits(number(at));
        Self {
            settled: fraction(0),
            residual: fraction(1),
            relevance: fraction(2),
            own_shares: fraction(3),
            first_edge: number(4),
            edges_plus_one: number(5),
            site: number(6),
            own_votes: number(7),
        }
    }
}

impl Node {
    fn edge_range(&self) -> Range<usize> {
        let first = self.first_edge as usize;
        first..first + (self.edges_plus_one as usize).saturating_sub(1)
    }

    fn is_fetched(&self) -> bool {
        self.edges_plus_one > 0
    }

    /// What one page of its own site passes on if their mean is `α · own_shares / own_votes`.
    fn own_mean(&self, alpha: f32) -> f32 {
        alpha * self.own_shares / self.own_votes.max(1) as f32
    }
}

/// A page passes on its rank as if it had this many links at least: a frame or a forward with one link does not vouch
/// for it more than a list does for each of its twenty.
const FEW_LINKS: usize = 20;

/// The part of the web that the crawl has seen, with ranks.
#[derive(Debug, Default)]
pub struct LinkGraph {
    config: RankConfig,
    nodes: Paged<Node>,
    /// Links of all fetched nodes, one node's after the other.
    edges: Paged<u32>,
    pushes: u64,
}

impl LinkGraph {
    #[must_use]
    pub fn new(config: RankConfig) -> Self {
        Self { config, ..Self::default() }
    }

    /// Keeps no more in memory than `room`; before the first node is added.
    #[must_use]
    pub fn within(self, room: &Room) -> Self {
        // A fetched page has about as many links as it brings new nodes, of an eighth of their size.
        let part = |quarters: usize| room.eighths(2 * quarters);
        Self { nodes: Paged::new(part(3)), edges: Paged::new(part(1)), ..self }
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
        let beta = self.config.beta;
        let is_fetched = self.nodes.update(node.index(), |entry| {
            entry.residual += (beta * (relevance - f64::from(entry.relevance))) as f32;
            entry.relevance = relevance as f32;
            entry.is_fetched()
        });
        if is_fetched {
            self.push_from(node, touched);
        } else {
            touched.push(node);
        }
    }

    /// Records a fetch: the node's judged relevance and the links it was admitted with, in page order.
    pub fn fetch(&mut self, node: NodeId, relevance: f64, outlinks: &[NodeId], touched: &mut Vec<NodeId>) {
        let first_edge = self.enter_edges(outlinks);
        let (alpha, beta) = (self.config.alpha as f32, self.config.beta);
        let site = self.nodes.update(node.index(), |entry| {
            entry.first_edge = first_edge;
            entry.edges_plus_one = outlinks.len() as u32 + 1;
            entry.residual += (beta * (relevance - f64::from(entry.relevance))) as f32;
            entry.relevance = relevance as f32;
            entry.site
        });
        for &target in outlinks {
            self.nodes.update(target.index(), |target| {
                if target.site == site {
                    // One more page shares the site's vote: the mean falls until its own share has been passed on.
                    let before = target.own_mean(alpha);
                    target.own_votes += 1;
                    target.residual += target.own_mean(alpha) - before;
                }
            });
        }
        self.settle(node, touched);
        self.drain(outlinks.to_vec(), touched);
    }

    fn enter_edges(&mut self, outlinks: &[NodeId]) -> u32 {
        let first_edge = self.edges.len() as u32;
        for target in outlinks {
            self.edges.push(target.0);
        }
        first_edge
    }

    /// The rank: what is settled plus what is not.
    #[must_use]
    pub fn rank(&self, node: NodeId) -> f64 {
        let entry = self.nodes.get(node.index());
        f64::from(entry.settled) + f64::from(entry.residual)
    }

    /// How much of a rank comes from links (α term); the rest is the node's own relevance (β term).
    #[must_use]
    pub fn link_share(&self, node: NodeId) -> f64 {
        self.rank(node) - self.config.beta * self.relevance(node)
    }

    #[must_use]
    pub fn relevance(&self, node: NodeId) -> f64 {
        f64::from(self.nodes.get(node.index()).relevance)
    }

    #[must_use]
    pub fn is_fetched(&self, node: NodeId) -> bool {
        self.nodes.get(node.index()).is_fetched()
    }

    /// The links a fetched node was admitted with, in page order; none for others.
    #[must_use]
    pub fn outlinks(&self, node: NodeId) -> Vec<NodeId> {
        let links = self.edges.range(self.nodes.get(node.index()).edge_range());
        links.into_iter().map(NodeId).collect()
    }

    /// The links of a fetched node around the one at `place`, at most `reach` to each side, with their places.
    pub fn outlinks_around(&self, node: NodeId, place: usize, reach: usize) -> impl Iterator<Item = (usize, NodeId)> + use<> {
        let all = self.nodes.get(node.index()).edge_range();
        let from = place.saturating_sub(reach).min(all.len());
        let links = self.edges.range(all.start + from..(all.start + place + reach + 1).min(all.end));
        (from..).zip(links.into_iter().map(NodeId))
    }

    /// Settled rank and residual, as they are stored.
    #[must_use]
    pub fn state(&self, node: NodeId) -> (f64, f64) {
        let entry = self.nodes.get(node.index());
        (f64::from(entry.settled), f64::from(entry.residual))
    }

    /// Records a fetch as [`LinkGraph::fetch`] does, without passing anything on yet.
    pub fn restore(&mut self, node: NodeId, outlinks: &[NodeId]) {
        let first_edge = self.enter_edges(outlinks);
        let site = self.nodes.update(node.index(), |entry| {
            entry.first_edge = first_edge;
            entry.edges_plus_one = outlinks.len() as u32 + 1;
            entry.site
        });
        for &target in outlinks {
            self.nodes.update(target.index(), |target| target.own_votes += u32::from(target.site == site));
        }
    }

    /// Passes on all that restored nodes have to pass on: ranks follow from relevances and links, so they need not be stored.
    pub fn settle_all(&mut self) {
        let mut touched = Vec::new();
        for index in 0..self.nodes.len() {
            self.push_from(NodeId(index as u32), &mut touched);
            touched.clear();
        }
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

    /// Bytes of nodes and links that are in memory.
    #[must_use]
    pub fn resident_bytes(&self) -> usize {
        self.nodes.resident_bytes() + self.edges.resident_bytes()
    }

    /// # Errors
    /// As for [`Paged::check`].
    pub fn check(&self) -> io::Result<()> {
        self.nodes.check().and_then(|()| self.edges.check())
    }

    fn all(&self) -> impl Iterator<Item = (NodeId, Node)> {
        (0..self.nodes.len()).map(|index| (NodeId(index as u32), self.nodes.get(index)))
    }

    /// The greatest violation of `residual = β R + α Aᵀ settled − settled` over all nodes; rounding only, if all is well.
    #[must_use]
    pub fn identity_error(&self) -> f64 {
        let mut expected: Vec<f64> =
            self.all().map(|(_, node)| self.config.beta * f64::from(node.relevance) - f64::from(node.settled)).collect();
        for (id, source) in self.all() {
            let outlinks = self.outlinks(id);
            let share = self.config.alpha * f64::from(source.settled) / f64::from(votes(outlinks.len()));
            for target in outlinks {
                expected[target.index()] += share / self.sharers(&source, target);
            }
        }
        self.all().zip(expected).map(|((_, node), expected)| (f64::from(node.residual) - expected).abs()).fold(0.0, f64::max)
    }

    /// Among how many pages a vote of `source` for `target` is divided.
    fn sharers(&self, source: &Node, target: NodeId) -> f64 {
        let target = self.nodes.get(target.index());
        if target.site == source.site { f64::from(target.own_votes.max(1)) } else { 1.0 }
    }

    fn push_from(&mut self, node: NodeId, touched: &mut Vec<NodeId>) {
        self.drain(vec![node], touched);
    }

    /// Pushes every fetched node of the queue whose residual is large, and those it makes large.
    fn drain(&mut self, mut queue: Vec<NodeId>, touched: &mut Vec<NodeId>) {
        while let Some(node) = queue.pop() {
            let entry = self.nodes.get(node.index());
            if entry.is_fetched() && f64::from(entry.residual).abs() > self.config.epsilon {
                self.settle(node, touched);
                queue.extend(self.outlinks(node));
            }
        }
    }

    /// Settles a fetched node's residual and passes its share on to the nodes it links to.
    fn settle(&mut self, node: NodeId, touched: &mut Vec<NodeId>) {
        self.pushes += 1;
        let (range, moved, site) = self.nodes.update(node.index(), |entry| {
            let moved = std::mem::take(&mut entry.residual);
            entry.settled += moved;
            (entry.edge_range(), moved, entry.site)
        });
        let share = moved / votes(range.len());
        let alpha = self.config.alpha as f32;
        for target in self.edges.range(range) {
            let is_fetched = self.nodes.update(target as usize, |entry| {
                if entry.site == site {
                    let before = entry.own_mean(alpha);
                    entry.own_shares += share;
                    entry.residual += entry.own_mean(alpha) - before;
                } else {
                    entry.residual += alpha * share;
                }
                entry.is_fetched()
            });
            if !is_fetched {
                touched.push(NodeId(target));
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
        let own: Vec<f64> = graph.all().map(|(_, node)| graph.config.beta * f64::from(node.relevance)).collect();
        let mut ranks = own.clone();
        for _ in 0..100 {
            let mut next = own.clone();
            for ((id, node), rank) in graph.all().zip(&ranks) {
                let outlinks = graph.outlinks(id);
                let share = graph.config.alpha * rank / f64::from(votes(outlinks.len()));
                for target in outlinks {
                    next[target.index()] += share / graph.sharers(&node, target);
                }
            }
            ranks = next;
        }
        ranks
    }

    fn random_crawl(steps: u32) -> LinkGraph {
        random_crawl_on(LinkGraph::new(RankConfig::default()), steps)
    }

    fn random_crawl_on(mut graph: LinkGraph, steps: u32) -> LinkGraph {
        let mut random = fastrand::Rng::with_seed(7);
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
    fn a_graph_that_does_not_fit_in_memory_ranks_as_one_that_does() {
        let narrow = Room { bytes: 0, ..Room::default() };
        let (spilled, whole) = (random_crawl_on(LinkGraph::default().within(&narrow), 2_000), random_crawl(2_000));
        assert!(spilled.nodes.loads() > 100 && spilled.edges.loads() > 100, "nothing was spilled");
        let ranks = |graph: &LinkGraph| -> Vec<(f64, f64)> { graph.all().map(|(id, _)| graph.state(id)).collect() };
        assert_eq!(ranks(&spilled), ranks(&whole));
        spilled.check().unwrap();
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
        assert!(graph.rank(cited_twice) > 0.5 * 0.3);
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
    fn a_graph_that_is_put_together_again_ranks_as_before() {
        let graph = random_crawl(400);
        let mut restored = LinkGraph::new(RankConfig::default());
        for (id, node) in graph.all() {
            restored.add(graph.relevance(id), node.site);
        }
        for (id, node) in graph.all() {
            if node.is_fetched() {
                restored.restore(id, &graph.outlinks(id));
            }
        }
        restored.settle_all();
        let worst = graph.all().map(|(id, _)| (graph.rank(id) - restored.rank(id)).abs()).fold(0.0, f64::max);
        assert!(worst < 0.02, "{worst}");
        assert!(restored.identity_error() < 1e-4, "{}", restored.identity_error());
    }
}

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

mod node;

use std::io;

use node::{Fetched, Node, Vote, votes};
use serde::{Deserialize, Serialize};

use crate::spill::{Paged, Room};

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

/// The part of the web that the crawl has seen, with ranks.
#[derive(Debug, Default)]
pub struct LinkGraph {
    config: RankConfig,
    nodes: Paged<Node>,
    /// In the order in which they were fetched.
    fetched: Paged<Fetched>,
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
        // Nodes are asked for in no order; links where they were entered last.
        let (nodes, least) = (room.eighths(6), room.eighths(1));
        Self { nodes: Paged::new(nodes), fetched: Paged::new(least.clone()), edges: Paged::new(least), ..self }
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
        let is_fetched = self.judge(node, relevance);
        if is_fetched {
            self.push_from(node, touched);
        } else {
            touched.push(node);
        }
    }

    /// Records a node's fetch: its judged relevance and the links it was admitted with, in page order.
    pub fn fetch(&mut self, node: NodeId, relevance: f64, outlinks: &[NodeId], touched: &mut Vec<NodeId>) {
        debug_assert!(!self.is_fetched(node), "a page that was fetched before is renewed");
        self.enter(node, outlinks, 0.0, drop);
        self.judge(node, relevance);
        self.settle(node, touched);
        self.drain(outlinks.to_vec(), touched);
    }

    /// A fetched page has changed: its relevance and its links, in page order, are these now. What it has passed on to others
    /// is taken back from them.
    pub fn renew(&mut self, node: NodeId, relevance: f64, outlinks: &[NodeId], touched: &mut Vec<NodeId>) {
        let before = self.fetched(&self.nodes.get(node.index()));
        let mut moved = self.outlinks(node);
        let share = before.settled / votes(moved.len());
        self.vote(node, moved.iter().copied(), Vote { pages: -1, share: -share }, |target| touched.push(target));
        self.enter(node, outlinks, before.settled, |target| touched.push(target));
        self.judge(node, relevance);
        moved.extend(outlinks);
        moved.push(node);
        self.drain(moved, touched);
    }

    fn judge(&mut self, node: NodeId, relevance: f64) -> bool {
        let beta = self.config.beta;
        self.nodes.update(node.index(), |entry| {
            entry.residual += (beta * (relevance - f64::from(entry.relevance))) as f32;
            entry.relevance = relevance as f32;
            entry.is_fetched()
        })
    }

    /// Notes the links of a page that has passed on `settled`.
    fn enter(&mut self, node: NodeId, outlinks: &[NodeId], settled: f32, waits: impl FnMut(NodeId)) {
        let entry = Fetched { settled, first_edge: self.edges.len() as u32, edges: outlinks.len() as u32 };
        self.fetched.push(entry);
        let number = self.fetched.len() as u32;
        for target in outlinks {
            self.edges.push(target.0);
        }
        self.nodes.update(node.index(), |entry| entry.fetched_plus_one = number);
        self.vote(node, outlinks.iter().copied(), Vote { pages: 1, share: settled / votes(outlinks.len()) }, waits);
    }

    /// Gives the targets of a page's links what it passes on; `waits` is told of those that are not fetched.
    fn vote(&mut self, source: NodeId, targets: impl IntoIterator<Item = NodeId>, vote: Vote, mut waits: impl FnMut(NodeId)) {
        let alpha = self.config.alpha as f32;
        let site = self.nodes.get(source.index()).site;
        for target in targets {
            let is_fetched = self.nodes.update(target.index(), |entry| {
                entry.take(vote, site, alpha);
                entry.is_fetched()
            });
            if !is_fetched {
                waits(target);
            }
        }
    }

    /// What is known of a node if it is fetched.
    fn fetched(&self, node: &Node) -> Fetched {
        node.fetched().map(|at| self.fetched.get(at)).unwrap_or_default()
    }

    /// The rank: what is settled plus what is not.
    #[must_use]
    pub fn rank(&self, node: NodeId) -> f64 {
        let (settled, residual) = self.state(node);
        settled + residual
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
        let links = self.edges.range(self.fetched(&self.nodes.get(node.index())).edge_range());
        links.into_iter().map(NodeId).collect()
    }

    /// The links of a fetched node around the one at `place`, at most `reach` to each side, with their places.
    pub fn outlinks_around(&self, node: NodeId, place: usize, reach: usize) -> impl Iterator<Item = (usize, NodeId)> + use<> {
        let all = self.fetched(&self.nodes.get(node.index())).edge_range();
        let from = place.saturating_sub(reach).min(all.len());
        let links = self.edges.range(all.start + from..(all.start + place + reach + 1).min(all.end));
        (from..).zip(links.into_iter().map(NodeId))
    }

    /// Settled rank and residual, as they are stored.
    #[must_use]
    pub fn state(&self, node: NodeId) -> (f64, f64) {
        let entry = self.nodes.get(node.index());
        (f64::from(self.fetched(&entry).settled), f64::from(entry.residual))
    }

    /// Records a fetch as [`LinkGraph::fetch`] does, without passing anything on yet.
    pub fn restore(&mut self, node: NodeId, outlinks: &[NodeId]) {
        self.enter(node, outlinks, 0.0, drop);
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
        self.nodes.resident_bytes() + self.fetched.resident_bytes() + self.edges.resident_bytes()
    }

    /// # Errors
    /// As for [`Paged::check`].
    pub fn check(&self) -> io::Result<()> {
        self.nodes.check().and_then(|()| self.fetched.check()).and_then(|()| self.edges.check())
    }

    fn all(&self) -> impl Iterator<Item = (NodeId, Node)> {
        (0..self.nodes.len()).map(|index| (NodeId(index as u32), self.nodes.get(index)))
    }

    /// The greatest violation of `residual = β R + α Aᵀ settled − settled` over all nodes; rounding only, if all is well.
    #[must_use]
    pub fn identity_error(&self) -> f64 {
        let settled = |node: &Node| f64::from(self.fetched(node).settled);
        let mut expected: Vec<f64> =
            self.all().map(|(_, node)| self.config.beta * f64::from(node.relevance) - settled(&node)).collect();
        for (id, source) in self.all() {
            let outlinks = self.outlinks(id);
            let share = self.config.alpha * settled(&source) / f64::from(votes(outlinks.len()));
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
        let moved = |entry: &mut Node| entry.fetched().map(|fetched| (fetched, std::mem::take(&mut entry.residual)));
        let Some((fetched, moved)) = self.nodes.update(node.index(), moved) else { return };
        let range = self.fetched.update(fetched, |entry| {
            entry.settled += moved;
            entry.edge_range()
        });
        let vote = Vote { pages: 0, share: moved / votes(range.len()) };
        let targets = self.edges.range(range).into_iter().map(NodeId);
        self.vote(node, targets, vote, |target| touched.push(target));
    }
}

#[cfg(test)]
mod tests;

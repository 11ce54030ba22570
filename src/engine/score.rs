//! Scoring links anew as the crawl learns, within a budget per fetch.

use super::{Crawl, Ingredient, knowledge::Vocabulary};
use crate::{
    frontier::{Link, LinkView, Priority},
    page::Relevance,
    page_classifier::Rejudged,
    text::TermId,
    topical_rank::NodeId,
};

/// A priority that moved by a smaller share is left where it is: estimates are not that precise, and queues cost.
const SAME_PLACE: f64 = 0.005;

impl Crawl {
    /// Gathers the evidence of a waiting link again and gives it its new priority.
    fn refresh(&mut self, node: NodeId, vocabulary: &Vocabulary<'_>) {
        let Some(link) = self.frontier.link(node) else { return };
        // Seeds, and sitemaps that a robots.txt names, have no evidence; they keep their place.
        if link.is_unlinked() {
            return;
        }
        let evidence = self.knowledge.evidence(link, &self.graph, &self.links, vocabulary);
        let estimate = self.links.estimate(&evidence);
        if let Some(link) = self.frontier.link_mut(node) {
            link.evidence = evidence;
        }
        self.set_estimate(node, estimate);
    }

    /// What the page model says of words, where it lends that to links.
    fn word_weight(&self) -> impl Fn(TermId) -> f64 + use<> {
        let model = (!self.plan.lacks(Ingredient::LentVocabulary)).then(|| self.pages.model());
        move |word| model.as_ref().map_or(0.0, |model| model.word_weight(word))
    }

    /// Refreshes each of some links.
    fn refresh_all(&mut self, nodes: &[NodeId]) {
        let weight = self.word_weight();
        let vocabulary = Vocabulary { weight: &weight, version: self.pages.version() };
        for &node in nodes {
            self.refresh(node, &vocabulary);
        }
    }

    /// Scores a link on the shelf by what is known of it here; where that makes it worth more than it was, its rank rises.
    pub(super) fn score_on_shelf(&mut self, node: NodeId, link: &Link) {
        let weight = self.word_weight();
        let vocabulary = Vocabulary { weight: &weight, version: self.pages.version() };
        let estimate = self.links.estimate(&self.knowledge.evidence(link, &self.graph, &self.links, &vocabulary));
        let worth = self.order.rank_input(estimate.get() * self.allowance_of(link));
        if worth > self.graph.relevance(node) {
            self.graph.set_relevance(node, worth, &mut self.touched);
        }
    }

    /// Applies the current weights to the evidence as it was last gathered: far cheaper than [`Crawl::refresh`].
    pub(super) fn reweigh(&mut self, node: NodeId) {
        let Some(link) = self.frontier.link(node).filter(|link| !link.is_unlinked()) else { return };
        let estimate = self.links.estimate(&link.evidence);
        self.set_estimate(node, estimate);
    }

    fn set_estimate(&mut self, node: NodeId, estimate: Relevance) {
        if let Some(link) = self.frontier.link_mut(node) {
            link.estimate = estimate;
        }
        let worth = estimate.get() * self.allowance(node);
        // It moves in the frontier with all that is touched.
        self.graph.set_relevance(node, self.order.rank_input(worth), &mut self.touched);
    }

    /// What a link's worth is multiplied by, 0..=1, after all that was fetched from its host (the dial between depth and
    /// breadth), and as far as its tunnel depth has paid.
    pub(super) fn allowance(&self, node: NodeId) -> f64 {
        self.frontier.link(node).map_or(1.0, |link| self.allowance_of(link))
    }

    fn allowance_of(&self, link: &Link) -> f64 {
        /// Pages of a host after which one more begins to count for less.
        const MANY: f64 = 100.0;
        let fetched = f64::from(self.hosts.fetched(link.host));
        let novelty = (1.0 + fetched / MANY).powf(-self.plan.engine.site_diversity);
        let payback = if self.plan.lacks(Ingredient::Payback) { 1.0 } else { self.payback.factor(link.tunnel_depth) };
        novelty * payback
    }

    /// Asks the order for a link's priority and moves it there.
    pub(super) fn requeue(&mut self, node: NodeId) {
        let Some(link) = self.frontier.link(node) else { return self.consider_unshelving(node) };
        if link.is_unlinked() {
            return;
        }
        let view = LinkView {
            link,
            rank: self.graph.rank(node),
            lot: lot(self.plan.engine.seed, link.fingerprint.0),
            sampled: self.sample.holds(node),
        };
        let priority = self.boosted(&link.url).map_or_else(|| self.order.priority(&view), |boosted| boosted.0);
        let before = link.priority.0;
        if (priority - before).abs() > SAME_PLACE * before.abs() {
            self.frontier.reprioritise(node, Priority(priority));
        }
    }

    /// After a fetch: what it touched is scored anew, then the head of the queue and a share of the rest.
    pub(super) fn rescore(&mut self, fetched: &[NodeId], new_links: &[NodeId], weights_changed: bool) {
        let learns = self.order.learns() && !self.plan.lacks(Ingredient::Rescoring);
        let allowed = self.rescoring();
        let mut budget = allowed;
        let mut list: Vec<NodeId> = new_links.to_vec();
        if learns {
            for &node in fetched {
                list.extend(self.beside(node));
            }
            list.extend(self.frontier.head(budget / 4, 64));
            list.extend(self.next_of_sweep(budget / 4));
        }
        list.sort_unstable();
        list.dedup();
        let mut chosen = Vec::with_capacity(list.len());
        for node in list {
            // What a page has just added is always scored; the rest as far as the budget goes.
            if budget == 0 && new_links.binary_search(&node).is_err() {
                continue;
            }
            budget = budget.saturating_sub(1);
            chosen.push(node);
        }
        self.refresh_all(&chosen);
        if learns && weights_changed {
            let some: Vec<NodeId> = self.frontier.head(4 * allowed, usize::MAX);
            for node in some {
                self.reweigh(node);
            }
        }
        self.requeue_touched();
    }

    /// Moves everything in the frontier whose rank has changed.
    fn requeue_touched(&mut self) {
        let mut touched = std::mem::take(&mut self.touched);
        touched.sort_unstable();
        touched.dedup();
        for node in touched.drain(..) {
            self.requeue(node);
        }
        self.touched = touched;
    }

    /// Links scored anew after a fetch: fewer as the crawl grows and one page more says less.
    fn rescoring(&self) -> usize {
        /// Pages after which half the budget is left.
        const HALVED: f64 = 500.0;
        let budget = self.plan.engine.rescore_budget as f64;
        (budget * HALVED / (HALVED + self.state.fetched as f64)).ceil() as usize
    }

    /// Scores links of a list anew, whatever it costs, and moves them at once.
    pub(super) fn rescore_all(&mut self, nodes: &[NodeId]) {
        self.refresh_all(nodes);
        for &node in nodes {
            self.requeue(node);
        }
    }

    /// Waiting links that stand near one that was fetched.
    fn beside(&self, node: NodeId) -> Vec<NodeId> {
        const NEAR: usize = 12;
        let Some(source) = self.knowledge.sources.get(node) else { return Vec::new() };
        let mut near = Vec::new();
        for &(parent, ordinal) in &source.stands_on {
            let around = self.graph.outlinks_around(parent, usize::from(ordinal), NEAR).map(|(_, other)| other);
            near.extend(around.filter(|&other| !self.graph.is_fetched(other)));
        }
        near
    }

    /// The next waiting links of a round over all of them.
    fn next_of_sweep(&mut self, number: usize) -> Vec<NodeId> {
        let mut nodes = Vec::with_capacity(number);
        for _ in 0..number.min(self.pool.len()) {
            if self.sweep_at >= self.pool.len() {
                self.sweep_at = 0;
            }
            let node = NodeId(self.pool.get(self.sweep_at));
            if self.frontier.link(node).is_some() {
                nodes.push(node);
                self.sweep_at += 1;
            } else if self.frontier.shelved(node).is_some() {
                // It is scored when it comes back.
                self.sweep_at += 1;
            } else {
                self.pool.swap_remove(self.sweep_at);
            }
        }
        nodes
    }

    /// Judges some of the pages anew, as far as one visit may; whether the crawl has a new model of pages by it.
    pub(super) fn judge_anew(&mut self) -> bool {
        let slice = self.pages.judge_anew();
        if slice.is_new_model {
            self.links.set_keyword_weights(self.pages.keyword_weights());
        }
        self.apply_rejudged(&slice.moved);
        slice.is_new_model
    }

    /// Carries new judgements of pages into ranks, link model and the store.
    fn apply_rejudged(&mut self, rejudged: &[Rejudged]) {
        for &Rejudged { page, relevance } in rejudged {
            let Some(node) = self.node_of(page) else { continue };
            let threshold = self.plan.threshold;
            self.knowledge.sources.change(node, |source| {
                source.facts.relevance = relevance.get();
                source.relevant = relevance.get() >= threshold;
            });
            self.graph.set_relevance(node, self.order.rank_input(relevance.get()), &mut self.touched);
            self.links.relabel(page, relevance);
            self.pending.rejudged(page, relevance);
        }
    }
}

/// A number in 0..1 that belongs to a URL and a seed.
fn lot(seed: u64, fingerprint: u64) -> f64 {
    fastrand::Rng::with_seed(seed ^ fingerprint.rotate_left(17)).f64()
}

//! Noticing that the order has lost the topic, and looking elsewhere until it is found again.
//!
//! An order can be misled: by a keyword that is also a menu word, by a site that is exhausted. Then its harvest sags. While
//! it does, some fetches go to waiting links unlike what was tried: of the directories and hosts that least was fetched
//! from. What they bring is learnt from like anything else, and as soon as the order harvests again, it has all fetches.
//!
//! Promises: at most every second fetch; none while the order harvests a tenth or more.
//! Never: overrides politeness or scope.

use super::{Crawl, Ingredient, progress::Recent};
use crate::{
    frontier::HostId,
    page::{Relevance, Timestamp},
    store::Chosen,
    topical_rank::NodeId,
};

/// Fetches that harvest is taken over.
const WINDOW: usize = 20;
/// Harvest of the order below which it has lost the topic.
const SAGS: f64 = 0.1;
/// Waiting links drawn, of which the least tried is taken.
const DRAWS: usize = 64;

/// What order and exploration have brought lately.
#[derive(Debug)]
pub(super) struct Widening {
    order: Recent,
    explored: Recent,
    /// Fetches since the last one that explored.
    since: u32,
}

impl Default for Widening {
    fn default() -> Self {
        Self { order: Recent::over(WINDOW), explored: Recent::over(WINDOW), since: 0 }
    }
}

impl Widening {
    /// Counts a fetched page.
    pub(super) fn add(&mut self, chosen: Chosen, relevant: bool) {
        match chosen {
            Chosen::Order => self.order.add(relevant),
            Chosen::Explored => self.explored.add(relevant),
            Chosen::Seed | Chosen::Random => {}
        }
    }

    /// Whether the next fetch should explore: every third while the order sags, every second where exploring brings more.
    fn is_due(&mut self) -> bool {
        if !self.order.is_full() || self.order.harvest() >= SAGS {
            return false;
        }
        self.since += 1;
        let every = if self.explored.harvest() > self.order.harvest() { 2 } else { 3 };
        self.since >= every
    }
}

impl Crawl {
    /// A waiting link unlike what was tried, where the order has lost the topic.
    pub(super) fn draw_unlike(&mut self, now: Timestamp) -> Option<(NodeId, HostId)> {
        if self.plan.lacks(Ingredient::Widening) {
            return None;
        }
        if !self.order.learns() || self.seeds_left > 0 || self.pool.is_empty() || !self.widening.is_due() {
            return None;
        }
        let mut best: Option<(f64, Relevance, NodeId)> = None;
        for _ in 0..DRAWS {
            let node = NodeId(self.pool.get(self.random.usize(0..self.pool.len())));
            let Some(link) = self.frontier.link(node) else { continue };
            let candidate = (self.links.tries(&link.facts), link.estimate, node);
            let is_better =
                best.is_none_or(|best| candidate.0.total_cmp(&best.0).then(best.1.get().total_cmp(&candidate.1.get())).is_lt());
            if is_better {
                best = Some(candidate);
            }
        }
        let (_, _, node) = best?;
        let host = self.frontier.link(node)?.host;
        (!self.frontier.is_blocked(host) && self.frontier.take_node(node, now)).then(|| {
            self.widening.since = 0;
            (node, host)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn due(widening: &mut Widening, times: usize) -> usize {
        (0..times)
            .filter(|_| {
                let due = widening.is_due();
                if due {
                    widening.since = 0;
                }
                due
            })
            .count()
    }

    #[test]
    fn it_explores_only_while_the_order_has_lost_the_topic() {
        let mut widening = Widening::default();
        (0..19).for_each(|_| widening.add(Chosen::Order, false));
        assert_eq!(due(&mut widening, 30), 0, "too early to tell");
        widening.add(Chosen::Order, false);
        assert_eq!(due(&mut widening, 30), 10);
        widening.add(Chosen::Explored, true);
        assert_eq!(due(&mut widening, 30), 15);
        (0..2).for_each(|_| widening.add(Chosen::Order, true));
        assert_eq!(due(&mut widening, 30), 0);
    }
}

//! Which links stay in memory: those of the hosts whose turn is near.
//!
//! Promises: what is in memory decides no more than the time that a choice takes, as far as links keep their priorities on
//! the shelf.
//! Never: reads or writes a row (its owner does).

use std::cmp::Reverse;

use super::{Frontier, HostId, Link, Priority, Shelved, host_queue::HostQueue};
use crate::topical_rank::NodeId;

/// Links of a host that come back from the shelf at a time, at least and at most.
const FEWEST: usize = 2;
const MOST: usize = 24;

/// A host that has so many links in memory has no need of more, but for those that come before them.
const ENOUGH: usize = 8;

/// Links that a host keeps in memory while others have more: some more than come back at a time.
const WARM: usize = 32;

/// A priority that moved by a smaller share leaves a row where it lies.
const SAME_PLACE: f64 = 0.05;

impl Frontier {
    /// A link that is on the shelf.
    #[must_use]
    pub fn shelved(&self, node: NodeId) -> Option<Shelved> {
        self.shelf.get(node)
    }

    /// Links on the shelf.
    #[must_use]
    pub fn shelved_len(&self) -> usize {
        self.shelf.len()
    }

    /// Whether a link of this priority would not be the last of its host's in memory, nor be behind its best on the shelf.
    #[must_use]
    pub fn would_be_kept(&self, host: HostId, priority: Priority) -> bool {
        self.hosts.look(host, |queue| {
            let last = queue.links.last().map(|&(Reverse(last), ..)| last);
            let promise = (queue.shelved.number > 0).then_some(queue.shelved.promise);
            last.max(promise).is_none_or(|least| priority > least)
        })
    }

    /// Counts an in-link of a link on the shelf, without bringing it back; `is_kept`: its row has it from now on.
    pub fn count_in_link(&mut self, node: NodeId, relevance: f64, is_kept: bool) {
        self.shelf.count(node, relevance, is_kept);
    }

    /// Notes a link as kept elsewhere.
    pub fn shelve(&mut self, node: NodeId, link: Shelved) {
        let shelved = &mut self.queue(link.host).shelved;
        let is_first = shelved.number == 0;
        shelved.number += 1;
        shelved.highest = if is_first { link.priority } else { shelved.highest.max(link.priority) };
        shelved.promise(if is_first { link.priority } else { shelved.promise.max(link.priority) });
        self.shelf.put(node, link);
        self.relist(link.host);
    }

    /// Takes a link back from the shelf into memory; the in-links that were counted there are counted in it.
    pub fn unshelve(&mut self, node: NodeId, mut link: Link) {
        if let Some(shelved) = self.take_from_shelf(node) {
            link.in_degree = link.in_degree.saturating_add_signed(shelved.more_in_links.max(0));
            link.forgotten_relevance += shelved.more_relevance.max(0.0);
            self.push(node, link);
        }
    }

    /// A link on the shelf is worth more than when it was put there.
    pub fn raise_on_shelf(&mut self, node: NodeId, priority: Priority) {
        let Some(link) = self.shelf.get(node) else { return };
        self.shelf.raise(node, priority);
        let shelved = &mut self.queue(link.host).shelved;
        shelved.highest = shelved.highest.max(priority);
        shelved.promise(shelved.promise.max(priority));
        self.relist(link.host);
    }

    fn take_from_shelf(&mut self, node: NodeId) -> Option<Shelved> {
        let gone = self.shelf.take(node)?;
        self.queue(gone.host).shelved.number -= 1;
        Some(gone)
    }

    /// The highest priority that a link of this host was shelved with, if it has any on the shelf.
    #[must_use]
    pub fn shelf_top(&self, host: HostId) -> Option<Priority> {
        self.hosts.look(host, |queue| (queue.shelved.number > 0).then_some(queue.shelved.highest))
    }

    /// How many links of a host should come back from the shelf: few where it has others in memory that come next, and few
    /// at first, since its turn may pass and take them out of memory again; more each time that it has used them up.
    #[must_use]
    pub fn restock_size(&self, host: HostId) -> usize {
        let few =
            |queue: &HostQueue| if queue.links.len() >= ENOUGH { FEWEST } else { (FEWEST << queue.shelved.restocks).min(MOST) };
        self.hosts.look(host, few)
    }

    /// The best links of a host have come back from the shelf; `next` is what the best of the rest was shelved with, and
    /// no more is expected of it than `worth`. None left: whatever was counted there is not there.
    pub fn restocked(&mut self, host: HostId, next: Option<Priority>, worth: Priority) {
        let shelved = &mut self.queue(host).shelved;
        shelved.restocks = (shelved.restocks + 1).min(MOST.ilog2() as u8);
        if let Some(next) = next {
            shelved.highest = next;
            shelved.promise(next.min(worth));
        } else {
            let lost = std::mem::take(&mut shelved.number);
            self.shelf.lose(lost as usize);
        }
        self.relist(host);
    }

    /// When more links are in memory than may be: takes some out, to be shelved. First the ends of long queues, then all
    /// links of the hosts whose best is the least wanted: hosts that are asked in turn keep as much as they use up, and one
    /// that is far from its turn need not have any. Seeds, links under way and, while others can go, those that changed
    /// lately stay.
    pub fn overflow(&mut self) -> Vec<(NodeId, Link)> {
        let Some(capacity) = self.capacity.filter(|&capacity| self.links.len() > capacity) else { return Vec::new() };
        let excess = self.links.len() - (capacity - capacity / 8);
        let hosts = self.least_wanted_first();
        let level = self.level(&hosts, excess).max(WARM);
        let mut leaving = Vec::with_capacity(excess);
        let parts = [(true, true), (true, false), (false, true), (false, false)];
        for (spare_fresh, are_ends) in parts {
            for &host in &hosts {
                self.hosts.look(host, |queue| {
                    let end = queue.beyond(level);
                    let (from, number) = if are_ends { (0, end) } else { (end, queue.links.len() - end) };
                    let may_go = |node: &NodeId| {
                        spare_fresh != self.fresh.contains(node) && self.links.get(node).is_some_and(|link| !link.is_unlinked())
                    };
                    let worst = queue.links.iter().rev().skip(from).take(number).map(|&(_, _, node)| node);
                    leaving.extend(worst.filter(may_go).take(excess - leaving.len()));
                });
            }
        }
        self.fresh.clear();
        leaving.into_iter().filter_map(|node| Some((node, self.send_to_shelf(node)?))).collect()
    }

    fn send_to_shelf(&mut self, node: NodeId) -> Option<Link> {
        let mut link = self.remove(node)?;
        // A row that lies about where it would be put again need not be written.
        if let Some(filed) = link.filed
            && (link.priority.0 - filed.priority.0).abs() < SAME_PLACE * link.priority.0.abs()
        {
            link.priority = filed.priority;
        }
        self.shelve(node, Shelved::of(&link));
        self.queue(link.host).shelved.restocks = 0;
        Some(link)
    }

    /// Hosts that have links in memory; those that are blocked before all.
    fn least_wanted_first(&self) -> Vec<HostId> {
        let mut hosts: Vec<HostId> = self.links.values().map(|link| link.host).collect();
        hosts.sort_unstable();
        hosts.dedup();
        hosts.sort_by_cached_key(|&host| self.hosts.look(host, |queue| (!queue.blocked, Reverse(queue.best()), host)));
        hosts
    }

    /// The greatest queue length that leaves `excess` links out.
    fn level(&self, hosts: &[HostId], excess: usize) -> usize {
        let left_out =
            |level: usize| -> usize { hosts.iter().map(|&host| self.hosts.look(host, |queue| queue.beyond(level))).sum() };
        let longest = hosts.iter().map(|&host| self.hosts.look(host, |queue| queue.links.len())).max();
        let (mut low, mut high) = (0, longest.unwrap_or(0));
        while low < high {
            let middle = (low + high).div_ceil(2);
            if left_out(middle) >= excess {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }
}

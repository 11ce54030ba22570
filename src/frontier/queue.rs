//! Back queues by host, the URL-seen test, and the choice of the next link.
//!
//! Links beyond the frontier's capacity are *shelved*: whoever owns it takes them ([`Frontier::overflow`]), keeps them on
//! disk, and brings a host's best back when its turn has come ([`Taken::Restock`]). A few bytes for each stay here.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeSet, BinaryHeap},
    io,
};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::{Link, Shelf, Shelved};
use crate::{
    page::Timestamp,
    spill::{PagedMap, Room},
    topical_rank::NodeId,
    url::Fingerprint,
};

/// A host's number in this run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId(pub u32);

/// How much a link is wanted; greater is sooner. Comparable within one crawl order only.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Priority(pub f64);

impl Eq for Priority {}

impl Ord for Priority {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Priority {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The `[frontier]` section.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FrontierConfig {
    /// A ready host's best link is taken at once if its priority is at least this share of the best that
    /// waits for its host; 0 never waits, 1 keeps the strict order.
    pub patience: f64,
    /// The same in a replay, where waiting costs nothing.
    pub replay_patience: f64,
    /// Longest wait for a better link, in seconds.
    pub max_wait_seconds: u64,
}

impl Default for FrontierConfig {
    fn default() -> Self {
        Self { patience: 0.8, replay_patience: 1.0, max_wait_seconds: 30 }
    }
}

/// What [`Frontier::take`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// This link is next; its host is busy from now on.
    Link(NodeId, HostId),
    /// The best link of this host is on the shelf: bring some back, then ask again.
    Restock(HostId),
    /// Nothing before this time.
    Wait(Timestamp),
    /// Nothing until a running fetch ends.
    Busy,
    /// Nothing waits at all.
    Empty,
}

type QueueEntry = (Reverse<Priority>, u64, NodeId);

#[derive(Debug, Default)]
struct HostQueue {
    links: BTreeSet<QueueEntry>,
    ready_at: Timestamp,
    running: u32,
    /// Its entry in `ready` or `all`, while it has links.
    listed: Option<(Reverse<Priority>, u64)>,
    is_ready: bool,
    blocked: bool,
    /// Its links that are not in memory.
    shelved: HostShelf,
}

impl HostQueue {
    /// Priority and order of its best link; one on the shelf comes after its equals in memory.
    fn best(&self) -> Option<(Reverse<Priority>, u64)> {
        let here = self.links.first().map(|&(priority, discovered, _)| (priority, discovered));
        let there = (self.shelved.number > 0).then_some((Reverse(self.shelved.promise), u64::MAX));
        here.into_iter().chain(there).min()
    }
}

/// What is known of a host's links on the shelf.
#[derive(Debug, Default)]
struct HostShelf {
    number: u32,
    /// What the best of them is held to be worth.
    promise: Priority,
    /// The highest priority that one of them was shelved with.
    highest: Priority,
}

/// All waiting links.
#[derive(Debug, Default)]
pub struct Frontier {
    config: FrontierConfig,
    connections_per_host: u32,
    hosts: Vec<HostQueue>,
    host_ids: FxHashMap<String, HostId>,
    host_names: Vec<String>,
    seen: PagedMap,
    links: FxHashMap<NodeId, Link>,
    /// Links in memory at most, but for those that came since the last [`Frontier::overflow`].
    capacity: Option<usize>,
    shelf: Shelf,
    /// Links that came or changed since the last overflow: they stay for one more round.
    fresh: FxHashSet<NodeId>,
    /// Every host that has links, by its best one.
    all: BTreeSet<(Reverse<Priority>, u64, HostId)>,
    /// Those that may be asked now.
    ready: BTreeSet<(Reverse<Priority>, u64, HostId)>,
    sleeping: BinaryHeap<Reverse<(Timestamp, HostId)>>,
    queued: usize,
}

impl Frontier {
    /// An empty frontier; hosts take `connections_per_host` requests at a time.
    #[must_use]
    pub fn new(config: FrontierConfig, connections_per_host: u32) -> Self {
        Self { config, connections_per_host, ..Self::default() }
    }

    /// Keeps about `links` links in memory at most, and of the URL-seen test and the shelf's index what the rooms hold.
    #[must_use]
    pub fn within(self, links: usize, seen_room: Room, shelf_room: Room) -> Self {
        Self { capacity: Some(links.max(64)), seen: PagedMap::new(seen_room), shelf: Shelf::new(shelf_room), ..self }
    }

    /// The number of a host, given by its authority; new ones are ready at once.
    pub fn host(&mut self, name: &str) -> HostId {
        if let Some(&id) = self.host_ids.get(name) {
            return id;
        }
        let id = HostId(self.hosts.len() as u32);
        self.hosts.push(HostQueue { is_ready: true, ..HostQueue::default() });
        self.host_names.push(name.to_owned());
        self.host_ids.insert(name.to_owned(), id);
        id
    }

    #[must_use]
    pub fn host_name(&self, host: HostId) -> &str {
        &self.host_names[host.0 as usize]
    }

    /// The URL-seen test: the node of a URL that was admitted before.
    #[must_use]
    pub fn seen(&self, fingerprint: Fingerprint) -> Option<NodeId> {
        self.seen.get(fingerprint.0).map(NodeId)
    }

    /// Marks a URL as admitted.
    pub fn mark_seen(&mut self, fingerprint: Fingerprint, node: NodeId) {
        self.seen.insert(fingerprint.0, node.0);
    }

    /// Puts a link into its host's queue.
    pub fn push(&mut self, node: NodeId, link: Link) {
        let host = link.host;
        self.hosts[host.0 as usize].links.insert((Reverse(link.priority), link.discovered, node));
        self.links.insert(node, link);
        self.freshen(node);
        self.queued += 1;
        self.relist(host);
    }

    fn freshen(&mut self, node: NodeId) {
        if self.capacity.is_some() {
            self.fresh.insert(node);
        }
    }

    /// The waiting link of a node.
    #[must_use]
    pub fn link(&self, node: NodeId) -> Option<&Link> {
        self.links.get(&node)
    }

    /// The same, to be changed; its priority through [`Frontier::reprioritise`] only.
    pub fn link_mut(&mut self, node: NodeId) -> Option<&mut Link> {
        self.freshen(node);
        self.links.get_mut(&node)
    }

    /// Notes that a link's row on disk is as the link is.
    pub fn file(&mut self, node: NodeId) {
        if let Some(link) = self.links.get_mut(&node) {
            link.filed = link.priority;
        }
    }

    /// Gives a waiting link a new priority.
    pub fn reprioritise(&mut self, node: NodeId, priority: Priority) {
        let Some(link) = self.links.get_mut(&node) else { return };
        if link.priority == priority {
            return;
        }
        let (host, discovered, old) = (link.host, link.discovered, link.priority);
        link.priority = priority;
        let queue = &mut self.hosts[host.0 as usize].links;
        if queue.remove(&(Reverse(old), discovered, node)) {
            queue.insert((Reverse(priority), discovered, node));
            self.relist(host);
        }
    }

    /// Takes a link out for good: it is being finished. Returns it.
    pub fn remove(&mut self, node: NodeId) -> Option<Link> {
        let link = self.links.remove(&node)?;
        if self.hosts[link.host.0 as usize].links.remove(&(Reverse(link.priority), link.discovered, node)) {
            self.queued -= 1;
            self.relist(link.host);
        }
        Some(link)
    }

    /// Chooses the next link whose host may be asked at `now`, and marks the host as busy.
    /// The link stays known ([`Frontier::link`]) until it is removed or put back.
    pub fn take(&mut self, now: Timestamp) -> Taken {
        self.wake(now);
        let Some(&(best, _, best_host)) = self.all.first() else {
            return if !self.is_empty() || self.hosts.iter().any(|host| host.running > 0) { Taken::Busy } else { Taken::Empty };
        };
        let Some(&(candidate, _, host)) = self.ready.first() else { return self.next_waking() };
        if self.is_far_below(candidate.0, best.0) && self.is_worth_waiting_for(best_host, now) {
            return match self.hosts[best_host.0 as usize].running {
                0 => Taken::Wait(self.hosts[best_host.0 as usize].ready_at),
                _ => Taken::Busy,
            };
        }
        let queue = &self.hosts[host.0 as usize];
        if queue.links.first().map(|&(priority, discovered, _)| (priority, discovered)) != queue.best() {
            return Taken::Restock(host);
        }
        let Some((_, _, node)) = self.hosts[host.0 as usize].links.pop_first() else { return Taken::Busy };
        self.queued -= 1;
        self.occupy(host);
        Taken::Link(node, host)
    }

    /// Takes this very link, if its host may be asked now: for random control fetches.
    pub fn take_node(&mut self, node: NodeId, now: Timestamp) -> bool {
        self.wake(now);
        let Some(link) = self.links.get(&node) else { return false };
        let (host, entry) = (link.host, (Reverse(link.priority), link.discovered, node));
        if !self.hosts[host.0 as usize].is_ready || !self.hosts[host.0 as usize].links.remove(&entry) {
            return false;
        }
        self.queued -= 1;
        self.occupy(host);
        true
    }

    /// Marks a host as busy with a request that is not one of its links (robots.txt).
    pub fn occupy(&mut self, host: HostId) {
        let queue = &mut self.hosts[host.0 as usize];
        queue.running += 1;
        if queue.running >= self.connections_per_host {
            queue.is_ready = false;
        }
        self.relist(host);
    }

    /// A request to a host has ended; it may be asked again from `ready_at`.
    pub fn release(&mut self, host: HostId, ready_at: Timestamp) {
        let queue = &mut self.hosts[host.0 as usize];
        queue.running = queue.running.saturating_sub(1);
        queue.ready_at = queue.ready_at.max(ready_at);
        queue.is_ready = false;
        self.sleeping.push(Reverse((queue.ready_at, host)));
        self.relist(host);
    }

    /// Puts a link that was taken back into its queue (retry, or its host is not ready after all).
    pub fn put_back(&mut self, node: NodeId) {
        let Some(link) = self.links.get(&node) else { return };
        let (host, entry) = (link.host, (Reverse(link.priority), link.discovered, node));
        if self.hosts[host.0 as usize].links.insert(entry) {
            self.queued += 1;
        }
        self.relist(host);
    }

    /// Stops handing out a host's links (or starts again).
    pub fn block(&mut self, host: HostId, blocked: bool) {
        self.hosts[host.0 as usize].blocked = blocked;
        self.relist(host);
    }

    /// When a host may be asked again.
    #[must_use]
    pub fn ready_at(&self, host: HostId) -> Timestamp {
        self.hosts[host.0 as usize].ready_at
    }

    /// Waiting links, those being fetched left out.
    #[must_use]
    pub fn len(&self) -> usize {
        self.queued + self.shelf.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Hosts that have waiting links.
    #[must_use]
    pub fn active_hosts(&self) -> usize {
        self.all.len()
    }

    /// How many links are known and not finished, those being fetched among them.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        self.links.len() + self.shelf.len()
    }

    /// All links that are known, not finished, and in memory.
    pub fn links(&self) -> impl Iterator<Item = (NodeId, &Link)> {
        self.links.iter().map(|(&node, link)| (node, link))
    }

    /// The best links of the crawl, best first, at most `number`, at most `per_host` of one host.
    #[must_use]
    pub fn head(&self, number: usize, per_host: usize) -> Vec<NodeId> {
        let mut head = Vec::with_capacity(number);
        for &(_, _, host) in &self.all {
            let queue = &self.hosts[host.0 as usize].links;
            head.extend(queue.iter().take(per_host.min(number - head.len())).map(|&(_, _, node)| node));
            if head.len() >= number {
                break;
            }
        }
        head
    }

    /// The best links of one host, best first, at most `number`.
    #[must_use]
    pub fn head_of(&self, host: &str, number: usize) -> Vec<NodeId> {
        let host = self.host_ids.get(host).map(|host| &self.hosts[host.0 as usize]);
        host.into_iter().flat_map(|host| host.links.iter().take(number)).map(|&(_, _, node)| node).collect()
    }

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

    /// Whether a link of this priority would not be the last of its host's in memory.
    #[must_use]
    pub fn would_be_kept(&self, host: HostId, priority: Priority) -> bool {
        self.hosts[host.0 as usize].links.last().is_none_or(|&(Reverse(last), ..)| priority > last)
    }

    /// Counts an in-link of a link on the shelf, without bringing it back; `is_kept`: its row has it from now on.
    pub fn count_in_link(&mut self, node: NodeId, relevance: f64, is_kept: bool) {
        self.shelf.count(node, relevance, is_kept);
    }

    /// Notes a link as kept elsewhere.
    pub fn shelve(&mut self, node: NodeId, link: Shelved) {
        let shelved = &mut self.hosts[link.host.0 as usize].shelved;
        let is_first = shelved.number == 0;
        shelved.number += 1;
        shelved.highest = if is_first { link.priority } else { shelved.highest.max(link.priority) };
        shelved.promise = if is_first { link.priority } else { shelved.promise.max(link.priority) };
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
        let shelved = &mut self.hosts[link.host.0 as usize].shelved;
        shelved.highest = shelved.highest.max(priority);
        shelved.promise = shelved.promise.max(priority);
        self.relist(link.host);
    }

    fn take_from_shelf(&mut self, node: NodeId) -> Option<Shelved> {
        let gone = self.shelf.take(node)?;
        self.hosts[gone.host.0 as usize].shelved.number -= 1;
        Some(gone)
    }

    /// The highest priority that a link of this host was shelved with, if it has any on the shelf.
    #[must_use]
    pub fn shelf_top(&self, host: HostId) -> Option<Priority> {
        let shelved = &self.hosts[host.0 as usize].shelved;
        (shelved.number > 0).then_some(shelved.highest)
    }

    /// The best links of a host have come back from the shelf; `next` is what the best of the rest was shelved with, and
    /// no more is expected of it than `worth`. None left: whatever was counted there is not there.
    pub fn restocked(&mut self, host: HostId, next: Option<Priority>, worth: Priority) {
        let shelved = &mut self.hosts[host.0 as usize].shelved;
        if let Some(next) = next {
            (shelved.highest, shelved.promise) = (next, next.min(worth));
        } else {
            self.shelf.lose(shelved.number as usize);
            shelved.number = 0;
        }
        self.relist(host);
    }

    /// When more links are in memory than may be: takes out the worst of the longest queues, to be shelved. Seeds, links
    /// under way and those that changed lately stay while others can go.
    pub fn overflow(&mut self) -> Vec<(NodeId, Link)> {
        let Some(capacity) = self.capacity.filter(|&capacity| self.links.len() > capacity) else { return Vec::new() };
        let excess = self.links.len() - (capacity - capacity / 8);
        let level = self.level(excess);
        let mut leaving = Vec::with_capacity(excess);
        for spare_fresh in [true, false] {
            for queue in &self.hosts {
                let room = queue.links.len().saturating_sub(if queue.blocked { 0 } else { level });
                let worst = queue.links.iter().rev().take(room);
                let may_go = |node: &NodeId| {
                    self.links.get(node).is_some_and(|link| !link.is_unlinked()) && spare_fresh != self.fresh.contains(node)
                };
                leaving.extend(worst.map(|&(_, _, node)| node).filter(may_go));
            }
            if leaving.len() >= excess {
                break;
            }
        }
        leaving.truncate(excess);
        self.fresh.clear();
        let mut gone = Vec::with_capacity(leaving.len());
        for node in leaving {
            if let Some(mut link) = self.remove(node) {
                // A row that lies where it would be put again need not be written.
                if (link.priority.0 - link.filed.0).abs() < 0.01 * link.priority.0.abs() {
                    link.priority = link.filed;
                }
                let shelved = Shelved {
                    fingerprint: link.fingerprint,
                    host: link.host,
                    priority: link.priority,
                    kept: link.in_links.len() as u8,
                    more_in_links: 0,
                    more_relevance: 0.0,
                };
                self.shelve(node, shelved);
                gone.push((node, link));
            }
        }
        gone
    }

    /// The greatest queue length that leaves `excess` links out.
    fn level(&self, excess: usize) -> usize {
        let left_out = |level: usize| -> usize {
            let over = |queue: &HostQueue| queue.links.len().saturating_sub(if queue.blocked { 0 } else { level });
            self.hosts.iter().map(over).sum()
        };
        let (mut low, mut high) = (0, self.hosts.iter().map(|queue| queue.links.len()).max().unwrap_or(0));
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

    /// Bytes in memory of the URL-seen test and the shelf's index.
    #[must_use]
    pub fn index_bytes(&self) -> (usize, usize) {
        (self.seen.resident_bytes(), self.shelf.resident_bytes())
    }

    /// # Errors
    /// As for [`Paged::check`](crate::spill::Paged::check).
    pub fn check(&self) -> io::Result<()> {
        self.seen.check().and_then(|()| self.shelf.check())
    }

    /// Whether a ready link is so much less wanted than the best one that waiting pays. Orders that count
    /// (breadth-first and such have priorities below zero) never wait.
    fn is_far_below(&self, candidate: Priority, best: Priority) -> bool {
        best.0 > 0.0 && candidate.0 < self.config.patience * best.0
    }

    fn is_worth_waiting_for(&self, host: HostId, now: Timestamp) -> bool {
        let queue = &self.hosts[host.0 as usize];
        queue.running > 0 || queue.ready_at.since(now).as_secs() <= self.config.max_wait_seconds
    }

    /// Hosts whose time has come become ready.
    fn wake(&mut self, now: Timestamp) {
        while let Some(&Reverse((at, host))) = self.sleeping.peek() {
            if at > now {
                break;
            }
            self.sleeping.pop();
            let queue = &mut self.hosts[host.0 as usize];
            if queue.ready_at <= now && queue.running < self.connections_per_host && !queue.is_ready {
                queue.is_ready = true;
                self.relist(host);
            }
        }
    }

    fn next_waking(&self) -> Taken {
        // Entries of hosts that were released again since are early at worst, and waking early does no harm.
        self.sleeping.peek().map_or(Taken::Busy, |&Reverse((at, _))| Taken::Wait(at))
    }

    /// Brings a host's entries in `all` and `ready` up to date with its best link.
    fn relist(&mut self, host: HostId) {
        let queue = &mut self.hosts[host.0 as usize];
        let best = if queue.blocked { None } else { queue.best() };
        if let Some((priority, discovered)) = queue.listed
            && queue.listed != best
        {
            self.all.remove(&(priority, discovered, host));
            self.ready.remove(&(priority, discovered, host));
        }
        queue.listed = best;
        if let Some((priority, discovered)) = best {
            let entry = (priority, discovered, host);
            self.all.insert(entry);
            if queue.is_ready {
                self.ready.insert(entry);
            } else {
                self.ready.remove(&entry);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{link_classifier::Evidence, page::Relevance, url::Url};

    fn link(frontier: &mut Frontier, number: u64, priority: f64) -> Link {
        let url = Url::parse(&format!("http://host{}.test/{number}", number % 7)).unwrap();
        Link {
            host: frontier.host(&crate::url::authority(&url)),
            fingerprint: Fingerprint::of(&url),
            url,
            discovered: number,
            depth: 1,
            tunnel_depth: 0,
            facts: crate::link_classifier::TargetFacts::default(),
            in_links: vec![crate::frontier::InLinkNote::default()],
            in_degree: 1,
            forgotten_relevance: 0.0,
            evidence: Evidence::default(),
            estimate: Relevance::NONE,
            priority: Priority(priority),
            filed: Priority(f64::NAN),
            tries: 0,
            not_before: Timestamp::default(),
        }
    }

    /// Takes everything, a few links at a time in memory; returns the order.
    fn crawl(mut frontier: Frontier) -> Vec<u64> {
        let mut random = fastrand::Rng::with_seed(8);
        let mut disk: FxHashMap<NodeId, Link> = FxHashMap::default();
        let mut order = Vec::new();
        let mut number = 0;
        while order.len() < 3_000 {
            if number < 3_000 {
                for _ in 0..10 {
                    let link = link(&mut frontier, number, random.f64());
                    frontier.push(NodeId(number as u32), link);
                    number += 1;
                }
            }
            for (node, link) in frontier.overflow() {
                disk.insert(node, link);
            }
            assert_eq!(frontier.unfinished(), number as usize - order.len());
            match frontier.take(Timestamp(0)) {
                Taken::Link(node, host) => {
                    order.extend(frontier.remove(node).map(|link| link.discovered));
                    frontier.release(host, Timestamp(0));
                }
                Taken::Restock(host) => {
                    let mut stock: Vec<(NodeId, Priority)> =
                        disk.iter().filter(|(_, link)| link.host == host).map(|(&node, link)| (node, link.priority)).collect();
                    stock.sort_by_key(|&(node, priority)| (Reverse(priority), node));
                    assert_eq!(frontier.shelf_top(host), stock.first().map(|&(_, priority)| priority));
                    for &(node, _) in stock.iter().take(5) {
                        frontier.unshelve(node, disk.remove(&node).unwrap());
                    }
                    frontier.restocked(host, stock.get(5).map(|&(_, priority)| priority), Priority(f64::MAX));
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!((frontier.unfinished(), disk.len()), (0, 0));
        order
    }

    #[test]
    fn links_leave_in_the_same_order_whether_they_fit_in_memory_or_not() {
        let narrow = Room { bytes: 0, ..Room::default() };
        let plain = || Frontier::new(FrontierConfig::default(), 1);
        assert_eq!(crawl(plain().within(100, narrow.clone(), narrow)), crawl(plain()));
    }

    #[test]
    fn what_is_in_memory_stays_below_the_capacity_and_seeds_never_leave() {
        let mut frontier = Frontier::new(FrontierConfig::default(), 1).within(200, Room::default(), Room::default());
        for number in 0..1_000 {
            let mut link = link(&mut frontier, number, 0.5);
            if number < 20 {
                link.in_links.clear();
            }
            frontier.push(NodeId(number as u32), link);
            frontier.overflow();
            assert!(frontier.links().count() <= 200);
        }
        assert!((0..20).all(|seed| frontier.link(NodeId(seed)).is_some()));
        assert_eq!(frontier.len(), 1_000);
    }
}

//! Back queues by host, the URL-seen test, and the choice of the next link.
//!
//! Links beyond the frontier's capacity are *shelved*: whoever owns it takes them ([`Frontier::overflow`]), keeps them on
//! disk, and brings a host's best back when its turn has come ([`Taken::Restock`]). A few bytes for each stay here.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
    io,
    sync::Arc,
};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::{
    Filed, HostId, Link, Priority, Shelf,
    back_queues::BackQueues,
    host_queue::{HostQueue, Listed, QueueEntry},
};
use crate::{
    page::Timestamp,
    spill::{PagedMap, Room},
    topical_rank::NodeId,
    url::Fingerprint,
};

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

/// Memory for what grows with the crawl, and where the rest goes.
#[derive(Debug, Default)]
pub struct FrontierRooms {
    /// The URL-seen test.
    pub seen: Room,
    /// Places of links on disk.
    pub shelf: Room,
    /// Names and queues of hosts.
    pub hosts: Room,
}

/// A link's host, and its entry there.
fn place_of(node: NodeId, link: &Link) -> (HostId, QueueEntry) {
    (link.host, (Reverse(link.priority), link.discovered, node))
}

/// All waiting links.
#[derive(Debug, Default)]
pub struct Frontier {
    config: FrontierConfig,
    connections_per_host: u32,
    pub(super) hosts: BackQueues,
    seen: PagedMap,
    /// Boxed: a table of them grows at once.
    pub(super) links: FxHashMap<NodeId, Box<Link>>,
    /// Links in memory at most, but for those that came since the last [`Frontier::overflow`].
    pub(super) capacity: Option<usize>,
    pub(super) shelf: Shelf,
    /// Links that came or changed since the last overflow: they stay for one more round.
    pub(super) fresh: FxHashSet<NodeId>,
    /// Every host that is awake and has links, by its best one.
    all: BTreeSet<(Reverse<Priority>, u64, HostId)>,
    /// Those that may be asked now.
    ready: BTreeSet<(Reverse<Priority>, u64, HostId)>,
    pausing: BinaryHeap<Reverse<(Timestamp, HostId)>>,
    queued: usize,
}

impl Frontier {
    /// An empty frontier; hosts take `connections_per_host` requests at a time.
    #[must_use]
    pub fn new(config: FrontierConfig, connections_per_host: u32) -> Self {
        Self { config, connections_per_host, ..Self::default() }
    }

    /// Keeps about `links` links in memory at most, and of the rest what the rooms hold; to be said before anything comes.
    #[must_use]
    pub fn within(self, links: usize, rooms: FrontierRooms) -> Self {
        let FrontierRooms { seen, shelf, hosts } = rooms;
        Self {
            capacity: Some(links.max(64)),
            seen: PagedMap::new(seen),
            shelf: Shelf::new(shelf),
            hosts: BackQueues::within(&hosts),
            ..self
        }
    }

    /// The number of a host, given by its authority; new ones are ready at once.
    pub fn host(&mut self, name: &str) -> HostId {
        self.hosts.id(name)
    }

    /// The queue of a host, which is awake and listed from now on.
    pub(super) fn queue(&mut self, host: HostId) -> &mut HostQueue {
        if self.hosts.wake(host) {
            self.relist(host);
        }
        self.hosts.at(host)
    }

    #[must_use]
    pub fn host_name(&self, host: HostId) -> Arc<str> {
        self.hosts.name(host)
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
        self.queue(host).links.insert((Reverse(link.priority), link.discovered, node));
        self.links.insert(node, Box::new(link));
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
        self.links.get(&node).map(|link| &**link)
    }

    /// The same, to be changed; its priority through [`Frontier::reprioritise`] only.
    pub fn link_mut(&mut self, node: NodeId) -> Option<&mut Link> {
        self.freshen(node);
        self.links.get_mut(&node).map(|link| &mut **link)
    }

    /// Notes that a batch writes a link's row as the link is.
    pub fn file(&mut self, node: NodeId, batch: u64) {
        if let Some(link) = self.links.get_mut(&node) {
            link.filed = Some(Filed { priority: link.priority, batch });
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
        let queue = &mut self.queue(host).links;
        if queue.remove(&(Reverse(old), discovered, node)) {
            queue.insert((Reverse(priority), discovered, node));
            self.relist(host);
        }
    }

    /// Takes a link out for good: it is being finished. Returns it.
    pub fn remove(&mut self, node: NodeId) -> Option<Link> {
        let link = *self.links.remove(&node)?;
        if self.queue(link.host).links.remove(&(Reverse(link.priority), link.discovered, node)) {
            self.queued -= 1;
            self.relist(link.host);
        }
        Some(link)
    }

    /// Chooses the next link whose host may be asked at `now`, and marks the host as busy.
    /// The link stays known ([`Frontier::link`]) until it is removed or put back.
    pub fn take(&mut self, now: Timestamp) -> Taken {
        self.wake(now);
        self.wake_dormant();
        let Some(&(best, _, best_host)) = self.all.first() else {
            return if !self.is_empty() || self.hosts.is_running() { Taken::Busy } else { Taken::Empty };
        };
        let Some(&(candidate, _, host)) = self.ready.first() else { return self.next_waking() };
        if self.is_far_below(candidate.0, best.0) && self.is_worth_waiting_for(best_host, now) {
            let queue = self.hosts.at(best_host);
            return if queue.running == 0 { Taken::Wait(queue.ready_at) } else { Taken::Busy };
        }
        let queue = self.hosts.at(host);
        if queue.links.first().map(|&(priority, discovered, _)| (priority, discovered)) != queue.best() {
            return Taken::Restock(host);
        }
        let Some((_, _, node)) = queue.links.pop_first() else { return Taken::Busy };
        self.queued -= 1;
        self.occupy(host);
        Taken::Link(node, host)
    }

    /// Takes this very link, if its host may be asked now: for random control fetches.
    pub fn take_node(&mut self, node: NodeId, now: Timestamp) -> bool {
        self.wake(now);
        let Some(link) = self.links.get(&node) else { return false };
        let (host, entry) = place_of(node, link);
        let queue = self.queue(host);
        if !queue.is_ready || !queue.links.remove(&entry) {
            return false;
        }
        self.queued -= 1;
        self.occupy(host);
        true
    }

    /// Marks a host as busy with a request that is not one of its links (robots.txt).
    pub fn occupy(&mut self, host: HostId) {
        let most = self.connections_per_host;
        let queue = self.queue(host);
        queue.running += 1;
        if queue.running >= most {
            queue.is_ready = false;
        }
        self.relist(host);
    }

    /// A request to a host has ended; it may be asked again from `ready_at`.
    pub fn release(&mut self, host: HostId, ready_at: Timestamp) {
        let queue = self.queue(host);
        queue.running = queue.running.saturating_sub(1);
        queue.ready_at = queue.ready_at.max(ready_at);
        queue.is_ready = false;
        let ready_at = queue.ready_at;
        self.pausing.push(Reverse((ready_at, host)));
        self.relist(host);
    }

    /// Puts a link that was taken back into its queue (retry, or its host is not ready after all).
    pub fn put_back(&mut self, node: NodeId) {
        let Some(link) = self.links.get(&node) else { return };
        let (host, entry) = place_of(node, link);
        if self.queue(host).links.insert(entry) {
            self.queued += 1;
        }
        self.relist(host);
    }

    /// Stops handing out a host's links (or starts again).
    pub fn block(&mut self, host: HostId, blocked: bool) {
        self.queue(host).blocked = blocked;
        self.relist(host);
    }

    /// Whether none of a host's links is handed out by [`Frontier::take`].
    #[must_use]
    pub fn is_blocked(&self, host: HostId) -> bool {
        self.hosts.look(host, |queue| queue.blocked)
    }

    /// When a host may be asked again.
    #[must_use]
    pub fn ready_at(&self, host: HostId) -> Timestamp {
        self.hosts.look(host, |queue| queue.ready_at)
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
        self.all.len() + self.hosts.dormant_len()
    }

    /// How many links are known and not finished, those being fetched among them.
    #[must_use]
    pub fn unfinished(&self) -> usize {
        self.links.len() + self.shelf.len()
    }

    /// All links that are known, not finished, and in memory.
    pub fn links(&self) -> impl Iterator<Item = (NodeId, &Link)> {
        self.links.iter().map(|(&node, link)| (node, &**link))
    }

    /// The best links of the crawl, best first, at most `number`, at most `per_host` of one host.
    #[must_use]
    pub fn head(&self, number: usize, per_host: usize) -> Vec<NodeId> {
        let mut head = Vec::with_capacity(number);
        for &(_, _, host) in &self.all {
            let most = per_host.min(number - head.len());
            self.hosts.look(host, |queue| head.extend(queue.links.iter().take(most).map(|&(_, _, node)| node)));
            if head.len() >= number {
                break;
            }
        }
        head
    }

    /// The best links of one host, best first, at most `number`.
    #[must_use]
    pub fn head_of(&self, host: &str, number: usize) -> Vec<NodeId> {
        let Some(host) = self.hosts.find(host) else { return Vec::new() };
        self.hosts.look(host, |queue| queue.links.iter().take(number).map(|&(_, _, node)| node).collect())
    }

    /// Bytes in memory of the URL-seen test, the shelf's index, and the hosts.
    #[must_use]
    pub fn resident_bytes(&self) -> [usize; 3] {
        [self.seen.resident_bytes(), self.shelf.resident_bytes(), self.hosts.resident_bytes()]
    }

    /// # Errors
    /// As for [`Paged::check`](crate::spill::Paged::check).
    pub fn check(&self) -> io::Result<()> {
        self.seen.check()?;
        self.shelf.check()?;
        self.hosts.check()
    }

    /// Whether a ready link is so much less wanted than the best one that waiting pays. Orders that count
    /// (breadth-first and such have priorities below zero) never wait.
    fn is_far_below(&self, candidate: Priority, best: Priority) -> bool {
        best.0 > 0.0 && candidate.0 < self.config.patience * best.0
    }

    fn is_worth_waiting_for(&self, host: HostId, now: Timestamp) -> bool {
        let longest = self.config.max_wait_seconds;
        self.hosts.look(host, |queue| queue.running > 0 || queue.ready_at.since(now).as_secs() <= longest)
    }

    /// Hosts whose time has come become ready.
    fn wake(&mut self, now: Timestamp) {
        while let Some(&Reverse((at, host))) = self.pausing.peek() {
            if at > now {
                break;
            }
            self.pausing.pop();
            // One that sleeps is ready.
            let Some(queue) = self.hosts.awake(host) else { continue };
            if queue.ready_at <= now && queue.running < self.connections_per_host && !queue.is_ready {
                queue.is_ready = true;
                self.relist(host);
            }
        }
    }

    /// Wakes the best host that sleeps where it comes before all that are ready.
    fn wake_dormant(&mut self) {
        if let Some(best) = self.hosts.best_dormant()
            && self.ready.first().is_none_or(|ready| best < *ready)
        {
            self.queue(best.2);
        }
    }

    /// Puts hosts to sleep when too many are awake.
    pub fn make_room(&mut self, now: Timestamp) {
        self.wake(now);
        for host in self.hosts.sleepy() {
            let listed = self.hosts.at(host).listed.take();
            self.exchange(host, listed, None);
            self.hosts.put_to_sleep(host);
        }
    }

    fn next_waking(&self) -> Taken {
        // Entries of hosts that were released again since are early at worst, and waking early does no harm.
        self.pausing.peek().map_or(Taken::Busy, |&Reverse((at, _))| Taken::Wait(at))
    }

    /// Brings a host's entries in `all` and `ready` up to date with its best link.
    pub(super) fn relist(&mut self, host: HostId) {
        let queue = self.hosts.at(host);
        let best = if queue.blocked { None } else { queue.best() };
        let now = best.map(|best| Listed { best, is_ready: queue.is_ready });
        let before = std::mem::replace(&mut queue.listed, now);
        self.exchange(host, before, now);
    }

    fn exchange(&mut self, host: HostId, before: Option<Listed>, now: Option<Listed>) {
        let entry = |Listed { best: (priority, discovered), .. }| (priority, discovered, host);
        let is_ready = |listed: &Listed| listed.is_ready;
        for (list, before, now) in
            [(&mut self.all, before, now), (&mut self.ready, before.filter(is_ready), now.filter(is_ready))]
        {
            let (before, now) = (before.map(entry), now.map(entry));
            if before != now {
                if let Some(entry) = before {
                    list.remove(&entry);
                }
                list.extend(now);
            }
        }
    }
}

#[cfg(test)]
mod tests;

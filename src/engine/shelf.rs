//! Links that are not in memory: into the store when there are too many, back when they matter again.
//!
//! A link on the shelf is a waiting row like any other. It comes back when its host's turn comes (the best of the host,
//! a batch at a time) or when a random draw falls on it, and is scored anew then. In-links go into its row without it; one
//! that names it by a keyword may raise its rank, and a rank that outgrows a link that was kept moves its row up.

use rustc_hash::FxHashMap;

use super::{Crawl, Ingredient};
use crate::{
    frontier::{Filed, HostId, InLinkNote, Link, Priority, Shelved},
    store::{AddedInLink, Batch, LinkRecord, Stock, StoreError},
    topical_rank::NodeId,
    url::{Fingerprint, canonicalize},
};

/// Rows of links that left memory, by host, until the reading side shows them.
#[derive(Default)]
pub(super) struct LeavingRows(FxHashMap<HostId, FxHashMap<Fingerprint, Leaving>>);

struct Leaving {
    /// Number of the batch that it is in.
    batch: u64,
    row: LinkRecord,
}

impl LeavingRows {
    fn forget(&mut self, visible: u64) {
        self.0.retain(|_, rows| {
            rows.retain(|_, leaving| leaving.batch > visible);
            !rows.is_empty()
        });
    }

    fn insert(&mut self, host: HostId, fingerprint: Fingerprint, leaving: Leaving) {
        self.0.entry(host).or_default().insert(fingerprint, leaving);
    }

    fn get(&self, host: HostId, fingerprint: Fingerprint) -> Option<&Leaving> {
        self.0.get(&host)?.get(&fingerprint)
    }

    fn of_host(&self, host: HostId) -> impl Iterator<Item = (Fingerprint, &Leaving)> {
        self.0.get(&host).into_iter().flatten().map(|(&fingerprint, leaving)| (fingerprint, leaving))
    }
}

impl Crawl {
    /// Takes links out of memory while there are too many. Rows that are not on disk as they are go into `batch`; `is_due`
    /// says so of those that have changed but for their priority.
    pub(super) fn relieve(&mut self, batch: &mut Batch, is_due: impl Fn(NodeId) -> bool) {
        let (batches, visible) = self.journal.progress();
        self.leaving.forget(visible);
        self.shelf_changes.commit(batch, batches + 1, visible);
        for (node, link) in self.frontier.overflow() {
            self.leave_memory(&link, is_due(node), batch);
        }
        self.set_aside(batch, is_due);
        self.frontier.make_room(self.clock.now());
    }

    /// A link has left memory: its row goes into `batch`, unless it is on disk as it is.
    pub(super) fn leave_memory(&mut self, link: &Link, is_due: bool, batch: &mut Batch) {
        let (batches, visible) = self.journal.progress();
        let filed = link.filed.filter(|filed| filed.priority == link.priority && !is_due);
        let number = filed.map_or(batches + 1, |filed| filed.batch);
        if number <= visible {
            return;
        }
        let row = self.link_record(link);
        if filed.is_none() {
            batch.waiting.push((link.fingerprint, row.clone()));
        }
        self.leaving.insert(link.host, link.fingerprint, Leaving { batch: number, row });
    }

    /// Gives a link on the shelf one more in-link, which its row will keep.
    pub(super) fn add_on_shelf(&mut self, fingerprint: Fingerprint, added: AddedInLink) {
        self.shelf_changes.add(fingerprint, added);
    }

    /// Brings a link back into memory, if it is on the shelf.
    pub(super) fn unshelve(&mut self, node: NodeId) {
        let Some(shelved) = self.frontier.shelved(node) else { return };
        let row = match self.leaving.get(shelved.host, shelved.fingerprint) {
            Some(leaving) => Ok(Some(leaving.row.clone())),
            None => self.journal.reader().map_or(Ok(None), |store| store.waiting_one(shelved.fingerprint)),
        };
        match row {
            Ok(Some(row)) => {
                self.put_back_from_shelf(node, shelved.host, shelved.fingerprint, row);
                self.rescore_shelved(&[node]);
            }
            Ok(None) => self.miss(format!("the waiting URL {} is not there", shelved.fingerprint)),
            Err(error) => drop(self.shelf_error.get_or_insert(error)),
        }
    }

    /// Brings the best links of a host back into memory.
    pub(super) fn restock(&mut self, host: HostId) {
        let Some(top) = self.frontier.shelf_top(host) else { return };
        let Stock { rows, next } = self.stock(host, top).unwrap_or_else(|error| {
            self.shelf_error.get_or_insert(error);
            Stock::default()
        });
        let mut back = Vec::with_capacity(rows.len());
        for (fingerprint, row) in rows {
            if let Some(node) = self.frontier.seen(fingerprint) {
                self.put_back_from_shelf(node, host, fingerprint, row);
                back.push(node);
            }
        }
        if next.is_none() && self.frontier.shelf_top(host).is_some() {
            self.miss(format!("not all waiting URLs of {} are there", self.frontier.host_name(host)));
        }
        self.rescore_shelved(&back);
        // What the crawl has learnt since moves the rest as it moved these.
        let worst = back.iter().filter_map(|&node| self.frontier.link(node)).map(|link| link.priority).min();
        self.frontier.restocked(host, next.map(Priority), worst.unwrap_or(Priority(f64::MAX)));
    }

    /// The best rows of a host's shelved links and the priority of the next: from disk, and from what is on its way there.
    fn stock(&self, host: HostId, top: Priority) -> Result<Stock, StoreError> {
        let (frontier, leaving) = (&self.frontier, &self.leaving);
        let number = frontier.restock_size(host);
        let is_shelved = |fingerprint| frontier.seen(fingerprint).is_some_and(|node| frontier.shelved(node).is_some());
        let on_disk = |fingerprint| leaving.get(host, fingerprint).is_none() && is_shelved(fingerprint);
        let Some(store) = self.journal.reader() else { return Ok(Stock::default()) };
        let Stock { mut rows, next } = store.best_of_host(&frontier.host_name(host), Some(top.0), number, on_disk)?;
        // What moved up may not lie where it will be yet.
        let is_further = |fingerprint| on_disk(fingerprint) && !rows.iter().any(|(row, _)| *row == fingerprint);
        let moved = self.shelf_changes.moved_of(host, is_further);
        for &(fingerprint, _) in moved.iter().take(number) {
            rows.extend(store.waiting_one(fingerprint)?.map(|row| (fingerprint, row)));
        }
        let under_way = leaving.of_host(host).filter(|&(fingerprint, _)| is_shelved(fingerprint));
        rows.extend(under_way.map(|(fingerprint, leaving)| (fingerprint, leaving.row.clone())));
        for (fingerprint, row) in &mut rows {
            row.priority = self.shelf_changes.priority(host, *fingerprint).unwrap_or(row.priority);
        }
        rows.sort_unstable_by(|(a, row_a), (b, row_b)| row_b.priority.total_cmp(&row_a.priority).then(a.cmp(b)));
        let left = [next, rows.get(number).map(|(_, row)| row.priority), moved.get(number).map(|&(_, priority)| priority)];
        rows.truncate(number);
        Ok(Stock { rows, next: left.into_iter().flatten().max_by(f64::total_cmp) })
    }

    /// A link on the shelf has a new rank: it moves up there if that would have kept it, and comes back with its host's turn.
    pub(super) fn consider_unshelving(&mut self, node: NodeId) {
        if !self.order.goes_by_rank() {
            return;
        }
        let Some(Shelved { fingerprint, host, priority, .. }) = self.frontier.shelved(node) else { return };
        let rank = Priority(self.graph.rank(node));
        // A hair's breadth is not worth a row.
        if rank.0 > 1.05 * priority.0 && self.frontier.would_be_kept(host, rank) {
            self.frontier.raise_on_shelf(node, rank);
            self.shelf_changes.raise(fingerprint, host, rank);
        }
    }

    fn put_back_from_shelf(&mut self, node: NodeId, host: HostId, fingerprint: Fingerprint, row: LinkRecord) {
        let batch = self.leaving.get(host, fingerprint).map_or(0, |leaving| leaving.batch);
        let filed = Filed { priority: Priority(row.priority), batch };
        let (row, has_moved) = self.shelf_changes.take(host, fingerprint, row);
        match self.link_of(fingerprint, &row) {
            Some(mut link) => {
                link.in_links = self.in_links_of(&row);
                link.filed = (!has_moved).then_some(filed);
                self.frontier.unshelve(node, link);
            }
            None => self.miss(format!("`{}` waits, but is no URL", row.url)),
        }
    }

    /// Ends the crawl before anything more is committed: going on would lose a URL.
    fn miss(&mut self, what: String) {
        self.shelf_error.get_or_insert(StoreError::corrupt("store.redb", what));
    }

    /// Scores links anew that were away while the crawl learnt.
    fn rescore_shelved(&mut self, nodes: &[NodeId]) {
        if !self.plan.lacks(Ingredient::Rescoring) {
            self.rescore_all(nodes);
        }
    }

    /// A link as its row says, but for its in-links; `None` where its URL is none.
    pub(super) fn link_of(&mut self, fingerprint: Fingerprint, row: &LinkRecord) -> Option<Link> {
        let url = canonicalize(&row.url, None).ok()?;
        let mut link = self.known_link(url, fingerprint, row.depth, row.tunnel_depth);
        link.discovered = row.discovered;
        link.in_degree = row.in_degree;
        link.forgotten_relevance = row.forgotten_relevance;
        link.estimate = row.estimate;
        link.priority = Priority(row.priority);
        link.tries = row.tries;
        link.not_before = row.not_before;
        Some(link)
    }

    /// The in-links of a row whose pages are known.
    pub(super) fn in_links_of(&self, row: &LinkRecord) -> Vec<InLinkNote> {
        let keywords = &self.plan.keywords;
        let note = |in_link: &crate::store::InLink| {
            Some(InLinkNote {
                source: self.node_of(in_link.source)?,
                ordinal: in_link.ordinal,
                anchor_matches: keywords.matches(&in_link.context.anchor),
                around_matches: keywords.matches(&in_link.context.around),
                words: std::cell::Cell::default(),
                heading_matches: keywords.matches(&in_link.heading),
                heading: in_link.heading.clone(),
                context: in_link.context.clone(),
            })
        };
        row.in_links.iter().filter_map(note).collect()
    }
}

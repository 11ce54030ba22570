//! Links that are not in memory: into the store when there are too many, back when they matter again.
//!
//! A link on the shelf is a waiting row like any other. It comes back when its host's turn comes (the best of the host,
//! a batch at a time), when another page links to it by a keyword, when its rank outgrows a link that was kept, or when a
//! random draw falls on it; and is scored anew then. Other in-links go into its row without it.

use super::{Crawl, Ingredient};
use crate::{
    frontier::{HostId, InLinkNote, Link, Priority, Shelved},
    store::{AddedInLink, Batch, LinkRecord, Stock, StoreError},
    topical_rank::NodeId,
    url::{Fingerprint, canonicalize},
};

/// Links of a host that come back at a time: as many as are mostly taken before their host has to make room again.
const RESTOCK: usize = 24;

/// The row of a link that left memory, until the reading side shows it.
pub(super) struct Leaving {
    /// Number of the batch that it is in.
    batch: u64,
    host: HostId,
    row: LinkRecord,
}

impl Crawl {
    /// Takes links out of memory while there are too many. Rows that are not on disk as they are go into `batch`; `is_due`
    /// says so of those that have changed but for their priority.
    pub(super) fn relieve(&mut self, batch: &mut Batch, is_due: impl Fn(NodeId) -> bool) {
        let (batches, visible) = self.journal.progress();
        self.leaving.retain(|_, leaving| leaving.batch > visible);
        self.shelf_changes.commit(batch, batches + 1, visible);
        for (node, link) in self.frontier.overflow() {
            self.leave_memory(&link, is_due(node), batch);
        }
        self.set_aside(batch, is_due);
    }

    /// A link has left memory: its row goes into `batch`, unless it is on disk as it is.
    pub(super) fn leave_memory(&mut self, link: &Link, is_due: bool, batch: &mut Batch) {
        let (batches, visible) = self.journal.progress();
        let is_filed = link.filed == link.priority && !is_due;
        if is_filed && visible >= batches {
            return;
        }
        let row = self.link_record(link);
        if !is_filed {
            batch.waiting.push((link.fingerprint, row.clone()));
        }
        // A row that was filed is in a batch that the reading side may not show yet.
        let number = batches + u64::from(!is_filed);
        self.leaving.insert(link.fingerprint, Leaving { batch: number, host: link.host, row });
    }

    /// Gives a link on the shelf one more in-link, which its row will keep.
    pub(super) fn add_on_shelf(&mut self, fingerprint: Fingerprint, added: AddedInLink) {
        self.shelf_changes.add(fingerprint, added);
    }

    /// Brings a link back into memory, if it is on the shelf.
    pub(super) fn unshelve(&mut self, node: NodeId) {
        let Some(shelved) = self.frontier.shelved(node) else { return };
        let row = match self.leaving.get(&shelved.fingerprint) {
            Some(leaving) => Ok(Some(leaving.row.clone())),
            None => self.journal.reader().map_or(Ok(None), |store| store.waiting_one(shelved.fingerprint)),
        };
        match row {
            Ok(Some(row)) => {
                self.put_back_from_shelf(node, shelved.fingerprint, row);
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
                self.put_back_from_shelf(node, fingerprint, row);
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
        let is_shelved = |fingerprint| frontier.seen(fingerprint).is_some_and(|node| frontier.shelved(node).is_some());
        let on_disk = |fingerprint| !leaving.contains_key(&fingerprint) && is_shelved(fingerprint);
        let Stock { mut rows, mut next } = match self.journal.reader() {
            Some(store) => store.best_of_host(frontier.host_name(host), Some(top.0), RESTOCK, on_disk)?,
            None => Stock::default(),
        };
        let under_way = leaving.iter().filter(|&(&fingerprint, leaving)| leaving.host == host && is_shelved(fingerprint));
        rows.extend(under_way.map(|(&fingerprint, leaving)| (fingerprint, leaving.row.clone())));
        for (fingerprint, row) in &mut rows {
            row.priority = self.shelf_changes.priority(*fingerprint).unwrap_or(row.priority);
        }
        rows.sort_unstable_by(|(a, row_a), (b, row_b)| row_b.priority.total_cmp(&row_a.priority).then(a.cmp(b)));
        if let Some((_, best_left)) = rows.get(RESTOCK) {
            next = Some(next.map_or(best_left.priority, |next| next.max(best_left.priority)));
        }
        rows.truncate(RESTOCK);
        // What moved up may not be where it will be yet.
        let is_left = |fingerprint| is_shelved(fingerprint) && !rows.iter().any(|(row, _)| *row == fingerprint);
        if let (Some(next), Some(moved)) = (&mut next, self.shelf_changes.best_moved(host, is_left)) {
            *next = next.max(moved);
        }
        Ok(Stock { rows, next })
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

    fn put_back_from_shelf(&mut self, node: NodeId, fingerprint: Fingerprint, row: LinkRecord) {
        let filed = Priority(row.priority);
        let (row, has_moved) = self.shelf_changes.take(fingerprint, row);
        match self.link_of(fingerprint, &row) {
            Some(mut link) => {
                link.in_links = self.in_links_of(&row);
                link.filed = if has_moved { Priority(f64::NAN) } else { filed };
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

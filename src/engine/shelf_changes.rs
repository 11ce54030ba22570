//! What changes of links that are on the shelf while they stay there: their rows are changed without being read.
//!
//! Promises: a row that is read back is completed by what the reading side does not show yet.
//! Never: reads or writes a row; the writer does.

use rustc_hash::FxHashMap;

use crate::{
    frontier::{HostId, Priority},
    store::{AddedInLink, Batch, LinkRecord},
    url::Fingerprint,
};

/// Changes with the number of the batch that they are in, once they are in one; kept until the reading side shows it.
#[derive(Debug, Default)]
pub(super) struct ShelfChanges {
    in_links: FxHashMap<Fingerprint, Vec<(Option<u64>, AddedInLink)>>,
    moved: FxHashMap<Fingerprint, Moved>,
}

#[derive(Debug)]
struct Moved {
    batch: Option<u64>,
    host: HostId,
    priority: Priority,
}

impl ShelfChanges {
    /// One more in-link.
    pub(super) fn add(&mut self, fingerprint: Fingerprint, added: AddedInLink) {
        self.in_links.entry(fingerprint).or_default().push((None, added));
    }

    /// A higher priority.
    pub(super) fn raise(&mut self, fingerprint: Fingerprint, host: HostId, priority: Priority) {
        self.moved.insert(fingerprint, Moved { batch: None, host, priority });
    }

    /// The priority that a link has moved to, where its row may not show it.
    pub(super) fn priority(&self, fingerprint: Fingerprint) -> Option<f64> {
        self.moved.get(&fingerprint).map(|moved| moved.priority.0)
    }

    /// The highest priority that a link of a host has moved to, among those that are `left`.
    pub(super) fn best_moved(&self, host: HostId, left: impl Fn(Fingerprint) -> bool) -> Option<f64> {
        let moved = self.moved.iter().filter(|&(&fingerprint, moved)| moved.host == host && left(fingerprint));
        moved.map(|(_, moved)| moved.priority).max().map(|priority| priority.0)
    }

    /// A row as it will be when all batches are in, for a link that leaves the shelf; and whether its priority on disk is, or
    /// will be, another.
    pub(super) fn take(&mut self, fingerprint: Fingerprint, mut row: LinkRecord) -> (LinkRecord, bool) {
        for (_, AddedInLink { in_link, depth, tunnel_depth }) in self.in_links.get(&fingerprint).into_iter().flatten() {
            if !row.in_links.iter().any(|known| (known.source, known.ordinal) == (in_link.source, in_link.ordinal)) {
                row.in_links.push(in_link.clone());
            }
            row.depth = row.depth.min(*depth);
            row.tunnel_depth = row.tunnel_depth.min(*tunnel_depth);
        }
        (row, self.moved.remove(&fingerprint).is_some())
    }

    /// Puts what no batch has into one, which has this number, and forgets what is visible.
    pub(super) fn commit(&mut self, batch: &mut Batch, number: u64, visible: u64) {
        self.in_links.retain(|&fingerprint, added| {
            added.retain(|(batch, _)| batch.is_none_or(|batch| batch > visible));
            for (known, added) in added.iter_mut().filter(|(batch, _)| batch.is_none()) {
                *known = Some(number);
                batch.in_links.push((fingerprint, added.clone()));
            }
            !added.is_empty()
        });
        self.moved.retain(|&fingerprint, moved| {
            if moved.batch.is_none() {
                moved.batch = Some(number);
                batch.priorities.push((fingerprint, moved.priority.0));
            }
            moved.batch > Some(visible)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{page::LinkContext, store::InLink};

    fn in_link(source: u64) -> InLink {
        InLink { source, ordinal: 1, context: LinkContext::default(), heading: Box::default() }
    }

    fn row(sources: &[u64]) -> LinkRecord {
        LinkRecord {
            url: "http://e.com/".into(),
            discovered: 1,
            depth: 5,
            tunnel_depth: 2,
            in_links: sources.iter().map(|&source| in_link(source)).collect(),
            in_degree: 1,
            forgotten_relevance: 0.0,
            tries: 0,
            not_before: crate::page::Timestamp::default(),
            priority: 0.25,
            estimate: crate::page::Relevance::NONE,
        }
    }

    #[test]
    fn a_row_is_completed_until_the_reading_side_shows_its_changes_and_never_doubled() {
        let (link, host) = (Fingerprint(1), HostId(3));
        let mut changes = ShelfChanges::default();
        changes.add(link, AddedInLink { in_link: in_link(8), depth: 3, tunnel_depth: 0 });
        changes.raise(link, host, Priority(0.5));
        assert_eq!(changes.best_moved(host, |_| true), Some(0.5));
        assert_eq!(changes.best_moved(host, |_| false).or(changes.best_moved(HostId(4), |_| true)), None);
        let mut batch = Batch::default();
        changes.commit(&mut batch, 6, 4);
        assert_eq!((batch.in_links.len(), batch.priorities.as_slice()), (1, [(link, 0.5)].as_slice()));
        let mut later = Batch::default();
        changes.commit(&mut later, 7, 5);
        assert!(later.in_links.is_empty() && later.priorities.is_empty());
        assert_eq!(changes.priority(link), Some(0.5));
        for read in [&[7][..], &[7, 8]] {
            let (row, _) = changes.take(link, row(read));
            assert_eq!(row.in_links.iter().map(|in_link| in_link.source).collect::<Vec<_>>(), [7, 8]);
            assert_eq!((row.depth, row.tunnel_depth), (3, 0));
        }
        changes.commit(&mut later, 8, 6);
        assert_eq!(changes.take(link, row(&[7])).0.in_links.len(), 1, "by now the row says it");
        assert_eq!(changes.priority(link), None);
    }
}

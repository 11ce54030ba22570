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
    moved: FxHashMap<HostId, FxHashMap<Fingerprint, Moved>>,
}

#[derive(Debug)]
struct Moved {
    batch: Option<u64>,
    priority: Priority,
}

impl ShelfChanges {
    /// One more in-link.
    pub(super) fn add(&mut self, fingerprint: Fingerprint, added: AddedInLink) {
        self.in_links.entry(fingerprint).or_default().push((None, added));
    }

    /// A higher priority.
    pub(super) fn raise(&mut self, fingerprint: Fingerprint, host: HostId, priority: Priority) {
        self.moved.entry(host).or_default().insert(fingerprint, Moved { batch: None, priority });
    }

    /// The priority that a link has moved to, where its row may not show it.
    pub(super) fn priority(&self, host: HostId, fingerprint: Fingerprint) -> Option<f64> {
        self.moved.get(&host)?.get(&fingerprint).map(|moved| moved.priority.0)
    }

    /// The links of a host that have moved and whose rows may not show it, with their priorities, best first; those that
    /// are `left`.
    pub(super) fn moved_of(&self, host: HostId, left: impl Fn(Fingerprint) -> bool) -> Vec<(Fingerprint, f64)> {
        let moved = self.moved.get(&host).into_iter().flatten().filter(|&(&fingerprint, _)| left(fingerprint));
        let mut moved: Vec<_> = moved.map(|(&fingerprint, moved)| (fingerprint, moved.priority.0)).collect();
        moved.sort_unstable_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
        moved
    }

    /// A row as it will be when all batches are in, for a link that leaves the shelf; and whether its priority on disk is, or
    /// will be, another.
    pub(super) fn take(&mut self, host: HostId, fingerprint: Fingerprint, mut row: LinkRecord) -> (LinkRecord, bool) {
        for (_, AddedInLink { in_link, depth, tunnel_depth }) in self.in_links.get(&fingerprint).into_iter().flatten() {
            if !row.in_links.iter().any(|known| (known.source, known.ordinal) == (in_link.source, in_link.ordinal)) {
                row.in_links.push(in_link.clone());
            }
            row.depth = row.depth.min(*depth);
            row.tunnel_depth = row.tunnel_depth.min(*tunnel_depth);
        }
        let moved = self.moved.get_mut(&host).and_then(|moved| moved.remove(&fingerprint));
        (row, moved.is_some())
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
        self.moved.retain(|_, moved| {
            moved.retain(|&fingerprint, moved| {
                if moved.batch.is_none() {
                    moved.batch = Some(number);
                    batch.priorities.push((fingerprint, moved.priority.0));
                }
                moved.batch > Some(visible)
            });
            !moved.is_empty()
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
        assert_eq!(changes.moved_of(host, |_| true), [(link, 0.5)]);
        assert!(changes.moved_of(host, |_| false).is_empty() && changes.moved_of(HostId(4), |_| true).is_empty());
        let mut batch = Batch::default();
        changes.commit(&mut batch, 6, 4);
        assert_eq!((batch.in_links.len(), batch.priorities.as_slice()), (1, [(link, 0.5)].as_slice()));
        let mut later = Batch::default();
        changes.commit(&mut later, 7, 5);
        assert!(later.in_links.is_empty() && later.priorities.is_empty());
        assert_eq!(changes.priority(host, link), Some(0.5));
        for read in [&[7][..], &[7, 8]] {
            let (row, _) = changes.take(host, link, row(read));
            assert_eq!(row.in_links.iter().map(|in_link| in_link.source).collect::<Vec<_>>(), [7, 8]);
            assert_eq!((row.depth, row.tunnel_depth), (3, 0));
        }
        changes.commit(&mut later, 8, 6);
        assert_eq!(changes.take(host, link, row(&[7])).0.in_links.len(), 1, "by now the row says it");
        assert_eq!(changes.priority(host, link), None);
    }
}

//! Counts copies, and gathers those of one page.
//!
//! Promises: bounded memory; beyond the bound, copies are counted, but their clusters are not told apart.

use std::collections::BTreeMap;

use crate::store::{CopyKind, PageRecord};

use super::summary::{Cluster, Copies};

/// Clusters that are told apart.
const MAX_CLUSTERS: usize = 100_000;

/// Clusters shown.
const LARGEST: usize = 20;

/// Copies so far.
#[derive(Debug, Default)]
pub(super) struct CopyTally {
    counts: Copies,
    /// Number of copies and address of the first, by the page they repeat.
    clusters: BTreeMap<u64, (u64, String)>,
}

impl CopyTally {
    pub fn add(&mut self, page: &PageRecord) {
        let Some(copy) = page.copy_of else { return };
        match copy.kind {
            CopyKind::Exact => self.counts.exact += 1,
            CopyKind::Near => self.counts.near += 1,
            CopyKind::Canonical => self.counts.canonical += 1,
        }
        if let Some((copies, _)) = self.clusters.get_mut(&copy.seq) {
            *copies += 1;
        } else if self.clusters.len() < MAX_CLUSTERS {
            self.clusters.insert(copy.seq, (1, page.url.clone()));
        }
    }

    pub fn finish(self) -> Copies {
        let clusters = self.clusters.len() as u64;
        let cluster = |(original, (copies, first_copy))| Cluster { original, copies, first_copy };
        let mut largest: Vec<Cluster> = self.clusters.into_iter().map(cluster).collect();
        largest.sort_by_key(|cluster| (std::cmp::Reverse(cluster.copies), cluster.original));
        largest.truncate(LARGEST);
        Copies { clusters, largest, ..self.counts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{report::tests::fixture::page, store::CopyOf};

    #[test]
    fn copies_of_one_page_are_one_cluster_and_the_largest_comes_first() {
        let mut tally = CopyTally::default();
        for (seq, original, kind) in [(3, 1, CopyKind::Exact), (4, 2, CopyKind::Near), (5, 2, CopyKind::Canonical)] {
            let mut copy = page(seq, &format!("http://a.example/{seq}"));
            copy.copy_of = Some(CopyOf { seq: original, kind });
            tally.add(&copy);
        }
        tally.add(&page(6, "http://a.example/6"));
        let copies = tally.finish();
        assert_eq!((copies.exact, copies.near, copies.canonical, copies.clusters), (1, 1, 1, 2));
        let largest = Cluster { original: 2, copies: 2, first_copy: "http://a.example/4".into() };
        assert_eq!(copies.largest[0], largest);
    }
}

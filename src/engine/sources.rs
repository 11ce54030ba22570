//! Fetched pages, as far as their links are concerned: those asked for lately in memory, the rest in a temporary file.

use std::{cell::RefCell, io, sync::Arc};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::{
    link_classifier::SourceFacts,
    page::{Page, Relevance},
    spill::{Paged, Room, SpillSlots},
    topical_rank::NodeId,
    url::Fingerprint,
};

/// A fetched page that links stand on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Source {
    pub(super) seq: u64,
    pub(super) fingerprint: Fingerprint,
    pub(super) url: String,
    pub(super) facts: SourceFacts,
    pub(super) depth: u16,
    pub(super) tunnel_depth: u8,
    pub(super) relevant: bool,
    /// Relevance of the pages its links led to, added up, and how many there were.
    pub(super) brought: f64,
    pub(super) followed: u32,
    /// Its links that were fetched: place among its links, and node.
    pub(super) outcomes: Vec<(u16, NodeId)>,
    /// Number of links in each group.
    pub(super) group_sizes: Vec<u16>,
    /// The pages it was found on, and its place among their links.
    pub(super) stands_on: Vec<(NodeId, u16)>,
}

/// Number of links in each group of a page.
pub(super) fn group_sizes(page: &Page) -> Vec<u16> {
    let mut sizes = Vec::new();
    for outlink in &page.outlinks {
        let group = usize::from(outlink.context.group).min(4_095);
        if sizes.len() <= group {
            sizes.resize(group + 1, 0_u16);
        }
        sizes[group] = sizes[group].saturating_add(1);
    }
    sizes
}

impl Source {
    /// Counts a page that one of its links led to; returns their mean relevance, drawn to 0 while there are few.
    pub(super) fn led_to(&mut self, node: NodeId, ordinal: u16, relevance: Relevance) -> f64 {
        self.outcomes.push((ordinal, node));
        self.brought += relevance.get();
        self.followed += 1;
        self.brought / (f64::from(self.followed) + 1.0)
    }
}

/// Bytes that a source takes in memory, about.
const SOURCE_BYTES: usize = 512;

#[derive(Debug)]
struct Near {
    source: Arc<Source>,
    /// The file has it as it is.
    filed: bool,
    /// Asked for since the last clearing.
    used: bool,
}

/// All sources, by node.
#[derive(Debug, Default)]
pub(super) struct Sources {
    near: RefCell<FxHashMap<NodeId, Near>>,
    /// Sources in memory at most.
    capacity: Option<usize>,
    file: SpillSlots,
    /// Place in the file plus one, by node.
    places: RefCell<Paged<u64>>,
}

impl Sources {
    /// Keeps no more in memory than `room`.
    pub(super) fn within(room: &Room) -> Self {
        Self {
            capacity: Some((room.bytes / 8 * 7 / SOURCE_BYTES).max(64)),
            file: SpillSlots::new(room.clone()),
            places: RefCell::new(Paged::new(room.eighths(1))),
            ..Self::default()
        }
    }

    pub(super) fn get(&self, node: NodeId) -> Option<Arc<Source>> {
        if let Some(near) = self.near.borrow_mut().get_mut(&node) {
            near.used = true;
            return Some(Arc::clone(&near.source));
        }
        let place = self.places.borrow().get(node.0 as usize).checked_sub(1)?;
        // What cannot be read is noted by the file, and nothing is committed after that.
        let source: Arc<Source> = Arc::new(postcard::from_bytes(&self.file.get(place)?).ok()?);
        self.enter(node, Arc::clone(&source), true);
        Some(source)
    }

    pub(super) fn insert(&mut self, node: NodeId, source: Source) {
        self.enter(node, Arc::new(source), false);
    }

    /// Changes a source, if there is one.
    pub(super) fn change<R>(&mut self, node: NodeId, change: impl FnOnce(&mut Source) -> R) -> Option<R> {
        let mut source = self.get(node)?;
        self.near.get_mut().remove(&node);
        let changed = change(Arc::make_mut(&mut source));
        self.enter(node, source, false);
        Some(changed)
    }

    fn enter(&self, node: NodeId, source: Arc<Source>, filed: bool) {
        let mut near = self.near.borrow_mut();
        near.insert(node, Near { source, filed, used: true });
        if self.capacity.is_none_or(|capacity| near.len() <= capacity) {
            return;
        }
        // Those not asked for since the last time go; all, where that is none.
        let before = near.len();
        for all in [false, true] {
            near.retain(|&node, near| (!all && std::mem::take(&mut near.used)) || !self.put_away(node, near));
            if near.len() < before {
                return;
            }
        }
    }

    /// Whether the file has a source now.
    fn put_away(&self, node: NodeId, near: &Near) -> bool {
        if near.filed {
            return true;
        }
        let mut places = self.places.borrow_mut();
        let other = places.get(node.0 as usize).checked_sub(1);
        let place = postcard::to_stdvec(&*near.source).ok().and_then(|bytes| self.file.put(other, &bytes));
        if let Some(place) = place {
            places.set(node.0 as usize, place + 1);
        }
        place.is_some()
    }

    pub(super) fn resident_bytes(&self) -> usize {
        self.near.borrow().len() * SOURCE_BYTES + self.places.borrow().resident_bytes()
    }

    /// The first read or write that failed.
    pub(super) fn check(&self) -> io::Result<()> {
        self.file.check().and_then(|()| self.places.borrow().check())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(seq: u64) -> Source {
        Source {
            seq,
            fingerprint: Fingerprint(seq),
            url: format!("http://e.test/{seq}"),
            facts: SourceFacts { relevance: seq as f64 / 1_000.0, url_matches: [(1, 0.5)].into(), ..SourceFacts::default() },
            depth: 1,
            tunnel_depth: 0,
            relevant: seq.is_multiple_of(2),
            brought: 0.0,
            followed: 0,
            outcomes: Vec::new(),
            group_sizes: vec![seq as u16; 3],
            stands_on: vec![(NodeId(1), 2)],
        }
    }

    #[test]
    fn sources_that_do_not_fit_come_back_as_they_were_last() {
        let mut sources = Sources::within(&Room { bytes: 0, ..Room::default() });
        for seq in 0..1_000 {
            sources.insert(NodeId(seq as u32), source(seq));
        }
        assert!(sources.near.borrow().len() <= 64);
        sources.change(NodeId(3), |source| source.relevant = true);
        for seq in 0..1_000_u64 {
            let found = sources.get(NodeId(seq as u32)).unwrap();
            let expected = Source { relevant: seq == 3 || seq.is_multiple_of(2), ..source(seq) };
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        }
        assert!(sources.get(NodeId(5_000)).is_none());
        sources.check().unwrap();
    }
}

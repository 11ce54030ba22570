//! Reading the rows of the log: pages, and the links on them.
//!
//! Promises: sees one commit, the one of its transaction; memory does not grow with what is asked.
//! Never: changes anything.

use std::sync::Arc;

use redb::{ReadOnlyTable, ReadTransaction};
use rustc_hash::FxHashMap;

use super::{
    InLink, PageRecord, StoreError,
    codec::damaged,
    links_row::Links,
    log::{self, Place},
    open::Shared,
    page_row,
    schema::table,
};

/// Pages and links of one commit.
pub(super) struct OnPage {
    shared: Arc<Shared>,
    log: ReadOnlyTable<u64, &'static [u8]>,
    outlinks: ReadOnlyTable<u64, Place>,
}

/// Rows of links that are kept unpacked, by where they lie in the log, in two generations: the links of one host stand on few
/// pages.
#[derive(Default)]
pub(super) struct NearLinks {
    young: FxHashMap<u64, Arc<Links>>,
    old: FxHashMap<u64, Arc<Links>>,
}

/// Pages of a generation at most: some 4 MiB.
const GENERATION: usize = 512;

impl NearLinks {
    fn get(&mut self, at: u64) -> Option<Arc<Links>> {
        if let Some(links) = self.young.get(&at) {
            return Some(links.clone());
        }
        let links = self.old.remove(&at)?;
        self.put(at, links.clone());
        Some(links)
    }

    fn put(&mut self, at: u64, links: Arc<Links>) {
        if self.young.len() >= GENERATION {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(at, links);
    }
}

impl OnPage {
    pub fn open(shared: &Arc<Shared>, read: &ReadTransaction) -> Result<Self, StoreError> {
        let (log, outlinks) = (read.open_table(table::log)?, read.open_table(table::outlinks)?);
        Ok(Self { shared: shared.clone(), log, outlinks })
    }

    /// The page row at a place, as it was when the page was fetched.
    pub fn page(&self, place: Place) -> Result<PageRecord, StoreError> {
        page_row::decode(&log::read(&self.log, place)?, &*self.shared)
    }

    /// The links at a place.
    pub fn links(&self, place: Place) -> Result<Links, StoreError> {
        Links::unpack(&log::read(&self.log, place)?, &*self.shared)
    }

    /// A link of page `seq`, and the URL that it leads to, where the page's links have it.
    pub fn in_link(&self, seq: u64, ordinal: u16) -> Result<(InLink, Option<String>), StoreError> {
        let place = self.outlinks.get(seq)?.map(|place| place.value());
        let place = place.ok_or_else(|| damaged("link", format!("the links of page {seq} are missing")))?;
        let near = &self.shared.near_links;
        let known = near.lock().ok().and_then(|mut near| near.get(place.0));
        let links = if let Some(links) = known {
            links
        } else {
            let links = Arc::new(self.links(place)?);
            if let Ok(mut near) = near.lock() {
                near.put(place.0, links.clone());
            }
            links
        };
        links.in_link(seq, ordinal)
    }
}

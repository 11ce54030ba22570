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

/// Pages whose links are kept unpacked: the links of one host stand on few pages.
const NEAR: usize = 128;

/// Pages and links of one commit.
pub(super) struct OnPage {
    shared: Arc<Shared>,
    log: ReadOnlyTable<u64, &'static [u8]>,
    outlinks: ReadOnlyTable<u64, Place>,
    near: FxHashMap<u64, Links>,
}

impl OnPage {
    pub fn open(shared: &Arc<Shared>, read: &ReadTransaction) -> Result<Self, StoreError> {
        let (log, outlinks) = (read.open_table(table::log)?, read.open_table(table::outlinks)?);
        Ok(Self { shared: shared.clone(), log, outlinks, near: FxHashMap::default() })
    }

    /// The page row at a place, as it was when the page was fetched.
    pub fn page(&self, place: Place) -> Result<PageRecord, StoreError> {
        page_row::decode(&log::read(&self.log, place)?, &|number| self.shared.words(number))
    }

    /// The links at a place.
    pub fn links(&self, place: Place) -> Result<Links, StoreError> {
        Links::unpack(&log::read(&self.log, place)?, &|number| self.shared.words(number))
    }

    /// A link of page `seq`, and the URL that it leads to, where the page's links have it.
    pub fn in_link(&mut self, seq: u64, ordinal: u16) -> Result<(InLink, Option<String>), StoreError> {
        if !self.near.contains_key(&seq) {
            let place = self.outlinks.get(seq)?.map(|place| place.value());
            let links = self.links(place.ok_or_else(|| damaged("link", format!("the links of page {seq} are missing")))?)?;
            if self.near.len() >= NEAR {
                self.near.clear();
            }
            self.near.insert(seq, links);
        }
        let links = self.near.get(&seq).ok_or_else(|| damaged("link", "its page is gone"))?;
        let (in_link, url) = links.in_link(seq, ordinal)?;
        Ok((in_link, url.map(str::to_owned)))
    }
}

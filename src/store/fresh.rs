//! The links of the pages of one batch, as the waiting URLs of that batch refer to them.
//!
//! Promises: an in-link that stands on one of these pages is written once, in the row of that page.
//! Never: writes (that is `apply`).

use rustc_hash::FxHashMap;

use super::{
    AddedInLink, InLink, LinkRecord, OutlinkRecord,
    link_row::OnPages,
    links_row::{Links, Noted},
};
use crate::url::Fingerprint;

/// Pages by `seq`.
#[derive(Default)]
pub(super) struct Fresh<'a> {
    pages: FxHashMap<u64, Page<'a>>,
}

struct Page<'a> {
    outlinks: &'a [OutlinkRecord],
    noted: Noted<'a>,
    /// The row of its links that is there already.
    before: Option<&'a Links>,
}

impl<'a> Fresh<'a> {
    /// The pages of a batch whose outlinks it brings, with the in-links among what it says of waiting URLs; `before` has the rows
    /// that are there already of some of them.
    pub fn of(
        outlinks: &'a [(u64, Vec<OutlinkRecord>)],
        waiting: &'a [(Fingerprint, LinkRecord)],
        in_links: &'a [(Fingerprint, AddedInLink)],
        before: &'a FxHashMap<u64, Links>,
    ) -> Self {
        let page = |(seq, outlinks): &'a (u64, Vec<OutlinkRecord>)| {
            (*seq, Page { outlinks, noted: Noted::default(), before: before.get(seq) })
        };
        let mut fresh = Self { pages: outlinks.iter().map(page).collect() };
        for (target, link) in waiting {
            link.in_links.iter().for_each(|in_link| fresh.note(*target, in_link));
        }
        for (target, added) in in_links {
            fresh.note(*target, &added.in_link);
        }
        fresh
    }

    fn note(&mut self, target: Fingerprint, in_link: &'a InLink) {
        // What a row has already stays what it is there.
        let page = self.pages.get_mut(&in_link.source);
        if let Some(page) = page.filter(|page| page.before.is_none_or(|before| !before.has(in_link.ordinal))) {
            page.noted.entry(in_link.ordinal).or_insert((target, in_link));
        }
    }

    /// The in-links that stand on a page.
    pub fn noted(&self, seq: u64) -> Option<&Noted<'a>> {
        self.pages.get(&seq).map(|page| &page.noted)
    }
}

impl OnPages for Fresh<'_> {
    fn holds(&self, target: Fingerprint, in_link: &InLink) -> bool {
        let noted = self.pages.get(&in_link.source).and_then(|page| page.noted.get(&in_link.ordinal));
        noted.is_some_and(|&(known, noted)| known == target && noted == in_link)
    }

    fn url(&self, target: Fingerprint, in_link: &InLink) -> Option<&str> {
        let outlinks = self.pages.get(&in_link.source)?.outlinks;
        outlinks.iter().find(|outlink| outlink.target == target).map(|outlink| outlink.url.as_str())
    }
}

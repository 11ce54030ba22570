//! The robots.txt files that go with the captures of pages.

use std::{collections::HashSet, path::Path};

use super::filter::Filter;
use crate::{
    store::{ArchivePlace, PageRecord, RawCapture, Store, StoreError, read_raw},
    url::{Url, authority},
};

/// Hosts whose robots.txt is wanted: all, or those of the pages that passed a filter.
pub(super) struct Hosts(Option<HashSet<String>>);

impl Hosts {
    pub fn of(filter: Option<&Filter>) -> Self {
        Self(filter.map(|_| HashSet::new()))
    }

    /// A page has passed.
    pub fn note(&mut self, page: &PageRecord) {
        if let Some(hosts) = &mut self.0
            && !hosts.contains(&page.host)
        {
            hosts.insert(page.host.clone());
        }
    }

    fn have(&self, robots: &RawCapture) -> bool {
        let host = || Url::parse(&robots.capture.url).map(|url| authority(&url)).unwrap_or_default();
        self.0.as_ref().is_none_or(|hosts| hosts.contains(&host()))
    }

    /// Their robots.txt files in the archive of the crawl in `dir`, each with its place. Reads the whole archive.
    pub fn robots(
        self,
        store: &Store,
        dir: &Path,
    ) -> Result<impl Iterator<Item = Result<(ArchivePlace, RawCapture), StoreError>>, StoreError> {
        let captures = store.captures_of_no_page()?.map(move |place| place.and_then(|place| Ok((place, read_raw(dir, place)?))));
        Ok(captures.filter(move |capture| capture.as_ref().map_or(true, |(_, robots)| self.have(robots))))
    }
}

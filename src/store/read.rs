//! Reading a store: single rows, and whole tables as streams.
//!
//! Promises: every call sees the last batch that was applied, whole; a stream
//! sees one commit from its first row to its last, and holds one row at a time.
//! Never: holds a lock that a writer would wait for.

use std::{borrow::Borrow, sync::Arc};

use redb::{Key, Range, ReadOnlyTable, ReadableDatabase, ReadableTable, Value};

use super::{
    ArchivePlace, CrawlState, HostRecord, LinkRecord, OutlinkRecord, PageRecord, RobotsRecord, Store, StoreError,
    archive::Others,
    codec::{HostRow, LessonRow, decode},
    link_row,
    links_row::Links,
    on_page::OnPage,
    schema::{STATE_KEY, queue_key, table},
};
use crate::url::Fingerprint;

/// What is known of a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// It is to be fetched.
    Waiting,
    /// It is done; the `seq` of its page.
    Finished(u64),
}

/// A host's best waiting URLs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stock {
    /// Best first.
    pub rows: Vec<(Fingerprint, LinkRecord)>,
    /// The priority of the best that is left.
    pub next: Option<f64>,
}

type Bytes = &'static [u8];

impl Store {
    /// The crawl's counters, where a batch has brought some.
    ///
    /// # Errors
    /// A database that cannot be read, here and in all that follow.
    pub fn state(&self) -> Result<Option<CrawlState>, StoreError> {
        self.table(table::meta)?.get(STATE_KEY)?.map(|row| decode(row.value())).transpose()
    }

    /// Finished URLs in the order of `seq`, from `from` on.
    ///
    /// # Errors
    /// As for [`Store::state`]; also per row.
    pub fn pages(&self, from: u64) -> Result<impl Iterator<Item = Result<PageRecord, StoreError>> + use<>, StoreError> {
        let read = self.shared.database.begin_read()?;
        let (standing, log) = (read.open_table(table::standing)?, OnPage::open(&self.shared, &read)?);
        let places = read.open_table(table::pages)?.range(from..)?;
        Ok(places.map(move |entry| {
            let (seq, place) = entry?;
            as_of_now(log.page(place.value())?, seq.value(), &standing)
        }))
    }

    /// Finished URLs before `seq`, the last first.
    ///
    /// # Errors
    /// As for [`Store::state`]; also per row.
    pub fn pages_before(&self, seq: u64) -> Result<impl Iterator<Item = Result<PageRecord, StoreError>> + use<>, StoreError> {
        let read = self.shared.database.begin_read()?;
        let (standing, log) = (read.open_table(table::standing)?, OnPage::open(&self.shared, &read)?);
        let places = read.open_table(table::pages)?.range(..seq)?;
        Ok(places.rev().map(move |entry| {
            let (seq, place) = entry?;
            as_of_now(log.page(place.value())?, seq.value(), &standing)
        }))
    }

    /// How many URLs of a host wait, at most `most` of them counted.
    ///
    /// # Errors
    /// As for [`Store::state`].
    pub fn waiting_on(&self, host: &str, most: usize) -> Result<u64, StoreError> {
        let read = self.shared.database.begin_read()?;
        let Some(id) = read.open_table(table::host_ids)?.get(host)?.map(|id| id.value()) else { return Ok(0) };
        let queue = read.open_table(table::queue)?.range((id, 0, 0)..=(id, u16::MAX, u64::MAX))?;
        Ok(queue.take(most).count() as u64)
    }

    /// A finished URL by its `seq`.
    ///
    /// # Errors
    /// As for [`Store::state`].
    pub fn page(&self, seq: u64) -> Result<Option<PageRecord>, StoreError> {
        let read = self.shared.database.begin_read()?;
        let Some(place) = read.open_table(table::pages)?.get(seq)?.map(|place| place.value()) else { return Ok(None) };
        let page = OnPage::open(&self.shared, &read)?.page(place)?;
        as_of_now(page, seq, &read.open_table(table::standing)?).map(Some)
    }

    /// A finished URL by its fingerprint.
    ///
    /// # Errors
    /// As for [`Store::state`].
    pub fn page_by_fingerprint(&self, fingerprint: Fingerprint) -> Result<Option<PageRecord>, StoreError> {
        match self.table(table::page_of)?.get(fingerprint.0)? {
            Some(seq) => self.page(seq.value()),
            None => Ok(None),
        }
    }

    /// What became of a page's outlinks; empty where it has none.
    ///
    /// # Errors
    /// As for [`Store::state`].
    pub fn outlinks(&self, seq: u64) -> Result<Vec<OutlinkRecord>, StoreError> {
        self.links(seq)?.map_or_else(|| Ok(Vec::new()), |links| links.outlinks())
    }

    /// What became of a page's outlinks, and the numbers that in-links on it have, ascending.
    ///
    /// # Errors
    /// As for [`Store::state`].
    pub fn outlinks_and_ordinals(&self, seq: u64) -> Result<(Vec<OutlinkRecord>, Vec<u16>), StoreError> {
        self.links(seq)?.map_or_else(|| Ok(Default::default()), |links| Ok((links.outlinks()?, links.ordinals()?)))
    }

    fn links(&self, seq: u64) -> Result<Option<Links>, StoreError> {
        let read = self.shared.database.begin_read()?;
        let place = read.open_table(table::outlinks)?.get(seq)?.map(|place| place.value());
        place.map(|place| OnPage::open(&self.shared, &read)?.links(place)).transpose()
    }

    /// The links that lead to a URL, each with the `seq` of its page, in the order of their pages. Reads all links.
    ///
    /// # Errors
    /// As for [`Store::state`]; also per row.
    pub fn links_to(
        &self,
        target: Fingerprint,
    ) -> Result<impl Iterator<Item = Result<(u64, OutlinkRecord), StoreError>> + use<>, StoreError> {
        let read = self.shared.database.begin_read()?;
        let pages = OnPage::open(&self.shared, &read)?;
        let rows = read.open_table(table::outlinks)?.range::<u64>(..)?;
        Ok(rows.flat_map(move |row| {
            let links = row.map_err(StoreError::from).and_then(|(seq, place)| {
                let links = pages.links(place.value())?.outlinks()?;
                Ok(links.into_iter().filter(|link| link.target == target).map(move |link| Ok((seq.value(), link))).collect())
            });
            links.unwrap_or_else(|error| vec![Err(error)])
        }))
    }

    /// All waiting URLs, by ascending fingerprint: one host's lie together.
    ///
    /// # Errors
    /// As for [`Store::state`]; also per row.
    pub fn waiting(&self) -> Result<impl Iterator<Item = Result<(Fingerprint, LinkRecord), StoreError>> + use<>, StoreError> {
        let read = self.shared.database.begin_read()?;
        let mut names = HostNames::new(read.open_table(table::hosts)?);
        let pages = OnPage::open(&self.shared, &read)?;
        let rows = rows(read.open_table(table::waiting)?.range::<u64>(..)?);
        Ok(rows.map(move |row| {
            let (fingerprint, row) = row?;
            let link = link_row::decode(&row, |id| names.get(id), |seq, ordinal| pages.in_link(seq, ordinal))?;
            Ok((Fingerprint(fingerprint), link))
        }))
    }

    /// A waiting URL.
    ///
    /// # Errors
    /// As for [`Store::state`].
    pub fn waiting_one(&self, fingerprint: Fingerprint) -> Result<Option<LinkRecord>, StoreError> {
        let read = self.shared.database.begin_read()?;
        let Some(row) = read.open_table(table::waiting)?.get(fingerprint.0)? else { return Ok(None) };
        let mut names = HostNames::new(read.open_table(table::hosts)?);
        let pages = OnPage::open(&self.shared, &read)?;
        link_row::decode(row.value(), |id| names.get(id), |seq, ordinal| pages.in_link(seq, ordinal)).map(Some)
    }

    /// A host's waiting URLs of the highest priority that are `wanted`, best first, at most `limit`; and the priority of
    /// the best that is left. Those above `from`, where it is given, are left out.
    ///
    /// Priorities that differ by less than 1 % count as equal here.
    ///
    /// # Errors
    /// As for [`Store::state`].
    pub fn best_of_host(
        &self,
        host: &str,
        from: Option<f64>,
        limit: usize,
        wanted: impl Fn(Fingerprint) -> bool,
    ) -> Result<Stock, StoreError> {
        let read = self.shared.database.begin_read()?;
        let mut best = Stock::default();
        let Some(id) = read.open_table(table::host_ids)?.get(host)?.map(|id| id.value()) else { return Ok(best) };
        let waiting = read.open_table(table::waiting)?;
        let pages = OnPage::open(&self.shared, &read)?;
        let first = from.map_or((id, 0, 0), |from| queue_key(id, from, 0));
        for entry in read.open_table(table::queue)?.range(first..=(id, u16::MAX, u64::MAX))? {
            let (_, _, fingerprint) = entry?.0.value();
            if !wanted(Fingerprint(fingerprint)) {
                continue;
            }
            let Some(row) = waiting.get(fingerprint)? else { continue };
            if best.rows.len() == limit {
                best.next = Some(link_row::head(row.value())?.priority());
                break;
            }
            let link = link_row::decode(row.value(), |_| Ok(host.into()), |seq, ordinal| pages.in_link(seq, ordinal))?;
            best.rows.push((Fingerprint(fingerprint), link));
        }
        Ok(best)
    }

    /// All hosts that were met, with their robots.txt, in the order they were met.
    ///
    /// # Errors
    /// As for [`Store::state`]; also per row.
    pub fn hosts(&self) -> Result<impl Iterator<Item = Result<HostRecord, StoreError>> + use<>, StoreError> {
        let read = self.shared.database.begin_read()?;
        let robots = read.open_table(table::robots)?;
        let rows = rows(read.open_table(table::hosts)?.range::<u32>(..)?);
        Ok(rows.map(move |row| row.and_then(|(id, row)| host_of(id, &row, &robots))))
    }

    /// A host by its name.
    ///
    /// # Errors
    /// As for [`Store::state`].
    pub fn host(&self, name: &str) -> Result<Option<HostRecord>, StoreError> {
        let read = self.shared.database.begin_read()?;
        let Some(id) = read.open_table(table::host_ids)?.get(name)?.map(|id| id.value()) else { return Ok(None) };
        let robots = read.open_table(table::robots)?;
        read.open_table(table::hosts)?.get(id)?.map(|row| host_of(id, row.value(), &robots)).transpose()
    }

    /// Where those captures lie that belong to no page: robots.txt files. Reads the whole archive.
    ///
    /// # Errors
    /// As for [`Store::state`]; also per capture, where the archive cannot be read.
    pub fn captures_of_no_page(&self) -> Result<impl Iterator<Item = Result<ArchivePlace, StoreError>> + use<>, StoreError> {
        Ok(Others::new(&self.shared.dir, self.shared.archive_end()?))
    }

    /// A model snapshot.
    ///
    /// # Errors
    /// As for [`Store::state`].
    pub fn model(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.table(table::models)?.get(name)?.map(|row| row.value().to_vec()))
    }

    /// What was learnt since the last snapshot, batch by batch.
    ///
    /// # Errors
    /// As for [`Store::state`]; also per row.
    pub fn lessons(&self) -> Result<impl Iterator<Item = Result<Vec<u8>, StoreError>> + use<>, StoreError> {
        let rows = rows(self.table(table::lessons)?.range::<u64>(..)?);
        Ok(rows.map(|row| decode::<LessonRow>(&row?.1).map(|row| row.0)))
    }

    /// The names of all model snapshots, sorted.
    ///
    /// # Errors
    /// As for [`Store::state`].
    pub fn models(&self) -> Result<Vec<String>, StoreError> {
        self.table(table::models)?.range::<&str>(..)?.map(|row| Ok(row?.0.value().to_owned())).collect()
    }

    /// Whether a URL waits, is finished, or was never met.
    ///
    /// # Errors
    /// As for [`Store::state`].
    pub fn known(&self, fingerprint: Fingerprint) -> Result<Option<Known>, StoreError> {
        let read = self.shared.database.begin_read()?;
        if let Some(seq) = read.open_table(table::page_of)?.get(fingerprint.0)? {
            return Ok(Some(Known::Finished(seq.value())));
        }
        Ok(read.open_table(table::waiting)?.get(fingerprint.0)?.map(|_| Known::Waiting))
    }

    fn table<K: Key, V: Value>(&self, definition: redb::TableDefinition<K, V>) -> Result<ReadOnlyTable<K, V>, StoreError> {
        Ok(self.shared.database.begin_read()?.open_table(definition)?)
    }
}

/// A page with what has changed of it since it was fetched.
fn as_of_now(
    mut page: PageRecord,
    seq: u64,
    standing: &impl ReadableTable<u64, (f64, f64, f32)>,
) -> Result<PageRecord, StoreError> {
    if let Some(now) = standing.get(seq)? {
        let (rank, residual, relevance) = now.value();
        page.rank = rank;
        page.residual = residual;
        page.relevance = crate::page::Relevance::new(f64::from(relevance));
    }
    Ok(page)
}

/// A host row with its robots.txt.
pub(super) fn host_of(id: u32, row: &[u8], robots: &impl ReadableTable<u32, Bytes>) -> Result<HostRecord, StoreError> {
    let HostRow { mut record, robots: mark } = decode(row)?;
    if mark.is_some() {
        record.robots = robots.get(id)?.map(|row| decode::<RobotsRecord>(row.value())).transpose()?;
    }
    Ok(record)
}

/// Names by host id; remembers the last, since one host's rows lie together.
pub(super) struct HostNames<T> {
    hosts: T,
    last: Option<(u32, Arc<str>)>,
}

impl<T: Borrow<ReadOnlyTable<u32, Bytes>>> HostNames<T> {
    pub fn new(hosts: T) -> Self {
        Self { hosts, last: None }
    }

    pub fn get(&mut self, id: u32) -> Result<Arc<str>, StoreError> {
        if let Some((last, name)) = &self.last
            && *last == id
        {
            return Ok(name.clone());
        }
        let row =
            self.hosts.borrow().get(id)?.ok_or_else(|| super::codec::damaged("link", format!("its host {id} is not known")))?;
        let name: Arc<str> = decode::<HostRow>(row.value())?.record.name.into();
        self.last = Some((id, name.clone()));
        Ok(name)
    }
}

/// The rows of a table with their bytes, one at a time.
fn rows<K>(range: Range<'static, K, Bytes>) -> impl Iterator<Item = Result<(K::SelfType<'static>, Vec<u8>), StoreError>> + use<K>
where
    K: Key + for<'a> Value<SelfType<'a> = K> + Copy,
{
    range.map(|entry| {
        let (key, row) = entry?;
        Ok((key.value(), row.value().to_vec()))
    })
}

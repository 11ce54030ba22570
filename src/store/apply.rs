//! A batch as changes to the tables.
//!
//! Promises: after a batch, a URL is either waiting or finished, the queue has
//! one entry per waiting URL, and page numbers are dense; a batch that would
//! break that is refused as a whole.
//! Never: commits (that is `writer`).

use redb::{ReadableTable, ReadableTableMetadata, WriteTransaction};
use rustc_hash::FxHashMap;

use super::{
    AddedInLink, ArchivePlace, Batch, Capture, CopyKind, CopyOf, HostRecord, LinkRecord, OutlinkRecord, PageRecord, StoreError,
    archive::ArchiveWriter,
    codec::{Encoder, HostRow, LessonRow, RobotsMark, decode},
    fresh::Fresh,
    link_row::{self, OnPages},
    links_row::{self, Kept, Links},
    log::{self, Appender, Place},
    open::Shared,
    page_row,
    schema::{STATE_KEY, WriteTables, queue_key},
};
use crate::{page::Relevance, url::Fingerprint};

/// Writes a batch into `transaction`, and its captures to the archive.
pub(super) fn apply(
    shared: &Shared,
    transaction: &WriteTransaction,
    batch: Batch,
    archive: &mut ArchiveWriter,
    encoder: &mut Encoder,
) -> Result<(), StoreError> {
    let Batch {
        pages,
        renewed,
        outlinks,
        waiting,
        in_links,
        priorities,
        finished,
        ranks,
        relevances,
        hosts,
        models,
        lessons,
        lessons_are_kept,
        captures,
        state,
    } = batch;
    let tables = WriteTables::open(transaction)?;
    let log = Appender::after(&tables.log)?;
    let mut changes = Changes { shared, tables, log, encoder, host_ids: FxHashMap::default() };
    let before = changes.links_before(&outlinks, &renewed)?;
    let mut places = changes.add_captures(&captures, pages.iter().chain(&renewed), archive)?;
    changes.renew_pages(renewed, &mut places)?;
    let fresh = Fresh::of(&outlinks, &waiting, &in_links, &before);
    // Before `pages` and `finished`: what one batch discovers and finishes is finished.
    changes.put_waiting(&waiting, &fresh)?;
    changes.add_in_links(&in_links, &fresh)?;
    changes.change_priorities(priorities)?;
    changes.add_pages(pages, places)?;
    for fingerprint in finished {
        changes.end_waiting(fingerprint)?;
    }
    changes.put_outlinks(&outlinks, &fresh, &before)?;
    changes.log.close(&mut changes.tables.log)?;
    changes.change_standing(&ranks, &relevances)?;
    for host in hosts {
        changes.put_host(host)?;
    }
    for (name, model) in models {
        changes.tables.models.insert(name.as_str(), model.as_slice())?;
    }
    if lessons_are_kept {
        changes.tables.lessons.retain(|_, _| false)?;
    }
    if let Some(lessons) = lessons {
        let number = changes.tables.lessons.last()?.map_or(0, |(number, _)| number.value() + 1);
        changes.tables.lessons.insert(number, changes.encoder.encode(&LessonRow(lessons))?.as_slice())?;
    }
    if let Some(state) = state {
        changes.tables.meta.insert(STATE_KEY, changes.encoder.encode(&state)?.as_slice())?;
    }
    changes.encoder.dictionaries.write(&mut changes.tables.dictionaries)?;
    changes.encoder.words.write(&mut changes.tables.words)
}

struct Changes<'t> {
    shared: &'t Shared,
    tables: WriteTables<'t>,
    log: Appender,
    encoder: &'t mut Encoder,
    /// Ids that this batch has asked for.
    host_ids: FxHashMap<String, u32>,
}

impl Changes<'_> {
    fn put_waiting(&mut self, waiting: &[(Fingerprint, LinkRecord)], fresh: &Fresh<'_>) -> Result<(), StoreError> {
        // Neighbours in the table are written together; a stable sort lets the last of two with one key win.
        let mut waiting: Vec<&(Fingerprint, LinkRecord)> = waiting.iter().collect();
        waiting.sort_by_key(|(fingerprint, _)| *fingerprint);
        for (target, link) in waiting {
            let key = &target.0;
            if self.tables.page_of.get(key)?.is_some() {
                return Err(StoreError::Refused(format!("{} is finished and cannot wait again", link.url)));
            }
            let host_name = link_row::host_name(&link.url)?;
            let host = self.host_id(&host_name)?;
            let old = self.tables.waiting.get(key)?;
            let old = old.map(|old| Ok::<_, StoreError>((link_row::head(old.value())?, link_row::Before::of(old.value())?)));
            let (old, before) = old.transpose()?.unzip();
            let row = link_row::encode((host, &host_name), (*target, link), fresh, &before.unwrap_or_default())?;
            self.tables.waiting.insert(key, row.as_slice())?;
            let old = old.map(|head| queue_key(head.host, head.priority(), *key));
            let new = queue_key(host, link.priority, *key);
            if old != Some(new) {
                if let Some(old) = old {
                    self.tables.queue.remove(old)?;
                }
                self.tables.queue.insert(new, ())?;
            }
        }
        Ok(())
    }

    fn add_in_links(&mut self, in_links: &[(Fingerprint, AddedInLink)], fresh: &Fresh<'_>) -> Result<(), StoreError> {
        let mut in_links: Vec<&(Fingerprint, AddedInLink)> = in_links.iter().collect();
        in_links.sort_by_key(|(fingerprint, _)| *fingerprint);
        for (target, added) in in_links {
            let row = self.tables.waiting.get(target.0)?;
            let row = row.map(|row| link_row::with_in_link(row.value(), added, fresh.holds(*target, &added.in_link)));
            let row = row.ok_or_else(|| StoreError::Refused(format!("{target} does not wait, but has one more in-link")))??;
            self.tables.waiting.insert(target.0, row.as_slice())?;
        }
        Ok(())
    }

    fn change_priorities(&mut self, mut priorities: Vec<(Fingerprint, f64)>) -> Result<(), StoreError> {
        priorities.sort_unstable_by_key(|(fingerprint, _)| *fingerprint);
        for (target, priority) in priorities {
            let row = self.tables.waiting.get(target.0)?;
            let row = row.map(|row| Ok::<_, StoreError>((link_row::head(row.value())?, row.value().to_vec()))).transpose()?;
            let (old, row) = row.ok_or_else(|| StoreError::Refused(format!("{target} does not wait, but has a priority")))?;
            self.tables.waiting.insert(target.0, link_row::with_priority(&row, priority)?.as_slice())?;
            self.tables.queue.remove(queue_key(old.host, old.priority(), target.0))?;
            self.tables.queue.insert(queue_key(old.host, priority, target.0), ())?;
        }
        Ok(())
    }

    fn end_waiting(&mut self, fingerprint: Fingerprint) -> Result<(), StoreError> {
        let head = self.tables.waiting.remove(fingerprint.0)?.map(|row| link_row::head(row.value())).transpose()?;
        if let Some(head) = head {
            self.tables.queue.remove(queue_key(head.host, head.priority(), fingerprint.0))?;
        }
        Ok(())
    }

    /// Writes captures to the archive, and says where those lie that it keeps.
    fn add_captures<'p>(
        &self,
        captures: &[Capture],
        pages: impl Iterator<Item = &'p PageRecord>,
        archive: &mut ArchiveWriter,
    ) -> Result<FxHashMap<u64, ArchivePlace>, StoreError> {
        let by_seq: FxHashMap<u64, &PageRecord> = pages.map(|page| (page.seq, page)).collect();
        let mut places = FxHashMap::default();
        for capture in captures {
            if capture.seq == 0 {
                archive.append_other(capture)?;
                continue;
            }
            let page = by_seq.get(&capture.seq).copied();
            let page = page.ok_or_else(|| StoreError::Refused(format!("a capture came without its page {}", capture.seq)))?;
            let original = match page.copy_of.filter(|copy| copy.kind == CopyKind::Exact) {
                None => None,
                Some(CopyOf { seq, .. }) => match by_seq.get(&seq) {
                    Some(original) if places.contains_key(&seq) => Some((*original).clone()),
                    Some(_) => None,
                    None => self.page(seq)?.filter(|page| page.archive.is_some()),
                },
            };
            // It may have changed since.
            let original = original.filter(|original| original.digest == page.digest);
            if let Some(place) = archive.append(capture, page, original.as_ref())? {
                places.insert(capture.seq, place);
            }
        }
        Ok(places)
    }

    /// A page of an earlier batch.
    fn page(&self, seq: u64) -> Result<Option<PageRecord>, StoreError> {
        let Some(place) = self.tables.pages.get(seq)?.map(|place| place.value()) else { return Ok(None) };
        let row = log::read(&self.tables.log, place)?;
        page_row::decode(&row, self.shared).map(Some)
    }

    fn append(&mut self, row: &[u8]) -> Result<Place, StoreError> {
        self.log.append(&mut self.tables.log, row)
    }

    fn add_pages(&mut self, pages: Vec<PageRecord>, mut places: FxHashMap<u64, ArchivePlace>) -> Result<(), StoreError> {
        let mut last = self.tables.pages.last()?.map_or(0, |(seq, _)| seq.value());
        for mut page in pages {
            if page.seq != last + 1 {
                return Err(StoreError::Refused(format!("page {} follows page {last}", page.seq)));
            }
            last = page.seq;
            page.archive = places.remove(&page.seq);
            if self.tables.page_of.insert(page.fingerprint.0, page.seq)?.is_some() {
                return Err(StoreError::Refused(format!("{} is finished already", page.url)));
            }
            self.end_waiting(page.fingerprint)?;
            self.tables.standing.insert(last, (page.rank, page.residual, page.relevance.get() as f32))?;
            let row = page_row::encode(self.encoder, page)?;
            let place = self.append(&row)?;
            self.tables.pages.insert(last, place)?;
        }
        Ok(())
    }

    /// Puts pages in the place of their rows.
    fn renew_pages(&mut self, pages: Vec<PageRecord>, places: &mut FxHashMap<u64, ArchivePlace>) -> Result<(), StoreError> {
        for mut page in pages {
            let seq = page.seq;
            let known = self.tables.page_of.get(page.fingerprint.0)?.map(|known| known.value());
            if known != Some(seq) {
                return Err(StoreError::Refused(format!("{} is renewed as page {seq}, but is not that page", page.url)));
            }
            page.archive = places.remove(&seq).or(page.archive);
            self.tables.standing.insert(seq, (page.rank, page.residual, page.relevance.get() as f32))?;
            let row = page_row::encode(self.encoder, page)?;
            let place = self.append(&row)?;
            self.tables.pages.insert(seq, place)?;
        }
        Ok(())
    }

    /// The links that are there of pages whose links come with the batch: they are renewed.
    fn links_before(
        &self,
        outlinks: &[(u64, Vec<OutlinkRecord>)],
        renewed: &[PageRecord],
    ) -> Result<FxHashMap<u64, Links>, StoreError> {
        let mut before = FxHashMap::default();
        for &(seq, _) in outlinks {
            let Some(place) = self.tables.outlinks.get(seq)?.map(|place| place.value()) else { continue };
            if !renewed.iter().any(|page| page.seq == seq) {
                return Err(StoreError::Refused(format!("page {seq} has its outlinks already")));
            }
            before.insert(seq, Links::unpack(&log::read(&self.tables.log, place)?, self.shared)?);
        }
        Ok(before)
    }

    fn put_outlinks(
        &mut self,
        outlinks: &[(u64, Vec<OutlinkRecord>)],
        fresh: &Fresh<'_>,
        before: &FxHashMap<u64, Links>,
    ) -> Result<(), StoreError> {
        for (seq, outlinks) in outlinks {
            if self.tables.pages.get(seq)?.is_none() {
                return Err(StoreError::Refused(format!("outlinks came without their page {seq}")));
            }
            let kept = before.get(seq).map(|links| self.still_referred_to(*seq, links)).transpose()?.unwrap_or_default();
            let none = links_row::Noted::default();
            let row = links_row::encode(self.encoder, outlinks, fresh.noted(*seq).unwrap_or(&none), &kept)?;
            let place = self.append(&row)?;
            self.tables.outlinks.insert(seq, place)?;
        }
        Ok(())
    }

    /// The in-links on a page that waiting rows may refer to.
    fn still_referred_to(&self, seq: u64, links: &Links) -> Result<Vec<Kept>, StoreError> {
        let mut kept = Vec::new();
        for in_link in links.in_links(seq)? {
            let waits = match &in_link.target {
                Some((target, _)) => self.tables.waiting.get(target.0)?.is_some(),
                None => true,
            };
            if waits {
                kept.push(in_link);
            }
        }
        Ok(kept)
    }

    fn change_standing(&mut self, ranks: &[(u64, f64, f64)], relevances: &[(u64, Relevance)]) -> Result<(), StoreError> {
        for &(seq, rank, residual) in ranks {
            self.change_one(seq, |standing| (standing.0, standing.1) = (rank, residual))?;
        }
        for &(seq, relevance) in relevances {
            self.change_one(seq, |standing| standing.2 = relevance.get() as f32)?;
        }
        Ok(())
    }

    fn change_one(&mut self, seq: u64, change: impl FnOnce(&mut (f64, f64, f32))) -> Result<(), StoreError> {
        let standing = self.tables.standing.get(seq)?.map(|row| row.value());
        let Some(mut standing) = standing else {
            return Err(StoreError::Refused(format!("page {seq} is to change, but there is none")));
        };
        change(&mut standing);
        self.tables.standing.insert(seq, standing)?;
        Ok(())
    }

    fn put_host(&mut self, mut host: HostRecord) -> Result<(), StoreError> {
        let id = self.host_id(&host.name)?;
        let known = self.tables.hosts.get(id)?.map(|row| decode::<HostRow>(row.value())).transpose()?.and_then(|row| row.robots);
        let robots = host.robots.take();
        let mark = robots.as_ref().map(RobotsMark::of);
        if mark != known {
            match robots {
                Some(robots) => self.tables.robots.insert(id, self.encoder.encode(&robots)?.as_slice())?,
                None => self.tables.robots.remove(id)?,
            };
        }
        self.tables.hosts.insert(id, self.encoder.encode(&HostRow { record: host, robots: mark })?.as_slice())?;
        Ok(())
    }

    /// The id of a host; a new one gets the next number and an empty row that carries its name.
    fn host_id(&mut self, name: &str) -> Result<u32, StoreError> {
        if let Some(&id) = self.host_ids.get(name) {
            return Ok(id);
        }
        let known = self.tables.host_ids.get(name)?.map(|id| id.value());
        let id = match known {
            Some(id) => id,
            None => self.new_host(name)?,
        };
        self.host_ids.insert(name.to_owned(), id);
        Ok(id)
    }

    fn new_host(&mut self, name: &str) -> Result<u32, StoreError> {
        let id = u32::try_from(self.tables.host_ids.len()?)
            .map_err(|_| StoreError::Refused("there are more than four billion hosts".to_owned()))?;
        let record = HostRecord { name: name.to_owned(), ..HostRecord::default() };
        self.tables.host_ids.insert(name, id)?;
        self.tables.hosts.insert(id, self.encoder.encode(&HostRow { record, robots: None })?.as_slice())?;
        Ok(id)
    }
}

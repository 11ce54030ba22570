//! The mending of `verify --repair`: derives anew what can be derived, in one transaction.
//!
//! Promises: pages and waiting URLs that can be read are never touched, but for
//! a place in the archive that leads nowhere.
//! Never: mends what `check` did not find.

use std::{path::Path, sync::Arc};

use redb::{ReadableDatabase, ReadableTable, ReadableTableMetadata};
use rustc_hash::FxHashSet;

use super::{
    CrawlState, HostRecord, StoreError,
    archive::{self, ArchiveEnd},
    check::Check,
    codec::{Encoder, HostRow, decode},
    link_row,
    log::Appender,
    on_page::OnPage,
    open::Shared,
    page_row,
    schema::{ARCHIVE_KEY, ReadTables, STATE_KEY, WriteTables, queue_key},
    verify::Problem,
};

/// Mends what `check` found, durably.
pub(super) fn repair(shared: &Arc<Shared>, check: &Check) -> Result<(), StoreError> {
    let read = shared.database.begin_read()?;
    let (before, log) = (ReadTables::open(&read)?, OnPage::open(shared, &read)?);
    let mut end = shared.archive_end()?;
    let mut transaction = shared.database.begin_write()?;
    transaction.set_quick_repair(true);
    let after = WriteTables::open(&transaction)?;
    let mut repair = Repair { before: &before, log: &log, after, encoder: Encoder::new(&shared.database)? };
    repair.remove_unreadable(check)?;
    for problem in check.findings.keys() {
        match problem {
            Problem::PageIndex => repair.page_index()?,
            Problem::Standing => repair.standing()?,
            Problem::Hosts => repair.hosts()?,
            Problem::CaptureUnreadable => repair.captures(&check.bad_captures)?,
            Problem::ArchiveShort => end = repair.archive_end(&shared.dir, end, check.sound_end)?,
            _ => {}
        }
    }
    repair.queue(&check.bad_links)?;
    repair.state(check)?;
    drop(repair);
    transaction.commit()?;
    archive::trim(&shared.dir, end)
}

struct Repair<'t> {
    before: &'t ReadTables,
    log: &'t OnPage,
    after: WriteTables<'t>,
    encoder: Encoder,
}

impl Repair<'_> {
    fn remove_unreadable(&mut self, check: &Check) -> Result<(), StoreError> {
        for key in &check.bad_links {
            self.after.waiting.remove(key)?;
        }
        for seq in &check.bad_outlinks {
            self.after.outlinks.remove(seq)?;
        }
        for &id in &check.bad_robots {
            self.after.robots.remove(id)?;
            let host = self.before.hosts.get(id)?.and_then(|row| decode::<HostRow>(row.value()).ok());
            if let Some(host) = host {
                self.put_host(id, host.record)?;
            }
        }
        Ok(())
    }

    fn page_index(&mut self) -> Result<(), StoreError> {
        self.after.page_of.retain(|_, _| false)?;
        for entry in self.before.pages.iter()? {
            let (seq, place) = entry?;
            if let Ok(page) = self.log.page(place.value()) {
                self.after.page_of.insert(page.fingerprint.0, seq.value())?;
            }
        }
        Ok(())
    }

    fn standing(&mut self) -> Result<(), StoreError> {
        for entry in self.before.standing.iter()? {
            let (seq, _) = entry?;
            if self.before.pages.get(seq.value())?.is_none() {
                self.after.standing.remove(seq.value())?;
            }
        }
        for entry in self.before.pages.iter()? {
            let (seq, place) = entry?;
            if self.before.standing.get(seq.value())?.is_some() {
                continue;
            }
            if let Ok(page) = self.log.page(place.value()) {
                self.after.standing.insert(seq.value(), (page.rank, page.residual, page.relevance.get() as f32))?;
            }
        }
        Ok(())
    }

    /// A host whose row cannot be read starts over under its name; then names are listed by the rows.
    fn hosts(&mut self) -> Result<(), StoreError> {
        let before = self.before;
        for entry in before.host_ids.iter()? {
            let (name, id) = entry?;
            let name = name.value();
            match before.hosts.get(id.value())?.map(|row| decode::<HostRow>(row.value())) {
                Some(Ok(host)) if host.record.name == name => {}
                Some(Ok(_)) => drop(self.after.host_ids.remove(name)?),
                Some(Err(_)) | None => {
                    self.after.robots.remove(id.value())?;
                    self.put_host(id.value(), HostRecord { name: name.to_owned(), ..HostRecord::default() })?;
                }
            }
        }
        for entry in self.before.hosts.iter()? {
            let (id, row) = entry?;
            if let Ok(host) = decode::<HostRow>(row.value()) {
                self.after.host_ids.insert(host.record.name.as_str(), id.value())?;
            }
        }
        Ok(())
    }

    fn put_host(&mut self, id: u32, record: HostRecord) -> Result<(), StoreError> {
        self.after.hosts.insert(id, self.encoder.encode(&HostRow { record, robots: None })?.as_slice())?;
        Ok(())
    }

    fn captures(&mut self, bad: &[u64]) -> Result<(), StoreError> {
        let mut end = Appender::after(&self.after.log)?;
        for &seq in bad {
            let place = self.before.pages.get(seq)?.map(|place| place.value());
            if let Some(mut page) = place.and_then(|place| self.log.page(place).ok()) {
                page.archive = None;
                let row = page_row::encode(&mut self.encoder, page)?;
                self.after.pages.insert(seq, end.append(&mut self.after.log, &row)?)?;
            }
        }
        self.encoder.dictionaries.write(&mut self.after.dictionaries)?;
        self.encoder.words.write(&mut self.after.words)?;
        end.close(&mut self.after.log)
    }

    /// Ends the archive after the last capture that can be read, so that what is appended can be read too.
    fn archive_end(&mut self, dir: &Path, end: ArchiveEnd, sound_end: u64) -> Result<ArchiveEnd, StoreError> {
        let end = if sound_end > 0 {
            ArchiveEnd { file: end.file, length: sound_end }
        } else {
            let file = end.file.saturating_sub(1);
            ArchiveEnd { file, length: if file == 0 { 0 } else { archive::file_length(dir, file)? } }
        };
        self.after.meta.insert(ARCHIVE_KEY, self.encoder.encode(&end)?.as_slice())?;
        Ok(end)
    }

    fn queue(&mut self, removed: &[u64]) -> Result<(), StoreError> {
        let removed: FxHashSet<u64> = removed.iter().copied().collect();
        self.after.queue.retain(|_, ()| false)?;
        for entry in self.before.waiting.iter()? {
            let (key, row) = entry?;
            if !removed.contains(&key.value()) {
                let head = link_row::head(row.value())?;
                self.after.queue.insert(queue_key(head.host, head.priority(), key.value()), ())?;
            }
        }
        Ok(())
    }

    fn state(&mut self, check: &Check) -> Result<(), StoreError> {
        let row = self.before.meta.get(STATE_KEY)?;
        let mut state = row.and_then(|row| decode::<CrawlState>(row.value()).ok()).unwrap_or_default();
        check.counted.write_to(&mut state, self.after.waiting.len()?);
        self.after.meta.insert(STATE_KEY, self.encoder.encode(&state)?.as_slice())?;
        Ok(())
    }
}

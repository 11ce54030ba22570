//! The checks of `verify`: one pass over every table and the archive.
//!
//! Promises: memory does not grow with the store, but for the keys of what is wrong.
//! Never: changes anything.

use std::{path::Path, sync::Arc};

use redb::{ReadableDatabase, ReadableTable, ReadableTableMetadata};

use super::{
    ArchivePlace, CrawlState, PageLabels, PageRecord, RobotsRecord, StoreError,
    archive::{self, ArchiveEnd, read_capture},
    codec::{HostRow, LessonRow, decode},
    link_row,
    on_page::OnPage,
    open::Shared,
    read::HostNames,
    schema::{ReadTables, STATE_KEY, queue_key},
    verify::{CheckModel, Findings, Problem, Verification},
};
use crate::page::Outcome;

/// Name by which lessons are given to [`CheckModel`].
const LESSONS: &str = "lessons";

type Progress<'a> = &'a mut dyn FnMut(u64, u64);

/// What one pass found, with the keys that `repair` needs.
#[derive(Default)]
pub(super) struct Check {
    pub findings: Findings,
    /// Counters as the rows say.
    pub counted: Counted,
    /// Pages whose capture cannot be read.
    pub bad_captures: Vec<u64>,
    /// Keys of rows that cannot be read or ought not to be there.
    pub bad_links: Vec<u64>,
    pub bad_outlinks: Vec<u64>,
    pub bad_robots: Vec<u32>,
    /// End of the last capture in the last archive file that can be read.
    pub sound_end: u64,
    hosts: u64,
    captures: u64,
    archive_bytes: u64,
}

/// The counters of [`CrawlState`] that follow from the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counted {
    pages: u64,
    fetched: u64,
    relevant: u64,
    waiting: u64,
}

impl Counted {
    fn of(state: &CrawlState) -> Self {
        Self { pages: state.pages, fetched: state.fetched, relevant: state.relevant, waiting: state.waiting }
    }

    /// Corrects `state`, where `waiting` is what is left of the waiting URLs.
    pub fn write_to(self, state: &mut CrawlState, waiting: u64) {
        let Self { pages, fetched, relevant, waiting: _ } = self;
        (state.pages, state.fetched, state.relevant, state.waiting) = (pages, fetched, relevant, waiting);
        state.discovered = state.discovered.max(pages + waiting);
    }

    fn count_page(&mut self, page: &PageRecord) {
        // A duplicate was fetched too; that it is one shows only then.
        self.fetched += u64::from(matches!(page.outcome, Outcome::Fetched | Outcome::Duplicate));
        self.relevant += u64::from(page.relevant);
    }
}

impl Check {
    pub fn run(shared: &Arc<Shared>, check_model: CheckModel<'_>, progress: Progress<'_>) -> Result<Self, StoreError> {
        let read = shared.database.begin_read()?;
        let (tables, log) = (ReadTables::open(&read)?, OnPage::open(shared, &read)?);
        let end = shared.archive_end()?;
        let mut check = Self::default();
        check.pages(&tables, &log, (&shared.dir, end), progress)?;
        check.outlinks(&tables, &log)?;
        check.hosts(&tables)?;
        check.waiting(&tables, &log)?;
        check.state(&tables)?;
        check.models(&tables, check_model)?;
        check.archive(&shared.dir, end)?;
        if let Err(error) = PageLabels::load(&shared.dir) {
            check.findings.add(Problem::Labels, || error.to_string());
        }
        Ok(check)
    }

    pub fn verification(&self) -> Verification {
        Verification {
            pages: self.counted.pages,
            waiting: self.counted.waiting,
            hosts: self.hosts,
            captures: self.captures,
            archive_bytes: self.archive_bytes,
            findings: self.findings.to_list(),
        }
    }

    fn pages(
        &mut self,
        tables: &ReadTables,
        log: &OnPage,
        (dir, end): (&Path, ArchiveEnd),
        progress: Progress<'_>,
    ) -> Result<(), StoreError> {
        let total = tables.pages.len()?;
        self.counted.pages = total;
        let mut expected = 1;
        for entry in tables.pages.iter()? {
            let (seq, place) = entry?;
            let seq = seq.value();
            if seq != expected {
                self.findings.add(Problem::PageMissing, || format!("{expected} to {}", seq - 1));
            }
            expected = seq + 1;
            if tables.standing.get(seq)?.is_none() {
                self.findings.add(Problem::Standing, || format!("page {seq} has none"));
            }
            match log.page(place.value()) {
                Ok(page) if page.seq == seq => self.page(tables, dir, end, &page)?,
                Ok(page) => self.findings.add(Problem::PageUnreadable, || format!("page {seq} says it is {}", page.seq)),
                Err(e) => self.findings.add(Problem::PageUnreadable, || format!("page {seq}: {e}")),
            }
            progress(seq.min(total), total);
        }
        for (table, rows, problem) in
            [("page_of", tables.page_of.len()?, Problem::PageIndex), ("standing", tables.standing.len()?, Problem::Standing)]
        {
            if rows != total {
                self.findings.add(problem, || format!("`{table}` has {rows} rows for {total} pages"));
            }
        }
        Ok(())
    }

    fn page(&mut self, tables: &ReadTables, dir: &Path, end: ArchiveEnd, page: &PageRecord) -> Result<(), StoreError> {
        self.counted.count_page(page);
        let key = page.fingerprint.0;
        if tables.page_of.get(key)?.map(|seq| seq.value()) != Some(page.seq) {
            self.findings.add(Problem::PageIndex, || format!("{} (page {})", page.url, page.seq));
        }
        if tables.waiting.get(key)?.is_some() {
            self.findings.add(Problem::WaitsThoughFinished, || format!("{} (page {})", page.url, page.seq));
            self.bad_links.push(key);
        }
        if let Some(place) = page.archive {
            self.capture(dir, end, page, place);
        }
        Ok(())
    }

    fn capture(&mut self, dir: &Path, end: ArchiveEnd, page: &PageRecord, place: ArchivePlace) {
        let ends = place.offset.saturating_add(place.length);
        let beyond = (place.file, ends) > (end.file, end.length);
        let problem = match read_capture(dir, place) {
            _ if beyond => "it lies after the committed end".to_owned(),
            Ok(capture) if capture.url == page.url => {
                self.captures += 1;
                if place.file == end.file {
                    self.sound_end = self.sound_end.max(ends);
                }
                return;
            }
            Ok(capture) => format!("it is one of {}", capture.url),
            Err(e) => e.to_string(),
        };
        self.findings.add(Problem::CaptureUnreadable, || format!("page {}: {problem}", page.seq));
        self.bad_captures.push(page.seq);
    }

    fn outlinks(&mut self, tables: &ReadTables, log: &OnPage) -> Result<(), StoreError> {
        for entry in tables.outlinks.iter()? {
            let (seq, place) = entry?;
            let seq = seq.value();
            let problem = match log.links(place.value()).and_then(|links| links.check()) {
                Err(e) => e.to_string(),
                Ok(()) if tables.pages.get(seq)?.is_none() => "there is no such page".to_owned(),
                Ok(()) => continue,
            };
            self.findings.add(Problem::Outlinks, || format!("of page {seq}: {problem}"));
            self.bad_outlinks.push(seq);
        }
        Ok(())
    }

    fn hosts(&mut self, tables: &ReadTables) -> Result<(), StoreError> {
        self.hosts = tables.hosts.len()?;
        let names = tables.host_ids.len()?;
        if names != self.hosts {
            self.findings.add(Problem::Hosts, || format!("{names} names for {} hosts", self.hosts));
        }
        for (expected, entry) in (0..).zip(tables.hosts.iter()?) {
            let (id, row) = entry?;
            let id = id.value();
            let problem = match decode::<HostRow>(row.value()) {
                Err(e) => e.to_string(),
                Ok(_) if id != expected => format!("number {expected} is missing"),
                Ok(host) if tables.host_ids.get(host.record.name.as_str())?.map(|id| id.value()) != Some(id) => {
                    format!("{} is not listed", host.record.name)
                }
                Ok(host) => {
                    if host.robots.is_some() != tables.robots.get(id)?.is_some() {
                        self.findings.add(Problem::Robots, || format!("of {} is missing or too many", host.record.name));
                        self.bad_robots.push(id);
                    }
                    continue;
                }
            };
            self.findings.add(Problem::Hosts, || format!("host {id}: {problem}"));
        }
        for entry in tables.robots.iter()? {
            let (id, row) = entry?;
            if let Err(e) = decode::<RobotsRecord>(row.value()) {
                self.findings.add(Problem::Robots, || format!("of host {}: {e}", id.value()));
                self.bad_robots.push(id.value());
            }
        }
        Ok(())
    }

    fn waiting(&mut self, tables: &ReadTables, log: &OnPage) -> Result<(), StoreError> {
        self.counted.waiting = tables.waiting.len()?;
        let mut names = HostNames::new(&tables.hosts);
        for entry in tables.waiting.iter()? {
            let (key, row) = entry?;
            let key = key.value();
            let row = row.value();
            let in_link = |seq, ordinal| log.in_link(seq, ordinal);
            let readable = link_row::decode(row, |_| Ok(Arc::default()), in_link).and_then(|_| link_row::head(row));
            let head = match readable {
                Ok(head) => head,
                Err(e) => {
                    self.findings.add(Problem::LinkUnreadable, || format!("{key:016x}: {e}"));
                    self.bad_links.push(key);
                    continue;
                }
            };
            if tables.queue.get(queue_key(head.host, head.priority(), key))?.is_none() {
                self.findings.add(Problem::Queue, || format!("{key:016x} is not in it"));
            }
            if let Err(e) = names.get(head.host) {
                self.findings.add(Problem::Hosts, || format!("host {} of {key:016x}: {e}", head.host));
            }
        }
        let queued = tables.queue.len()?;
        if queued != self.counted.waiting {
            self.findings.add(Problem::Queue, || format!("it has {queued} entries for {} waiting URLs", self.counted.waiting));
        }
        Ok(())
    }

    fn state(&mut self, tables: &ReadTables) -> Result<(), StoreError> {
        let row = tables.meta.get(STATE_KEY)?;
        match row.map(|row| decode::<CrawlState>(row.value())) {
            Some(Ok(state)) if Counted::of(&state) == self.counted => {}
            Some(Ok(state)) => {
                self.findings.add(Problem::Counters, || format!("{:?} is {:?} in the rows", Counted::of(&state), self.counted));
            }
            Some(Err(e)) => self.findings.add(Problem::StateUnreadable, || e.to_string()),
            // An empty store has no counters yet.
            None if self.counted == Counted::default() => {}
            None => self.findings.add(Problem::StateUnreadable, || "there are none".to_owned()),
        }
        Ok(())
    }

    fn models(&mut self, tables: &ReadTables, check_model: CheckModel<'_>) -> Result<(), StoreError> {
        for entry in tables.models.iter()? {
            let (name, model) = entry?;
            if let Err(e) = check_model(name.value(), model.value()) {
                self.findings.add(Problem::ModelUnreadable, || format!("{}: {e}", name.value()));
            }
        }
        for entry in tables.lessons.iter()? {
            let (number, row) = entry?;
            let read = decode::<LessonRow>(row.value()).map_err(|e| e.to_string());
            if let Err(e) = read.and_then(|row| check_model(LESSONS, &row.0)) {
                self.findings.add(Problem::ModelUnreadable, || format!("lessons {}: {e}", number.value()));
            }
        }
        Ok(())
    }

    fn archive(&mut self, dir: &Path, end: ArchiveEnd) -> Result<(), StoreError> {
        // An earlier file that is missing shows in its captures.
        self.archive_bytes = archive::committed_bytes(dir, end)?;
        let length = archive::file_length(dir, end.file)?;
        if length < end.length {
            self.findings.add(Problem::ArchiveShort, || format!("file {} has {length} of {} bytes", end.file, end.length));
        }
        if length > end.length {
            self.findings.add(Problem::ArchiveTail, || format!("{} bytes in file {}", length - end.length, end.file));
        }
        for path in archive::files_after(dir, end.file)? {
            self.findings.add(Problem::ArchiveTail, || path.display().to_string());
        }
        Ok(())
    }
}

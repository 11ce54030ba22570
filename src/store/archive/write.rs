//! Appends captures to the archive.
//!
//! Promises: every byte before the end that [`ArchiveWriter::synced_end`] returns
//! is on disk, new files' names included.
//! Never: decides what is committed; the caller stores that end in its transaction.

use std::{
    fs,
    io::{BufWriter, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{ArchiveEnd, file_path, folder, record, sync_folder};
use crate::{
    disk::{Disk, DiskFile},
    page::Timestamp,
    store::{ArchiveChoice, ArchivePlace, Capture, PageRecord, StoreError},
};

/// The writing end of the archive.
pub(in crate::store) struct ArchiveWriter {
    dir: PathBuf,
    disk: Arc<dyn Disk>,
    /// A file that has reached this length is followed by a new one.
    file_bytes: u64,
    choice: ArchiveChoice,
    end: ArchiveEnd,
    /// The file at `end`, once something is written.
    file: Option<BufWriter<Box<dyn DiskFile>>>,
    /// Bytes or names that may not be on disk yet.
    unsynced: bool,
}

impl ArchiveWriter {
    /// Goes on after `end`; the files must have been cut back to it.
    pub fn new(dir: &Path, disk: Arc<dyn Disk>, end: ArchiveEnd, file_bytes: u64, choice: ArchiveChoice) -> Self {
        Self { dir: dir.to_owned(), disk, file_bytes, choice, end, file: None, unsynced: false }
    }

    /// Adds a capture of `page`: its `response`, or a `revisit` where it repeats the archived `original` byte by byte, whose
    /// place is returned; then its `request`, where one was sent, and `metadata`. `None` for what is not to be kept.
    pub fn append(
        &mut self,
        capture: &Capture,
        page: &PageRecord,
        original: Option<&PageRecord>,
    ) -> Result<Option<ArchivePlace>, StoreError> {
        if self.choice == ArchiveChoice::Relevant && !page.relevant {
            return Ok(None);
        }
        self.make_room(capture.fetched_at)?;
        let offset = self.end.length;
        let kind = if original.is_some() { "revisit" } else { "response" };
        match original {
            Some(original) => self.push(&record::revisit(capture, original))?,
            None => self.push(&record::response(capture))?,
        }
        let place = ArchivePlace { file: self.end.file, offset, length: self.end.length - offset };
        let id = record::capture_id(kind, capture);
        if let Some(sent) = &capture.request {
            self.push(&record::request(capture, sent, &id))?;
        }
        self.push(&record::metadata(
            &record::About { url: &capture.url, date: capture.fetched_at, id: &id },
            &record::facts(page),
        ))?;
        Ok(Some(place))
    }

    /// Adds a capture that belongs to no page, where all answers are kept.
    pub fn append_other(&mut self, capture: &Capture) -> Result<(), StoreError> {
        if self.choice == ArchiveChoice::Relevant {
            return Ok(());
        }
        self.make_room(capture.fetched_at)?;
        self.push(&record::response(capture))?;
        match &capture.request {
            Some(sent) => self.push(&record::request(capture, sent, &record::response_id(capture))),
            None => Ok(()),
        }
    }

    fn make_room(&mut self, date: Timestamp) -> Result<(), StoreError> {
        if self.end.file == 0 || self.end.length >= self.file_bytes { self.begin_file(date) } else { Ok(()) }
    }

    /// Hands all bytes to the operating system, where readers see them, and says where they end.
    pub fn flushed_end(&mut self) -> Result<ArchiveEnd, StoreError> {
        if let Some(file) = &mut self.file {
            file.flush().map_err(StoreError::io(&file_path(&self.dir, self.end.file)))?;
        }
        Ok(self.end)
    }

    /// Waits until all bytes are on disk, and says where they end.
    pub fn synced_end(&mut self) -> Result<ArchiveEnd, StoreError> {
        self.flushed_end()?;
        if let (true, Some(file)) = (self.unsynced, &self.file) {
            file.get_ref().sync().map_err(StoreError::io(&file_path(&self.dir, self.end.file)))?;
            self.unsynced = false;
        }
        Ok(self.end)
    }

    fn begin_file(&mut self, date: Timestamp) -> Result<(), StoreError> {
        self.synced_end()?;
        let folder = folder(&self.dir);
        fs::create_dir_all(&folder).map_err(StoreError::io(&folder))?;
        let number = self.end.file + 1;
        let path = file_path(&self.dir, number);
        let file = self.disk.create(&path).map_err(StoreError::io(&path))?;
        sync_folder(&folder)?;
        if number == 1 {
            sync_folder(&self.dir)?;
        }
        self.file = Some(BufWriter::new(file));
        self.end = ArchiveEnd { file: number, length: 0 };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.push(&record::warcinfo(&name, date, &[]))
    }

    /// Appends one record as a gzip member of its own.
    fn push(&mut self, record: &[u8]) -> Result<(), StoreError> {
        let path = file_path(&self.dir, self.end.file);
        let member = record::member(record).map_err(StoreError::io(&path))?;
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(BufWriter::new(reopen(&*self.disk, &path, self.end.length)?)),
        };
        file.write_all(&member).map_err(StoreError::io(&path))?;
        self.end.length += member.len() as u64;
        self.unsynced = true;
        Ok(())
    }
}

fn reopen(disk: &dyn Disk, path: &Path, end: u64) -> Result<Box<dyn DiskFile>, StoreError> {
    let mut file = disk.open(path).map_err(StoreError::io(path))?;
    file.seek(SeekFrom::Start(end)).map_err(StoreError::io(path))?;
    Ok(file)
}

//! The archive: every capture as WARC/1.1, one gzip member per record, in numbered files.
//!
//! Promises: what the database calls committed lies on disk whole, with a
//! digest over it; what lies beyond is cut off when the crawl is opened again.
//! Never: overwrites a committed byte.

mod others;
mod read;
pub mod record;
mod write;

use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

pub(super) use others::Others;
pub use read::{Archived, RawCapture, read_capture, read_raw};
pub(super) use write::ArchiveWriter;

use super::StoreError;

/// Where the committed archive ends: the last file's number (0: there is none yet) and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct ArchiveEnd {
    pub file: u32,
    pub length: u64,
}

const ENDING: &str = ".warc.gz";

pub(super) fn folder(dir: &Path) -> PathBuf {
    dir.join("archive")
}

/// `archive/00001.warc.gz` for file 1.
pub(super) fn file_path(dir: &Path, file: u32) -> PathBuf {
    folder(dir).join(format!("{file:05}{ENDING}"))
}

/// Length of an archive file; 0 where it is missing.
pub(super) fn file_length(dir: &Path, file: u32) -> Result<u64, StoreError> {
    let path = file_path(dir, file);
    match fs::metadata(&path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(e) => Err(StoreError::io(&path)(e)),
    }
}

/// Bytes of all archive files up to the committed end.
pub(super) fn committed_bytes(dir: &Path, end: ArchiveEnd) -> Result<u64, StoreError> {
    (1..end.file).try_fold(end.length, |sum, file| Ok(sum + file_length(dir, file)?))
}

/// Archive files with a number above `last`: begun, but never committed.
pub(super) fn files_after(dir: &Path, last: u32) -> Result<Vec<PathBuf>, StoreError> {
    let folder = folder(dir);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(StoreError::io(&folder)(e)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(StoreError::io(&folder))?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_suffix(ENDING)).and_then(|number| number.parse::<u32>().ok());
        if number.is_some_and(|number| number > last) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Cuts the archive back to its committed end.
///
/// # Errors
/// An archive that is shorter than that has lost captures: [`StoreError::Corrupt`].
pub(super) fn trim(dir: &Path, end: ArchiveEnd) -> Result<(), StoreError> {
    for path in files_after(dir, end.file)? {
        fs::remove_file(&path).map_err(StoreError::io(&path))?;
    }
    if end.file == 0 {
        return Ok(());
    }
    let path = file_path(dir, end.file);
    let length = file_length(dir, end.file)?;
    if length < end.length {
        let missing = end.length - length;
        return Err(StoreError::corrupt(path.display().to_string(), format!("its last {missing} bytes are missing")));
    }
    if length > end.length {
        let file = OpenOptions::new().write(true).open(&path).map_err(StoreError::io(&path))?;
        file.set_len(end.length).and_then(|()| file.sync_all()).map_err(StoreError::io(&path))?;
    }
    Ok(())
}

/// Makes new and renamed entries of a directory durable.
pub(super) fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    crate::disk::sync_folder(folder).map_err(StoreError::io(folder))
}

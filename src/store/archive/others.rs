//! Captures that belong to no page: the robots.txt files, wherever their redirects led.
//!
//! No row says where they lie; a page's capture is followed by its `metadata`, theirs is not.
//!
//! Promises: every such capture before the committed end, in the order of the archive; memory does not grow with it.
//! Never: checks a digest (whoever reads the capture at its place does).

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek},
    path::{Path, PathBuf},
};

use flate2::bufread::GzDecoder;

use super::{ArchiveEnd, file_path};
use crate::store::{ArchivePlace, StoreError};

/// Bytes of a record that hold its `WARC-Type`: our records name it first.
const HEAD: u64 = 64;

/// Captures of no page, one after the other.
pub(in crate::store) struct Others {
    dir: PathBuf,
    end: ArchiveEnd,
    /// The file that is being read, and its number.
    file: u32,
    open: Option<BufReader<File>>,
    /// A capture whose `metadata` may follow.
    last: Option<ArchivePlace>,
}

/// What a record is, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Capture,
    Request,
    Other,
}

impl Kind {
    fn of(head: &[u8]) -> Self {
        let head = String::from_utf8_lossy(head);
        match head.split("\r\n").find_map(|line| line.strip_prefix("WARC-Type: ")) {
            Some("response" | "revisit") => Self::Capture,
            Some("request") => Self::Request,
            _ => Self::Other,
        }
    }
}

impl Others {
    /// Those in the archive of the crawl in `dir` up to `end`.
    pub fn new(dir: &Path, end: ArchiveEnd) -> Self {
        Self { dir: dir.to_owned(), end, file: 0, open: None, last: None }
    }

    /// The next record: what it is, and where it lies. `None` at the end of the last file.
    fn record(&mut self) -> io::Result<Option<(Kind, ArchivePlace)>> {
        loop {
            let Some(file) = &mut self.open else {
                if self.file >= self.end.file {
                    return Ok(None);
                }
                self.file += 1;
                self.open = Some(BufReader::new(File::open(file_path(&self.dir, self.file))?));
                continue;
            };
            let offset = file.stream_position()?;
            let is_over = self.file == self.end.file && offset >= self.end.length;
            if is_over || file.fill_buf()?.is_empty() {
                self.open = None;
                continue;
            }
            let mut member = GzDecoder::new(&mut *file);
            let mut head = Vec::new();
            (&mut member).take(HEAD).read_to_end(&mut head)?;
            io::copy(&mut member, &mut io::sink())?;
            let length = file.stream_position()? - offset;
            return Ok(Some((Kind::of(&head), ArchivePlace { file: self.file, offset, length })));
        }
    }

    fn look(&mut self) -> io::Result<Option<ArchivePlace>> {
        while let Some((kind, place)) = self.record()? {
            match kind {
                Kind::Capture => {
                    if let Some(other) = self.last.replace(place) {
                        return Ok(Some(other));
                    }
                }
                Kind::Request => {}
                // `metadata` ends a page's capture; a new file begins with a `warcinfo`, which a capture never spans.
                Kind::Other => {
                    let last = self.last.take();
                    if let Some(other) = last.filter(|last| last.file != place.file) {
                        return Ok(Some(other));
                    }
                }
            }
        }
        Ok(self.last.take())
    }
}

impl Iterator for Others {
    type Item = Result<ArchivePlace, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.look().map_err(StoreError::io(&file_path(&self.dir, self.file))).transpose();
        if found.as_ref().is_some_and(Result::is_err) {
            // What follows cannot be told apart any more.
            (self.file, self.open, self.last) = (self.end.file, None, None);
        }
        found
    }
}

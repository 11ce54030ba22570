//! What a recorded web holds, found by one pass over its files.
//!
//! Promises: only headers are looked at; what cannot be read is a warning as
//! long as something could be; later records never change what a URL answers,
//! but a redirect gives way to the page it leads to when both spell one address.
//! Never: keeps page bodies in memory, but for files that cannot be entered in
//! the middle (one gzip stream), where it keeps them compressed.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{BufRead, BufReader, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use flate2::{Compression, write::GzEncoder};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::{ReplayError, message};
use crate::{
    fetch::{
        members::{Counted, Members, Place, Placed, is_packed},
        warc::{WarcError, WarcReader, WarcRecord},
    },
    page::Timestamp,
    url::{canonicalize, same_page_key},
};

/// Inflated bytes that may be skipped at each fetch; a record further inside its gzip member is held in memory.
const REACH: u64 = 1024 * 1024;

/// Most bytes of a record held in memory, before compression.
const MAX_HELD: u64 = 16 * 1024 * 1024;

/// Most warnings kept; the rest is counted.
const MAX_WARNINGS: usize = 100;

/// Where one record can be read again.
#[derive(Debug, Clone)]
pub(super) enum Spot {
    File {
        file: u32,
        place: Place,
        packed: bool,
    },
    /// The gzipped record.
    Held(Arc<[u8]>),
}

/// One recorded URL.
#[derive(Debug)]
pub(super) struct Entry {
    pub url: Box<str>,
    /// 200 for `resource` records.
    status: u16,
    pub spot: Spot,
    /// The record whose body a `revisit` repeats.
    pub original: Option<Spot>,
    /// Hash of the record's id, to find what `metadata` says of it.
    id: u64,
    /// Heritrix's `fetchTimeMs`.
    pub fetch_time_ms: Option<u32>,
}

/// All recorded URLs of all files.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// In the order of the files.
    pub entries: Vec<Entry>,
    by_key: FxHashMap<Box<str>, u32>,
    pub warnings: Vec<String>,
    pub warnings_dropped: usize,
    /// Records that are no page, by type.
    pub skipped: BTreeMap<String, u64>,
    pub recorded_at: Option<Timestamp>,
}

impl Index {
    /// Reads the headers of all records of all files.
    pub fn read(paths: &[PathBuf]) -> Result<Self, ReplayError> {
        let mut pass = Pass::default();
        for (file, path) in paths.iter().enumerate() {
            pass.file = file as u32;
            pass.read_file(path)?;
        }
        pass.finish(paths)
    }

    /// The record that answers for a URL's `same_page_key`.
    pub fn find(&self, key: &str) -> Option<&Entry> {
        self.by_key.get(key).and_then(|&at| self.entries.get(at as usize))
    }

    fn warn(&mut self, warning: String) {
        if self.warnings.len() < MAX_WARNINGS { self.warnings.push(warning) } else { self.warnings_dropped += 1 }
    }

    fn skip(&mut self, kind: &str) {
        *self.skipped.entry(kind.to_owned()).or_default() += 1;
    }

    /// Adds a page unless its address is known. True where the address now leads to it.
    fn insert(&mut self, uri: &str, mut entry: Entry) -> bool {
        let Ok(url) = canonicalize(uri, None) else { return false };
        let key = same_page_key(&url);
        entry.url = url.as_str().into();
        let is_redirect = |status: u16| (300..400).contains(&status);
        match self.by_key.get(key.as_str()) {
            Some(&at) if is_redirect(self.entries[at as usize].status) && !is_redirect(entry.status) => {
                self.entries[at as usize] = entry;
                true
            }
            Some(_) => false,
            None => {
                self.by_key.insert(key.into(), self.entries.len() as u32);
                self.entries.push(entry);
                true
            }
        }
    }
}

/// Opens a record for reading again.
pub(super) fn reader_at(spot: &Spot, paths: &[PathBuf]) -> std::io::Result<Box<dyn BufRead>> {
    let (mut source, inside): (Box<dyn BufRead>, u64) = match spot {
        Spot::Held(bytes) => return Ok(Box::new(Members::new(Counted::new(std::io::Cursor::new(Arc::clone(bytes)), 0)))),
        Spot::File { file, place, packed } => {
            let path = paths.get(*file as usize).ok_or_else(|| std::io::Error::other("no such file in this recorded web"))?;
            let mut opened = File::open(path)?;
            opened.seek(SeekFrom::Start(place.offset))?;
            let counted = Counted::new(BufReader::new(opened), place.offset);
            (if *packed { Box::new(Members::new(counted)) } else { Box::new(counted) }, place.inside)
        }
    };
    std::io::copy(&mut (&mut source).take(inside), &mut std::io::sink())?;
    Ok(source)
}

/// What is known while the files are read, and needed only then.
#[derive(Default)]
struct Pass {
    index: Index,
    file: u32,
    packed: bool,
    /// Records read of the present file.
    records: u64,
    /// Pages that a `revisit` may repeat, by hashed record id and payload digest.
    pages: FxHashMap<u64, Spot>,
    revisits: Vec<(WarcRecord, Spot, u16)>,
    fetch_times: FxHashMap<u64, u32>,
}

impl Pass {
    fn read_file(&mut self, path: &Path) -> Result<(), ReplayError> {
        let open = |source| ReplayError::Open { path: path.to_owned(), source };
        let mut source = BufReader::with_capacity(128 * 1024, File::open(path).map_err(open)?);
        let start = source.fill_buf().map_err(open)?;
        refuse_other_formats(path, start)?;
        self.packed = is_packed(start);
        self.records = 0;
        let counted = Counted::new(source, 0);
        if self.packed { self.read_records(path, Members::new(counted)) } else { self.read_records(path, counted) }
    }

    /// Reads to the file's end; stops early with a warning where it cannot go on.
    fn read_records<R: Placed>(&mut self, path: &Path, source: R) -> Result<(), ReplayError> {
        let mut reader = WarcReader::new(source, 0);
        loop {
            let error = match self.read_record(&mut reader) {
                Ok(true) => continue,
                Ok(false) => return Ok(()),
                Err(error) => error,
            };
            let (record, offset) = (self.records + 1, reader.get_ref().place().offset);
            if self.records == 0 {
                return Err(ReplayError::Unreadable { path: path.to_owned(), offset, source: error });
            }
            let goes_on = !matches!(error, WarcError::Read(_) | WarcError::Truncated) && matches!(reader.resync(), Ok(true));
            let what_next = if goes_on { "went on with the next record" } else { "kept what stands before it" };
            self.index.warn(format!("{}: record {record} near byte {offset}: {error}; {what_next}", path.display()));
            if !goes_on {
                return Ok(());
            }
            self.records += 1;
        }
    }

    fn read_record<R: Placed>(&mut self, reader: &mut WarcReader<R>) -> Result<bool, WarcError> {
        if !reader.seek_record()? {
            return Ok(false);
        }
        let place = reader.get_ref().place();
        let Some(mut record) = reader.next_head()? else { return Ok(false) };
        let kind = record.kind();
        match kind.as_str() {
            "response" | "resource" | "revisit" => {
                let status = look_into(&kind, &mut record, reader, place.inside > REACH)?;
                let spot = if place.inside > REACH {
                    Spot::Held(pack(&record)?)
                } else {
                    Spot::File { file: self.file, place, packed: self.packed }
                };
                // Only now is it certain that the whole record is there.
                reader.seek_record()?;
                self.page(&kind, record, spot, status);
            }
            "metadata" => self.metadata(&record, &reader.read_body(64 * 1024)?),
            "warcinfo" | "request" | "conversion" | "continuation" => self.index.skip(&kind),
            _ => self.index.skip("other"),
        }
        self.records += 1;
        Ok(true)
    }

    fn page(&mut self, kind: &str, mut record: WarcRecord, spot: Spot, status: Option<u16>) {
        record.body = Vec::new();
        self.date(&record);
        let uri = record.address("warc-target-uri").unwrap_or_default();
        if !uri.get(..4).is_some_and(|scheme| scheme.eq_ignore_ascii_case("http")) {
            return self.index.skip("not http");
        }
        if kind == "revisit" {
            self.revisits.push((record, spot, status.unwrap_or(0)));
            return;
        }
        let Some(status) = status else { return self.index.skip("response without HTTP") };
        for name in ["warc-record-id", "warc-payload-digest"] {
            if let Some(value) = record.address(name) {
                self.pages.entry(hash(value)).or_insert_with(|| spot.clone());
            }
        }
        self.insert(uri, &record, status, spot, None);
    }

    fn insert(&mut self, uri: &str, record: &WarcRecord, status: u16, spot: Spot, original: Option<Spot>) {
        let id = hash(record.address("warc-record-id").unwrap_or_default());
        let entry = Entry { url: Box::default(), status, spot, original, id, fetch_time_ms: None };
        if !self.index.insert(uri, entry) {
            self.index.skip("repeated or no address");
        }
    }

    fn date(&mut self, record: &WarcRecord) {
        let date = record.header("warc-date").and_then(|date| date.parse::<jiff::Timestamp>().ok());
        if let Some(date) = date.and_then(|date| u64::try_from(date.as_millisecond()).ok()).map(Timestamp) {
            self.index.recorded_at = Some(self.index.recorded_at.map_or(date, |known| known.min(date)));
        }
    }

    /// Heritrix notes in a metadata record how long the fetch of its response took.
    fn metadata(&mut self, record: &WarcRecord, body: &[u8]) {
        self.index.skip("metadata");
        let said = String::from_utf8_lossy(body);
        let time = said.lines().find_map(|line| line.strip_prefix("fetchTimeMs:")?.trim().parse().ok());
        let about = record.address("warc-refers-to").or_else(|| record.address("warc-concurrent-to"));
        if let (Some(time), Some(about)) = (time, about) {
            self.fetch_times.insert(hash(about), time);
        }
    }

    /// Settles what needed the whole web to be read: revisits and fetch times.
    fn finish(mut self, paths: &[PathBuf]) -> Result<Index, ReplayError> {
        for (record, spot, status) in std::mem::take(&mut self.revisits) {
            let uri = record.address("warc-target-uri").unwrap_or_default();
            match self.original_of(&record) {
                Some(original) => self.insert(uri, &record, if status == 304 { 200 } else { status }, spot, Some(original)),
                None => self.index.warn(format!("{uri}: the record that this revisit repeats is in none of the files; left out")),
            }
        }
        for entry in &mut self.index.entries {
            entry.fetch_time_ms = self.fetch_times.get(&entry.id).copied();
        }
        if self.index.entries.is_empty() {
            return Err(ReplayError::NoPages { path: paths.first().cloned().unwrap_or_default() });
        }
        Ok(self.index)
    }

    fn original_of(&self, record: &WarcRecord) -> Option<Spot> {
        let named = ["warc-refers-to", "warc-payload-digest"].into_iter().filter_map(|name| record.address(name));
        named.map(hash).find_map(|key| self.pages.get(&key).cloned()).or_else(|| {
            let url = canonicalize(record.address("warc-refers-to-target-uri")?, None).ok()?;
            self.index.find(&same_page_key(&url)).map(|entry| entry.spot.clone())
        })
    }
}

/// Reads as much of the body as the status needs, or all of it where it must be held; `None`: no HTTP answer.
fn look_into<R: BufRead>(
    kind: &str,
    record: &mut WarcRecord,
    reader: &mut WarcReader<R>,
    hold: bool,
) -> Result<Option<u16>, WarcError> {
    let body = reader.read_body(if hold { MAX_HELD } else { 64 })?;
    let status = if kind == "resource" { Some(200) } else { message::status_of(&body) };
    if hold {
        record.truncated |= reader.body_left() > 0;
        record.body = body;
    }
    Ok(status)
}

fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// A record as a gzip member of its own.
fn pack(record: &WarcRecord) -> std::io::Result<Arc<[u8]>> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    write!(gzip, "WARC/{}\r\n", record.version)?;
    for (name, value) in record.headers.iter().filter(|(name, _)| name != "content-length") {
        write!(gzip, "{name}: {value}\r\n")?;
    }
    if record.truncated && record.header("warc-truncated").is_none() {
        write!(gzip, "warc-truncated: length\r\n")?;
    }
    write!(gzip, "content-length: {}\r\n\r\n", record.body.len())?;
    gzip.write_all(&record.body)?;
    Ok(gzip.finish()?.into())
}

/// Names the formats that are mistaken for WARC, and the way out.
fn refuse_other_formats(path: &Path, start: &[u8]) -> Result<(), ReplayError> {
    let what = match start {
        [] => "it is empty",
        start if is_packed(start) => return Ok(()),
        [b'W', b'A', b'R', b'C', b'/', ..] | [b'\r' | b'\n', ..] => return Ok(()),
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => {
            "it is compressed with zstd and a dictionary of its own: unpack it first (`zstd -d`)"
        }
        [b'P', b'K', ..] => "it is a zip or WACZ: unzip it and give the .warc.gz files inside",
        [b'B', b'Z', b'h', ..] => "it is compressed with bzip2: unpack it first (`bunzip2`)",
        start if start.starts_with(b"filedesc:") => "it is an ARC file: convert it first (`warcio recompress`)",
        _ => "it does not start with `WARC/` or as gzip or zstd",
    };
    Err(ReplayError::NotWarc { path: path.to_owned(), what })
}

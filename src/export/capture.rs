//! The crawl's captures as WARC records for others: rotated files, in a folder or wherever a [`Place`] puts them.
//!
//! Promises: what was archived is copied byte by byte; a revisit whose original is not among the exported pages becomes a whole
//! response; each page has a metadata record with the relevance of the newest model and the way from its seed, robots.txt files have none.
//! Never: holds more than one capture in memory.

use std::{
    borrow::Cow,
    collections::HashSet,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use super::{ExportError, cdxj::Indexed};
use crate::{
    page::Timestamp,
    store::{Capture, PageRecord, RawCapture, Store, StoreError, read_capture, read_raw, warc},
    url::Fingerprint,
};

/// Longest way from a seed that is written down, in links.
const MAX_WAY: usize = 64;

/// Where WARC files go.
pub(super) trait Place {
    /// Begins the file `name`; the one before it is complete.
    fn begin(&mut self, name: &str) -> io::Result<()>;
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
    /// Takes the index entry of a capture that was just written.
    fn index(&mut self, entry: &Indexed) -> io::Result<()>;
}

/// How each record of a WARC file is compressed by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Packing {
    /// `.warc.gz`: what every tool reads
    #[default]
    Gzip,
    /// `.warc.zst`, a frame per record and no dictionary: smaller and quicker, read by fewer tools
    Zstd,
}

impl Packing {
    /// Level of zstd: its own default.
    const LEVEL: i32 = 3;

    fn ending(self) -> &'static str {
        match self {
            Self::Gzip => "gz",
            Self::Zstd => "zst",
        }
    }

    /// A gzip member as the archive has it, packed this way.
    fn pack(self, member: &[u8]) -> io::Result<Cow<'_, [u8]>> {
        match self {
            Self::Gzip => Ok(Cow::Borrowed(member)),
            Self::Zstd => Ok(Cow::Owned(zstd::encode_all(flate2::read::MultiGzDecoder::new(member), Self::LEVEL)?)),
        }
    }
}

/// How WARC files are written.
#[derive(Debug, Clone)]
pub(super) struct Style {
    /// Files are called `STEM-00001.warc.gz`.
    pub stem: String,
    /// Size at which a file is followed by the next.
    pub file_bytes: u64,
    /// Noted in each file.
    pub filter: Option<String>,
    pub packing: Packing,
}

/// Writes captures through a [`Place`].
pub(super) struct CaptureWriter<'c, P> {
    store: &'c Store,
    dir: &'c Path,
    out: &'c Path,
    place: P,
    style: Style,
    files: u32,
    name: String,
    length: u64,
    /// Pages written as whole responses.
    whole: HashSet<u64>,
}

impl<'c, P: Place> CaptureWriter<'c, P> {
    pub fn new(store: &'c Store, dir: &'c Path, out: &'c Path, place: P, mut style: Style) -> Self {
        let plain = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_') { c } else { '-' };
        style.stem = style.stem.chars().map(plain).collect();
        Self { store, dir, out, place, style, files: 0, name: String::new(), length: 0, whole: HashSet::new() }
    }

    /// Writes a page's capture; false where it has none.
    pub fn add(&mut self, page: &PageRecord) -> Result<bool, ExportError> {
        let Some(at) = page.archive else { return Ok(false) };
        let mut raw = read_raw(self.dir, at)?;
        if !raw.capture.has_body && page.copy_of.is_none_or(|copy| !self.whole.contains(&copy.seq)) {
            self.fill(page, &mut raw)?;
        }
        if raw.capture.has_body {
            self.whole.insert(page.seq);
        }
        let facts = self.facts(page)?;
        let about = warc::About { url: &page.url, date: page.fetched_at, id: &raw.id };
        self.write(&about, &raw, Some(&facts)).map_err(ExportError::write(self.out))?;
        Ok(true)
    }

    /// Writes a capture that belongs to no page.
    pub fn add_other(&mut self, raw: &RawCapture) -> Result<(), ExportError> {
        self.write(&about(raw), raw, None).map_err(ExportError::write(self.out))
    }

    /// Where the captures go.
    pub fn place(&mut self) -> &mut P {
        &mut self.place
    }

    /// Ends the writing and hands the place back.
    pub fn finish(self) -> P {
        self.place
    }

    /// Turns a revisit into the response that it stands for.
    fn fill(&self, page: &PageRecord, raw: &mut RawCapture) -> Result<(), ExportError> {
        let missing = || StoreError::Corrupt {
            place: format!("page {}", page.seq),
            detail: "the page that it repeats is not in the archive".to_owned(),
        };
        let original = page.copy_of.map(|copy| self.store.page(copy.seq)).transpose()?.flatten().ok_or_else(missing)?;
        if original.digest != page.digest {
            // The page has changed since: the revisit says what it repeats.
            return Ok(());
        }
        let original = read_capture(self.dir, original.archive.ok_or_else(missing)?)?;
        let capture = Capture {
            seq: page.seq,
            url: page.url.clone(),
            fetched_at: page.fetched_at,
            address: None,
            status: raw.capture.status,
            headers: raw.capture.headers.clone(),
            body: original.body,
            request: None,
        };
        raw.id = warc::response_id(&capture);
        // Its request names the revisit that is not written.
        raw.request = None;
        raw.member = warc::member(&warc::response(&capture)).map_err(ExportError::write(self.out))?;
        (raw.capture.body, raw.capture.has_body) = (capture.body, true);
        Ok(())
    }

    fn facts(&self, page: &PageRecord) -> Result<Vec<(&'static str, String)>, ExportError> {
        let mut facts = warc::facts(page);
        let mut way: Vec<String> = Vec::new();
        let mut passed: Vec<Fingerprint> = vec![page.fingerprint];
        let mut source = page.source;
        while let Some(fingerprint) = source.filter(|fingerprint| !passed.contains(fingerprint) && way.len() < MAX_WAY) {
            passed.push(fingerprint);
            let Some(step) = self.store.page_by_fingerprint(fingerprint)? else { break };
            way.push(step.url);
            source = step.source;
        }
        if !way.is_empty() {
            way.reverse();
            facts.push(("linkPath", way.join(" ")));
        }
        Ok(facts)
    }

    fn write(&mut self, about: &warc::About<'_>, raw: &RawCapture, facts: Option<&[(&'static str, String)]>) -> io::Result<()> {
        if self.files == 0 || self.length >= self.style.file_bytes {
            self.begin(about.date)?;
        }
        let offset = self.length;
        self.put(&raw.member)?;
        let length = self.length - offset;
        self.place.index(&Indexed { length, ..indexed(about, raw, offset, &self.name) })?;
        if let Some(request) = &raw.request {
            self.put(request)?;
        }
        facts.map_or(Ok(()), |facts| self.put(&warc::member(&warc::metadata(about, facts))?))
    }

    fn begin(&mut self, date: Timestamp) -> io::Result<()> {
        self.files += 1;
        self.name = format!("{}-{:05}.warc.{}", self.style.stem, self.files, self.style.packing.ending());
        self.length = 0;
        self.place.begin(&self.name)?;
        let note = [("description", self.style.filter.as_ref().map(|filter| format!("exported pages with {filter}")))];
        let note: Vec<(&str, String)> = note.into_iter().filter_map(|(name, value)| Some((name, value?))).collect();
        self.put(&warc::member(&warc::warcinfo(&self.name, date, &note))?)
    }

    fn put(&mut self, member: &[u8]) -> io::Result<()> {
        let packed = self.style.packing.pack(member)?;
        self.length += packed.len() as u64;
        self.place.write(&packed)
    }
}

/// What a capture that belongs to no page says of itself.
pub(super) fn about(raw: &RawCapture) -> warc::About<'_> {
    warc::About { url: &raw.capture.url, date: raw.date, id: &raw.id }
}

/// The index entry of a capture.
pub(super) fn indexed(about: &warc::About<'_>, raw: &RawCapture, offset: u64, file: &str) -> Indexed {
    let mime = raw.capture.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let mime = mime.and_then(|(_, value)| value.split(';').next()).map(str::trim).filter(|mime| !mime.is_empty());
    Indexed {
        url: about.url.to_owned(),
        date: about.date.to_string(),
        mime: mime.unwrap_or("unk").to_owned(),
        status: raw.capture.status,
        digest: raw.digest.clone(),
        length: raw.member.len() as u64,
        offset,
        file: file.to_owned(),
        is_revisit: !raw.capture.has_body,
    }
}

/// A folder with WARC files, each with its CDXJ index beside it.
pub(super) struct Folder {
    dir: PathBuf,
    open: Option<(PathBuf, BufWriter<File>)>,
    /// Index lines of the open file.
    lines: Vec<String>,
}

impl Folder {
    pub fn create(dir: &Path) -> io::Result<Self> {
        fs::create_dir_all(dir)?;
        Ok(Self { dir: dir.to_owned(), open: None, lines: Vec::new() })
    }

    /// Completes the open file and writes its index.
    pub fn settle(&mut self) -> io::Result<()> {
        let Some((path, mut file)) = self.open.take() else { return Ok(()) };
        file.flush()?;
        self.lines.sort_unstable();
        let mut index = BufWriter::new(File::create(path.with_extension("").with_extension("cdxj"))?);
        for line in self.lines.drain(..) {
            writeln!(index, "{line}")?;
        }
        index.flush()
    }
}

impl Place for Folder {
    fn begin(&mut self, name: &str) -> io::Result<()> {
        self.settle()?;
        let path = self.dir.join(name);
        let file = BufWriter::new(File::create(&path)?);
        self.open = Some((path, file));
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.open.as_mut().map_or(Ok(()), |(_, file)| file.write_all(bytes))
    }

    fn index(&mut self, entry: &Indexed) -> io::Result<()> {
        self.lines.push(entry.line());
        Ok(())
    }
}

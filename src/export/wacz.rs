//! WACZ 1.1.1: archive, index, pages and their description in one zip, as ReplayWeb.page and pywb open it.
//!
//! Promises: WARC files and index lie in the zip unpacked, so that a reader can jump to a record; every file's SHA-256 is in
//! `datapackage.json`; indexes are sorted whatever their size.
//! Never: holds more than one capture, and [`BLOCK`] index lines, in memory.

use std::{
    fmt::Write as _,
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use serde_json::json;
use sha2::{Digest, Sha256};
use zip::{ZipWriter, write::SimpleFileOptions};

use super::{capture::Place, cdxj::Indexed, sorted::SortedLines};
use crate::{
    page::Timestamp,
    store::{PageRecord, warc},
};

/// Index lines that are packed together.
const BLOCK: usize = 1_024;

/// What the package says of itself.
pub(super) struct About {
    pub title: String,
    pub description: String,
    pub created: Timestamp,
    pub main_page: Option<String>,
}

/// A package that is being written.
pub(super) struct Wacz {
    zip: ZipWriter<BufWriter<File>>,
    open: Option<Resource>,
    done: Vec<serde_json::Value>,
    index: SortedLines,
    pages: SortedLines,
}

/// A file in the zip that is being written.
struct Resource {
    path: String,
    hash: Sha256,
    bytes: u64,
}

impl Wacz {
    pub fn create(path: &Path) -> io::Result<Self> {
        let beside = |ending: &str| {
            let mut name = path.as_os_str().to_owned();
            name.push(ending);
            SortedLines::beside(Path::new(&name))
        };
        let zip = ZipWriter::new(BufWriter::new(File::create(path)?));
        Ok(Self { zip, open: None, done: Vec::new(), index: beside(".index"), pages: beside(".pages") })
    }

    /// Notes a page for the list of pages; in the order of the crawl.
    pub fn page(&mut self, page: &PageRecord) -> io::Result<()> {
        let line = json!({
            "id": page.seq.to_string(), "url": page.url, "ts": page.fetched_at.to_string(), "title": page.title,
            "relevance": page.relevance.get(), "depth": page.depth,
        });
        // The number in front keeps the order when lines are sorted.
        self.pages.add(format!("{:020} {line}", page.seq))
    }

    /// Writes what is left: index, pages, description.
    pub fn finish(mut self, about: &About) -> io::Result<()> {
        self.settle();
        self.write_index()?;
        self.write_pages()?;
        let description = json!({
            "profile": "data-package",
            "wacz_version": "1.1.1",
            "title": about.title,
            "description": about.description,
            "created": about.created.to_string(),
            "software": concat!("windrow ", env!("CARGO_PKG_VERSION")),
            "mainPageUrl": about.main_page,
            "resources": self.done,
        });
        let description = serde_json::to_vec_pretty(&description)?;
        let digest = json!({ "path": "datapackage.json", "hash": sha256(&description) });
        self.start("datapackage.json")?;
        self.zip.write_all(&description)?;
        self.start("datapackage-digest.json")?;
        self.zip.write_all(&serde_json::to_vec_pretty(&digest)?)?;
        self.zip.finish()?.flush()
    }

    /// `index.cdx.gz`, packed block by block, and `index.idx` with the first key and place of each block.
    fn write_index(&mut self) -> io::Result<()> {
        let lines = std::mem::replace(&mut self.index, SortedLines::beside(Path::new("")));
        self.begin_at("indexes/index.cdx.gz")?;
        let mut blocks = Blocks {
            table: String::from("!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"index.cdx.gz\"}\n"),
            ..Blocks::default()
        };
        lines.finish(|line| {
            blocks.add(line);
            if blocks.count == BLOCK { blocks.end(self) } else { Ok(()) }
        })?;
        blocks.end(self)?;
        self.begin_at("indexes/index.idx")?;
        self.put(blocks.table.as_bytes())
    }

    fn write_pages(&mut self) -> io::Result<()> {
        let lines = std::mem::replace(&mut self.pages, SortedLines::beside(Path::new("")));
        self.begin_at("pages/pages.jsonl")?;
        self.put(b"{\"format\": \"json-pages-1.0\", \"id\": \"pages\", \"title\": \"All Pages\", \"hasText\": false}\n")?;
        lines.finish(|line| {
            let line = line.split_once(' ').map_or(line, |(_, line)| line);
            self.put(line.as_bytes())?;
            self.put(b"\n")
        })?;
        self.settle();
        Ok(())
    }

    fn start(&mut self, path: &str) -> io::Result<()> {
        // Stored and without the time of writing: the same crawl gives the same package.
        let options = SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored)
            .last_modified_time(zip::DateTime::default())
            .large_file(true);
        self.zip.start_file(path, options).map_err(io::Error::other)
    }

    fn begin_at(&mut self, path: &str) -> io::Result<()> {
        self.settle();
        self.start(path)?;
        self.open = Some(Resource { path: path.to_owned(), hash: Sha256::new(), bytes: 0 });
        Ok(())
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(open) = &mut self.open {
            open.hash.update(bytes);
            open.bytes += bytes.len() as u64;
        }
        self.zip.write_all(bytes)
    }

    fn settle(&mut self) {
        if let Some(Resource { path, hash, bytes }) = self.open.take() {
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            self.done.push(json!({ "name": name, "path": path, "hash": labelled(&hash.finalize()), "bytes": bytes }));
        }
    }
}

impl Place for Wacz {
    fn begin(&mut self, name: &str) -> io::Result<()> {
        self.begin_at(&format!("archive/{name}"))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.put(bytes)
    }

    fn index(&mut self, entry: &Indexed) -> io::Result<()> {
        self.index.add(entry.line())
    }
}

/// Index lines on their way into blocks.
#[derive(Default)]
struct Blocks {
    block: String,
    count: usize,
    offset: u64,
    /// `index.idx` as it grows.
    table: String,
}

impl Blocks {
    fn add(&mut self, line: &str) {
        self.block.push_str(line);
        self.block.push('\n');
        self.count += 1;
    }

    fn end(&mut self, wacz: &mut Wacz) -> io::Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        let member = warc::member(self.block.as_bytes())?;
        wacz.put(&member)?;
        let key: Vec<&str> = self.block.splitn(3, ' ').take(2).collect();
        let place =
            json!({ "offset": self.offset, "length": member.len(), "digest": sha256(&member), "filename": "index.cdx.gz" });
        // Writing to a string does not fail.
        let _ = writeln!(self.table, "{} {place}", key.join(" "));
        self.offset += member.len() as u64;
        self.block.clear();
        self.count = 0;
        Ok(())
    }
}

fn sha256(bytes: &[u8]) -> String {
    labelled(&Sha256::digest(bytes))
}

fn labelled(hash: &[u8]) -> String {
    hash.iter().fold(String::from("sha256:"), |text, byte| text + &format!("{byte:02x}"))
}

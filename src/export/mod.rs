//! A crawl's harvest in the formats that other tools read.
//!
//! | format | what it is |
//! |---|---|
//! | `csv`, `jsonl`, `parquet` | a table: `pages`, `links` or `hosts`; JSON lines of pages hold the main text |
//! | `warc` | a folder of WARC/1.1 files, a CDXJ index beside each |
//! | `cdxj` | one index over the crawl's own `archive/` |
//! | `wacz` | archive, index and list of pages in one file |
//!
//! Captures of pages go with the robots.txt of their hosts, where the archive has it.
//!
//! Promises: rows stream from the store in bounded memory; a file has its name only when it is complete; the same crawl and
//! filter give the same bytes.
//! Never: changes the crawl, reads a clock.

mod capture;
mod cdxj;
mod column;
mod error;
mod filter;
mod lexer;
mod page_text;
mod parquet_rows;
mod robots;
mod rows;
mod schema;
mod sorted;
mod tables;
mod wacz;

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
    rc::Rc,
};

pub use capture::Packing;
pub use column::{Kind, SCHEMA_VERSION};
pub use error::ExportError;
pub use filter::{Filter, FilterError};
pub use schema::schema;

use capture::{CaptureWriter, Folder};
use column::Table;
use page_text::Texts;
use robots::Hosts;
use rows::{CsvRows, JsonRows, RowSink};
use tables::{HOSTS, LINKS, LinkRow, PAGES};

use crate::{
    disk::{partial_name, settle},
    page::Outcome,
    store::{ArchivePlace, PageRecord, RawCapture, Store, read_raw, warc},
};

/// What an export writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    Csv,
    Jsonl,
    Parquet,
    Warc,
    Wacz,
    Cdxj,
}

/// Which rows of the crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Rows {
    #[default]
    Pages,
    Links,
    Hosts,
}

/// An export to be made.
#[derive(Debug, Clone)]
pub struct Export<'e> {
    pub format: Format,
    pub rows: Rows,
    /// `-` for standard output, where the format is lines.
    pub out: &'e Path,
    /// A filter over the fields of the table.
    pub filter: Option<&'e str>,
    /// JSON lines of pages hold the main text.
    pub text: bool,
    /// Size at which a WARC file is followed by the next, in bytes.
    pub file_bytes: u64,
    /// How records of WARC files are compressed; a WACZ holds gzip only.
    pub packing: Packing,
    /// Name of the crawl, for files inside a package and its title.
    pub name: &'e str,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct Exported {
    /// Rows or captures.
    pub rows: u64,
    /// Pages that passed the filter but are not in the archive.
    pub without_capture: u64,
}

impl Export<'_> {
    /// Makes the export of the crawl in `dir`.
    ///
    /// # Errors
    /// [`ExportError`]: a filter that cannot be used, rows that cannot be read, a file that cannot be written.
    pub fn write(&self, store: &Store, dir: &Path) -> Result<Exported, ExportError> {
        match (self.format, self.rows) {
            (Format::Csv | Format::Jsonl | Format::Parquet, Rows::Pages) => self.pages(store, dir),
            (Format::Csv | Format::Jsonl | Format::Parquet, Rows::Links) => self.links(store),
            (Format::Csv | Format::Jsonl | Format::Parquet, Rows::Hosts) => self.hosts(store),
            (_, Rows::Links | Rows::Hosts) => Err(ExportError::Unsuited(
                "links and hosts are tables: choose csv, jsonl or parquet, or leave --table out".to_owned(),
            )),
            (Format::Warc, _) => self.warc(store, dir),
            (Format::Wacz, _) => self.wacz(store, dir),
            (Format::Cdxj, _) => self.cdxj(store, dir),
        }
    }

    fn pages(&self, store: &Store, dir: &Path) -> Result<Exported, ExportError> {
        let texts = (self.text && self.format == Format::Jsonl).then(Texts::new);
        let filter = self.filter_of(&PAGES)?;
        self.table(&PAGES, |sink| {
            let mut rows = 0;
            for page in store.pages(1)? {
                let page = page?;
                if admits(filter.as_ref(), &PAGES, &page) {
                    let more = texts.as_ref().map(|texts| texts.of(dir, &page)).transpose()?.unwrap_or_default();
                    sink.add(&page, more)?;
                    rows += 1;
                }
            }
            Ok(rows)
        })
    }

    fn links(&self, store: &Store) -> Result<Exported, ExportError> {
        let filter = self.filter_of(&LINKS)?;
        self.table(&LINKS, |sink| {
            let mut rows = 0;
            for page in store.pages(1)? {
                let source = Rc::new(page?);
                for link in store.outlinks(source.seq)? {
                    let row = LinkRow { source: Rc::clone(&source), link };
                    if admits(filter.as_ref(), &LINKS, &row) {
                        sink.add(&row, serde_json::Map::new())?;
                        rows += 1;
                    }
                }
            }
            Ok(rows)
        })
    }

    fn hosts(&self, store: &Store) -> Result<Exported, ExportError> {
        let filter = self.filter_of(&HOSTS)?;
        self.table(&HOSTS, |sink| {
            let mut rows = 0;
            for host in store.hosts()? {
                let host = host?;
                if admits(filter.as_ref(), &HOSTS, &host) {
                    sink.add(&host, serde_json::Map::new())?;
                    rows += 1;
                }
            }
            Ok(rows)
        })
    }

    /// Opens the sink for a table, lets `fill` add the rows, and gives the file its name.
    fn table<R: 'static>(
        &self,
        table: &Table<R>,
        fill: impl FnOnce(&mut dyn RowSink<R>) -> Result<u64, ExportError>,
    ) -> Result<Exported, ExportError> {
        let to_stdout = self.out == Path::new("-");
        if to_stdout && self.format == Format::Parquet {
            return Err(ExportError::Unsuited("Parquet is no stream of lines: name a file with --out".to_owned()));
        }
        let partial = partial_name(self.out);
        let create = || File::create(&partial).map_err(ExportError::write(&partial));
        let lines = || -> Result<Box<dyn Write>, ExportError> {
            Ok(if to_stdout { Box::new(BufWriter::new(io::stdout().lock())) } else { Box::new(BufWriter::new(create()?)) })
        };
        let mut sink: Box<dyn RowSink<R> + '_> = match self.format {
            Format::Csv => Box::new(CsvRows::new(table, lines()?, self.out)?),
            Format::Parquet => Box::new(parquet_rows::ParquetRows::new(table, create()?, self.out)?),
            _ => Box::new(JsonRows::new(table, lines()?, self.out)),
        };
        let rows = fill(sink.as_mut())?;
        sink.finish()?;
        if !to_stdout {
            self.settle()?;
        }
        Ok(Exported { rows, without_capture: 0 })
    }

    fn warc(&self, store: &Store, dir: &Path) -> Result<Exported, ExportError> {
        self.needs_file("warc writes a folder of files")?;
        let folder = Folder::create(self.out).map_err(ExportError::write(self.out))?;
        let (mut folder, exported) = self.captures(store, dir, folder, |_, _| Ok(()))?;
        folder.settle().map_err(ExportError::write(self.out))?;
        Ok(exported)
    }

    fn wacz(&self, store: &Store, dir: &Path) -> Result<Exported, ExportError> {
        self.needs_file("wacz writes a file")?;
        if self.packing != Packing::Gzip {
            return Err(ExportError::Unsuited("a WACZ holds .warc.gz files: leave --packing out, or choose warc".to_owned()));
        }
        let partial = partial_name(self.out);
        let wacz = wacz::Wacz::create(&partial).map_err(ExportError::write(&partial))?;
        let mut main_page = None;
        let (wacz, exported) = self.captures(store, dir, wacz, |wacz, page| {
            main_page.get_or_insert_with(|| page.url.clone());
            wacz.page(page)
        })?;
        let about = wacz::About {
            title: self.name.to_owned(),
            description: self
                .filter
                .map_or_else(|| "all captures of the crawl".to_owned(), |filter| format!("pages with {filter}")),
            created: store.state()?.unwrap_or_default().now,
            main_page,
        };
        wacz.finish(&about).map_err(ExportError::write(&partial))?;
        self.settle()?;
        Ok(exported)
    }

    /// Writes the captures that pass the filter into `place`; `read` is told of those that are documents.
    fn captures<P: capture::Place>(
        &self,
        store: &Store,
        dir: &Path,
        place: P,
        mut read: impl FnMut(&mut P, &PageRecord) -> io::Result<()>,
    ) -> Result<(P, Exported), ExportError> {
        let filter = self.filter_of(&PAGES)?;
        let style = capture::Style {
            stem: self.name.to_owned(),
            file_bytes: self.file_bytes,
            filter: self.filter.map(str::to_owned),
            packing: self.packing,
        };
        let mut writer = CaptureWriter::new(store, dir, self.out, place, style);
        let mut exported = Exported::default();
        let mut hosts = Hosts::of(filter.as_ref());
        for page in store.pages(1)? {
            let page = page?;
            if !admits(filter.as_ref(), &PAGES, &page) {
                continue;
            }
            hosts.note(&page);
            if !writer.add(&page)? {
                exported.without_capture += 1;
                continue;
            }
            exported.rows += 1;
            if page.outcome == Outcome::Fetched {
                read(writer.place(), &page).map_err(ExportError::write(self.out))?;
            }
        }
        for robots in hosts.robots(store, dir)? {
            writer.add_other(&robots?.1)?;
        }
        Ok((writer.finish(), exported))
    }

    /// Indexes the crawl's own archive.
    fn cdxj(&self, store: &Store, dir: &Path) -> Result<Exported, ExportError> {
        let filter = self.filter_of(&PAGES)?;
        let to_stdout = self.out == Path::new("-");
        let partial = partial_name(self.out);
        let fault = ExportError::write(self.out);
        let scratch = if to_stdout { dir.join("export") } else { partial.clone() };
        let spilled = ExportError::write(&scratch);
        let mut lines = sorted::SortedLines::beside(&scratch);
        let mut hosts = Hosts::of(filter.as_ref());
        let mut exported = Exported::default();
        for page in store.pages(1)? {
            let page = page?;
            if !admits(filter.as_ref(), &PAGES, &page) {
                continue;
            }
            let Some(place) = page.archive else {
                exported.without_capture += 1;
                continue;
            };
            hosts.note(&page);
            let raw = read_raw(dir, place)?;
            let about = warc::About { url: &page.url, date: page.fetched_at, id: &raw.id };
            lines.add(index_entry(&about, &raw, place)).map_err(&spilled)?;
            exported.rows += 1;
        }
        for robots in hosts.robots(store, dir)? {
            let (place, raw) = robots?;
            lines.add(index_entry(&capture::about(&raw), &raw, place)).map_err(&spilled)?;
        }
        let mut out: Box<dyn Write> = if to_stdout {
            Box::new(BufWriter::new(io::stdout().lock()))
        } else {
            Box::new(BufWriter::new(File::create(&partial).map_err(ExportError::write(&partial))?))
        };
        lines.finish(|line| writeln!(out, "{line}")).and_then(|()| out.flush()).map_err(&fault)?;
        if !to_stdout {
            self.settle()?;
        }
        Ok(exported)
    }

    fn filter_of<R>(&self, table: &Table<R>) -> Result<Option<Filter>, ExportError> {
        Ok(self.filter.map(|text| Filter::parse(text, &table.fields())).transpose()?)
    }

    fn needs_file(&self, what: &str) -> Result<(), ExportError> {
        if self.out == Path::new("-") {
            return Err(ExportError::Unsuited(format!("{what}: name it with --out")));
        }
        Ok(())
    }

    fn settle(&self) -> Result<(), ExportError> {
        settle(self.out).map_err(ExportError::write(self.out))
    }
}

/// The line of a capture in the index of the crawl's own archive.
fn index_entry(about: &warc::About<'_>, raw: &RawCapture, place: ArchivePlace) -> String {
    capture::indexed(about, raw, place.offset, &format!("{:05}.warc.gz", place.file)).line()
}

/// A page as a JSON object with the columns of the table `pages`; the lines of `crawl --stream`.
#[must_use]
pub fn page_as_json(page: &PageRecord) -> serde_json::Value {
    serde_json::Value::Object(rows::json_object(PAGES.columns, page))
}

/// A filter over pages, with the fields of the table `pages`.
#[derive(Debug, Clone)]
pub struct PageFilter(Filter);

impl PageFilter {
    /// Reads a filter such as `relevance > 0.8 and language = "zh"`.
    ///
    /// # Errors
    /// [`FilterError`] with the place of the fault.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        Filter::parse(text, &PAGES.fields()).map(Self)
    }

    #[must_use]
    pub fn admits(&self, page: &PageRecord) -> bool {
        admits(Some(&self.0), &PAGES, page)
    }
}

fn admits<R>(filter: Option<&Filter>, table: &Table<R>, row: &R) -> bool {
    filter.is_none_or(|filter| filter.admits(&|at: usize| (table.columns[at].value)(row)))
}

//! The whole store as text: one line per row, every table, for snapshots and for looking at it.
//!
//! Promises: equal stores give equal text; a table that is added does not
//! compile until it is decided here how it prints.
//! Never: prints a model's bytes; their number and hash stand for them.

use std::{fmt::Debug, io::Write};

use redb::{Key, ReadOnlyTable, ReadableDatabase, ReadableTable, Value};
use xxhash_rust::xxh3::xxh3_64;

use super::{
    CrawlState, RobotsRecord, Store, StoreError,
    archive::ArchiveEnd,
    codec::{HostRow, LessonRow, damaged, decode},
    link_row,
    on_page::OnPage,
    open::database_path,
    read::HostNames,
    schema::{ARCHIVE_KEY, ReadTables, SCHEMA_KEY, STATE_KEY},
};

impl Store {
    /// Writes every row of every table as a line of text.
    ///
    /// # Errors
    /// A row that cannot be read; `out` that cannot be written to.
    pub fn dump(&self, out: &mut impl Write) -> Result<(), StoreError> {
        let read = self.shared.database.begin_read()?;
        let (tables, on_page) = (ReadTables::open(&read)?, OnPage::open(&self.shared, &read)?);
        let mut names = HostNames::new(&tables.hosts);
        let ReadTables {
            meta,
            // Its rows are those of `pages` and `outlinks`.
            log: _,
            words,
            // What is packed against them is printed.
            dictionaries: _,
            pages,
            page_of,
            standing,
            outlinks,
            waiting,
            queue,
            hosts,
            host_ids,
            robots,
            models,
            lessons,
        } = &tables;
        let mut dump = Dump { store: self, out };
        dump.table("meta", meta, |name, row| match *name {
            SCHEMA_KEY => Ok(format!("{row:?}")),
            STATE_KEY => decode::<CrawlState>(row).map(|state| format!("{state:?}")),
            ARCHIVE_KEY => decode::<ArchiveEnd>(row).map(|end| format!("{end:?}")),
            other => Err(damaged("meta", format!("there is no `{other}` in this schema"))),
        })?;
        let bytes = |bytes: &[u8]| format!("{} bytes, xxh3 {:016x}", bytes.len(), xxh3_64(bytes));
        dump.table("words", words, |_, word| Ok(word.to_owned()))?;
        dump.table("pages", pages, |_, place| on_page.page(place).map(|page| format!("{page:?}")))?;
        dump.table("page_of", page_of, |_, seq| Ok(seq.to_string()))?;
        dump.table("standing", standing, |_, standing| Ok(format!("{standing:?}")))?;
        dump.table("outlinks", outlinks, |_, place| on_page.links(place)?.outlinks().map(|links| format!("{links:?}")))?;
        dump.table("waiting", waiting, |_, row| {
            let link = link_row::decode(row, |id| names.get(id), |seq, ordinal| on_page.in_link(seq, ordinal))?;
            Ok(format!("{link:?}"))
        })?;
        dump.table("queue", queue, |_, ()| Ok(String::new()))?;
        dump.table("hosts", hosts, |_, row| decode::<HostRow>(row).map(|host| format!("{host:?}")))?;
        dump.table("host_ids", host_ids, |_, id| Ok(id.to_string()))?;
        dump.table("robots", robots, |_, row| decode::<RobotsRecord>(row).map(|robots| format!("{robots:?}")))?;
        dump.table("models", models, |_, model| Ok(bytes(model)))?;
        dump.table("lessons", lessons, |_, row| decode::<LessonRow>(row).map(|row| format!("{} bytes", row.0.len())))?;
        for line in self.labels()?.to_tsv().lines() {
            writeln!(dump.out, "labels {line}").map_err(StoreError::io(&database_path(&self.shared.dir)))?;
        }
        Ok(())
    }
}

struct Dump<'a, W> {
    store: &'a Store,
    out: &'a mut W,
}

impl<W: Write> Dump<'_, W> {
    fn table<K: Key + 'static, V: Value + 'static>(
        &mut self,
        name: &str,
        table: &ReadOnlyTable<K, V>,
        mut show: impl FnMut(&K::SelfType<'_>, V::SelfType<'_>) -> Result<String, StoreError>,
    ) -> Result<(), StoreError>
    where
        for<'k> K::SelfType<'k>: Debug,
    {
        for entry in table.iter()? {
            let (key, row) = entry?;
            let key = key.value();
            let shown = show(&key, row.value())?;
            let line = writeln!(self.out, "{name} {key:?} {shown}");
            line.map_err(StoreError::io(&database_path(&self.store.shared.dir)))?;
        }
        Ok(())
    }
}

//! `crawl --stream`: finished URLs as JSON lines while the crawl runs.
//!
//! Promises: a line is written when its page is on disk, in the order of `seq`, so what was read is never lost or taken back.
//! Never: stops the crawl because nobody reads: the stream ends with a warning, the crawl goes on.

use std::{
    fs::OpenOptions,
    io::{self, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;

use crate::{
    engine::Journal,
    export::page_as_json,
    store::{Batch, Store, StoreError, Writer},
};

/// The store's writer, with a stream beside it.
pub(super) struct StreamJournal {
    writer: Writer,
    /// `None` once its reader went away.
    stream: Option<Box<dyn Write + Send>>,
}

impl StreamJournal {
    /// Streams to standard output (`-`), or appends to a file.
    pub(super) fn new(writer: Writer, to: &Path) -> anyhow::Result<Self> {
        let stream: Box<dyn Write + Send> = if to == Path::new("-") {
            Box::new(io::stdout())
        } else {
            let file = OpenOptions::new().create(true).append(true).open(to);
            Box::new(file.with_context(|| format!("the stream {} cannot be opened", to.display()))?)
        };
        Ok(Self { writer, stream: Some(stream) })
    }
}

impl Journal for StreamJournal {
    fn commit(&mut self, batch: Batch) -> Result<(), StoreError> {
        let Some(stream) = &mut self.stream else { return self.writer.submit(batch) };
        let lines = batch.pages.iter().fold(String::new(), |lines, page| lines + &page_as_json(page).to_string() + "\n");
        self.writer.submit(batch)?;
        self.writer.flush()?;
        if let Err(error) = stream.write_all(lines.as_bytes()).and_then(|()| stream.flush()) {
            tracing::warn!("the stream ends here ({error}); the crawl goes on, and `windrow export` writes all pages");
            self.stream = None;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        self.writer.finish()
    }

    fn folder(&self) -> Option<PathBuf> {
        Journal::folder(&self.writer)
    }

    fn reader(&self) -> Option<Store> {
        Journal::reader(&self.writer)
    }

    fn progress(&self) -> (u64, u64) {
        Journal::progress(&self.writer)
    }

    fn wants_captures(&self) -> bool {
        true
    }
}

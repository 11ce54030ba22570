//! What can keep a report from being written.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::RowError;

/// A report that could not be written; tables that were finished before stay.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("cannot write {}: {source}; check that the folder can be written to and that the disk is not full", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read the {what} of the crawl: {source}; `windrow verify` tells what is damaged")]
    Read { what: &'static str, source: RowError },
}

impl ReportError {
    /// For `map_err`: a failed write to `path`.
    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }

    /// For `map_err`: rows that cannot be read.
    pub(super) fn read(what: &'static str) -> impl Fn(RowError) -> Self {
        move |source| Self::Read { what, source }
    }
}

//! What can keep an export from being written.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::store::StoreError;

/// An export that could not be made; nothing has its final name then.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("cannot write {}: {source}; check that it can be written to and that the disk is not full", name(path))]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read the crawl: {0}")]
    Store(#[from] StoreError),
    #[error(transparent)]
    Filter(#[from] super::FilterError),
    #[error("{0}")]
    Unsuited(String),
    #[error("cannot write {}: {source}", path.display())]
    Parquet { path: PathBuf, source: parquet::errors::ParquetError },
}

/// Where an export goes: `-` is standard output.
fn name(path: &Path) -> String {
    if path == Path::new("-") { "to standard output".to_owned() } else { path.display().to_string() }
}

impl ExportError {
    /// For `map_err`: a failed write to `path`.
    pub(super) fn write(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Write { path: path.clone(), source }
    }

    /// Whether the reader of a pipe went away, as `head` does: no failure of the export.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }
}

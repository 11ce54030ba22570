//! The rows of a store, as the report reads them.

use super::{RowError, RowStream, Rows};
use crate::{
    store::{HostRecord, OutlinkRecord, PageRecord, Store},
    url::Fingerprint,
};

impl Rows for Store {
    fn pages(&self) -> RowStream<'_, PageRecord> {
        stream(Self::pages(self, 1))
    }

    fn hosts(&self) -> RowStream<'_, HostRecord> {
        stream(Self::hosts(self))
    }

    fn outlinks(&self, seq: u64) -> Result<Vec<OutlinkRecord>, RowError> {
        Self::outlinks(self, seq).map_err(Into::into)
    }

    fn page_by_fingerprint(&self, fingerprint: Fingerprint) -> Result<Option<PageRecord>, RowError> {
        Self::page_by_fingerprint(self, fingerprint).map_err(Into::into)
    }
}

/// A table that cannot be opened is a stream of one error.
fn stream<'a, T: 'a, E>(rows: Result<impl Iterator<Item = Result<T, E>> + 'a, E>) -> RowStream<'a, T>
where
    E: std::error::Error + Send + Sync + 'static,
{
    match rows {
        Ok(rows) => Box::new(rows.map(|row| row.map_err(Into::into))),
        Err(error) => Box::new(std::iter::once(Err(error.into()))),
    }
}

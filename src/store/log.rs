//! The log: rows that never change, one after the other, in chunks that fill a page of the database each.
//!
//! A tree of rows of a kilobyte or two leaves half of its pages empty, since rows that are added in order split each page
//! in the middle; a chunk takes a page for itself. What a row is, and where it lies, its own table says.
//!
//! Promises: a place that [`Appender::append`] returned reads back as it was written, once its transaction is committed.
//! Never: changes or frees a byte that was appended.

use redb::{ReadableTable, Table};

use super::{
    StoreError,
    codec::{MAX_ROW, damaged},
};

/// Bytes of a chunk: with its key, its length and the header, exactly a page of 4,096 bytes.
pub(super) const CHUNK: u64 = 4_080;

/// Where a row lies: its first byte, counted from the start of the log, and its length.
pub(super) type Place = (u64, u32);

type Bytes = &'static [u8];

/// The row at a place.
pub(super) fn read(log: &impl ReadableTable<u64, Bytes>, (offset, length): Place) -> Result<Vec<u8>, StoreError> {
    let length = length as usize;
    if length > MAX_ROW {
        return Err(damaged("log", format!("a row of {length} bytes is claimed at {offset}")));
    }
    let mut row = Vec::with_capacity(length);
    let (mut chunk, mut skip) = (offset / CHUNK, (offset % CHUNK) as usize);
    while row.len() < length {
        let part = log.get(chunk)?;
        let part = part.as_ref().and_then(|part| part.value().get(skip..)).unwrap_or_default();
        if part.is_empty() {
            return Err(damaged("log", format!("chunk {chunk} is missing or too short")));
        }
        row.extend_from_slice(&part[..part.len().min(length - row.len())]);
        (chunk, skip) = (chunk + 1, 0);
    }
    Ok(row)
}

/// The end of the log in one transaction.
#[derive(Debug, Default)]
pub(super) struct Appender {
    /// The chunk that is being filled, and what it holds.
    chunk: u64,
    open: Vec<u8>,
    /// `open` is not in the table as it is.
    changed: bool,
}

impl Appender {
    /// Goes on after the last row.
    pub fn after(log: &impl ReadableTable<u64, Bytes>) -> Result<Self, StoreError> {
        let Some((chunk, open)) = log.last()? else { return Ok(Self::default()) };
        let mut appender = Self { chunk: chunk.value(), open: open.value().to_vec(), changed: false };
        if appender.open.len() as u64 >= CHUNK {
            (appender.chunk, appender.open) = (appender.chunk + 1, Vec::new());
        }
        Ok(appender)
    }

    /// Adds a row; it can be read after [`Appender::close`].
    pub fn append(&mut self, log: &mut Table<u64, Bytes>, row: &[u8]) -> Result<Place, StoreError> {
        let length = u32::try_from(row.len()).map_err(|_| StoreError::Refused("a row of more than 4 GiB".to_owned()))?;
        let place = (self.chunk * CHUNK + self.open.len() as u64, length);
        let mut rest = row;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(rest.len().min(CHUNK as usize - self.open.len()));
            self.open.extend_from_slice(now);
            self.changed = true;
            rest = later;
            if self.open.len() as u64 == CHUNK {
                self.close(log)?;
                self.chunk += 1;
                self.open.clear();
            }
        }
        Ok(place)
    }

    /// Writes what is not in the table yet.
    pub fn close(&mut self, log: &mut Table<u64, Bytes>) -> Result<(), StoreError> {
        if std::mem::take(&mut self.changed) {
            log.insert(self.chunk, self.open.as_slice())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use redb::{Database, ReadableDatabase, ReadableTableMetadata, TableDefinition, backends::InMemoryBackend};

    use super::*;

    const LOG: TableDefinition<u64, Bytes> = TableDefinition::new("log");

    #[test]
    fn rows_of_any_length_come_back_and_fill_the_pages() {
        let database = Database::builder().create_with_backend(InMemoryBackend::new()).unwrap();
        let mut random = fastrand::Rng::with_seed(4);
        let mut rows: Vec<(Place, Vec<u8>)> = Vec::new();
        for _ in 0..30 {
            let write = database.begin_write().unwrap();
            {
                let mut log = write.open_table(LOG).unwrap();
                let mut appender = Appender::after(&log).unwrap();
                for _ in 0..random.usize(0..20) {
                    let length = [0, 1, 500, CHUNK as usize - 1, CHUNK as usize, 9_000][random.usize(..6)];
                    let row: Vec<u8> = (0..length).map(|_| random.u8(..)).collect();
                    rows.push((appender.append(&mut log, &row).unwrap(), row));
                }
                appender.close(&mut log).unwrap();
            }
            write.commit().unwrap();
        }
        let log = database.begin_read().unwrap().open_table(LOG).unwrap();
        for (place, row) in &rows {
            assert_eq!(&read(&log, *place).unwrap(), row);
        }
        let (stats, bytes) = (log.stats().unwrap(), rows.iter().map(|(_, row)| row.len() as u64).sum::<u64>());
        let taken = stats.stored_bytes() + stats.metadata_bytes() + stats.fragmented_bytes();
        assert!(taken < bytes + bytes / 50 + 8_192, "{taken} bytes for {bytes}");
    }

    #[test]
    fn a_place_that_is_none_is_an_error() {
        let database = Database::builder().create_with_backend(InMemoryBackend::new()).unwrap();
        let write = database.begin_write().unwrap();
        let mut log = write.open_table(LOG).unwrap();
        let mut appender = Appender::after(&log).unwrap();
        appender.append(&mut log, b"a row").unwrap();
        appender.close(&mut log).unwrap();
        for place in [(0, 6), (5, 1), (1 << 40, 1), (u64::MAX, 1), (0, u32::MAX)] {
            assert!(read(&log, place).unwrap_err().to_string().contains("log"), "{place:?}");
        }
    }
}

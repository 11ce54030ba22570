//! Rows as CSV and as JSON lines.
//!
//! Promises: one row at a time in memory; CSV as RFC 4180 asks, one line per row; JSON lines hold every column, null where
//! there is no value.

use std::{io::Write, path::Path};

use super::{
    ExportError,
    column::{Column, Table},
};
use crate::disk::of_csv;

/// Takes the rows of a table.
pub(super) trait RowSink<R> {
    /// Adds a row; `more` are fields that only JSON lines have room for.
    fn add(&mut self, row: &R, more: serde_json::Map<String, serde_json::Value>) -> Result<(), ExportError>;

    /// Writes what is left.
    fn finish(self: Box<Self>) -> Result<(), ExportError>;
}

/// Comma-separated values with a header row.
pub(super) struct CsvRows<'o, R: 'static> {
    csv: csv::Writer<Box<dyn Write + 'o>>,
    columns: &'static [Column<R>],
    path: &'o Path,
}

impl<'o, R> CsvRows<'o, R> {
    pub fn new(table: &Table<R>, out: Box<dyn Write + 'o>, path: &'o Path) -> Result<Self, ExportError> {
        let mut csv = csv::Writer::from_writer(out);
        let header = csv.write_record(table.columns.iter().map(|column| column.name));
        header.map_err(|error| ExportError::write(path)(of_csv(error)))?;
        Ok(Self { csv, columns: table.columns, path })
    }
}

impl<R> RowSink<R> for CsvRows<'_, R> {
    fn add(&mut self, row: &R, _: serde_json::Map<String, serde_json::Value>) -> Result<(), ExportError> {
        let fields = self.columns.iter().map(|column| one_line(&(column.value)(row).to_csv()).into_owned());
        self.csv.write_record(fields).map_err(|error| ExportError::write(self.path)(of_csv(error)))
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        self.csv.flush().map_err(ExportError::write(self.path))
    }
}

/// Line breaks inside a field become blanks, so that a row is a line.
fn one_line(text: &str) -> std::borrow::Cow<'_, str> {
    if text.contains(char::is_control) { text.replace(char::is_control, " ").into() } else { text.into() }
}

/// One JSON object per line.
pub(super) struct JsonRows<'o, R: 'static> {
    out: Box<dyn Write + 'o>,
    columns: &'static [Column<R>],
    path: &'o Path,
}

impl<'o, R> JsonRows<'o, R> {
    pub fn new(table: &Table<R>, out: Box<dyn Write + 'o>, path: &'o Path) -> Self {
        Self { out, columns: table.columns, path }
    }
}

impl<R> RowSink<R> for JsonRows<'_, R> {
    fn add(&mut self, row: &R, more: serde_json::Map<String, serde_json::Value>) -> Result<(), ExportError> {
        let mut object = json_object(self.columns, row);
        object.extend(more);
        serde_json::to_writer(&mut self.out, &object).map_err(|error| ExportError::write(self.path)(error.into()))?;
        self.out.write_all(b"\n").map_err(ExportError::write(self.path))
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        self.out.flush().map_err(ExportError::write(self.path))
    }
}

/// A row as a JSON object, columns in any order.
pub(super) fn json_object<R>(columns: &[Column<R>], row: &R) -> serde_json::Map<String, serde_json::Value> {
    columns.iter().map(|column| (column.name.to_owned(), (column.value)(row).to_json())).collect()
}

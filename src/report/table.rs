//! Files of the report: comma-separated tables and whole documents.
//!
//! Promises: a file has its name only when it is complete; until then it is
//! called `NAME.partial`. Tables are UTF-8 without a byte-order mark, quoted as
//! RFC 4180 asks, one line (`\n`) per row: line breaks inside fields are blanks.
//! Never: knows what the columns mean.

use std::{
    borrow::Cow,
    fs::{self, File},
    path::{Path, PathBuf},
};

use super::ReportError;
use crate::disk::{of_csv, partial_name, settle};

/// A table that is being written.
pub(super) struct Table {
    csv: csv::Writer<File>,
    path: PathBuf,
}

impl Table {
    /// Starts `dir/name` with its header row.
    ///
    /// # Errors
    /// The file cannot be created or written.
    pub fn create<const N: usize>(dir: &Path, name: &str, columns: [&str; N]) -> Result<Self, ReportError> {
        let path = dir.join(name);
        let partial = partial_name(&path);
        let file = File::create(&partial).map_err(ReportError::write(&partial))?;
        let mut table = Self { csv: csv::Writer::from_writer(file), path };
        table.row(columns)?;
        Ok(table)
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn row<const N: usize>(&mut self, fields: [&str; N]) -> Result<(), ReportError> {
        let mut write = || {
            fields.iter().try_for_each(|field| self.csv.write_field(one_line(field).as_bytes()))?;
            self.csv.write_record(None::<&[u8]>)
        };
        write().map_err(|error| ReportError::write(&self.path)(of_csv(error)))
    }

    /// Gives the finished file its name, and returns it.
    ///
    /// # Errors
    /// The last rows cannot be written, or the file cannot be renamed.
    pub fn finish(mut self) -> Result<PathBuf, ReportError> {
        self.csv.flush().map_err(ReportError::write(&self.path))?;
        settle(&self.path).map_err(ReportError::write(&self.path))?;
        Ok(self.path)
    }
}

/// Writes a whole document, and returns its path.
///
/// # Errors
/// The file cannot be written or renamed.
pub(super) fn write_document(dir: &Path, name: &str, text: &str) -> Result<PathBuf, ReportError> {
    let path = dir.join(name);
    let partial = partial_name(&path);
    fs::write(&partial, text).map_err(ReportError::write(&partial))?;
    settle(&path).map_err(ReportError::write(&path))?;
    Ok(path)
}

/// A text without control characters and line breaks: each run of them, blanks around it included, becomes one blank.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    let breaks = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
    if !text.contains(breaks) {
        return Cow::Borrowed(text);
    }
    let words: Vec<&str> = text.split(|c| breaks(c) || c == ' ').filter(|word| !word.is_empty()).collect();
    Cow::Owned(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_and_control_characters_become_one_blank() {
        assert_eq!(one_line("Rice\r\n\tand \u{0} pests\u{2028}"), "Rice and pests");
        assert!(matches!(one_line("农业  与水利"), Cow::Borrowed("农业  与水利")));
    }

    #[test]
    fn a_table_has_its_name_only_when_it_is_complete() {
        let dir = tempfile::tempdir().unwrap();
        let mut table = Table::create(dir.path(), "t.csv", ["a", "b"]).unwrap();
        table.row(["say \"rice\", please", "two\nlines"]).unwrap();
        assert!(!dir.path().join("t.csv").exists());
        let path = table.finish().unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "a,b\n\"say \"\"rice\"\", please\",two lines\n");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let error = write_document(&dir.path().join("missing"), "x.html", "").unwrap_err().to_string();
        assert!(error.contains("x.html.partial"), "{error}");
    }
}

//! A crawl's log: what the server did with it, `monitor/log.jsonl` in its folder.
//!
//! Promises: the file stays below a megabyte; a log that cannot be written stops nothing.

use std::{
    fs::{self, OpenOptions},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use crate::monitor::{files, wire::LogLine};

/// Size at which the file gives way to a new one.
const MAX_BYTES: u64 = 500_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    Info,
    Warn,
    Error,
}

/// The file of one crawl.
#[derive(Debug)]
pub struct Log(PathBuf);

impl Log {
    pub fn new(folder: &Path) -> Self {
        Self(folder.join("log.jsonl"))
    }

    /// Adds a line.
    pub fn add(&self, level: Level, message: impl Into<String>) {
        let level = match level {
            Level::Info => "info",
            Level::Warn => "warn",
            Level::Error => "error",
        };
        let line = LogLine { at: files::now(), level: level.to_owned(), message: message.into() };
        if let Err(error) = self.append(&line) {
            tracing::warn!("{}: {error}", self.0.display());
        }
    }

    fn append(&self, line: &LogLine) -> std::io::Result<()> {
        if fs::metadata(&self.0).is_ok_and(|file| file.len() > MAX_BYTES) {
            fs::rename(&self.0, self.0.with_extension("1.jsonl"))?;
        }
        let mut text = serde_json::to_string(line)?;
        text.push('\n');
        OpenOptions::new().create(true).append(true).open(&self.0)?.write_all(text.as_bytes())
    }

    /// The last lines, the newest first.
    pub fn tail(&self, limit: usize) -> Vec<LogLine> {
        let lines = [self.0.clone(), self.0.with_extension("1.jsonl")];
        let lines = lines.iter().flat_map(|path| end_of(path).unwrap_or_default());
        lines.take(limit).collect()
    }
}

/// The lines at the end of a file, the last first.
fn end_of(path: &Path) -> std::io::Result<Vec<LogLine>> {
    let mut file = fs::File::open(path)?;
    let from = file.metadata()?.len().saturating_sub(MAX_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.lines().rev().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_lines_come_first_and_a_torn_one_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let log = Log::new(folder.path());
        assert!(log.tail(5).is_empty());
        for n in 0..4 {
            log.add(Level::Info, format!("line {n}"));
        }
        OpenOptions::new().append(true).open(&log.0).unwrap().write_all(b"{\"at\":").unwrap();
        let lines: Vec<String> = log.tail(2).into_iter().map(|line| line.message).collect();
        assert_eq!(lines, ["line 3", "line 2"]);
    }
}

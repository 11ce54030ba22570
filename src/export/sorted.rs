//! Sorting more lines than memory should hold: runs on disk, merged at the end.
//!
//! Promises: at most [`RUN_BYTES`] of lines in memory; the runs' files go away with the sorter.
//! Never: drops equal lines.

use std::{
    cmp::Reverse,
    collections::BinaryHeap,
    fs::{self, File},
    io::{self, BufRead, BufReader, BufWriter, Lines, Write},
    path::PathBuf,
};

/// Bytes of lines in memory.
const RUN_BYTES: usize = 32 << 20;

/// Takes lines in any order, gives them in byte order.
pub(super) struct SortedLines {
    /// Names of runs are this and a number.
    stem: PathBuf,
    run: Vec<String>,
    bytes: usize,
    limit: usize,
    runs: Vec<PathBuf>,
}

impl SortedLines {
    /// A sorter whose runs lie beside `path`.
    pub fn beside(path: &std::path::Path) -> Self {
        Self { stem: path.to_owned(), run: Vec::new(), bytes: 0, limit: RUN_BYTES, runs: Vec::new() }
    }

    pub fn add(&mut self, line: String) -> io::Result<()> {
        self.bytes += line.len();
        self.run.push(line);
        if self.bytes >= self.limit { self.spill() } else { Ok(()) }
    }

    fn spill(&mut self) -> io::Result<()> {
        self.run.sort_unstable();
        let mut name = self.stem.as_os_str().to_owned();
        name.push(format!(".run{}", self.runs.len()));
        let path = PathBuf::from(name);
        let mut file = BufWriter::new(File::create(&path)?);
        self.runs.push(path);
        for line in self.run.drain(..) {
            writeln!(file, "{line}")?;
        }
        self.bytes = 0;
        file.flush()
    }

    /// Hands every line to `each`, in order.
    pub fn finish(mut self, mut each: impl FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        self.run.sort_unstable();
        let mut heads = BinaryHeap::new();
        let mut files: Vec<Lines<BufReader<File>>> = Vec::new();
        for path in &self.runs {
            let mut lines = BufReader::new(File::open(path)?).lines();
            if let Some(line) = lines.next() {
                heads.push(Reverse((line?, files.len())));
            }
            files.push(lines);
        }
        let mut rest = std::mem::take(&mut self.run).into_iter();
        let last = files.len();
        heads.extend(rest.next().map(|line| Reverse((line, last))));
        while let Some(Reverse((line, from))) = heads.pop() {
            each(&line)?;
            let next = if from == last { rest.next().map(Ok) } else { files[from].next() };
            if let Some(line) = next {
                heads.push(Reverse((line?, from)));
            }
        }
        Ok(())
    }
}

impl Drop for SortedLines {
    fn drop(&mut self) {
        for path in &self.runs {
            // What cannot be removed is named like the export and harmless.
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_out_in_order_whatever_the_runs() {
        let dir = tempfile::tempdir().unwrap();
        for limit in [1, 40, 1 << 20] {
            let mut sorter = SortedLines::beside(&dir.path().join("x"));
            sorter.limit = limit;
            let lines: Vec<String> = (0..50).map(|n| format!("{:02}", n * 37 % 50)).collect();
            lines.iter().try_for_each(|line| sorter.add(line.clone())).unwrap();
            let mut given = Vec::new();
            sorter
                .finish(|line| {
                    given.push(line.to_owned());
                    Ok(())
                })
                .unwrap();
            let mut expected = lines;
            expected.sort();
            assert_eq!(given, expected, "limit {limit}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "runs are left");
    }
}

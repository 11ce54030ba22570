//! What people said of the crawl's pages: `labels.tsv` in its folder, a line `url<TAB>yes` or `url<TAB>no` for each.
//!
//! A file of its own, not a table: people write it, mail it and merge it, and a crawl may be running while they do.
//!
//! Promises: the file is replaced whole or not at all; a line that cannot be read is an error with its number, so that no
//! label is lost unnoticed.
//! Never: says what labels are for (that is `models`), or judges the crawl (that is `evaluation`).

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::{Store, StoreError};
use crate::{
    disk::{self, Readers},
    url::{Fingerprint, canonicalize},
};

/// The file's name in the folder of the crawl.
const FILE: &str = "labels.tsv";

/// The labels of one crawl's pages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PageLabels {
    path: PathBuf,
    by_page: BTreeMap<Fingerprint, (String, bool)>,
}

impl Store {
    /// The labels that were given to pages of this crawl; none where there is no file.
    ///
    /// # Errors
    /// A file that cannot be read, or a line that is no label.
    pub fn labels(&self) -> Result<PageLabels, StoreError> {
        PageLabels::load(&self.shared.dir)
    }
}

impl PageLabels {
    /// The labels in the folder `dir` of a crawl.
    ///
    /// # Errors
    /// As [`Store::labels`].
    pub fn load(dir: &Path) -> Result<Self, StoreError> {
        let path = dir.join(FILE);
        let mut labels = Self { path, by_page: BTreeMap::new() };
        let text = match fs::read_to_string(&labels.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(labels),
            read => read.map_err(StoreError::io(&labels.path))?,
        };
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let place = format!("{}, line {}", labels.path.display(), at + 1);
            read_line(line)
                .and_then(|(url, label)| labels.set(&url, label))
                .map_err(|detail| StoreError::Label { place, detail })?;
        }
        Ok(labels)
    }

    /// Writes the file, in one step.
    ///
    /// # Errors
    /// A folder that cannot be written.
    pub fn save(&self) -> Result<(), StoreError> {
        disk::replace(&self.path, self.to_tsv().as_bytes(), Readers::Usual).map_err(StoreError::io(&self.path))
    }

    /// The file's text: URLs in alphabetical order.
    #[must_use]
    pub fn to_tsv(&self) -> String {
        let mut lines: Vec<String> =
            self.iter().map(|(_, url, relevant)| format!("{url}\t{}\n", if relevant { "yes" } else { "no" })).collect();
        lines.sort_unstable();
        lines.concat()
    }

    /// Gives a page its label; the one before goes.
    ///
    /// # Errors
    /// Why `url` is none, in words.
    pub fn set(&mut self, url: &str, relevant: bool) -> Result<(), String> {
        let url = canonicalize(url, None).map_err(|error| format!("{url:?} is no address of a page: {error}"))?;
        self.by_page.insert(Fingerprint::of(&url), (url.to_string(), relevant));
        Ok(())
    }

    /// Takes a page's label away.
    pub fn remove(&mut self, page: Fingerprint) {
        self.by_page.remove(&page);
    }

    #[must_use]
    pub fn get(&self, page: Fingerprint) -> Option<bool> {
        self.by_page.get(&page).map(|&(_, relevant)| relevant)
    }

    /// Page, URL and label.
    pub fn iter(&self) -> impl Iterator<Item = (Fingerprint, &str, bool)> {
        self.by_page.iter().map(|(&page, (url, relevant))| (page, url.as_str(), *relevant))
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.by_page.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_page.is_empty()
    }

    /// How many say that their page is about the topic.
    #[must_use]
    pub fn relevant(&self) -> usize {
        self.by_page.values().filter(|(_, relevant)| *relevant).count()
    }
}

fn read_line(line: &str) -> Result<(String, bool), String> {
    let (url, label) = line.split_once('\t').ok_or("there is no tab between address and label")?;
    match label.trim() {
        "yes" => Ok((url.to_owned(), true)),
        "no" => Ok((url.to_owned(), false)),
        other => Err(format!("the label is {other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_come_back_whatever_the_spelling_of_the_url_and_the_last_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        let mut labels = PageLabels::load(folder.path()).unwrap();
        assert!(labels.is_empty());
        labels.set("http://e.com/b", true).unwrap();
        labels.set("http://e.com/a/index.html", true).unwrap();
        labels.set("http://E.com:80/b#part", false).unwrap();
        labels.save().unwrap();
        let read = PageLabels::load(folder.path()).unwrap();
        assert_eq!((read.len(), read.relevant()), (2, 1));
        assert_eq!(read, labels);
        let page = Fingerprint::of(&canonicalize("http://e.com/b", None).unwrap());
        assert_eq!(read.get(page), Some(false));
        assert!(fs::read_to_string(folder.path().join(FILE)).unwrap().ends_with("http://e.com/b\tno\n"));
    }

    #[test]
    fn a_line_that_is_no_label_is_named_and_nothing_is_lost() {
        for (line, said) in [("no tab", "line 2"), ("http://e.com/c\tperhaps", "\"perhaps\""), ("::\tyes", "no address")] {
            let folder = tempfile::tempdir().unwrap();
            let text = format!("http://e.com/a\tyes\n{line}\n");
            fs::write(folder.path().join(FILE), &text).unwrap();
            let error = PageLabels::load(folder.path()).unwrap_err().to_string();
            assert!(error.contains(said) && error.contains("labels.tsv"), "{error}");
            assert_eq!(fs::read_to_string(folder.path().join(FILE)).unwrap(), text);
        }
    }
}

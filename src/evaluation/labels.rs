//! Labels of recorded pages: `url<TAB>label` lines, from people or from the site itself.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use rustc_hash::FxHashMap;

use crate::url::{Fingerprint, canonicalize};

/// A label file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LabelError {
    #[error("{path}: {source}")]
    Io { path: String, source: std::io::Error },
    #[error("{path}, line {line}: expected `url<TAB>label`")]
    Line { path: String, line: usize },
    #[error("{path}: no page has the label \"{label}\"; name one with --label: {known}")]
    Unknown { path: String, label: String, known: String },
}

/// Labels by page.
#[derive(Debug, Clone, Default)]
pub struct Labels {
    path: String,
    by_page: FxHashMap<Fingerprint, String>,
}

impl Labels {
    /// Reads a label file.
    ///
    /// # Errors
    /// [`LabelError`] with file and line.
    pub fn load(path: &Path) -> Result<Self, LabelError> {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|source| LabelError::Io { path: name.clone(), source })?;
        let mut by_page = FxHashMap::default();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let malformed = || LabelError::Line { path: name.clone(), line: number + 1 };
            let (url, label) = line.split_once('\t').ok_or_else(malformed)?;
            let url = canonicalize(url, None).map_err(|_| malformed())?;
            by_page.insert(Fingerprint::of(&url), label.trim().to_owned());
        }
        Ok(Self { path: name, by_page })
    }

    /// The targets of a topic: the pages of `label` if one is given, else of the label that is called like the topic,
    /// else of the only label there is.
    ///
    /// # Errors
    /// [`LabelError::Unknown`] if that leaves no page.
    pub fn targets(&self, label: Option<&str>, topic: &str) -> Result<BTreeSet<Fingerprint>, LabelError> {
        let first = self.by_page.values().next();
        let only = first.filter(|first| self.by_page.values().all(|label| label == *first));
        self.pages(label.or(only.map(String::as_str)).unwrap_or(topic))
    }

    /// Every labelled page, and whether its label means the topic.
    pub fn judged(&self, is_topic: impl Fn(&str) -> bool) -> BTreeMap<Fingerprint, bool> {
        self.by_page.iter().map(|(&page, label)| (page, is_topic(label))).collect()
    }

    /// The pages that carry a label.
    ///
    /// # Errors
    /// [`LabelError::Unknown`] if no page carries it.
    pub fn pages(&self, label: &str) -> Result<BTreeSet<Fingerprint>, LabelError> {
        let pages: BTreeSet<Fingerprint> =
            self.by_page.iter().filter(|(_, known)| *known == label).map(|(&page, _)| page).collect();
        if pages.is_empty() {
            let known: BTreeSet<&str> = self.by_page.values().map(String::as_str).collect();
            let known = known.into_iter().take(12).collect::<Vec<_>>().join(", ");
            return Err(LabelError::Unknown { path: self.path.clone(), label: label.to_owned(), known });
        }
        Ok(pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_found_whatever_the_spelling_of_the_url() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "http://e.com/a/\tbirds\nhttp://e.com/b\tfish\n").unwrap();
        let labels = Labels::load(file.path()).unwrap();
        let page = Fingerprint::of(&canonicalize("https://e.com/a/index.html", None).unwrap());
        assert_eq!(labels.pages("birds").unwrap().into_iter().collect::<Vec<_>>(), [page]);
        assert!(labels.pages("cats").unwrap_err().to_string().contains("birds, fish"));
    }

    #[test]
    fn a_bad_line_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "http://e.com/a\tx\nno tab\n").unwrap();
        assert!(Labels::load(file.path()).unwrap_err().to_string().contains("line 2"));
    }
}

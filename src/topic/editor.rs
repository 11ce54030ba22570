//! Changes to a topic file that keep what its owner wrote: comments, order, layout.
//!
//! Promises: only the lists named here change, and only by the elements asked
//! for; a file is replaced whole or not at all.

use std::{
    fmt,
    path::{Path, absolute},
};

use rustc_hash::FxHashSet;
use toml_edit::{Array, DocumentMut, Item, RawString, Table, TableLike, Value};
use unicode_width::UnicodeWidthStr;

use super::{
    error::{Place, TopicError},
    source::read_text,
};
use crate::disk::{self, Readers};

/// Lists wider than this are written one element a line, in terminal columns.
const MAX_LINE: usize = 100;
const INDENT: &str = "\n    ";

/// Which list of examples is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExampleKind {
    Positive,
    Negative,
}

/// A topic file that is being changed.
#[derive(Debug, Clone)]
pub struct TopicEditor {
    document: DocumentMut,
    name: String,
}

impl TopicEditor {
    /// Reads the file to change.
    ///
    /// # Errors
    /// It cannot be read, or is not TOML.
    pub fn open(path: &Path) -> Result<Self, TopicError> {
        Self::parse(&read_text(path)?, &path.display().to_string())
    }

    /// Takes text to change; `name` stands for the file in messages.
    ///
    /// # Errors
    /// It is not TOML.
    pub fn parse(text: &str, name: &str) -> Result<Self, TopicError> {
        let document = text.parse().map_err(|error: toml_edit::TomlError| TopicError::Syntax {
            place: Place::of(name, text, error.span()),
            message: error.message().trim_end().replace('\n', ", "),
        })?;
        Ok(Self { document, name: name.to_owned() })
    }

    /// Adds keywords that are not there yet; returns how many were new.
    ///
    /// # Errors
    /// `keywords` is not a list.
    pub fn add_keywords<T: AsRef<str>>(&mut self, keywords: &[T]) -> Result<usize, TopicError> {
        self.add("", "keywords", keywords)
    }

    /// Removes keywords; returns how many were there.
    ///
    /// # Errors
    /// `keywords` is not a list.
    pub fn remove_keywords<T: AsRef<str>>(&mut self, keywords: &[T]) -> Result<usize, TopicError> {
        let list = self.list("", "keywords")?;
        let mut removed = 0;
        for keyword in keywords {
            while let Some(at) = position(list, keyword.as_ref()) {
                remove(list, at);
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Adds words that are to be counted whole (`text.words`); returns how many were new.
    ///
    /// # Errors
    /// `text.words` is not a list.
    pub fn add_words<T: AsRef<str>>(&mut self, words: &[T]) -> Result<usize, TopicError> {
        self.add("text", "words", words)
    }

    /// Adds paths of example pages, as they are to stand in the file; returns how many were new.
    ///
    /// # Errors
    /// The list of examples is not a list.
    pub fn add_examples<T: AsRef<str>>(&mut self, kind: ExampleKind, paths: &[T]) -> Result<usize, TopicError> {
        let key = match kind {
            ExampleKind::Positive => "positive",
            ExampleKind::Negative => "negative",
        };
        self.add("examples", key, paths)
    }

    /// Replaces the file `path` by the changed text, in one step.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), TopicError> {
        let written = disk::replace(path, self.to_string().as_bytes(), Readers::Usual);
        written.map_err(|source| TopicError::Write { place: Place::whole(path.display().to_string()), source })
    }

    /// Makes every path absolute that was relative to `folder`.
    pub(super) fn make_paths_absolute(&mut self, folder: &Path) -> Result<(), TopicError> {
        let name = self.name.clone();
        let resolve = |value: &mut Value| -> Result<(), TopicError> {
            let Some(path) = value.as_str() else { return Ok(()) };
            let full =
                absolute(folder.join(path)).map_err(|source| TopicError::Read { place: Place::whole(name.clone()), source })?;
            replace(value, full.to_string_lossy().as_ref());
            Ok(())
        };
        let root = self.document.as_table_mut();
        for (section, key) in [
            ("", "seeds_file"),
            ("", "ontology"),
            ("text", "user_dictionary"),
            ("examples", "positive"),
            ("examples", "negative"),
        ] {
            let table: &mut dyn TableLike = match section {
                "" => root,
                section => match root.get_mut(section).and_then(Item::as_table_like_mut) {
                    Some(table) => table,
                    None => continue,
                },
            };
            match table.get_mut(key).and_then(Item::as_value_mut) {
                Some(Value::Array(paths)) => paths.iter_mut().try_for_each(resolve)?,
                Some(path) => resolve(path)?,
                None => {}
            }
        }
        Ok(())
    }

    /// Sets a key of `section` (empty: the top of the file).
    pub(super) fn set(&mut self, section: &str, key: &str, value: impl Into<Value>) -> Result<(), TopicError> {
        let item = self.section(section)?.entry(key).or_insert(Item::None);
        match item.as_value_mut() {
            Some(old) => replace(old, value),
            None => *item = Item::Value(value.into()),
        }
        Ok(())
    }

    /// Adds to the list `key` of `section` (empty: the top of the file) what it does not hold yet.
    pub(super) fn add<T: AsRef<str>>(&mut self, section: &str, key: &str, elements: &[T]) -> Result<usize, TopicError> {
        let list = self.list(section, key)?;
        let mut held: FxHashSet<String> = list.iter().filter_map(Value::as_str).map(|text| text.trim().to_owned()).collect();
        let before = list.len();
        for element in elements.iter().map(|element| element.as_ref().trim()) {
            if !element.is_empty() && held.insert(element.to_owned()) {
                push(list, element);
            }
        }
        Ok(list.len() - before)
    }

    fn list(&mut self, section: &str, key: &str) -> Result<&mut Array, TopicError> {
        let wrong = TopicError::Value {
            place: Place::whole(self.name.as_str()),
            key: if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") },
            problem: "expected a list, as in [\"one\", \"two\"]".to_owned(),
        };
        let item = self.section(section)?.entry(key).or_insert(Item::Value(Value::Array(Array::new())));
        item.as_array_mut().ok_or(wrong)
    }

    fn section(&mut self, section: &str) -> Result<&mut dyn TableLike, TopicError> {
        let root = self.document.as_table_mut();
        if section.is_empty() {
            return Ok(root);
        }
        let item = root.entry(section).or_insert(Item::Table(Table::new()));
        item.as_table_like_mut().ok_or_else(|| TopicError::Value {
            place: Place::whole(self.name.as_str()),
            key: section.to_owned(),
            problem: format!("expected a section that begins with [{section}]"),
        })
    }
}

impl fmt::Display for TopicEditor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.document.fmt(f)
    }
}

/// Exchanges a value, and keeps the blanks and comments around it.
fn replace(value: &mut Value, new: impl Into<Value>) {
    let decor = value.decor().clone();
    *value = new.into();
    *value.decor_mut() = decor;
}

fn position(list: &Array, text: &str) -> Option<usize> {
    list.iter().position(|value| value.as_str().is_some_and(|held| held.trim() == text.trim()))
}

fn as_text(raw: Option<&RawString>) -> String {
    raw.and_then(RawString::as_str).unwrap_or_default().to_owned()
}

fn prefix(value: &Value) -> String {
    as_text(value.decor().prefix())
}

/// Appends in the layout that the list has; a list on one line that grows too wide is broken up.
fn push(list: &mut Array, text: &str) {
    let trailing = as_text(Some(list.trailing()));
    let broken = trailing.contains('\n') || list.iter().any(|value| prefix(value).contains('\n'));
    if broken {
        // A comment after the last element belongs to it, and so stands before the new one.
        let mut suffix = String::new();
        if let Some(end) = list.len().checked_sub(1).and_then(|end| list.get_mut(end)) {
            suffix = as_text(end.decor().suffix());
            end.decor_mut().set_suffix("");
        }
        let comment = format!("{}{}", suffix.trim_end(), trailing.trim_end());
        list.push_formatted(Value::from(text).decorated(format!("{comment}{INDENT}"), ""));
        list.set_trailing("\n");
        list.set_trailing_comma(true);
        return;
    }
    list.push(text);
    let width: usize = list.iter().map(|value| value.to_string().trim().width() + 2).sum();
    if width > MAX_LINE {
        for value in list.iter_mut() {
            value.decor_mut().set_prefix(INDENT);
            value.decor_mut().set_suffix("");
        }
        list.set_trailing("\n");
        list.set_trailing_comma(true);
    }
}

/// Removes an element; comments around it stay.
fn remove(list: &mut Array, at: usize) {
    let removed = list.remove(at);
    let before = prefix(&removed);
    let suffix = as_text(removed.decor().suffix());
    let after = if suffix.contains('#') { format!("{INDENT}{}", suffix.trim()) } else { String::new() };
    if let Some(next) = list.get_mut(at) {
        let gap = if after.is_empty() { "" } else { INDENT };
        let merged =
            format!("{}{after}{gap}{}", if after.is_empty() { &before } else { before.trim_end() }, prefix(next).trim_start());
        next.decor_mut().set_prefix(merged);
    } else if before.contains('#') || !after.is_empty() {
        let trailing = as_text(Some(list.trailing()));
        let end = if trailing.contains('\n') { "" } else { "\n" };
        list.set_trailing(format!("{}{after}{end}{trailing}", before.trim_end()));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn edited(text: &str, edit: impl FnOnce(&mut TopicEditor)) -> String {
        let mut editor = TopicEditor::parse(text, "t.toml").unwrap();
        edit(&mut editor);
        editor.to_string()
    }

    const OWNED: &str = "# mine\nkeywords = [\n    \"水稻\", # rice\n    # the pests\n    \"病虫害\", # pests\n    \"crop\" # last\n]\n\n# where from\nseeds = []\n";

    #[test]
    fn additions_keep_comments_order_and_layout() {
        let text = edited(OWNED, |editor| assert_eq!(editor.add_keywords(&["化肥", " crop ", "化肥", ""]).unwrap(), 1));
        assert_eq!(text, OWNED.replace("\"crop\" # last\n]", "\"crop\", # last\n    \"化肥\",\n]"));
        assert_eq!(edited(OWNED, |_| {}), OWNED);
    }

    #[test]
    fn removals_take_the_element_and_leave_the_comments() {
        let text = edited(OWNED, |editor| assert_eq!(editor.remove_keywords(&["病虫害", "crop", "none"]).unwrap(), 2));
        for kept in ["# mine", "# rice", "# the pests", "# pests", "# last", "# where from"] {
            assert!(text.contains(kept), "{kept} in {text}");
        }
        let words: toml::Table = toml::from_str(&text).unwrap();
        assert_eq!(words["keywords"].as_array().unwrap().len(), 1, "{text}");
        assert_eq!(
            edited("keywords = [\"a\", \"b\", \"c\"]", |e| _ = e.remove_keywords(&["a"]).unwrap()),
            "keywords = [\"b\", \"c\"]\n"
        );
        assert_eq!(
            edited("keywords = [\n    \"a\",\n    \"b\",\n]", |e| _ = e.remove_keywords(&["b"]).unwrap()),
            "keywords = [\n    \"a\",\n]\n"
        );
    }

    #[test]
    fn a_line_that_grows_too_wide_is_broken_up() {
        let words: Vec<String> = (0..20).map(|i| format!("关键词{i}")).collect();
        let text = edited("keywords = [\"a\"] # here\n", |editor| assert_eq!(editor.add_keywords(&words).unwrap(), 20));
        assert!(text.starts_with("keywords = [\n    \"a\",\n    \"关键词0\",\n"), "{text}");
        assert!(text.ends_with("\"关键词19\",\n] # here\n"), "{text}");
    }

    #[test]
    fn addresses_that_differ_in_case_are_different() {
        let seeds = ["http://e.com/A", "http://e.com/a"];
        let text = edited("seeds = [\"http://e.com/a\"]\n", |editor| assert_eq!(editor.add("", "seeds", &seeds).unwrap(), 1));
        assert_eq!(text, "seeds = [\"http://e.com/a\", \"http://e.com/A\"]\n");
    }

    #[test]
    fn missing_sections_are_made() {
        let text = edited("keywords = [\"a\"]\n", |editor| {
            editor.add_words(&["稻鸭共作"]).unwrap();
            editor.add_examples(ExampleKind::Negative, &["off/"]).unwrap();
            editor.add_examples(ExampleKind::Positive, &["on/"]).unwrap();
        });
        assert!(text.contains("[text]\nwords = [\"稻鸭共作\"]\n"), "{text}");
        assert!(text.contains("[examples]\nnegative = [\"off/\"]\npositive = [\"on/\"]\n"), "{text}");
    }

    #[test]
    fn what_is_no_list_is_refused_and_left_alone() {
        let mut editor = TopicEditor::parse("keywords = \"a\"\n", "t.toml").unwrap();
        assert!(editor.add_keywords(&["b"]).unwrap_err().to_string().starts_with("t.toml: keywords: expected a list"));
        assert_eq!(editor.to_string(), "keywords = \"a\"\n");
    }

    #[test]
    fn saving_replaces_the_file_and_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.toml");
        fs::write(&path, OWNED).unwrap();
        let mut editor = TopicEditor::open(&path).unwrap();
        editor.add_keywords(&["化肥"]).unwrap();
        editor.save(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), editor.to_string());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    /// A list as people write them: one element a line, comments above and behind, with or without the last comma.
    fn written(elements: &[(bool, bool)], last_comma: bool) -> String {
        let lines = elements.iter().enumerate().map(|(at, (above, behind))| {
            let above = if *above { format!("    # above {at}\n") } else { String::new() };
            let comma = if at + 1 < elements.len() || last_comma { "," } else { "" };
            let behind = if *behind { format!(" # behind {at}") } else { String::new() };
            format!("{above}    \"w{at}\"{comma}{behind}\n")
        });
        format!("keywords = [\n{}]\n", lines.collect::<Vec<_>>().concat())
    }

    proptest::proptest! {
        #[test]
        fn edits_lose_neither_words_nor_comments(
            elements in proptest::collection::vec((proptest::bool::ANY, proptest::bool::ANY), 0..6),
            last_comma: bool,
            removed in proptest::collection::vec(0_usize..6, 0..4),
            added in 0_usize..3,
        ) {
            let text = written(&elements, last_comma);
            let removed: Vec<String> = removed.iter().map(|at| format!("w{at}")).collect();
            let added: Vec<String> = (0..added).map(|at| format!("new{at}")).collect();
            let result = edited(&text, |editor| {
                editor.remove_keywords(&removed).unwrap();
                editor.add_keywords(&added).unwrap();
            });
            let words = (0..elements.len()).map(|at| format!("w{at}")).filter(|word| !removed.contains(word));
            let words: Vec<toml::Value> = words.chain(added).map(toml::Value::String).collect();
            assert_eq!(toml::from_str::<toml::Table>(&result).unwrap()["keywords"].as_array().unwrap(), &words, "{result}");
            for comment in text.lines().filter_map(|line| line.split_once('#')).map(|(_, comment)| comment) {
                assert!(result.contains(comment), "{comment} of {text} in {result}");
            }
        }
    }
}

//! The text of a topic file, and the place in it of every key.
//!
//! Promises: every mistake that TOML or serde finds comes out with line,
//! column and key; unknown keys are looked for in the other sections first.

use std::{
    fs, io,
    ops::Range,
    path::{Path, PathBuf},
};

use toml_edit::{Document, Item, Table, TableLike};

use super::{
    error::{Place, TopicError},
    file::{KEYS, TopicFile},
};

/// Where topic text came from; remembers the spans of its keys.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) name: String,
    /// What relative paths in the text are relative to.
    pub(super) folder: PathBuf,
    document: Document<String>,
}

/// Reads a whole file as UTF-8, without its byte order mark.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub(super) fn read_text(path: &Path) -> Result<String, TopicError> {
    let place = || Place::whole(path.display().to_string());
    let bytes = fs::read(path).map_err(|source| TopicError::Read { place: place(), source })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        let source = io::Error::new(io::ErrorKind::InvalidData, "not UTF-8: save it as UTF-8 in your editor");
        TopicError::Read { place: Place { line, column: 1, ..place() }, source }
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

impl Source {
    /// Parses topic text; `path` names it in messages and gives the folder that its paths are relative to.
    pub(super) fn parse(text: String, path: &Path) -> Result<(Self, TopicFile), TopicError> {
        let name = path.display().to_string();
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let at = |text: &str, span| Place::of(&name, text, span);
        let document = Document::parse(text.clone()).map_err(|error| TopicError::Syntax {
            place: at(&text, error.span()),
            message: error.message().trim_end().replace('\n', ", "),
        })?;
        let source = Self { name, folder, document };
        source.refuse_unknown_keys()?;
        let file = toml::from_str(&text).map_err(|error| {
            let key = error.span().map(|span| key_at(source.document.as_table(), &span)).unwrap_or_default();
            let place = Place::of(&source.name, &text, error.span());
            TopicError::Value { place, key, problem: in_plain_words(error.message()) }
        })?;
        Ok((source, file))
    }

    /// A source without a file, for topics that are built from parts.
    pub(super) fn of_parts(name: &str) -> Self {
        let document = Document::parse(String::new()).unwrap_or_else(|_| unreachable!("nothing at all is valid TOML"));
        Self { name: format!("topic {name:?}"), folder: PathBuf::new(), document }
    }

    pub(super) fn text(&self) -> &str {
        self.document.raw()
    }

    /// The whole file.
    pub(super) fn whole(&self) -> Place {
        Place::whole(self.name.as_str())
    }

    /// The place of a key such as `scope.include`; the whole file where it is not written.
    pub(super) fn place(&self, key: &str) -> Place {
        Place::of(&self.name, self.text(), self.item(key).and_then(Item::span))
    }

    /// The place of one element of a list.
    pub(super) fn place_in(&self, key: &str, index: usize) -> Place {
        let element = self.item(key).and_then(Item::as_array).and_then(|array| array.get(index));
        Place::of(&self.name, self.text(), element.and_then(toml_edit::Value::span))
    }

    fn item(&self, key: &str) -> Option<&Item> {
        let mut keys = key.split('.');
        let first = self.document.as_table().get(keys.next()?)?;
        keys.try_fold(first, |item, key| item.get(key))
    }

    fn refuse_unknown_keys(&self) -> Result<(), TopicError> {
        for (section, known) in KEYS {
            let table: &dyn TableLike = match section {
                &"" => self.document.as_table(),
                section => match self.item(section).and_then(Item::as_table_like) {
                    Some(table) => table,
                    None => continue,
                },
            };
            for (key, _) in table.iter().filter(|(key, _)| !known.contains(key)) {
                let span = table.get_key_value(key).and_then(|(key, _)| key.span());
                return Err(TopicError::UnknownKey {
                    place: Place::of(&self.name, self.text(), span),
                    key: key.to_owned(),
                    help: help_with(key, section, known),
                });
            }
        }
        Ok(())
    }
}

/// What an unknown key was probably meant to be.
fn help_with(key: &str, section: &str, known: &[&str]) -> String {
    let at_home = KEYS.iter().find(|(other, keys)| *other != section && keys.contains(&key));
    match at_home {
        Some(("", _)) => return "this key belongs to the top of the file, above the first [section]".to_owned(),
        Some((home, _)) => return format!("this key belongs under [{home}]"),
        None => {}
    }
    let closest =
        known.iter().map(|name| (strsim::normalized_damerau_levenshtein(key, name), *name)).max_by(|a, b| a.0.total_cmp(&b.0));
    match closest {
        Some((likeness, name)) if likeness >= 0.5 => format!("did you mean {name:?}?"),
        _ => format!("known here are {}", known.join(", ")),
    }
}

/// The dotted path of the innermost key whose value holds `span`.
fn key_at(table: &Table, span: &Range<usize>) -> String {
    fn descend(table: &dyn TableLike, span: &Range<usize>, path: &mut Vec<String>) {
        for (key, item) in table.iter() {
            if item.span().is_some_and(|outer| outer.start <= span.start && span.end <= outer.end) {
                path.push(key.to_owned());
                if let Some(inner) = item.as_table_like() {
                    descend(inner, span, path);
                }
                return;
            }
        }
    }
    let mut path = Vec::new();
    descend(table, span, &mut path);
    path.join(".")
}

/// serde's message without the names of Rust types.
fn in_plain_words(message: &str) -> String {
    let types = [
        ("expected a sequence", "expected a list, as in [\"one\", \"two\"]"),
        ("expected a string", "expected text in \"quotes\""),
        ("expected f64", "expected a number"),
        ("expected u64", "expected a whole number from 0"),
        ("expected usize", "expected a whole number from 0"),
        ("expected u16", "expected a whole number from 0 to 65535"),
        ("expected u8", "expected a whole number from 0 to 8"),
        ("expected a boolean", "expected true or false"),
    ];
    types.iter().fold(message.trim_end().replace('\n', ", "), |message, (rust, plain)| message.replace(rust, plain))
}

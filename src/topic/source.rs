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
        let valid = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        let line = 1 + valid.matches('\n').count();
        let source = io::Error::new(io::ErrorKind::InvalidData, "not UTF-8: save it as UTF-8 in your editor");
        TopicError::Read { place: Place { line, column: 1, ..place() }, source }
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

impl Source {
    /// Parses topic text; `path` names it in messages and gives the folder that its paths are relative to.
    pub(super) fn parse(text: &str, path: &Path) -> Result<(Self, TopicFile), TopicError> {
        let name = path.display().to_string();
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let document = Document::parse(text.to_owned()).map_err(|error| TopicError::Syntax {
            place: Place::of(&name, text, error.span()),
            message: error.message().trim_end().replace('\n', ", "),
        })?;
        let source = Self { name, folder, document };
        source.refuse_unknown_keys()?;
        let file = toml::from_str(text).map_err(|error| {
            let key = error.span().map(|span| key_at(source.document.as_table(), &span)).unwrap_or_default();
            let place = Place::of(&source.name, text, error.span());
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
        self.place_of(&key.split('.').collect::<Vec<_>>())
    }

    /// The place of a key that may hold dots itself.
    pub(super) fn place_of(&self, path: &[&str]) -> Place {
        Place::of(&self.name, self.text(), self.item(path).and_then(Item::span))
    }

    /// The place of one element of a list.
    pub(super) fn place_in(&self, key: &str, index: usize) -> Place {
        let element = self.item(&key.split('.').collect::<Vec<_>>()).and_then(Item::as_array).and_then(|array| array.get(index));
        Place::of(&self.name, self.text(), element.and_then(toml_edit::Value::span))
    }

    fn item(&self, path: &[&str]) -> Option<&Item> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.document.as_table().get(first)?, |item, key| item.get(key))
    }

    fn refuse_unknown_keys(&self) -> Result<(), TopicError> {
        for (section, known) in KEYS {
            let table: &dyn TableLike = match section {
                &"" => self.document.as_table(),
                section => match self.item(&section.split('.').collect::<Vec<_>>()).and_then(Item::as_table_like) {
                    Some(table) => table,
                    None => continue,
                },
            };
            if let Some((key, _)) = table.iter().find(|(key, _)| !known.contains(key)) {
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
    fn descend(table: &dyn TableLike, span: &Range<usize>, path: &mut Vec<String>) -> bool {
        for (key, item) in table.iter() {
            path.push(key.to_owned());
            let holds = item.span().is_some_and(|outer| outer.start <= span.start && span.end <= outer.end);
            // The span of a [section] is that of its header, so its keys must be looked through in any case.
            let inner = item.as_table_like().is_some_and(|inner| descend(inner, span, path));
            if inner || holds {
                return true;
            }
            path.pop();
        }
        false
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

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Source::parse(text, Path::new("t.toml")).unwrap_err().to_string()
    }

    #[test]
    fn a_misspelt_key_is_named_with_its_place_and_its_likely_meaning() {
        assert_eq!(error("name = \"x\"\n  keyword = []"), "t.toml:2:3: unknown key \"keyword\": did you mean \"keywords\"?");
        assert_eq!(error("[scope]\nhost = []"), "t.toml:2:1: unknown key \"host\": did you mean \"hosts\"?");
        assert!(error("[tunnel]\ncolour = 1").ends_with("known here are depth"));
    }

    #[test]
    fn a_key_in_the_wrong_section_is_sent_home() {
        assert!(error("[examples]\nseeds = []").contains("t.toml:2:1: unknown key \"seeds\": this key belongs to the top"));
        assert!(error("max_pages = 1").ends_with("this key belongs under [limits]"));
        assert!(
            error("[stop]\nharvest_below = { rat = 0.1, over = 1 }")
                .contains("t.toml:2:19: unknown key \"rat\": did you mean \"rate\"?")
        );
    }

    #[test]
    fn values_of_the_wrong_kind_are_told_in_plain_words() {
        assert_eq!(
            error("name = \"稻\"\nkeywords = \"rice, wheat\""),
            "t.toml:2:12: keywords: invalid type: string \"rice, wheat\", expected a list, as in [\"one\", \"two\"]"
        );
        assert_eq!(
            error("[limits]\nmax_pages = -1"),
            "t.toml:2:13: limits.max_pages: invalid value: integer `-1`, expected a whole number from 0"
        );
        assert!(error("[stop]\nharvest_below = { rate = 0.1 }").contains("stop.harvest_below: missing field `over`"));
    }

    #[test]
    fn what_is_not_toml_says_where_it_stops_being_so() {
        assert!(error("name = \"x\"\nkeywords = [\"a\"\nseeds").starts_with("t.toml:3:1: not valid TOML: "));
        assert!(error("name = \"x\"\nname = \"y\"").starts_with("t.toml:2:1: not valid TOML: duplicate key"));
    }

    #[test]
    fn columns_count_characters_and_lists_know_their_elements() {
        let (source, _) = Source::parse("keywords = [\"水稻\", \"小麦\"]", Path::new("t.toml")).unwrap();
        assert_eq!(source.place_in("keywords", 1).to_string(), "t.toml:1:19");
        assert_eq!(source.place("scope.hosts").to_string(), "t.toml");
    }

    #[test]
    fn a_file_that_is_not_utf_8_names_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.toml");
        fs::write(&path, b"name = \"x\"\n# \xcb\xae\xb5\xbe").unwrap();
        let message = read_text(&path).unwrap_err().to_string();
        assert!(message.contains("t.toml:2:1: cannot be read: not UTF-8"), "{message}");
        fs::write(&path, "\u{feff}name = \"x\"").unwrap();
        assert_eq!(read_text(&path).unwrap(), "name = \"x\"");
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config::with_cases(300))]

        #[test]
        fn a_damaged_file_gives_a_topic_or_a_message(cut in 0_usize..6000, length in 0_usize..60, put in "[\\PC\\n]{0,4}") {
            let mut text: Vec<char> = include_str!("template.toml").chars().collect();
            let start = cut.min(text.len());
            let end = (start + length).min(text.len());
            text.splice(start..end, put.chars());
            let text: String = text.into_iter().collect();
            if let Err(error) = crate::topic::Topic::parse(&text, Path::new("t.toml")) {
                assert!(error.to_string().starts_with("t.toml"), "{error}");
            }
        }
    }
}

//! A new topic file: the commented template with the user's values in it.

use super::{editor::TopicEditor, error::TopicError};

const TEMPLATE: &str = include_str!("template.toml");

/// The values that a new topic file starts with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTopic {
    pub name: String,
    pub keywords: Vec<String>,
    pub seeds: Vec<String>,
    /// As it is to stand in the file: relative to its folder, or absolute.
    pub seeds_file: Option<String>,
    /// ISO 639-1 codes; empty to see them from the keywords.
    pub languages: Vec<String>,
}

impl NewTopic {
    /// The text of the file, every key explained.
    ///
    /// # Errors
    /// Never with the built-in template, which the tests parse.
    pub fn render(&self) -> Result<String, TopicError> {
        let mut template = TEMPLATE.to_owned();
        if self.seeds_file.is_some() {
            template = template.replacen("# seeds_file =", "seeds_file =", 1);
        }
        let mut editor = TopicEditor::parse(&template, "template.toml")?;
        editor.set("name", &self.name);
        if let Some(path) = &self.seeds_file {
            editor.set("seeds_file", path);
        }
        editor.add("", "keywords", &self.keywords)?;
        editor.add("", "seeds", &self.seeds)?;
        editor.add("", "language", &self.languages)?;
        Ok(editor.to_string())
    }
}

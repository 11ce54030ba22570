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
    /// Pages after which the crawl stops; 0 for no limit.
    pub max_pages: u32,
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
        editor.set("", "name", &self.name)?;
        if let Some(path) = &self.seeds_file {
            editor.set("", "seeds_file", path)?;
        }
        editor.set("limits", "max_pages", i64::from(self.max_pages))?;
        editor.add("", "keywords", &self.keywords)?;
        editor.add("", "seeds", &self.seeds)?;
        editor.add("", "language", &self.languages)?;
        Ok(editor.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::topic::{Limits, Stop, Topic, file::KEYS};

    #[test]
    fn values_reach_the_file_readably_and_come_back() {
        let new = NewTopic {
            name: "智慧\"农业\"".to_owned(),
            keywords: ["水稻", "crop rotation"].map(str::to_owned).to_vec(),
            seeds: (0..9).map(|page| format!("http://example.com/farming/{page}")).collect(),
            seeds_file: None,
            languages: vec!["zh".to_owned()],
            max_pages: 1000,
        };
        let text = new.render().unwrap();
        assert!(text.contains("keywords = [\"水稻\", \"crop rotation\"]"), "{text}");
        assert!(text.contains("seeds = [\n    \"http://example.com/farming/0\",\n"), "{text}");
        let topic = Topic::parse(&text, Path::new("t.toml")).unwrap();
        assert_eq!((topic.name, topic.keywords.len(), topic.seeds.len()), (new.name, 2, 9));
        assert_eq!(topic.limits, Limits { max_pages: Some(1000), ..Limits::default() });
        assert_eq!(topic.stop, Stop::default());
    }

    #[test]
    fn a_seeds_file_is_switched_on_where_it_is_explained() {
        let new = NewTopic { seeds_file: Some("my seeds.txt".to_owned()), ..NewTopic::default() };
        let text = new.render().unwrap();
        assert!(text.contains("# More seeds, in a file with one URL a line:\nseeds_file = \"my seeds.txt\"\n"), "{text}");
    }

    #[test]
    fn the_template_explains_every_key() {
        for (section, keys) in KEYS.iter().filter(|(section, _)| *section != "stop.harvest_below") {
            for key in *keys {
                let line = |text: &str| TEMPLATE.lines().any(|line| line.trim_start_matches("# ").starts_with(text));
                assert!(line(&format!("{key} =")) || line(&format!("[{key}]")), "{section}.{key}");
            }
        }
    }
}

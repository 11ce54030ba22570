//! [`Topic`]: the checked, typed meaning of a topic file.

use std::{path::Path, sync::Arc};

use super::{
    editor::TopicEditor,
    error::TopicError,
    examples::{Examples, expand},
    file::{DEFAULT_THRESHOLD, Limits, Stop, TopicFile},
    keyword::{Keyword, keywords_of, languages_of, segmenter_of},
    rules::{canonical_scope, check_numbers, scope_error},
    seeds::Seeds,
    source::{Source, read_text},
    template::NewTopic,
};
use crate::{
    page::Relevance,
    text::{Language, Segmenter},
    url::{Scope, ScopeConfig, Url},
};

/// What a crawl is about, and how far it may go for it.
#[derive(Debug, Clone)]
pub struct Topic {
    pub name: String,
    /// The languages that its pages are expected in; never empty.
    pub languages: Vec<Language>,
    /// At least one; no two with the same words.
    pub keywords: Vec<Keyword>,
    /// Canonical, at least one, no two of the same page.
    pub seeds: Vec<Url>,
    /// A page of at least this relevance counts as relevant.
    pub threshold: Relevance,
    pub examples: Examples,
    /// Irrelevant pages in a row that are crossed in search of a relevant one, `0..=8`.
    pub tunnel_depth: u8,
    pub limits: Limits,
    pub stop: Stop,
    /// Name of the trained model to start from.
    pub model: Option<String>,
    scope: Scope,
    scope_config: ScopeConfig,
    segmenter: Arc<Segmenter>,
    repeated: Repeated,
    source: Source,
}

/// What the file says twice; said once here, in the user's words.
#[derive(Debug, Clone, Default)]
pub(super) struct Repeated {
    pub(super) seeds: Vec<String>,
    pub(super) keywords: Vec<String>,
}

impl Topic {
    /// Reads and checks a topic file; paths in it are relative to its folder.
    ///
    /// # Errors
    /// The first mistake in the file, with its place and the way out.
    pub fn load(path: &Path) -> Result<Self, TopicError> {
        Self::parse(&read_text(path)?, path)
    }

    /// Checks topic text as if it stood in the file `path`, which need not exist.
    ///
    /// # Errors
    /// As [`Topic::load`].
    pub fn parse(text: &str, path: &Path) -> Result<Self, TopicError> {
        Segmenter::load_ahead(text);
        let (source, mut file) = Source::parse(text, path)?;
        if file.name.trim().is_empty() {
            file.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        Self::build(file, source)
    }

    /// A topic without a file, with the defaults for all that is not given.
    ///
    /// # Errors
    /// No keyword or seed, or one that cannot be used.
    pub fn from_parts(
        name: &str,
        keywords: impl IntoIterator<Item = impl Into<String>>,
        seeds: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, TopicError> {
        let file = TopicFile {
            name: name.to_owned(),
            keywords: keywords.into_iter().map(Into::into).collect(),
            seeds: seeds.into_iter().map(Into::into).collect(),
            ..TopicFile::default()
        };
        Self::build(file, Source::of_parts(name))
    }

    /// Cuts text into words as this topic needs: its user dictionary and its keywords are words. The shared
    /// segmenter where these are known to jieba already.
    #[must_use]
    pub fn segmenter(&self) -> Arc<Segmenter> {
        Arc::clone(&self.segmenter)
    }

    /// The compiled scope.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The scope as configured, with hosts and sites made canonical.
    #[must_use]
    pub fn scope_config(&self) -> &ScopeConfig {
        &self.scope_config
    }

    /// The topic as a file that may stand in any folder: comments kept, paths made absolute.
    ///
    /// # Errors
    /// The current directory, to which relative paths lead, cannot be found.
    pub fn to_toml(&self) -> Result<String, TopicError> {
        if self.source.text().is_empty() {
            let seeds = self.seeds.iter().map(Url::to_string).collect();
            let keywords = self.keywords.iter().map(|keyword| keyword.text.clone()).collect();
            return NewTopic { name: self.name.clone(), keywords, seeds, ..NewTopic::default() }.render();
        }
        let mut editor = TopicEditor::parse(self.source.text(), &self.source.whole().file)?;
        editor.make_paths_absolute(&self.source.folder)?;
        Ok(editor.to_string())
    }

    pub(super) fn repeated(&self) -> &Repeated {
        &self.repeated
    }

    fn build(file: TopicFile, source: Source) -> Result<Self, TopicError> {
        let segmenter = segmenter_of(&file, &source)?;
        let (keywords, repeated_keywords) = keywords_of(&file, &source, &segmenter)?;
        let seeds = Seeds::gather(&file, &source)?;
        check_numbers(&file, &source)?;
        let scope_config = canonical_scope(&file.scope, &source)?;
        let scope = Scope::new(scope_config.clone(), &seeds.urls).map_err(|error| scope_error(error, &source))?;
        Ok(Self {
            languages: languages_of(&file, &source)?,
            threshold: Relevance::new(file.threshold.unwrap_or(DEFAULT_THRESHOLD)),
            examples: Examples {
                positive: expand(&file.examples.positive, "examples.positive", &source)?,
                negative: expand(&file.examples.negative, "examples.negative", &source)?,
            },
            name: file.name,
            keywords,
            seeds: seeds.urls,
            tunnel_depth: file.tunnel.depth,
            limits: file.limits.without_zeros(),
            stop: file.stop.without_zeros(),
            model: file.model.name,
            scope,
            scope_config,
            segmenter,
            repeated: Repeated { seeds: seeds.repeated, keywords: repeated_keywords },
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_from_parts_has_the_defaults() {
        let topic = Topic::from_parts("birds", ["bird", "nest"], ["http://en.wikipedia.org/wiki/Bird"]).unwrap();
        assert_eq!((topic.name.as_str(), topic.keywords.len(), topic.seeds.len()), ("birds", 2, 1));
        assert_eq!((topic.threshold, topic.tunnel_depth), (Relevance::new(0.5), 3));
        assert_eq!((topic.limits, topic.stop, topic.model), (Limits::default(), Stop::default(), None));
        let error = Topic::from_parts("birds", ["bird"], ["wiki/Bird"]).unwrap_err().to_string();
        assert!(error.starts_with("topic \"birds\": seed \"wiki/Bird\""), "{error}");
    }

    #[test]
    fn a_file_without_a_name_is_called_after_the_file() {
        let topic = Topic::parse("keywords = [\"rice\"]\nseeds = [\"http://e.com/\"]", Path::new("x/稻.toml")).unwrap();
        assert_eq!(topic.name, "稻");
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Topic::load(Path::new("no/such.toml")).unwrap_err().to_string();
        assert!(error.starts_with("no/such.toml: cannot be read"), "{error}");
    }

    #[test]
    fn a_topic_written_elsewhere_is_the_same_topic() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("seeds.txt"), "http://f.com/\n").unwrap();
        std::fs::write(folder.path().join("a.txt"), "rice").unwrap();
        let text = "keywords = [\"rice\"] # the word\nseeds_file = \"seeds.txt\" # theirs\n[examples]\npositive = [\"a.txt\"]\n";
        let topic = Topic::parse(text, &folder.path().join("t.toml")).unwrap();
        let copy = topic.to_toml().unwrap();
        assert!(copy.contains("# the word") && copy.contains("# theirs"), "{copy}");
        let moved = Topic::parse(&copy, Path::new("other/place.toml")).unwrap();
        assert_eq!((moved.seeds, moved.examples), (topic.seeds, topic.examples));
    }

    #[test]
    fn a_topic_from_parts_can_be_written_down() {
        let topic = Topic::from_parts("稻 \"1\"", ["水稻", "流计算"], ["http://e.com/a?b=1"]).unwrap();
        let copy = Topic::parse(&topic.to_toml().unwrap(), Path::new("t.toml")).unwrap();
        assert_eq!((copy.name, copy.keywords, copy.seeds), (topic.name, topic.keywords, topic.seeds));
        assert_eq!((copy.scope_config, copy.limits), (topic.scope_config, topic.limits), "nothing is limited that was not");
    }

    #[test]
    fn the_topics_of_this_repository_can_be_crawled() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("training/topics");
        let mut files = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let topic = Topic::load(&entry.unwrap().path()).unwrap();
            assert!(topic.repeated().keywords.is_empty() && topic.repeated().seeds.is_empty(), "{}", topic.name);
            assert!(topic.seeds.iter().all(|seed| topic.scope().admits(seed, 0).is_ok()), "{}", topic.name);
            files += 1;
        }
        assert_eq!(files, 3);
    }
}

//! Seeds: from the topic file and from the file it names, made canonical, each page once.

use std::path::Path;

use rustc_hash::FxHashSet;

use super::{
    error::{Place, TopicError},
    file::TopicFile,
    source::{Source, read_text},
};
use crate::url::{Fingerprint, Url, UrlError, canonicalize};

/// The pages a crawl starts from.
#[derive(Debug, Clone, Default)]
pub(super) struct Seeds {
    pub(super) urls: Vec<Url>,
    /// Those that name a page named before, as written.
    pub(super) repeated: Vec<String>,
    seen: FxHashSet<Fingerprint>,
}

impl Seeds {
    /// All seeds of a topic file, in order.
    ///
    /// # Errors
    /// A seed that cannot be fetched, a seeds file that cannot be read, or no seed at all.
    pub(super) fn gather(file: &TopicFile, source: &Source) -> Result<Self, TopicError> {
        let mut seeds = Self::default();
        for (at, seed) in file.seeds.iter().enumerate() {
            seeds.add(seed, || source.place_in("seeds", at))?;
        }
        if let Some(name) = &file.seeds_file {
            let path = source.folder.join(name);
            if !path.is_file() {
                let place = source.place("seeds_file");
                return Err(TopicError::MissingPath { place, key: "seeds_file".to_owned(), path: name.clone(), full: path });
            }
            seeds.read_list(&path)?;
        }
        if seeds.urls.is_empty() { Err(TopicError::NoSeeds { place: source.whole() }) } else { Ok(seeds) }
    }

    /// Adds one URL per line; empty lines and lines from `#` are skipped.
    pub(super) fn read_list(&mut self, path: &Path) -> Result<(), TopicError> {
        for (at, line) in read_text(path)?.lines().enumerate() {
            let seed = line.trim();
            if !seed.is_empty() && !seed.starts_with('#') {
                self.add(seed, || Place { file: path.display().to_string(), line: at + 1, column: 1 })?;
            }
        }
        Ok(())
    }

    fn add(&mut self, seed: &str, place: impl FnOnce() -> Place) -> Result<(), TopicError> {
        let url = canonicalize(seed, None).map_err(|source| {
            let seed = seed.to_owned();
            TopicError::Seed { place: place(), help: help_with(&seed, source), seed, source }
        })?;
        if self.seen.insert(Fingerprint::of(&url)) {
            self.urls.push(url);
        } else {
            self.repeated.push(seed.to_owned());
        }
        Ok(())
    }
}

fn help_with(seed: &str, error: UrlError) -> String {
    let complete = format!("https://{}", seed.trim_start_matches('/'));
    match error {
        // `example.com:8080/` parses as a scheme of that name.
        UrlError::Malformed | UrlError::Scheme if looks_like_host(seed) => format!("did you mean {complete:?}?"),
        UrlError::TooLong => "find a shorter address of the page".to_owned(),
        _ => "a seed starts with http:// or https:// and a host name".to_owned(),
    }
}

fn looks_like_host(seed: &str) -> bool {
    let host = seed.trim_start_matches('/').split(['/', ':']).next().unwrap_or_default();
    host.contains('.')
        && !seed.contains("://")
        && !seed.contains(char::is_whitespace)
        && canonicalize(&format!("https://{host}"), None).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic::Topic;

    fn parse(text: &str, folder: &Path) -> Result<Topic, TopicError> {
        Topic::parse(&format!("keywords = [\"rice\"]\n{text}"), &folder.join("t.toml"))
    }

    #[test]
    fn spellings_of_one_page_are_one_seed() {
        let topic = parse("seeds = [\"http://E.com/a/\", \"https://e.com/a\", \"http://e.com/b\"]", Path::new("")).unwrap();
        assert_eq!(topic.seeds.iter().map(Url::as_str).collect::<Vec<_>>(), ["http://e.com/a/", "http://e.com/b"]);
        assert_eq!(topic.repeated().seeds, ["https://e.com/a"]);
    }

    #[test]
    fn a_seed_that_is_no_url_is_placed_and_completed() {
        let error = |seed: &str| parse(&format!("seeds = [\"{seed}\"]"), Path::new("")).unwrap_err().to_string();
        assert!(error("www.e.com/rice").starts_with("t.toml:2:10: seed \"www.e.com/rice\": not a URL"));
        assert!(error("www.e.com/rice").ends_with("did you mean \"https://www.e.com/rice\"?"));
        assert!(error("e.com:8080/x").ends_with("did you mean \"https://e.com:8080/x\"?"));
        assert!(error("ftp://e.com/").ends_with("a seed starts with http:// or https:// and a host name"));
        assert!(error("rice").ends_with("and a host name"));
        assert!(error(&format!("http://e.com/{}", "x".repeat(3000))).ends_with("find a shorter address of the page"));
    }

    #[test]
    fn a_seeds_file_adds_to_the_seeds_and_its_mistakes_have_lines() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("seeds.txt");
        let load = || parse("seeds = [\"http://e.com/\"]\nseeds_file = \"seeds.txt\"", folder.path());
        assert!(load().unwrap_err().to_string().contains("t.toml:3:14: seeds_file: there is no file or folder \"seeds.txt\""));
        std::fs::write(&list, "\u{feff}# a comment\r\n\r\nhttp://f.com/\r\n").unwrap();
        assert_eq!(load().unwrap().seeds.len(), 2);
        std::fs::write(&list, "http://f.com/\nnonsense\n").unwrap();
        assert!(load().unwrap_err().to_string().contains("seeds.txt:2:1: seed \"nonsense\""));
    }

    #[test]
    fn a_topic_without_seeds_says_how_to_give_some() {
        let error = parse("", Path::new("")).unwrap_err().to_string();
        assert!(error.starts_with("t.toml: no seeds: give the crawl pages to start from"), "{error}");
    }
}

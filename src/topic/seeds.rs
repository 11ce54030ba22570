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

//! A recorded web as a graph: which pages can be reached from which seeds, for budgets and recall.

use std::{
    collections::{BTreeSet, VecDeque},
    path::PathBuf,
    sync::Arc,
};

use rustc_hash::FxHashMap;

use crate::{
    fetch::{Fetcher, ReplayError, ReplayFetcher, Request},
    parse::{Document, ParseConfig, parse},
    text::Segmenter,
    url::{Fingerprint, Scope, ScopeConfig, Url, canonicalize},
};

/// A recorded web with its link graph.
pub struct RecordedWeb {
    pub fetcher: Arc<ReplayFetcher>,
    links: FxHashMap<Fingerprint, Vec<Fingerprint>>,
    urls: FxHashMap<Fingerprint, Url>,
}

impl RecordedWeb {
    /// Opens a web and parses every page of it, on all cores.
    ///
    /// # Errors
    /// The web cannot be read.
    pub fn open(paths: &[PathBuf]) -> Result<Self, ReplayError> {
        let fetcher = Arc::new(ReplayFetcher::open(paths, false)?);
        let urls: Vec<Url> = fetcher.urls().filter_map(|url| canonicalize(url, None).ok()).collect();
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = urls.len().div_ceil(threads).max(1);
        let read: Vec<(Fingerprint, Vec<Fingerprint>)> = std::thread::scope(|scope| {
            let readers: Vec<_> = urls
                .chunks(share)
                .map(|urls| (urls, &fetcher))
                .map(|(urls, fetcher)| scope.spawn(|| links_of(fetcher, urls)))
                .collect();
            readers.into_iter().flat_map(|reader| reader.join().unwrap_or_default()).collect()
        });
        let urls = urls.into_iter().map(|url| (Fingerprint::of(&url), url)).collect();
        Ok(Self { fetcher, links: read.into_iter().collect(), urls })
    }

    /// Every recorded page that can be reached from the seeds by links a crawl would follow, the seeds left out.
    #[must_use]
    pub fn reachable(&self, seeds: &[Url]) -> BTreeSet<Fingerprint> {
        let seeds: Vec<Fingerprint> = seeds.iter().map(Fingerprint::of).collect();
        let mut reached: BTreeSet<Fingerprint> = seeds.iter().copied().collect();
        let mut queue: VecDeque<Fingerprint> = seeds.iter().copied().collect();
        while let Some(page) = queue.pop_front() {
            for &target in self.links.get(&page).into_iter().flatten() {
                if self.urls.contains_key(&target) && reached.insert(target) {
                    queue.push_back(target);
                }
            }
        }
        for seed in seeds {
            reached.remove(&seed);
        }
        reached
    }

    /// The recorded URL of a page.
    #[must_use]
    pub fn url(&self, page: Fingerprint) -> Option<&Url> {
        self.urls.get(&page)
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.urls.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.urls.is_empty()
    }
}

fn links_of(fetcher: &ReplayFetcher, urls: &[Url]) -> Vec<(Fingerprint, Vec<Fingerprint>)> {
    let segmenter = Segmenter::shared();
    let Ok(scope) = Scope::new(ScopeConfig::default(), &[]) else { return Vec::new() };
    let mut links = Vec::with_capacity(urls.len());
    for url in urls {
        let Some(answer) = futures_util::FutureExt::now_or_never(fetcher.fetch(Request::get(url.clone()))) else { continue };
        let Ok(response) = answer.result else { continue };
        let page = Fingerprint::of(url);
        if let Some(target) = response.header("location").and_then(|to| canonicalize(to, Some(url)).ok()) {
            links.push((page, vec![Fingerprint::of(&target)]));
            continue;
        }
        let document = Document { url, content_type: response.header("content-type"), body: &response.body };
        let Ok(parsed) = parse(&document, &segmenter, &ParseConfig::default()) else { continue };
        let admitted = parsed.outlinks.iter().filter(|link| !link.nofollow && scope.admits(&link.url, 1).is_ok());
        links.push((page, admitted.map(|link| link.fingerprint).collect()));
    }
    links
}

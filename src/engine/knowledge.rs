//! What the engine remembers of fetched pages, so that it can judge the links on them.

use std::sync::Arc;

use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_64;

use super::sources::{Source, Sources};
use crate::{
    frontier::{InLinkNote, Link, MAX_IN_LINKS, WordsVersion},
    link_classifier::{Evidence, InLinkFacts, LinkLearner, Linkers, Neighbours, TargetFacts, WordWeight},
    text::{Segmenter, url_words},
    topic::KeywordSet,
    topical_rank::{LinkGraph, NodeId},
    url::{Url, authority},
};

/// What the page model says of words, and its version.
pub(super) struct Vocabulary<'a> {
    pub(super) weight: WordWeight<'a>,
    pub(super) version: u32,
}

/// Fetched pages by node.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    pub(super) sources: Sources,
}

impl Knowledge {
    pub(super) fn relevance(&self, node: NodeId) -> f64 {
        self.sources.get(node).map_or(0.0, |source| source.facts.relevance)
    }

    /// All evidence about a waiting link.
    pub(super) fn evidence(
        &self,
        link: &Link,
        graph: &LinkGraph,
        learner: &LinkLearner,
        vocabulary: &Vocabulary<'_>,
    ) -> Evidence {
        let linkers = Linkers { number: link.in_degree, forgotten_relevance: f64::from(link.forgotten_relevance) };
        let version = WordsVersion { page_model: vocabulary.version, epoch: learner.epoch() };
        for note in link.in_links.iter().filter(|note| note.words.get().0 != version) {
            note.words.set((version, learner.word_scores(&note.context, vocabulary.weight)));
        }
        self.with_facts(link, graph, |facts| learner.evidence(&link.facts, facts, linkers, vocabulary.weight))
    }

    /// Calls `each` with the facts of a link's in-links.
    pub(super) fn with_facts<R>(&self, link: &Link, graph: &LinkGraph, each: impl FnOnce(&[InLinkFacts<'_>]) -> R) -> R {
        let known: SmallVec<[(&InLinkNote, Arc<Source>); MAX_IN_LINKS]> =
            link.in_links.iter().filter_map(|note| Some((note, self.sources.get(note.source)?))).collect();
        let facts: SmallVec<[InLinkFacts<'_>; MAX_IN_LINKS]> = known
            .iter()
            .map(|(note, source)| InLinkFacts {
                context: &note.context,
                words: note.words.get().1,
                anchor_matches: &note.anchor_matches,
                around_matches: &note.around_matches,
                heading_matches: &note.heading_matches,
                source: &source.facts,
                source_key: source.seq,
                group_size: source.group_sizes.get(usize::from(note.context.group)).map_or(1, |&size| usize::from(size)),
                neighbours: neighbours(note, source, graph),
            })
            .collect();
        each(&facts)
    }
}

/// What came of the links beside one on its page, near ones first.
fn neighbours(note: &InLinkNote, source: &Source, graph: &LinkGraph) -> Neighbours {
    let mut all = Neighbours::default();
    for &(place, node) in &source.outcomes {
        let distance = place.abs_diff(note.ordinal);
        if distance > 0 {
            all.add(distance, || graph.relevance(node));
        }
    }
    all
}

/// What a URL itself says.
pub(super) fn target_facts(url: &Url, segmenter: &Segmenter, keywords: &KeywordSet) -> TargetFacts {
    let words = url_words(url, segmenter);
    let host = authority(url);
    let mut directory_keys = Vec::new();
    let path = url.path();
    for (slash, _) in path.match_indices('/').skip(1).take(3) {
        directory_keys.push(xxh3_64(format!("{host}{}", &path[..slash]).as_bytes()));
    }
    TargetFacts {
        file_matches: keywords.matches(&words.file),
        directory_matches: keywords.matches(&words.directory),
        file_words: words.file.into(),
        directory_words: words.directory.into(),
        host_key: xxh3_64(host.as_bytes()),
        directory_keys: directory_keys.into(),
        shape_key: xxh3_64(shape(url, &host).as_bytes()),
    }
}

/// Host and URL with runs of digits and letters made alike.
fn shape(url: &Url, host: &str) -> String {
    let mut shape = host.to_owned();
    let text = &url[::url::Position::BeforePath..];
    let mut last = ' ';
    for c in text.chars() {
        let class = match c {
            c if c.is_ascii_digit() => '#',
            c if c.is_ascii_alphabetic() || c == '%' => 'a',
            c => c,
        };
        if class != last || !matches!(class, '#' | 'a') {
            shape.push(class);
        }
        last = class;
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_one_template_have_one_shape() {
        let shape_of = |url: &str| shape(&Url::parse(url).unwrap(), "e.com");
        assert_eq!(shape_of("http://e.com/news/2012/05/rice.html"), shape_of("http://e.com/news/2013/11/wheat.html"));
        assert_ne!(shape_of("http://e.com/news/2012/05/rice.html"), shape_of("http://e.com/news/rice.html"));
    }

    #[test]
    fn a_url_gives_its_words_and_the_keys_of_its_directories() {
        let segmenter = Segmenter::shared();
        let keywords = KeywordSet::new([segmenter.term_ids("rice")]);
        let url = Url::parse("http://www.e.com/agri/crops/Rice_pests.html").unwrap();
        let facts = target_facts(&url, &segmenter, &keywords);
        assert_eq!(*facts.file_words, *segmenter.term_ids("rice pests"));
        assert_eq!(facts.directory_keys.len(), 2);
        assert_eq!(*facts.file_matches, [(0, 1.0)]);
        assert!(facts.directory_matches.is_empty());
    }
}

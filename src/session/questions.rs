//! Pages that a person should label, as they are put to them.

use std::path::Path;

use serde::Serialize;

use crate::{
    engine::RunFacts,
    models::{Labelable, ToLabel, WhyLabel, to_label},
    page::Outcome,
    parse::{Document, ParseConfig, parse},
    report::{Marker, Passage},
    store::{PageLabels, PageRecord, Store, read_capture},
    topic::Topic,
    url::canonicalize,
};

/// A page, as it is put to a person.
#[derive(Debug, Serialize)]
pub struct Question {
    pub seq: u64,
    pub url: String,
    pub title: String,
    pub relevance: f64,
    pub why: WhyLabel,
    /// The passage with most of the topic's words.
    pub passage: String,
    /// The topic's words in it.
    pub words: Vec<String>,
    /// The passage in pieces; the topic's words are marked.
    #[serde(skip)]
    pub pieces: Vec<(String, bool)>,
}

impl Question {
    fn new(page: &PageRecord, why: WhyLabel, marker: &Marker, text: &str) -> Self {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let Passage { pieces, .. } = marker.passage(&text);
        let pieces: Vec<(String, bool)> = pieces.into_iter().map(|piece| (piece.text.to_owned(), piece.marked)).collect();
        let mut words: Vec<String> = pieces.iter().filter(|(_, marked)| *marked).map(|(text, _)| text.clone()).collect();
        words.sort_unstable();
        words.dedup();
        Self {
            seq: page.seq,
            url: page.url.clone(),
            title: page.title.clone(),
            relevance: page.relevance.get(),
            why,
            passage: pieces.iter().map(|(text, _)| text.as_str()).collect(),
            words,
            pieces,
        }
    }
}

/// The `number` pages whose label helps most, with what a person needs to see of each.
///
/// # Errors
/// The store cannot be read.
pub fn to_ask(store: &Store, dir: &Path, topic: &Topic, labels: &PageLabels, number: usize) -> anyhow::Result<Vec<Question>> {
    let mut pages = Vec::new();
    for page in store.pages(1)? {
        let page = page?;
        if page.outcome == Outcome::Fetched && !page.terms.is_empty() {
            pages.push(Labelable {
                seq: page.seq,
                relevance: page.relevance.get(),
                rank: page.rank,
                terms: page.terms,
                labelled: labels.get(page.fingerprint).is_some(),
            });
        }
    }
    let learnt = RunFacts::load(store)?.top_terms;
    let words = topic.keywords.iter().map(|keyword| keyword.text.as_str()).chain(learnt.iter().map(|(word, _)| word.as_str()));
    let marker = Marker::new(words);
    let mut questions = Vec::new();
    for ToLabel { seq, why } in to_label(&pages, number, topic.threshold.get()) {
        let Some(page) = store.page(seq)? else { continue };
        let text = text_of(&page, dir, topic).unwrap_or_else(|| page.excerpt.clone());
        questions.push(Question::new(&page, why, &marker, &text));
    }
    Ok(questions)
}

/// A page's text out of the archive; `None` where it cannot be had.
#[must_use]
pub fn text_of(page: &PageRecord, dir: &Path, topic: &Topic) -> Option<String> {
    let capture = read_capture(dir, page.archive?).ok()?;
    let url = canonicalize(&capture.url, None).ok()?;
    let content_type = capture.headers.iter().find(|(name, _)| name == "content-type").map(|(_, value)| value.as_str());
    let document = Document { url: &url, content_type, body: &capture.body };
    parse(&document, &topic.segmenter(), &ParseConfig::default()).ok().map(|page| page.text)
}

//! Why a URL was judged or queued as it was: a crawl read back from its store, and asked.
//!
//! Promises: fetches nothing, writes nothing; the weights are those that the crawl would go on with.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use serde::Serialize;

use super::{Crawl, CrawlPlan, EngineError, Journal};
use crate::{
    fetch::{Failure, Fetched, Fetcher, Request},
    link_classifier::{Evidence, Feature},
    page::Timestamp,
    page_classifier::Reading,
    store::{Batch, PageRecord, Store, StoreError},
    text::url_words,
    topical_rank::NodeId,
    url::{Fingerprint, canonicalize},
};

/// What made a page's relevance, by the page model as it is now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageReasons {
    /// What the crawl holds of it, and what the model of now would say: they differ where a label or a seed is trusted.
    pub relevance: f64,
    pub judged_now: f64,
    /// Keyword evidence, 0 upwards.
    pub keyword_score: f64,
    /// The keywords it holds.
    pub keywords: Vec<usize>,
    /// Words by what they add to the learned score, the most first.
    pub for_it: Vec<TermPart>,
    /// Words by what they take from it, the most first.
    pub against_it: Vec<TermPart>,
    pub rank: RankParts,
}

/// A word's part in a page's score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermPart {
    pub word: String,
    /// Weighted occurrences.
    pub count: f32,
    /// Log ratio, positive for the topic.
    pub weight: f64,
    /// Share of the page's score, in log-odds per unit of text.
    pub part: f64,
}

/// What made a waiting link's place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkReasons {
    /// Where the link classifier expects it to lead, 0..=1.
    pub estimate: f64,
    pub evidence: Vec<EvidencePart>,
    pub rank: RankParts,
    /// What its worth is multiplied by, after all that was fetched of its host and of its tunnel depth.
    pub allowance: f64,
    pub priority: f64,
    /// Its place among all waiting links, from 1, and among those of its host.
    pub place: usize,
    pub of: usize,
    pub place_on_host: usize,
    pub of_host: usize,
    pub depth: u16,
    pub tunnel_depth: u8,
    /// Links that lead to it from fetched pages; those that are kept.
    pub in_degree: u32,
    pub linked_by: Vec<LinkedBy>,
    /// Failed tries, and the time before which it is not tried again.
    pub tries: u8,
    pub not_before: Timestamp,
    /// When its host may be asked again.
    pub host_ready_at: Timestamp,
}

/// A link that leads to a URL.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkedBy {
    pub url: String,
    pub anchor: String,
    /// Of the page it stands on.
    pub relevance: f64,
    /// Place on the page, 0 first to 1 last.
    pub position: f32,
    pub in_navigation: bool,
}

/// A piece of evidence about a link.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvidencePart {
    pub name: &'static str,
    pub value: f64,
    /// In log-odds per unit.
    pub weight: f64,
    /// In log-odds.
    pub part: f64,
}

/// The two parts of a `TopicalRank`: `α Σ TR(u)/O(u)` from links, `β R` of its own.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RankParts {
    pub rank: f64,
    pub from_links: f64,
    pub own: f64,
}

/// Words listed on each side.
const WORDS: usize = 12;

impl Crawl {
    /// The crawl of a store, to be asked and not to be run.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn read_back(plan: CrawlPlan, store: &Store) -> Result<Self, EngineError> {
        let order = Arc::new(plan.engine.order);
        let now = store.state()?.map(|state| state.now).unwrap_or_default();
        Self::resume(plan, order, Arc::new(NoWeb(now)), Box::new(NoJournal), store)
    }

    /// What made the relevance of a fetched page.
    #[must_use]
    pub fn why_page(&self, page: &PageRecord) -> Option<PageReasons> {
        let url = canonicalize(&page.url, None).ok()?;
        let bag = &page.terms;
        let reading = Reading::of(bag, &url_words(&url, &self.web.segmenter).directory, &self.plan.keywords);
        let model = self.pages.model();
        let judged = model.judge(&reading);
        let text: f64 = bag.iter().map(|term| f64::from(term.count.ln_1p())).sum::<f64>().max(1.0);
        let mut parts: Vec<TermPart> = bag
            .iter()
            .map(|term| {
                let weight = model.word_weight(term.id);
                let part = weight * f64::from(term.count.ln_1p()) / text;
                TermPart { word: term.word.to_owned(), count: term.count, weight, part }
            })
            .collect();
        parts.sort_by(|a, b| b.part.total_cmp(&a.part).then_with(|| a.word.cmp(&b.word)));
        let for_it = parts.iter().take(WORDS).filter(|part| part.part > 0.0).cloned().collect();
        let against_it = parts.iter().rev().take(WORDS).filter(|part| part.part < 0.0).cloned().collect();
        let labelled = self.plan.labels.get(&page.fingerprint).map(|&relevant| f64::from(u8::from(relevant)));
        Some(PageReasons {
            relevance: labelled.unwrap_or(page.relevance.get()),
            judged_now: judged.relevance.get(),
            keyword_score: judged.keyword_score,
            keywords: (0..self.plan.keywords.len()).filter(|&keyword| reading.holds(keyword)).collect(),
            for_it,
            against_it,
            rank: self.rank_parts(self.frontier.seen(page.fingerprint)?),
        })
    }

    /// What made the place of a waiting link.
    #[must_use]
    pub fn why_link(&self, page: Fingerprint) -> Option<LinkReasons> {
        let node = self.frontier.seen(page)?;
        let link = self.frontier.link(node)?;
        let before = |other: &&crate::frontier::Link| other.priority.0 > link.priority.0;
        let on_host = || self.frontier.links().map(|(_, other)| other).filter(|other| other.host == link.host);
        let linked_by = link.in_links.iter().filter_map(|note| {
            let source = self.knowledge.sources.get(note.source)?;
            Some(LinkedBy {
                url: source.url.clone(),
                anchor: note.context.anchor_text.to_string(),
                relevance: source.facts.relevance,
                position: note.context.position,
                in_navigation: note.context.navigation,
            })
        });
        Some(LinkReasons {
            estimate: link.estimate.get(),
            evidence: self.evidence_parts(&link.evidence),
            rank: self.rank_parts(node),
            allowance: self.allowance(node),
            priority: link.priority.0,
            place: 1 + self.frontier.links().map(|(_, other)| other).filter(before).count(),
            of: self.frontier.links().count(),
            place_on_host: 1 + on_host().filter(before).count(),
            of_host: on_host().count(),
            depth: link.depth,
            tunnel_depth: link.tunnel_depth,
            in_degree: link.in_degree,
            linked_by: linked_by.collect(),
            tries: link.tries,
            not_before: link.not_before,
            host_ready_at: self.frontier.ready_at(link.host),
        })
    }

    /// Pieces of evidence with their weights as they are now, the weightiest first.
    #[must_use]
    pub fn evidence_parts(&self, evidence: &Evidence) -> Vec<EvidencePart> {
        let weights = self.links.weights();
        let mut parts: Vec<EvidencePart> = Feature::ALL
            .into_iter()
            .map(|feature| {
                let (value, weight) = (evidence.get(feature), weights[feature as usize]);
                EvidencePart { name: feature.name(), value, weight, part: value * weight }
            })
            .collect();
        parts.sort_by(|a, b| b.part.abs().total_cmp(&a.part.abs()));
        parts
    }

    fn rank_parts(&self, node: NodeId) -> RankParts {
        let (rank, from_links) = (self.graph.rank(node), self.graph.link_share(node));
        RankParts { rank, from_links, own: rank - from_links }
    }
}

/// A web of which nothing can be had, at the time when the crawl stopped.
struct NoWeb(Timestamp);

impl Fetcher for NoWeb {
    fn fetch(&self, _request: Request) -> BoxFuture<'_, Fetched> {
        let fetched = Fetched { elapsed: Duration::ZERO, address: None, result: Err(Failure::NotRecorded) };
        Box::pin(std::future::ready(fetched))
    }

    fn recorded_at(&self) -> Option<Timestamp> {
        Some(self.0)
    }
}

/// Forgets what it is given.
struct NoJournal;

impl Journal for NoJournal {
    fn commit(&mut self, _batch: Batch) -> Result<(), StoreError> {
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }

    fn wants_captures(&self) -> bool {
        false
    }
}

//! A better model from what a crawl found: its labelled pages, the pages it was sure of, and what came of its links.
//!
//! Promises: figures come from labelled pages that the model which judges them was not trained on: of many labels a fixed
//! quarter of all URLs is never trained on; of few labels each is judged by a model that was trained without it, and those
//! that the model before has learnt from are left out. What the crawl only believes teaches a little and proves nothing.

mod links;
mod turns;

use std::collections::{BTreeMap, BTreeSet};

use links::Links;
pub use links::{FeatureChange, LinkDifference};
use turns::{by_turns, evidence_without, folds};

use super::{
    Card, DataSource, Difference, Document, HeldOut, LabelledExample, Measured, ModelBundle, ModelError, PageTrainer, Scored,
    TrainingSet, compare, guard::contradict, training_set::is_held_out,
};
use crate::{page::TermBag, page_classifier::Calibration, text::TermId, topic::KeywordSet};

/// The one source that pages of crawls belong to, so that a URL is held out of every version or of none.
const SOURCE: &str = "crawl";
/// Share of URLs that are never trained on, where labels are many.
const HELD_OUT: f64 = 0.25;
/// With fewer labels than this all are trained on, and measured with by turns.
const MANY_LABELS: usize = 200;
/// Labelled pages that a model keeps for the next crawl, at most.
const MAX_EXAMPLES: usize = 1_000;
/// How far from 0.5 a page must be judged to count as sure.
const SURE: f64 = 0.4;
/// Weight of a page that the crawl was sure of, beside a labelled one.
const BELIEVED_WEIGHT: f64 = 0.3;
/// Labelled pages from which on they alone calibrate.
const ENOUGH_LABELS: usize = 20;
/// Text of an earlier model that always counts, as far as it has so much: about 200 pages.
const PARENT_TEXT: f64 = 20_000.0;
/// Weight of common text that a class is smoothed with, as a share of its own.
const SMOOTHING: f64 = 0.02;
/// A fetched page as the crawl's store gives it.
#[derive(Debug, Clone, Default)]
pub struct LabelledPage {
    pub seq: u64,
    pub url: String,
    /// Words of its URL's host and directories.
    pub url_words: Vec<TermId>,
    /// Words with weighted counts.
    pub terms: TermBag,
    /// What the crawl judged, 0..=1.
    pub relevance: f64,
    /// What a person said.
    pub label: Option<bool>,
    /// The evidence about the link that it was fetched by; empty for seeds.
    pub evidence: Vec<f32>,
}

/// What a retrained model is called, and with what it is used.
#[derive(Debug, Clone, Copy)]
pub struct RetrainSettings<'a> {
    pub name: &'a str,
    pub description: &'a str,
    /// What the card calls the crawl.
    pub crawl: &'a str,
    /// The day, `YYYY-MM-DD`.
    pub today: &'a str,
    /// Keywords of the crawl's topic.
    pub keywords: &'a KeywordSet,
    /// Relevance from which a page counts as relevant.
    pub threshold: f64,
}

/// A retrained model, and how it compares; not yet written anywhere.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub bundle: ModelBundle,
    pub difference: Difference,
    /// `None` where too few links were fetched to train or measure weights.
    pub links: Option<LinkDifference>,
    /// Pages trained on: labelled, and believed.
    pub labelled: usize,
    pub believed: usize,
    /// Labelled pages that both models were measured with.
    pub held_out: usize,
}

/// Trains a candidate from the pages of a crawl on top of the `current` model, if there is one.
///
/// Labelled pages count fully, pages judged above 0.9 or below 0.1 a little, others not at all.
///
/// # Errors
/// No relevant or no irrelevant page to train on.
pub fn retrain(
    pages: impl IntoIterator<Item = LabelledPage>,
    current: Option<&ModelBundle>,
    settings: &RetrainSettings<'_>,
) -> Result<Candidate, ModelError> {
    let mut set = TrainingSet::new(settings.keywords.clone());
    let (mut recorded, mut links, mut examples) = (BTreeMap::new(), Links::default(), Vec::new());
    for page in pages {
        links.add(&page);
        if take_in(&page, &mut set) {
            recorded.insert(page.url.clone(), page.relevance);
            let LabelledPage { url, terms, label, .. } = page;
            examples.extend(label.map(|relevant| LabelledExample { url, relevant, evidence: 0.0, terms }));
        }
    }
    let few = examples.len() < MANY_LABELS;
    let (train, held_out) = set.split(if few { 0.0 } else { HELD_OUT });
    examples.retain(|example| few || !is_held_out(SOURCE, &example.url, HELD_OUT));
    let labelled = examples.len();
    let settings_of_training = trainer(&set, &train, labelled, current);
    let trained = settings_of_training.train(&set, &train)?;
    let (link, link_difference) = links.train(current);
    let bundle = ModelBundle::new(trained.words, trained.model.meaning(), link, Card::default())?;
    let folds = folds(&set, &train, &settings_of_training);
    for example in &mut examples {
        example.evidence = evidence_without(&set, &folds, &example.url);
    }
    let judged: Vec<(usize, Option<f64>)> =
        if few { by_turns(&folds, &examples, settings.keywords, &set) } else { held_out.iter().map(|&at| (at, None)).collect() };
    let pages = unseen(&set, &judged, &recorded, current);
    let bundle = bundle.with_examples(handed_on(examples, current));
    let mut difference = compare(current, &bundle, &pages, settings.keywords, settings.threshold);
    difference.contradicts = contradict(&as_recorded(&set, &recorded));
    let measured = pages.len();
    let mut candidate =
        Candidate { bundle, difference, links: link_difference, labelled, believed: train.len() - labelled, held_out: measured };
    candidate.write_card(&set, &train, current, settings);
    Ok(candidate)
}

/// The `judged` pages that the model before has not learnt from.
fn unseen<'s>(
    set: &'s TrainingSet,
    judged: &[(usize, Option<f64>)],
    recorded: &BTreeMap<String, f64>,
    current: Option<&ModelBundle>,
) -> Vec<HeldOut<'s>> {
    let learnt: BTreeSet<&str> = current.iter().flat_map(|model| &model.examples).map(|example| example.url.as_str()).collect();
    let judged: Vec<&(usize, Option<f64>)> =
        judged.iter().filter(|(at, _)| !learnt.contains(set.examples()[*at].key.as_str())).collect();
    let pages = set.held_out_pages(judged.iter().map(|(at, _)| *at), |url| recorded.get(url).copied().unwrap_or_default());
    pages.into_iter().zip(judged).map(|(page, &(_, without_it))| HeldOut { without_it, ..page }).collect()
}

/// All labelled pages as the crawl judged them.
fn as_recorded(set: &TrainingSet, recorded: &BTreeMap<String, f64>) -> Vec<Scored> {
    let known = set.examples().iter().filter(|example| example.known);
    known
        .map(|example| Scored {
            probability: recorded.get(&example.key).copied().unwrap_or_default(),
            relevant: example.relevance >= 0.5,
        })
        .collect()
}

/// The labelled pages that go with the new model: its own, and those of the model before that were not labelled again.
fn handed_on(mut examples: Vec<LabelledExample>, current: Option<&ModelBundle>) -> Vec<LabelledExample> {
    let known: BTreeSet<String> = examples.iter().map(|example| example.url.clone()).collect();
    let earlier = current.iter().flat_map(|model| &model.examples).filter(|example| !known.contains(&example.url));
    examples.extend(earlier.cloned());
    examples.truncate(MAX_EXAMPLES);
    examples
}

/// Adds a page to the set if it can teach; whether it did.
fn take_in(page: &LabelledPage, set: &mut TrainingSet) -> bool {
    let relevance = page.label.map_or(page.relevance, |label| f64::from(u8::from(label)));
    let is_sure = page.label.is_some() || (relevance - 0.5).abs() > SURE;
    if !is_sure || page.terms.is_empty() {
        return false;
    }
    set.add(&Document {
        source: SOURCE,
        key: &page.url,
        terms: &page.terms,
        url_words: &page.url_words,
        relevance,
        weight: if page.label.is_some() { 1.0 } else { BELIEVED_WEIGHT },
        known: page.label.is_some(),
    });
    true
}

fn trainer<'a>(set: &TrainingSet, train: &[usize], labelled: usize, current: Option<&'a ModelBundle>) -> PageTrainer<'a> {
    let text: f64 = train.iter().map(|&at| &set.examples()[at]).map(|example| example.weight * example.text_weight()).sum();
    let smoothing = |text: f64| (SMOOTHING * text / 2.0).max(1.0);
    let defaults = PageTrainer {
        balanced: false,
        calibrate_on_belief: labelled < ENOUGH_LABELS,
        smoothing: smoothing(text),
        ..PageTrainer::default()
    };
    let Some(current) = current else { return defaults };
    let (relevant, irrelevant) = current.words.totals();
    let parent_text = (2.0 * text).max(PARENT_TEXT).min(relevant + irrelevant);
    let share = parent_text / (relevant + irrelevant).max(1.0);
    let meaning = current.page.meaning();
    let even_odds = (meaning.base_rate / (1.0 - meaning.base_rate)).ln();
    let calibration = Calibration { offset: meaning.calibration.offset - even_odds, ..meaning.calibration };
    PageTrainer { parent: Some((&current.words, share)), smoothing: smoothing(text + parent_text), calibration, ..defaults }
}

impl Candidate {
    fn write_card(&mut self, set: &TrainingSet, train: &[usize], current: Option<&ModelBundle>, settings: &RetrainSettings<'_>) {
        let count = |known: bool, relevant: bool| {
            let examples = train.iter().map(|&at| &set.examples()[at]);
            examples.filter(|example| example.known == known && (example.relevance >= 0.5) == relevant).count()
        };
        let row = |known: bool, labels: &str, held_out: usize| DataSource {
            name: settings.crawl.to_owned(),
            relevant: count(known, true),
            irrelevant: count(known, false),
            held_out,
            labels: labels.to_owned(),
            ..DataSource::default()
        };
        let card = &mut self.bundle.card;
        settings.name.clone_into(&mut card.name);
        settings.description.clone_into(&mut card.description);
        settings.today.clone_into(&mut card.trained);
        card.data = vec![row(true, "labelled so", self.held_out), row(false, "judged above 0.9 by the crawl", 0)];
        card.measured = vec![
            Measured { on: "labelled pages not trained on, the model before".to_owned(), metrics: self.difference.before },
            Measured { on: "labelled pages not trained on, this model".to_owned(), metrics: self.difference.after },
        ];
        if let Some(links) = &self.links {
            card.measured.extend(
                [("before", links.before), ("after", links.after)]
                    .map(|(when, metrics)| Measured { on: format!("links held out, {when}"), metrics }),
            );
        }
        if let Some(current) = current {
            card.parent = Some(current.card.id.clone());
            card.version = current.card.version + 1;
            // What the parent was made of is in this model too.
            card.data.extend(current.card.data.iter().cloned());
        }
        if self.difference.is_better().is_none() {
            card.notes.push("Too few labelled pages were held out to tell whether it is better than before.".to_owned());
        }
    }
}

#[cfg(test)]
mod tests;

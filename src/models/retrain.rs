//! A better model from what a crawl found: its labelled pages, the pages it was sure of, and what came of its links.
//!
//! Promises: figures come from labelled pages that the model which judges them was not trained on: of many labels a fixed
//! quarter of all URLs is never trained on; of few labels each is judged by a model that was trained without it, and those
//! that the model before has learnt from are left out. What the crawl only believes teaches a little and proves nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{
    Card, DataSource, Difference, Document, HeldOut, LabelledExample, Measured, Metrics, ModelBundle, ModelError, PageTrainer,
    Scored, TrainingSet, compare,
    guard::{at_first, contradict},
    training_set::is_held_out,
};
use crate::{
    link_classifier::{Evidence, Feature, TrainedLinkModel},
    page::TermBag,
    page_classifier::{Calibration, TrainedPageModel},
    text::TermId,
    topic::KeywordSet,
};

/// The one source that pages of crawls belong to, so that a URL is held out of every version or of none.
const SOURCE: &str = "crawl";
/// Share of URLs that are never trained on, where labels are many.
const HELD_OUT: f64 = 0.25;
/// With fewer labels than this all are trained on, and measured with by turns.
const MANY_LABELS: usize = 200;
/// Turns.
const FOLDS: u64 = 5;
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
/// Links below which their weights are left alone, and held-out ones below which they cannot be measured.
const MIN_LINKS: (usize, usize) = (50, 20);

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

/// Link weights before and after, on held-out links. What came of a link is its page's label, else the page model's word.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkDifference {
    pub before: Metrics,
    pub after: Metrics,
    /// All weights, the most changed first.
    pub features: Vec<FeatureChange>,
}

/// The weight of a piece of link evidence, in log-odds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FeatureChange {
    pub feature: &'static str,
    pub before: f64,
    pub after: f64,
}

impl LinkDifference {
    /// Whether the new weights are kept.
    #[must_use]
    pub fn is_better(&self) -> bool {
        self.after.log_loss < self.before.log_loss
    }
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

/// Labelled pages, and a model that was trained without them.
struct Fold {
    tested: Vec<usize>,
    model: TrainedPageModel,
}

/// The labelled pages of `train` in parts, each with a model that was trained on all else.
fn folds(set: &TrainingSet, train: &[usize], trainer: &PageTrainer<'_>) -> Vec<Fold> {
    let of_fold = |fold: u64| {
        let is_tested = |at: usize| set.examples()[at].known && set.examples()[at].fold(FOLDS) == fold;
        let (tested, rest): (Vec<usize>, Vec<usize>) = train.iter().partition(|&&at| is_tested(at));
        // Without pages of both classes there is no model; such pages are not measured with.
        trainer.train(set, &rest).ok().map(|trained| Fold { tested, model: trained.model })
    };
    (0..FOLDS).filter_map(of_fold).collect()
}

/// What the model that was trained without a page adds to the page's log-odds; 0 where there is none.
fn evidence_without(set: &TrainingSet, folds: &[Fold], url: &str) -> f64 {
    let of_fold = |fold: &Fold| {
        let at = fold.tested.iter().find(|&&at| set.examples()[at].key == url)?;
        Some(fold.model.evidence(&set.examples()[*at].reading))
    };
    (folds.iter().find_map(of_fold).unwrap_or_default() * 1e4).round() / 1e4
}

/// Every labelled page with what a crawl would say of it that knew all labels but those of its part.
fn by_turns(folds: &[Fold], examples: &[LabelledExample], keywords: &KeywordSet, set: &TrainingSet) -> Vec<(usize, Option<f64>)> {
    let mut judged = Vec::new();
    for Fold { tested, model } in folds {
        let is_tested = |url: &str| tested.iter().any(|&at| set.examples()[at].key == url);
        let others = examples.iter().filter(|example| !is_tested(&example.url)).map(|example| example.read(keywords));
        let model = at_first(model, others, keywords.len());
        judged.extend(tested.iter().map(|&at| (at, Some(model.judge(&set.examples()[at].reading).relevance.get()))));
    }
    judged
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

/// Links whose outcome is known, split like the pages they led to.
#[derive(Debug, Default)]
struct Links {
    train: Vec<(Evidence, f64)>,
    held_out: Vec<(Evidence, f64)>,
}

impl Links {
    fn add(&mut self, page: &LabelledPage) {
        let Some(evidence) = Evidence::from_slice(&page.evidence) else { return };
        let outcome = page.label.map_or(page.relevance, |label| f64::from(u8::from(label)));
        let side = if is_held_out(SOURCE, &page.url, HELD_OUT) { &mut self.held_out } else { &mut self.train };
        side.push((evidence, outcome));
    }

    /// New weights if they are better than those before, else those before.
    fn train(&self, current: Option<&ModelBundle>) -> (Option<TrainedLinkModel>, Option<LinkDifference>) {
        let before = current.and_then(|model| model.link.clone());
        if self.train.len() < MIN_LINKS.0 || self.held_out.len() < MIN_LINKS.1 {
            return (before, None);
        }
        let start = before.clone().unwrap_or_default();
        let fitted = TrainedLinkModel::fit(&start, &self.train);
        let measure = |model: &TrainedLinkModel| {
            let scored = self
                .held_out
                .iter()
                .map(|(evidence, outcome)| Scored { probability: model.estimate(evidence).get(), relevant: *outcome >= 0.5 });
            Metrics::of(&scored.collect::<Vec<_>>())
        };
        let mut features: Vec<FeatureChange> = Feature::ALL
            .into_iter()
            .zip(start.all().into_iter().zip(fitted.all()))
            .map(|(feature, (before, after))| FeatureChange { feature: feature.name(), before, after })
            .collect();
        features.sort_by(|a, b| (b.after - b.before).abs().total_cmp(&(a.after - a.before).abs()));
        let difference = LinkDifference { before: measure(&start), after: measure(&fitted), features };
        (if difference.is_better() { Some(fitted) } else { before }, Some(difference))
    }
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
mod tests {
    use super::*;
    use crate::link_classifier::FEATURES;

    const FARM: [&str; 8] = ["rice", "paddy", "soil", "harvest", "irrigation", "seedling", "manure", "plough"];
    const SPORT: [&str; 8] = ["goal", "team", "match", "league", "coach", "stadium", "season", "referee"];

    /// `number` pages, every second about farming; `label` says which are labelled, `judged` what the crawl thought.
    fn pages(number: u64, label: impl Fn(u64) -> bool, judged: impl Fn(bool) -> f64) -> Vec<LabelledPage> {
        let mut random = fastrand::Rng::with_seed(7);
        (0..number)
            .map(|n| {
                let relevant = n % 2 == 0;
                let words = if relevant { FARM } else { SPORT };
                let mut terms: Vec<(String, f32)> = (0..6).map(|_| (format!("common{}", random.u8(0..30)), 1.0)).collect();
                terms.extend((0..12).map(|_| (words[random.usize(0..8)].to_owned(), 1.0)));
                let mut evidence = vec![0.0; FEATURES];
                evidence[0] = 1.0;
                evidence[4] = f32::from(u8::from(relevant));
                LabelledPage {
                    seq: n + 1,
                    url: format!("http://e.com/{n}"),
                    terms: terms.iter().map(|(word, count)| (word.as_str(), *count)).collect(),
                    relevance: judged(relevant),
                    label: label(n).then_some(relevant),
                    evidence,
                    ..LabelledPage::default()
                }
            })
            .collect()
    }

    fn settings(keywords: &KeywordSet) -> RetrainSettings<'_> {
        RetrainSettings { name: "farm", description: "Farms.", crawl: "crawl-1", today: "2026-11-21", keywords, threshold: 0.5 }
    }

    #[test]
    fn labels_make_a_model_that_is_better_than_what_the_crawl_judged() {
        let none = KeywordSet::default();
        let crawl = pages(300, |_| true, |relevant| if relevant { 0.6 } else { 0.55 });
        let candidate = retrain(crawl, None, &settings(&none)).unwrap();
        assert_eq!(candidate.difference.is_better(), Some(true), "{:?}", candidate.difference);
        assert!(candidate.difference.after.auc.unwrap() > 0.99);
        assert!((40..110).contains(&candidate.held_out) && candidate.labelled + candidate.held_out == 300);
        assert!(candidate.difference.flipped.iter().all(|page| !page.relevant && page.after < 0.5));
        let links = candidate.links.unwrap();
        assert!(links.is_better() && candidate.bundle.link.is_some(), "{links:?}");
    }

    #[test]
    fn flipped_labels_are_refused_however_well_a_model_can_learn_them() {
        let none = KeywordSet::default();
        let flipped = |number| {
            let mut crawl = pages(number, |_| true, |relevant| if relevant { 0.8 } else { 0.2 });
            for page in &mut crawl {
                page.label = page.label.map(|label| !label);
            }
            crawl
        };
        for number in [30, 300] {
            let candidate = retrain(flipped(number), None, &settings(&none)).unwrap();
            assert!(candidate.difference.after.auc.unwrap() > 0.9, "they can be learnt");
            assert!(candidate.difference.contradicts);
            assert_eq!(candidate.difference.is_better(), Some(false));
        }
    }

    #[test]
    fn thirty_labels_are_trained_on_and_measured_with_by_turns() {
        let none = KeywordSet::default();
        let crawl = || pages(120, |n| n < 30, |relevant| if relevant { 0.55 } else { 0.45 });
        let candidate = retrain(crawl(), None, &settings(&none)).unwrap();
        assert_eq!((candidate.labelled, candidate.held_out, candidate.bundle.examples.len()), (30, 30, 30));
        assert_eq!(candidate.difference.is_better(), Some(true), "{:?}", candidate.difference);
        let again = retrain(crawl(), Some(&candidate.bundle), &settings(&none)).unwrap();
        assert_eq!((again.held_out, again.difference.is_better()), (0, None), "what a model has learnt from proves nothing");
    }

    #[test]
    fn a_second_round_names_its_parent_and_keeps_its_words() {
        let none = KeywordSet::default();
        let crawl = || pages(200, |_| true, |relevant| if relevant { 0.6 } else { 0.55 });
        let first = retrain(crawl(), None, &settings(&none)).unwrap().bundle;
        let mut renamed = crawl();
        for page in &mut renamed {
            let words: Vec<(String, f32)> = page.terms.iter().map(|term| (format!("{}-new", term.word), term.count)).collect();
            page.terms = words.iter().map(|(word, count)| (word.as_str(), *count)).collect();
        }
        let second = retrain(renamed, Some(&first), &settings(&none)).unwrap().bundle;
        assert_eq!((second.card.version, second.card.parent.as_deref()), (2, Some(first.card.id.as_str())));
        assert!(["rice", "rice-new"].iter().all(|word| second.page.word_weight(TermId::of(word)) > 1.0));
        assert_eq!(second.card.data.len(), 4);
    }

    #[test]
    fn without_labels_it_learns_what_the_crawl_was_sure_of_but_proves_nothing() {
        let none = KeywordSet::default();
        let crawl = pages(100, |_| false, |relevant| if relevant { 0.97 } else { 0.02 });
        let candidate = retrain(crawl, None, &settings(&none)).unwrap();
        assert_eq!((candidate.labelled, candidate.believed, candidate.held_out), (0, 100, 0));
        assert!(candidate.bundle.page.word_weight(TermId::of("rice")) > 0.5);
        assert_eq!(candidate.difference.is_better(), None);
        assert!(candidate.bundle.card.to_markdown().contains("Too few labelled pages"));
    }

    #[test]
    fn labels_outweigh_what_the_crawl_believed() {
        let none = KeywordSet::default();
        // Half the pages are labelled; of the rest the crawl believes the opposite.
        let crawl = pages(200, |n| n % 4 < 2, |relevant| if relevant { 0.02 } else { 0.98 });
        let candidate = retrain(crawl, None, &settings(&none)).unwrap();
        assert!(candidate.bundle.page.word_weight(TermId::of("rice")) > 0.5);
    }

    #[test]
    fn pages_of_one_kind_only_are_refused_with_what_is_missing() {
        let none = KeywordSet::default();
        let crawl = pages(50, |_| false, |_| 0.99);
        let error = retrain(crawl, None, &settings(&none)).unwrap_err().to_string();
        assert!(error.contains("50 relevant and 0 irrelevant") && error.contains("label more pages"), "{error}");
        assert!(retrain(Vec::new(), None, &settings(&none)).is_err());
    }
}

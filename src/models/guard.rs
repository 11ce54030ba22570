//! Is a new model better than the one before? Both judge the same labelled pages, which neither was trained on.

use std::{collections::BTreeSet, sync::Arc};

use serde::Serialize;

use super::{Metrics, ModelBundle, Scored, TrainingSet, auc};
use crate::{
    page_classifier::{PageClassifier, PageClassifierConfig, PageLearner, Reading, TrainedPageModel},
    text::TermId,
    topic::KeywordSet,
};

/// Terms listed of those whose weight changed.
const TERMS: usize = 20;
/// Labelled pages below which figures say nothing.
const MIN_PAGES: usize = 10;
/// How much AUC and F1 may fall at least without the model being called worse; AUC by its standard error, F1 by one page more
/// where pages are few.
const TOLERANCE: (f64, f64) = (0.01, 0.02);

/// A labelled page that neither model was trained on.
#[derive(Debug, Clone, Copy)]
pub struct HeldOut<'a> {
    pub url: &'a str,
    pub reading: &'a Reading,
    pub relevant: bool,
    /// What the crawl judged: stands for the model before, where there was none.
    pub recorded: f64,
    /// What a model judges that was trained like the new one, but without this page; `None` where the new one has not seen it.
    pub without_it: Option<f64>,
}

/// What a new model changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// By the model before as a crawl starts with it; by what the crawl had judged, where there was no model.
    pub before: Metrics,
    pub after: Metrics,
    /// The terms whose weight changed most, most changed first.
    pub terms: Vec<TermChange>,
    /// Pages that change sides at the threshold.
    pub flipped: Vec<Flipped>,
    /// The labels say the opposite of what the crawl judged by its keywords, more than chance can explain.
    pub contradicts: bool,
}

/// A term's log ratio in both models, positive for the topic; 0 where it is not known.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TermChange {
    pub term: String,
    pub before: f64,
    pub after: f64,
}

/// A page that the models judge differently.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flipped {
    pub url: String,
    pub before: f64,
    pub after: f64,
    pub relevant: bool,
}

impl Difference {
    /// Whether the new model should replace the old one: its probabilities are better, and neither ranking nor decisions
    /// are clearly worse. `None` where too few labelled pages were held out to tell.
    #[must_use]
    pub fn is_better(&self) -> Option<bool> {
        let (before, after) = (&self.before, &self.after);
        if self.contradicts {
            return Some(false);
        }
        if after.documents < MIN_PAGES {
            return None;
        }
        let (auc_before, auc_after) = (before.auc?, after.auc?);
        let one = 1.0 / after.documents as f64;
        // The standard error of an AUC of so few pages, as in the bound of Cortes & Mohri (2005).
        let fewer = after.relevant.min(after.documents - after.relevant) as f64;
        let spread = (auc_after * (1.0 - auc_after) / fewer).sqrt();
        let holds = auc_after >= auc_before - TOLERANCE.0.max(spread) && after.f1 >= before.f1 - TOLERANCE.1 - one;
        Some(holds && after.log_loss < before.log_loss)
    }
}

/// A page that a model hands on to a crawl: what is read of it, its label, and what the model says that was trained without it.
pub(super) type HandedOn = (Reading, bool, f64);

/// A page model as a crawl with `keywords` keywords starts with it: keywords and trained words, calibrated by the examples.
pub(super) fn at_first(
    model: &TrainedPageModel,
    examples: impl Iterator<Item = HandedOn>,
    keywords: usize,
) -> Arc<dyn PageClassifier> {
    let mut learner = PageLearner::new(&PageClassifierConfig::default(), keywords, Some(model));
    for (number, (reading, relevant, evidence)) in examples.enumerate() {
        learner.observe_judged(number as u64, reading, relevant, Some(evidence));
    }
    // Words learnt from a few labelled pages alone say little; in a crawl they are learnt among all that it fetches.
    learner.judge_by_keywords_only();
    if learner.has_examples() {
        learner.rejudge();
    }
    learner.model()
}

/// Compares two models on held-out pages, judged as on the first page of a crawl with these `keywords`, in which a page counts
/// as relevant from `threshold` on.
#[must_use]
pub fn compare(
    current: Option<&ModelBundle>,
    candidate: &ModelBundle,
    held_out: &[HeldOut<'_>],
    keywords: &KeywordSet,
    threshold: f64,
) -> Difference {
    let judge = |model: &ModelBundle| {
        let model = at_first(&model.page, model.examples.iter().map(|example| example.read(keywords)), keywords.len());
        held_out.iter().map(|page| model.judge(page.reading).relevance.get()).collect::<Vec<f64>>()
    };
    let before = current.map_or_else(|| held_out.iter().map(|page| page.recorded).collect(), judge);
    let after: Vec<f64> =
        judge(candidate).into_iter().zip(held_out).map(|(judged, page)| page.without_it.unwrap_or(judged)).collect();
    let metrics = |judged: &[f64]| {
        let scored = held_out.iter().zip(judged).map(|(page, &probability)| Scored { probability, relevant: page.relevant });
        Metrics::at(&scored.collect::<Vec<_>>(), threshold)
    };
    let flipped = held_out
        .iter()
        .zip(before.iter().zip(&after))
        .filter(|(_, (before, after))| (**before >= threshold) != (**after >= threshold));
    Difference {
        before: metrics(&before),
        after: metrics(&after),
        terms: changed_terms(current, candidate),
        flipped: flipped
            .map(|(page, (&before, &after))| Flipped { url: page.url.to_owned(), before, after, relevant: page.relevant })
            .collect(),
        contradicts: false,
    }
}

/// Whether labels rank pages the opposite way of what the crawl `recorded`, at a level that chance reaches once in a
/// hundred times (Mann–Whitney).
pub(super) fn contradict(recorded: &[Scored]) -> bool {
    const Z: f64 = 2.326;
    let relevant = recorded.iter().filter(|page| page.relevant).count() as f64;
    let irrelevant = recorded.len() as f64 - relevant;
    let spread = ((relevant + irrelevant + 1.0) / (12.0 * relevant * irrelevant)).sqrt();
    auc(recorded).is_some_and(|auc| 0.5 - auc > Z * spread)
}

/// Terms by how much their weight changed, common ones first among equals.
fn changed_terms(current: Option<&ModelBundle>, candidate: &ModelBundle) -> Vec<TermChange> {
    let words: BTreeSet<&str> =
        current.iter().flat_map(|model| model.words.iter()).chain(candidate.words.iter()).map(|word| word.0).collect();
    let mut changes: Vec<TermChange> = words
        .into_iter()
        .map(|word| {
            let weight = |model: &ModelBundle| model.page.word_weight(TermId::of(word));
            TermChange { term: word.to_owned(), before: current.map_or(0.0, weight), after: weight(candidate) }
        })
        .collect();
    let change = |term: &TermChange| (term.after - term.before).abs();
    changes.sort_by(|a, b| change(b).total_cmp(&change(a)).then_with(|| a.term.cmp(&b.term)));
    changes.truncate(TERMS);
    changes
}

impl TrainingSet {
    /// Held-out pages for [`compare`]: the known ones among `members`, with what the crawl `recorded` for a key.
    pub(super) fn held_out_pages(
        &self,
        members: impl Iterator<Item = usize>,
        recorded: impl Fn(&str) -> f64,
    ) -> Vec<HeldOut<'_>> {
        let known = members.map(|at| &self.examples()[at]).filter(|example| example.known);
        known
            .map(|example| HeldOut {
                url: &example.key,
                reading: &example.reading,
                relevant: example.relevance >= 0.5,
                recorded: recorded(&example.key),
                without_it: None,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        models::{Card, WordCounts},
        page::TermBag,
        page_classifier::{Calibration, Meaning, Scale},
        topic::KeywordSet,
    };

    fn model(rice: (f64, f64), goal: (f64, f64)) -> ModelBundle {
        let mut words = WordCounts::new((10.0, 10.0), 1.0);
        words.add("rice", rice.0, rice.1);
        words.add("goal", goal.0, goal.1);
        let scale = Scale { centre: 0.0, half_gap: 0.3 };
        let meaning = Meaning { scale, calibration: Calibration { slope: 3.0, offset: 0.0 }, base_rate: 0.5 };
        ModelBundle::new(words, meaning, None, Card::default()).unwrap()
    }

    fn readings() -> Vec<(String, Reading, bool)> {
        (0..20)
            .map(|n| {
                let word = if n % 2 == 0 { "rice" } else { "goal" };
                let bag: TermBag = [(word, 9.0 + n as f32)].into_iter().collect();
                (format!("http://e.com/{n}"), Reading::of(&bag, &[], &KeywordSet::default()), n % 2 == 0)
            })
            .collect()
    }

    fn held_out(readings: &[(String, Reading, bool)]) -> Vec<HeldOut<'_>> {
        readings
            .iter()
            .map(|(url, reading, relevant)| HeldOut { url, reading, relevant: *relevant, recorded: 0.4, without_it: None })
            .collect()
    }

    #[test]
    fn a_model_that_learnt_the_opposite_is_not_better_and_the_right_one_is() {
        let (right, wrong) = (model((50.0, 1.0), (1.0, 50.0)), model((1.0, 50.0), (50.0, 1.0)));
        let readings = readings();
        let pages = held_out(&readings);
        let difference = compare(Some(&wrong), &right, &pages, &KeywordSet::default(), 0.5);
        assert_eq!(difference.is_better(), Some(true), "{difference:?}");
        assert_eq!((difference.before.auc, difference.after.auc), (Some(0.0), Some(1.0)));
        assert_eq!(compare(Some(&right), &wrong, &pages, &KeywordSet::default(), 0.5).is_better(), Some(false));
        assert_eq!(
            compare(Some(&right), &right, &pages, &KeywordSet::default(), 0.5).is_better(),
            Some(false),
            "the same model is no better"
        );
    }

    #[test]
    fn changed_terms_and_flipped_pages_are_named() {
        let (right, wrong) = (model((50.0, 1.0), (1.0, 50.0)), model((1.0, 50.0), (50.0, 1.0)));
        let readings = readings();
        let difference = compare(Some(&wrong), &right, &held_out(&readings), &KeywordSet::default(), 0.5);
        let rice = difference.terms.iter().find(|term| term.term == "rice").unwrap();
        assert!(rice.before < -1.0 && rice.after > 1.0);
        assert!(difference.flipped.iter().any(|page| page.url == "http://e.com/18" && page.relevant && page.after > page.before));
    }

    #[test]
    fn without_a_model_before_the_crawls_own_judgement_stands_for_it() {
        let readings = readings();
        let difference = compare(None, &model((50.0, 1.0), (1.0, 50.0)), &held_out(&readings), &KeywordSet::default(), 0.5);
        assert_eq!(difference.before.auc, Some(0.5));
        assert_eq!(difference.is_better(), Some(true));
    }

    #[test]
    fn labels_that_say_the_opposite_of_the_crawl_contradict_it_unless_they_are_few() {
        let recorded = |number: usize, right: bool| -> Vec<Scored> {
            let page = |n: usize| Scored { probability: (n % 7) as f64 / 7.0, relevant: (n % 7 > 3) == right };
            (0..number).map(page).collect()
        };
        assert!(contradict(&recorded(28, false)));
        assert!(!contradict(&recorded(28, true)) && !contradict(&recorded(3, false)) && !contradict(&[]));
    }

    #[test]
    fn a_few_pages_cannot_tell() {
        let readings = readings();
        let (one, other) = (model((50.0, 1.0), (1.0, 50.0)), model((1.0, 50.0), (50.0, 1.0)));
        assert_eq!(compare(Some(&other), &one, &held_out(&readings[..8]), &KeywordSet::default(), 0.5).is_better(), None);
        let only_relevant: Vec<_> = readings.iter().filter(|page| page.2).cloned().collect();
        assert_eq!(compare(Some(&other), &one, &held_out(&only_relevant), &KeywordSet::default(), 0.5).is_better(), None);
    }
}

//! Crawls made up to teach a model something, or to mislead it.

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

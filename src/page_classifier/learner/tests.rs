use super::*;
use crate::{
    page::TermBag,
    page_classifier::{Calibration, Meaning},
    text::TermId,
    topic::KeywordSet,
};

fn keywords() -> KeywordSet {
    KeywordSet::new(["rice", "irrigation"].map(|word| vec![TermId::of(word)]))
}

fn page(words: &str) -> Reading {
    let bag: TermBag = words.split(' ').map(|word| (word, 1.0)).collect();
    Reading::of(&bag, &[], &keywords())
}

#[test]
fn a_page_that_has_changed_counts_by_what_it_says_now() {
    let learn = |pages: [&str; 3]| {
        let mut learner = PageLearner::new(&PageClassifierConfig::default(), 2, None);
        (0..).zip(pages).for_each(|(number, words)| _ = learner.observe(number, page(words)));
        learner.observe_label(3, page("rice paddy"), true);
        learner
    };
    let mut renewed = learn(["rice field", "goal team", "rice irrigation water"]);
    renewed.renew(0, page("goal player match"));
    renewed.renew(3, page("goal paddy"));
    renewed.renew(9, page("unknown"));
    assert!(renewed.sample[3].fixed && renewed.sample[3].relevance > 0.99, "a label stays");
    let total = |learner: &PageLearner| learner.counts.relevant_total + learner.counts.irrelevant_total;
    let weights = |texts: [&str; 4]| texts.iter().map(|text| page(text).weight).sum::<f64>();
    assert!((total(&renewed) - weights(["goal player match", "goal team", "rice irrigation water", "goal paddy"])).abs() < 1e-9);
    let mut always = learn(["goal player match", "goal team", "rice irrigation water"]);
    always.renew(3, page("goal paddy"));
    renewed.rejudge();
    always.rejudge();
    let judge = |learner: &PageLearner| learner.model().judge(&page("rice goal water")).relevance.get();
    assert!((judge(&renewed) - judge(&always)).abs() < 1e-6, "{} {}", judge(&renewed), judge(&always));
}

fn taught(kind: PageClassifierKind) -> PageLearner {
    let config = PageClassifierConfig { kind, ..PageClassifierConfig::default() };
    let mut learner = PageLearner::new(&config, 2, None);
    for round in 0..20 {
        learner.observe(round * 2, page("rice paddy seedling rice irrigation water fertilizer harvest"));
        learner.observe(round * 2 + 1, page("match goal football team player stadium water season"));
        if learner.is_due() {
            learner.rejudge();
        }
    }
    learner
}

#[test]
fn words_that_go_with_the_keywords_make_pages_without_keywords_relevant() {
    for kind in [PageClassifierKind::Bayes, PageClassifierKind::Cosine] {
        let learner = taught(kind);
        let unseen = learner.model().judge(&page("paddy seedling fertilizer harvest")).relevance.get();
        let other = learner.model().judge(&page("goal football player stadium")).relevance.get();
        assert!(unseen > other + 0.1, "{kind:?}: {unseen} {other}");
    }
}

fn trained() -> TrainedPageModel {
    let words = [("paddy", 50.0, 1.0), ("manure", 50.0, 1.0), ("goal", 1.0, 50.0), ("league", 1.0, 50.0)];
    let calibration = Calibration { slope: 2.0, offset: 0.0 };
    let meaning = Meaning { scale: Scale { centre: 0.0, half_gap: 0.3 }, calibration, base_rate: 0.5 };
    TrainedPageModel::fit(words.into_iter(), 5.0, meaning).unwrap()
}

#[test]
fn a_trained_model_speaks_from_the_first_page_on_and_never_falls_silent() {
    for kind in [PageClassifierKind::Bayes, PageClassifierKind::Cosine] {
        let config = PageClassifierConfig { kind, ..PageClassifierConfig::default() };
        let mut learner = PageLearner::new(&config, 2, Some(&trained()));
        let judge = |learner: &PageLearner, words: &str| learner.model().judge(&page(words)).relevance.get();
        let (farm, sport) = ("paddy manure paddy manure paddy", "goal league goal league goal");
        assert!(judge(&learner, farm) > 0.6 && judge(&learner, sport) < 0.1, "{kind:?} {}", judge(&learner, farm));
        for number in 0..60 {
            learner.observe(number, page(if number % 2 == 0 { "paddy seedling manure" } else { "goal stadium league" }));
            if learner.is_due() {
                learner.rejudge();
            }
        }
        assert!(judge(&learner, farm) > 0.6 && judge(&learner, sport) < 0.1, "{kind:?} after the crawl");
        // What the trained model knew has taught the crawl's own words without any keyword on these pages.
        assert!(learner.model().judge(&page("seedling")).learned_score > learner.model().judge(&page("stadium")).learned_score);
    }
}

#[test]
fn keywords_still_count_beside_a_trained_model() {
    let learner = PageLearner::new(&PageClassifierConfig::default(), 2, Some(&trained()));
    let judge = |words: &str| learner.model().judge(&page(words)).relevance.get();
    assert!(judge("rice irrigation goal field") > judge("field goal"));
    assert!(judge("rice irrigation") > 0.5);
}

#[test]
fn the_words_of_a_trained_model_give_way_to_the_crawls_own() {
    let mut learner = PageLearner::new(&PageClassifierConfig::default(), 2, Some(&trained()));
    let paddy = TermId::of("paddy");
    let first = learner.model().word_weight(paddy);
    assert!(first > 1.0);
    for number in 0..400 {
        learner.observe_label(number, page(if number % 2 == 0 { "rice field" } else { "paddy menu" }), number % 2 == 0);
    }
    learner.rejudge();
    assert!(learner.model().word_weight(paddy) < 0.0);
}

#[test]
fn a_keyword_that_is_everywhere_fades() {
    let mut learner = PageLearner::new(&PageClassifierConfig::default(), 2, None);
    for n in 0..40 {
        learner.observe(n, page("irrigation menu contact news football goal team player stadium season match referee league"));
    }
    for n in 0..40 {
        learner.observe_label(100 + n, page("irrigation football"), false);
    }
    learner.rejudge();
    let weights = learner.keyword_weights();
    assert!(weights[1] < 0.3 && weights[0] > 0.8, "{weights:?}");
}

#[test]
fn a_home_page_is_no_example_of_the_topic_but_a_page_about_it_is() {
    let mut learner = PageLearner::new(&PageClassifierConfig::default(), 2, None);
    learner.observe_seed(0, page("rice rice irrigation"), true);
    assert!(!learner.sample[0].exemplary);
    learner.observe_seed(1, page("rice rice irrigation"), false);
    assert!(learner.sample[1].exemplary);
    learner.observe_seed(2, page("welcome home contact"), false);
    assert!(!learner.sample[2].exemplary);
}

#[test]
fn what_people_say_calibrates_what_the_keywords_exaggerate() {
    // Every page holds the keywords, but only a quarter is about the topic.
    let mut learner = PageLearner::new(&PageClassifierConfig::default(), 2, None);
    let filler = |n: u64| format!("rice irrigation word{} word{}", n % 7, n % 5);
    let judge = |learner: &PageLearner| learner.model().judge(&page("rice irrigation word3 word4")).relevance.get();
    for n in 0..40 {
        learner.observe(n, page(&filler(n)));
    }
    learner.rejudge();
    assert!(judge(&learner) > 0.6, "{}", judge(&learner));
    for n in 100..140 {
        learner.observe_judged(n, page(&filler(n)), n % 4 == 0, None);
    }
    learner.rejudge();
    learner.rejudge();
    assert!((judge(&learner) - 0.25).abs() < 0.12, "{}", judge(&learner));
}

#[test]
fn pages_that_leave_the_sample_stay_in_the_counts() {
    let config = PageClassifierConfig { sample: 5, ..PageClassifierConfig::default() };
    let mut learner = PageLearner::new(&config, 2, None);
    for n in 0..50 {
        learner.observe(n, page("rice paddy"));
    }
    assert_eq!(learner.sample.len(), 5);
    let total = learner.counts.relevant_total + learner.counts.irrelevant_total;
    assert!((total - 50.0 * page("rice paddy").weight).abs() < 1e-6);
}

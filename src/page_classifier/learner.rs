//! Makes page models while the crawl runs: self-training around the keywords, labels where there are any.
//!
//! Every fetched page is background and, in proportion to its own relevance, example. As the
//! counts grow, all remembered pages are judged anew, each by counts that leave it out.

use std::sync::Arc;

use super::{
    BayesModel, Calibration, ClassCounts, CosineModel, Judgement, KeywordTrust, PageClassifier, PageClassifierConfig,
    PageClassifierKind, Reading, ScoredExample, TrainedPageModel,
    bayes::{CRAWL_SMOOTHING, Scale, fit_log_ratios},
    fit_calibration,
    reading::{DIMENSIONS, column, looks_on_topic},
};
use crate::page::Relevance;

/// A page whose judgement changed when the model did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rejudged {
    /// The page's number as given to [`PageLearner::observe`].
    pub page: u64,
    pub relevance: Relevance,
}

/// Learns the page model of one crawl.
#[derive(Debug)]
pub struct PageLearner {
    config: PageClassifierConfig,
    keywords: usize,
    sample: Vec<Sample>,
    /// Of all pages, each by the relevance it was last counted with.
    counts: ClassCounts,
    observed: u64,
    next_round: u64,
    version: u32,
    bayes: BayesModel,
    model: Arc<dyn PageClassifier>,
    oldest: usize,
    keywords_only: bool,
    trusts_by_company: bool,
}

#[derive(Debug)]
struct Sample {
    page: u64,
    reading: Reading,
    relevance: f64,
    /// The relevance that its words are counted with.
    counted: f64,
    /// Given from outside (example, label, trusted seed): never judged anew.
    fixed: bool,
    /// A trusted seed or positive example: sets the keyword threshold.
    exemplary: bool,
    /// Of a page that a person judged: what a trained model says of it that was trained without it.
    judged: Option<f64>,
}

/// Pages after which a word's weight is as much the crawl's own as a trained model's.
const OWN_WORDS: f64 = 200.0;

/// Pages that people must have judged before they calibrate.
const FEW_JUDGED: usize = 10;

/// Pages after which the learned score counts fully.
const FULL_TRUST: f64 = 30.0;

impl PageLearner {
    /// A learner for a topic of `keywords` keywords, starting from a trained model where there is one.
    #[must_use]
    pub fn new(config: &PageClassifierConfig, keywords: usize, trained: Option<&TrainedPageModel>) -> Self {
        let bayes = BayesModel {
            log_ratios: Vec::new(),
            scale: Scale::default(),
            keyword_threshold: 0.3,
            keyword_trust: KeywordTrust::default(),
            trust: 0.0,
            trained: trained.cloned().map(Arc::new),
            calibration: Calibration::default(),
            own_words: 0.0,
        };
        Self {
            config: config.clone(),
            keywords,
            sample: Vec::new(),
            counts: ClassCounts::default(),
            observed: 0,
            next_round: 1,
            version: 0,
            model: Arc::new(bayes.clone()),
            bayes,
            oldest: 0,
            keywords_only: false,
            trusts_by_company: true,
        }
    }

    /// Never lets words other than keywords judge, to measure what they are worth.
    pub fn judge_by_keywords_only(&mut self) {
        self.keywords_only = true;
    }

    /// Trusts every keyword alike, to measure what telling them apart is worth.
    pub fn trust_all_keywords(&mut self) {
        self.trusts_by_company = false;
    }

    /// The current model; frozen, to be read anywhere.
    #[must_use]
    pub fn model(&self) -> Arc<dyn PageClassifier> {
        Arc::clone(&self.model)
    }

    /// Grows by one with every new model.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Learns from a fetched page, judged by the current model.
    pub fn observe(&mut self, page: u64, reading: Reading) -> Judgement {
        let judgement = self.model.judge(&reading);
        let relevance = judgement.relevance.get();
        self.remember(Sample { page, reading, relevance, counted: relevance, fixed: false, exemplary: false, judged: None });
        judgement
    }

    /// Learns from a seed. It is trusted as an example only if it looks like the topic and is a page of its own,
    /// not the home page of a site.
    pub fn observe_seed(&mut self, page: u64, reading: Reading, is_site_root: bool) -> Judgement {
        let trusted = !is_site_root && looks_on_topic(&reading);
        if !trusted {
            return self.observe(page, reading);
        }
        let mut judgement = self.model.judge(&reading);
        judgement.relevance = Relevance::new(judgement.relevance.get().max(0.9));
        let relevance = judgement.relevance.get();
        self.remember(Sample { page, reading, relevance, counted: relevance, fixed: true, exemplary: true, judged: None });
        judgement
    }

    /// Learns from an example: certain, and never judged anew.
    pub fn observe_label(&mut self, page: u64, reading: Reading, relevant: bool) {
        let relevance = f64::from(u8::from(relevant));
        self.remember(Sample { page, reading, relevance, counted: relevance, fixed: true, exemplary: relevant, judged: None });
    }

    /// Learns from a page of a crawl that a person judged. Unlike an example it was not chosen to be clear, so judgements are
    /// calibrated by it. `trained` is what the trained model would add to its log-odds if it had not been trained on it.
    pub fn observe_judged(&mut self, page: u64, reading: Reading, relevant: bool, trained: Option<f64>) {
        let own = || self.bayes.trained.as_ref().map_or(0.0, |model| model.evidence(&reading));
        let judged = Some(trained.unwrap_or_else(own));
        let relevance = f64::from(u8::from(relevant));
        self.remember(Sample { page, reading, relevance, counted: relevance, fixed: true, exemplary: relevant, judged });
    }

    fn remember(&mut self, sample: Sample) {
        self.observed += 1;
        self.counts.add(&sample.reading, sample.counted);
        if self.sample.len() < self.config.sample.max(1) {
            self.sample.push(sample);
            return;
        }
        // The oldest that is not fixed makes room; its counts stay.
        let len = self.sample.len();
        let place = (0..len).map(|step| (self.oldest + step) % len).find(|&at| !self.sample[at].fixed).unwrap_or(self.oldest);
        self.sample[place] = sample;
        self.oldest = (place + 1) % len;
    }

    /// Pages and examples learnt from, and how many of those that are remembered count for the topic.
    #[must_use]
    pub fn learned(&self) -> (u64, u64) {
        (self.observed, self.sample.iter().filter(|sample| sample.relevance >= 0.5).count() as u64)
    }

    /// Whether anything was learnt from.
    #[must_use]
    pub fn has_examples(&self) -> bool {
        self.observed > 0
    }

    /// Whether enough is new since the last round of judging.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.observed >= self.next_round
    }

    /// Judges all remembered pages anew, twice (soft self-training), makes a new model, and returns the pages whose
    /// relevance moved.
    pub fn rejudge(&mut self) -> Vec<Rejudged> {
        self.next_round = match self.observed {
            0 => 1,
            1 => 2,
            2..4 => 4,
            4..6 => 6,
            6..15 => 15,
            // More rarely once the model is no longer new.
            n if n < 90 => n + (n / 3).max(10),
            n => n + n / 2,
        };
        self.version += 1;
        if self.trusts_by_company {
            self.bayes.keyword_trust = KeywordTrust::of_pages(self.keywords, self.sample.iter().map(|sample| &sample.reading));
        }
        self.bayes.keyword_threshold = self.keyword_threshold();
        self.bayes.trust = if self.keywords_only { 0.0 } else { (self.observed as f64 / FULL_TRUST).min(1.0) };
        self.bayes.own_words = self.observed as f64 / (self.observed as f64 + OWN_WORDS);
        let before: Vec<f64> = self.sample.iter().map(|sample| sample.relevance).collect();
        for _ in 0..2 {
            self.self_train();
        }
        self.publish();
        let moved = self.sample.iter().zip(before).filter(|(sample, before)| (sample.relevance - before).abs() > 0.01);
        moved.map(|(sample, _)| Rejudged { page: sample.page, relevance: Relevance::new(sample.relevance) }).collect()
    }

    /// One round: every page scored by counts without it, the scale fitted to the two classes, relevances renewed.
    fn self_train(&mut self) {
        /// A relevance that moved by less is not worth counting a page's words again.
        const SAME: f64 = 0.01;
        let scores: Vec<f64> =
            self.sample.iter().map(|sample| self.counts.score_leaving_out(&sample.reading, sample.counted)).collect();
        self.bayes.scale = Scale::of(self.sample.iter().zip(&scores).map(|(sample, &score)| (score, sample.relevance)));
        self.calibrate(&scores);
        for (sample, &score) in self.sample.iter_mut().zip(&scores).filter(|(sample, _)| !sample.fixed) {
            sample.relevance = self.bayes.combine(&sample.reading, score).relevance.get();
            if (sample.relevance - sample.counted).abs() > SAME {
                self.counts.relabel(&sample.reading, sample.counted, sample.relevance);
                sample.counted = sample.relevance;
            }
        }
    }

    /// Fits the log-odds to what people said, held at what they are by half a page's worth of doubt (Platt).
    fn calibrate(&mut self, scores: &[f64]) {
        let judged = self.sample.iter().zip(scores).filter_map(|(sample, &score)| {
            let (_, log_odds) = self.bayes.log_odds(&sample.reading, score, sample.judged?);
            Some(ScoredExample { score: log_odds, relevance: sample.relevance, weight: 1.0 })
        });
        let judged: Vec<ScoredExample> = judged.collect();
        if judged.len() >= FEW_JUDGED {
            self.bayes.calibration = fit_calibration(&judged, Calibration::default());
        }
    }

    fn publish(&mut self) {
        // Finite counts always fit; should linfa refuse them all the same, the crawl goes on with the model it has.
        match fit_log_ratios(&self.counts, CRAWL_SMOOTHING) {
            Ok(log_ratios) => self.bayes.log_ratios = log_ratios,
            Err(reason) => tracing::warn!(reason, "the page model could not be refitted"),
        }
        self.model = match self.config.kind {
            PageClassifierKind::Bayes => Arc::new(self.bayes.clone()),
            PageClassifierKind::Cosine => Arc::new(self.cosine_model()),
        };
    }

    /// 0.3, drawn half-way to what the exemplary pages show where there are any.
    fn keyword_threshold(&self) -> f64 {
        const WITHOUT_EXAMPLES: f64 = 0.3;
        let scores: Vec<f64> = self
            .sample
            .iter()
            .filter(|sample| sample.exemplary)
            .map(|sample| sample.reading.keyword_score(&self.bayes.keyword_trust))
            .collect();
        if scores.is_empty() {
            return WITHOUT_EXAMPLES;
        }
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        WITHOUT_EXAMPLES / 2.0 + (0.4 * mean).clamp(0.12, 0.45) / 2.0
    }

    /// For each keyword, `0.9 · (1 − share of irrelevant pages that hold it)`: one that is everywhere fades by itself.
    #[must_use]
    pub fn keyword_weights(&self) -> Vec<f64> {
        const PRIOR_PAGES: f64 = 2.0;
        let mut holding = vec![0.0; self.keywords];
        let mut irrelevant = PRIOR_PAGES;
        for sample in &self.sample {
            irrelevant += 1.0 - sample.relevance;
            for &(keyword, _) in &sample.reading.keyword_counts {
                holding[usize::from(keyword)] += 1.0 - sample.relevance;
            }
        }
        holding.into_iter().map(|holding| 0.9 * (1.0 - holding / irrelevant)).collect()
    }

    fn cosine_model(&self) -> CosineModel {
        let mut holding = vec![0.0_f32; DIMENSIONS];
        for sample in &self.sample {
            for &(word, _) in &sample.reading.words {
                holding[column(word)] += 1.0;
            }
        }
        let pages = self.sample.len() as f32 + 1.0;
        let idf: Vec<f32> = holding.iter().map(|&holding| (pages / (holding + 0.5)).ln().max(0.0)).collect();
        let mut topic = vec![0.0_f32; DIMENSIONS];
        for sample in &self.sample {
            for &(word, x) in &sample.reading.words {
                topic[column(word)] += (sample.relevance / sample.reading.weight.max(1.0)) as f32 * x * idf[column(word)];
            }
        }
        let norm = topic.iter().map(|w| w * w).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        for weight in &mut topic {
            *weight /= norm;
        }
        let mut model = CosineModel {
            topic,
            idf,
            scale: Scale::default(),
            trust: self.bayes.trust,
            keyword_threshold: self.bayes.keyword_threshold,
            keyword_trust: self.bayes.keyword_trust.clone(),
            trained: self.bayes.trained.clone(),
        };
        model.scale = Scale::of(self.sample.iter().map(|sample| (model.cosine(&sample.reading), sample.relevance)));
        model
    }
}

#[cfg(test)]
mod tests {
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
            assert!(
                learner.model().judge(&page("seedling")).learned_score > learner.model().judge(&page("stadium")).learned_score
            );
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
            learner
                .observe(n, page("irrigation menu contact news football goal team player stadium season match referee league"));
        }
        for n in 0..40 {
            learner.observe_label(100 + n, page("irrigation football"), false);
        }
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
}

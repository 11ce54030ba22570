//! Makes page models while the crawl runs: self-training around the keywords, labels where there are any.
//!
//! Every fetched page is background and, in proportion to its own relevance, example. As the
//! counts grow, all remembered pages are judged anew, each by counts that leave it out; `pass` spreads that over visits.

use std::sync::Arc;

use super::{
    BayesModel, Calibration, ClassCounts, CosineModel, Judgement, KeywordTrust, PageClassifier, PageClassifierConfig,
    PageClassifierKind, Reading, ScoredExample, TrainedPageModel,
    bayes::{CRAWL_SMOOTHING, Scale, fit_log_ratios},
    fit_calibration,
    pass::Pass,
    reading::{DIMENSIONS, column, looks_on_topic},
};
use crate::page::Relevance;

/// Learns the page model of one crawl.
#[derive(Debug)]
pub struct PageLearner {
    pub(super) config: PageClassifierConfig,
    keywords: usize,
    pub(super) sample: Vec<Sample>,
    /// Of all pages, each by the relevance it was last counted with.
    pub(super) counts: ClassCounts,
    observed: u64,
    next_pass: u64,
    /// Pages being judged anew.
    pub(super) pass: Option<Pass>,
    version: u32,
    /// The model that is being made while a pass is under way, and the one in force between two.
    pub(super) bayes: BayesModel,
    /// The model in force.
    model: Arc<dyn PageClassifier>,
    /// As the model in force was made.
    keyword_weights: Vec<f64>,
    oldest: usize,
    keywords_only: bool,
    trusts_by_company: bool,
}

#[derive(Debug)]
pub(super) struct Sample {
    pub(super) page: u64,
    pub(super) reading: Reading,
    pub(super) relevance: f64,
    /// The relevance that its words are counted with.
    pub(super) counted: f64,
    /// The relevance that the crawl knows of.
    pub(super) told: f64,
    /// By counts that leave it out, while a pass is under way.
    pub(super) score: Option<f64>,
    /// What the trained model adds to its log-odds, once it was asked.
    pub(super) evidence: Option<f64>,
    /// Given from outside (example, label, trusted seed): never judged anew.
    pub(super) fixed: bool,
    /// A trusted seed or positive example: sets the keyword threshold.
    exemplary: bool,
    /// Of a page that a person judged: what a trained model says of it that was trained without it.
    judged: Option<f64>,
}

impl Sample {
    fn of(page: u64, reading: Reading, relevance: f64) -> Self {
        let (counted, told) = (relevance, relevance);
        Self {
            page,
            reading,
            relevance,
            counted,
            told,
            score: None,
            evidence: None,
            fixed: false,
            exemplary: false,
            judged: None,
        }
    }

    fn fixed(page: u64, reading: Reading, relevance: f64, exemplary: bool) -> Self {
        Self { fixed: true, exemplary, ..Self::of(page, reading, relevance) }
    }
}

/// Pages after which a word's weight is as much the crawl's own as a trained model's.
const OWN_WORDS: f64 = 200.0;

/// Pages that people must have judged before they calibrate.
const FEW_JUDGED: usize = 10;

/// Pages after which the learned score counts fully.
const FULL_TRUST: f64 = 30.0;

/// What a keyword weighs that no irrelevant page holds.
const FULL_WEIGHT: f64 = 0.9;

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
            next_pass: 1,
            pass: None,
            version: 0,
            model: Arc::new(bayes.clone()),
            bayes,
            keyword_weights: vec![FULL_WEIGHT; keywords],
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
        self.remember(Sample::of(page, reading, relevance));
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
        self.remember(Sample::fixed(page, reading, relevance, true));
        judgement
    }

    /// Learns from an example: certain, and never judged anew.
    pub fn observe_label(&mut self, page: u64, reading: Reading, relevant: bool) {
        let relevance = f64::from(u8::from(relevant));
        self.remember(Sample::fixed(page, reading, relevance, relevant));
    }

    /// Learns from a page of a crawl that a person judged. Unlike an example it was not chosen to be clear, so judgements are
    /// calibrated by it. `trained` is what the trained model would add to its log-odds if it had not been trained on it.
    pub fn observe_judged(&mut self, page: u64, reading: Reading, relevant: bool, trained: Option<f64>) {
        let own = || self.bayes.trained.as_ref().map_or(0.0, |model| model.evidence(&reading));
        let judged = Some(trained.unwrap_or_else(own));
        let relevance = f64::from(u8::from(relevant));
        self.remember(Sample { judged, ..Sample::fixed(page, reading, relevance, relevant) });
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

    /// Whether pages are to be judged anew: enough is new since it was last done, or it is under way.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.pass.is_some() || self.observed >= self.next_pass
    }

    /// Lays down what the next model says of keywords and how much it trusts its words, from the pages of now.
    pub(super) fn begin_model(&mut self) {
        self.next_pass = match self.observed {
            0 => 1,
            1 => 2,
            2..4 => 4,
            4..6 => 6,
            6..15 => 15,
            // More rarely once the model is no longer new.
            n if n < 90 => n + (n / 3).max(10),
            n => n + n / 2,
        };
        if self.trusts_by_company {
            self.bayes.keyword_trust = KeywordTrust::of_pages(self.keywords, self.sample.iter().map(|sample| &sample.reading));
        }
        self.bayes.keyword_threshold = self.keyword_threshold();
        self.bayes.trust = if self.keywords_only { 0.0 } else { (self.observed as f64 / FULL_TRUST).min(1.0) };
        self.bayes.own_words = self.observed as f64 / (self.observed as f64 + OWN_WORDS);
    }

    /// Fits the next model's scale to the two classes, by the scores that pages have.
    pub(super) fn fit_scale(&mut self) {
        let scored = self.sample.iter().filter_map(|sample| Some((sample.score?, sample.relevance)));
        self.bayes.scale = Scale::of(scored);
        self.calibrate();
    }

    /// Fits the log-odds to what people said, held at what they are by half a page's worth of doubt (Platt).
    fn calibrate(&mut self) {
        let judged = self.sample.iter().filter_map(|sample| {
            let (_, log_odds) = self.bayes.log_odds(&sample.reading, sample.score?, sample.judged?);
            Some(ScoredExample { score: log_odds, relevance: sample.relevance, weight: 1.0 })
        });
        let judged: Vec<ScoredExample> = judged.collect();
        if judged.len() >= FEW_JUDGED {
            self.bayes.calibration = fit_calibration(&judged, Calibration::default());
        }
    }

    /// The next model takes the place of the one in force.
    pub(super) fn publish(&mut self) {
        self.version += 1;
        self.keyword_weights = self.weigh_keywords();
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

    /// For each keyword, `0.9 · (1 − share of irrelevant pages that hold it)`, when the model in force was made: one that is
    /// everywhere fades by itself.
    #[must_use]
    pub fn keyword_weights(&self) -> Vec<f64> {
        self.keyword_weights.clone()
    }

    fn weigh_keywords(&self) -> Vec<f64> {
        const PRIOR_PAGES: f64 = 2.0;
        let mut holding = vec![0.0; self.keywords];
        let mut irrelevant = PRIOR_PAGES;
        for sample in &self.sample {
            irrelevant += 1.0 - sample.relevance;
            for &(keyword, _) in &sample.reading.keyword_counts {
                holding[usize::from(keyword)] += 1.0 - sample.relevance;
            }
        }
        holding.into_iter().map(|holding| FULL_WEIGHT * (1.0 - holding / irrelevant)).collect()
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
}

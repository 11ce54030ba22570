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

    /// A page has changed: learns from what it says now instead of what it said before, where that is remembered. What is certain of
    /// it stays.
    pub fn renew(&mut self, page: u64, reading: Reading) -> Judgement {
        let judgement = self.model.judge(&reading);
        if let Some(sample) = self.sample.iter_mut().find(|sample| sample.page == page) {
            let relevance = if sample.fixed { sample.relevance } else { judgement.relevance.get() };
            self.counts.remove(&sample.reading, sample.counted);
            self.counts.add(&reading, relevance);
            let Sample { fixed, exemplary, judged, .. } = *sample;
            *sample = Sample { fixed, exemplary, judged, ..Sample::of(page, reading, relevance) };
        }
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
mod tests;

//! Multinomial Naive Bayes: word counts of two classes, fitted by linfa-bayes, scored sparsely.
//!
//! linfa-bayes takes dense rows only. Counts are additive, so one aggregated row
//! per class gives the same model as all pages one by one (a test says so).

use std::{collections::HashMap, sync::Arc};

use linfa::{ParamGuard, dataset::DatasetBase, traits::FitWith};
use linfa_bayes::MultinomialNb;
use ndarray::{Array1, Array2};
use serde::{Deserialize, Serialize};

use super::{
    Calibration, Judgement, KeywordTrust, PageClassifier, TrainedPageModel,
    reading::{DIMENSIONS, Reading, column, sigmoid},
};
use crate::text::TermId;

/// Word weight per class, over all columns.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassCounts {
    /// `[irrelevant, relevant]` by column: scoring asks for both.
    columns: Vec<[f64; 2]>,
    pub(crate) relevant_total: f64,
    pub(crate) irrelevant_total: f64,
}

impl Default for ClassCounts {
    fn default() -> Self {
        Self { columns: vec![[0.0; 2]; DIMENSIONS], relevant_total: 0.0, irrelevant_total: 0.0 }
    }
}

impl ClassCounts {
    /// Adds a page that belongs to the topic with probability `relevance`.
    pub fn add(&mut self, reading: &Reading, relevance: f64) {
        self.shift(reading, 1.0 - relevance, relevance);
    }

    /// Takes a page out that was added with this relevance.
    pub(super) fn remove(&mut self, reading: &Reading, relevance: f64) {
        self.shift(reading, relevance - 1.0, -relevance);
    }

    /// Corrects the counts of a page that was added with relevance `from`.
    pub fn relabel(&mut self, reading: &Reading, from: f64, to: f64) {
        self.shift(reading, from - to, to - from);
    }

    fn shift(&mut self, reading: &Reading, irrelevant: f64, relevant: f64) {
        for &(word, x) in &reading.words {
            let counts = &mut self.columns[column(word)];
            counts[0] += irrelevant * f64::from(x);
            counts[1] += relevant * f64::from(x);
        }
        self.relevant_total += relevant * reading.weight;
        self.irrelevant_total += irrelevant * reading.weight;
    }

    /// Counts of a vocabulary of which every word has a column to itself, `(relevant, irrelevant)` by column.
    #[must_use]
    pub fn of_columns(columns: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let columns: Vec<[f64; 2]> = columns.into_iter().map(|(relevant, irrelevant)| [irrelevant, relevant]).collect();
        let total = |class: usize| columns.iter().map(|counts| counts[class]).sum();
        Self { relevant_total: total(1), irrelevant_total: total(0), columns }
    }

    /// The page's score by a model that has not seen it, although these counts have, with `relevance`.
    pub(crate) fn score_leaving_out(&self, reading: &Reading, relevance: f64) -> f64 {
        let (share, rest) = (relevance as f32, (1.0 - relevance) as f32);
        let totals = (
            self.relevant_total - relevance * reading.weight + 1.0,
            self.irrelevant_total - (1.0 - relevance) * reading.weight + 1.0,
        );
        let text = (1.0 / (self.relevant_total + self.irrelevant_total + 1.0)) as f32;
        let mut sum = 0.0;
        for &(word, x) in &reading.words {
            let [irrelevant, relevant] = self.columns[column(word)].map(|count| count as f32);
            // Share of the word in all text: what smoothing falls back on.
            let background = (relevant + irrelevant + 0.3) * text;
            let p = (relevant - share * x).max(0.0) + background;
            let n = (irrelevant - rest * x).max(0.0) + background;
            sum += x * fast_ln(p / n);
        }
        // Every word's ratio is taken to the totals of the two classes.
        (f64::from(sum) + reading.weight * (totals.1 / totals.0).ln()) / (reading.weight + LENGTH_PRIOR)
    }
}

/// `ln x` of a positive normal number, within 0.00004: a page's words are scored by the hundred at every round of judging.
fn fast_ln(x: f32) -> f32 {
    let bits = x.to_bits();
    let exponent = (bits >> 23) as f32 - 127.0;
    let mantissa = f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000);
    // ln m = 2 artanh t, with t = (m − √2) / (m + √2) within ±0.172, plus ln √2.
    let t = (mantissa - std::f32::consts::SQRT_2) / (mantissa + std::f32::consts::SQRT_2);
    let square = t * t;
    let series = 2.0 * t * (1.0 + square * (1.0 / 3.0 + square * 0.2));
    (exponent + 0.5) * std::f32::consts::LN_2 + series
}

/// Word weight below which a page's score is drawn to 0: short pages say little.
pub(crate) const LENGTH_PRIOR: f64 = 10.0;

/// Weight of common text that a crawl's classes are smoothed with: light, since they are small at first.
pub(crate) const CRAWL_SMOOTHING: f64 = 1.0;

/// The mirror of linfa-bayes' model, whose fields are private but serialise.
#[derive(Deserialize)]
struct FittedModel {
    class_info: HashMap<usize, FittedClass>,
}

#[derive(Deserialize)]
struct FittedClass {
    _class_count: usize,
    _prior: f32,
    _feature_count: Array1<f32>,
    feature_log_prob: Array1<f32>,
}

impl FittedModel {
    fn of(model: Option<&MultinomialNb<f32, usize>>) -> Result<Self, String> {
        let bytes = postcard::to_stdvec(&model).map_err(|error| error.to_string())?;
        postcard::from_bytes::<Option<Self>>(&bytes)
            .map_err(|error| error.to_string())?
            .ok_or_else(|| "nothing was fitted".to_owned())
    }
}

/// Fits the two classes and returns `ln P(column | relevant) − ln P(column | irrelevant)` for every column, 0 for columns
/// without words only. Each class is smoothed with text of weight `smoothing` (above 0), mixed like all text together.
///
/// # Errors
/// What linfa-bayes or its serialisation refuses, in words; counts that are finite never are.
pub fn fit_log_ratios(counts: &ClassCounts, smoothing: f64) -> Result<Vec<f32>, String> {
    // Columns without words would only swell the rows: their ratio is 0 by definition.
    let used: Vec<usize> =
        counts.columns.iter().enumerate().filter(|(_, counts)| counts[0] + counts[1] > 1e-9).map(|(column, _)| column).collect();
    let mut ratios = vec![0.0_f32; counts.columns.len()];
    if used.is_empty() {
        return Ok(ratios);
    }
    let text = 1.0 / (counts.relevant_total + counts.irrelevant_total + 1.0);
    let mut rows = Array2::<f32>::zeros((2, used.len()));
    let mut sums = [0.0; 2];
    for (place, &column) in used.iter().enumerate() {
        let both = counts.columns[column];
        let background = smoothing * (both[0] + both[1] + 0.3) * text;
        for class in [0, 1] {
            let smoothed = both[class].max(0.0) + background;
            rows[[class, place]] = smoothed as f32;
            sums[class] += smoothed;
        }
    }
    let data = DatasetBase::new(rows, Array1::from(vec![0_usize, 1]));
    // The background has smoothed the rows already.
    let params = MultinomialNb::<f32, usize>::params().alpha(0.0).check().map_err(|error| error.to_string())?;
    let model = params.fit_with(None, &data).map_err(|error| error.to_string())?;
    let mut fitted = FittedModel::of(model.as_ref())?;
    let mut class = |class: usize| fitted.class_info.remove(&class).ok_or("a class is missing from the fitted model");
    let (irrelevant, relevant) = (class(0)?, class(1)?);
    // linfa normalises each class by its smoothed total; the offset puts the raw totals back, so that a class with little
    // text is not favoured.
    let offset = (sums[1] / (counts.relevant_total + smoothing)).ln() - (sums[0] / (counts.irrelevant_total + smoothing)).ln();
    for (place, &column) in used.iter().enumerate() {
        ratios[column] = relevant.feature_log_prob[place] - irrelevant.feature_log_prob[place] + offset as f32;
    }
    Ok(ratios)
}

/// A frozen Naive Bayes page classifier.
#[derive(Debug, Clone)]
pub struct BayesModel {
    /// Per column; empty before anything is learnt.
    pub(crate) log_ratios: Vec<f32>,
    pub(crate) scale: Scale,
    /// Keyword score at which a page is as likely relevant as not.
    pub(crate) keyword_threshold: f64,
    pub(crate) keyword_trust: KeywordTrust,
    /// How much the learned score counts, 0..=1: it fades in with evidence.
    pub(crate) trust: f64,
    /// A model made before the crawl, which speaks beside keywords and learned score.
    pub(crate) trained: Option<Arc<TrainedPageModel>>,
    /// What labels say of the log-odds that all of this comes to.
    pub(crate) calibration: Calibration,
    /// How much of a word's weight is the crawl's own, 0..=1; the rest is the trained model's.
    pub(crate) own_words: f64,
}

/// Where the two classes' scores lie: a score becomes 1 at the relevant mean and −1 at the irrelevant one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    pub centre: f64,
    /// Half the distance of the two means; 0 where they cannot be told apart.
    pub half_gap: f64,
}

impl Scale {
    /// Of scored documents, which belong to the relevant class by the second number, 0..=1.
    #[must_use]
    pub fn of(scored: impl Iterator<Item = (f64, f64)>) -> Self {
        let (mut relevant, mut irrelevant) = ((0.0, 1e-9), (0.0, 1e-9));
        for (score, relevance) in scored {
            relevant.0 += relevance * score;
            relevant.1 += relevance;
            irrelevant.0 += (1.0 - relevance) * score;
            irrelevant.1 += 1.0 - relevance;
        }
        let (high, low) = (relevant.0 / relevant.1, irrelevant.0 / irrelevant.1);
        Self { centre: f64::midpoint(high, low), half_gap: ((high - low) / 2.0).max(0.0) }
    }

    /// The score on this scale, within ±2.5.
    #[must_use]
    pub fn apply(self, score: f64) -> f64 {
        if self.half_gap < 1e-6 { 0.0 } else { ((score - self.centre) / self.half_gap).clamp(-2.5, 2.5) }
    }
}

impl BayesModel {
    /// What the trained model adds to a page's log-odds.
    pub(crate) fn evidence(&self, reading: &Reading) -> f64 {
        self.trained.as_ref().map_or(0.0, |trained| trained.evidence(reading))
    }

    pub(crate) fn score(&self, reading: &Reading) -> f64 {
        if self.log_ratios.is_empty() {
            return 0.0;
        }
        let sum: f64 = reading.words.iter().map(|&(word, x)| f64::from(x * self.log_ratios[column(word)])).sum();
        sum / (reading.weight + LENGTH_PRIOR)
    }

    /// Joins keyword evidence, the crawl's own score and the trained model's word in one judgement.
    pub(crate) fn combine(&self, reading: &Reading, learned_score: f64, trained: f64) -> Judgement {
        let (keyword_score, log_odds) = self.log_odds(reading, learned_score, trained);
        Judgement { relevance: sigmoid(self.calibration.apply(log_odds)), keyword_score, learned_score }
    }

    /// The keyword score, and the log-odds before calibration.
    pub(crate) fn log_odds(&self, reading: &Reading, learned_score: f64, trained: f64) -> (f64, f64) {
        let keyword_score = reading.keyword_score(&self.keyword_trust);
        let by_keywords = 5.0 * (keyword_score - self.keyword_threshold);
        (keyword_score, by_keywords + 0.7 * self.trust * self.scale.apply(learned_score) + trained)
    }
}

impl PageClassifier for BayesModel {
    fn judge(&self, reading: &Reading) -> Judgement {
        self.combine(reading, self.score(reading), self.evidence(reading))
    }

    fn word_weight(&self, word: TermId) -> f64 {
        let own = self.log_ratios.get(column(word)).map_or(0.0, |&ratio| f64::from(ratio));
        match &self.trained {
            Some(trained) => self.own_words * own + (1.0 - self.own_words) * trained.word_weight(word),
            None => own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{page::TermBag, topic::KeywordSet};

    fn reading(words: &[(&str, f32)]) -> Reading {
        let bag: TermBag = words.iter().copied().collect();
        Reading::of(&bag, &[], &KeywordSet::default())
    }

    #[test]
    fn one_aggregated_row_per_class_gives_the_model_of_all_dense_rows() {
        let pages = [
            (reading(&[("rice", 3.0), ("pest", 1.0)]), 1_usize),
            (reading(&[("rice", 1.0), ("field", 2.0)]), 1),
            (reading(&[("goal", 4.0), ("field", 1.0)]), 0),
        ];
        let row = |reading: &Reading| {
            let mut row = vec![0.0; DIMENSIONS];
            for &(word, x) in &reading.words {
                row[column(word)] = x;
            }
            row
        };
        let params = || MultinomialNb::<f32, usize>::params().alpha(1.0).check().unwrap();
        let mut dense = None;
        for (page, class) in &pages {
            let data = DatasetBase::new(Array2::from_shape_vec((1, DIMENSIONS), row(page)).unwrap(), Array1::from(vec![*class]));
            dense = params().fit_with(dense, &data).unwrap();
        }
        let mut sums = Array2::zeros((2, DIMENSIONS));
        for (page, class) in &pages {
            let mut sum = sums.row_mut(*class);
            sum += &Array1::from(row(page));
        }
        let aggregated = params().fit_with(None, &DatasetBase::new(sums, Array1::from(vec![0_usize, 1]))).unwrap();
        let (dense, aggregated) = (FittedModel::of(dense.as_ref()).unwrap(), FittedModel::of(aggregated.as_ref()).unwrap());
        for class in [0, 1] {
            let (dense, aggregated) =
                (&dense.class_info[&class].feature_log_prob, &aggregated.class_info[&class].feature_log_prob);
            assert!(dense.iter().zip(aggregated).all(|(d, a)| (d - a).abs() < 1e-5));
        }
    }

    #[test]
    fn words_of_relevant_pages_weigh_for_the_topic() {
        let mut counts = ClassCounts::default();
        counts.add(&reading(&[("rice", 3.0), ("the", 2.0)]), 0.9);
        counts.add(&reading(&[("goal", 3.0), ("the", 2.0)]), 0.1);
        let ratios = fit_log_ratios(&counts, CRAWL_SMOOTHING).unwrap();
        let of = |word| ratios[column(TermId::of(word))];
        assert!(of("rice") > 0.5 && of("goal") < -0.5 && of("the").abs() < 0.2);
    }

    #[test]
    fn the_fast_logarithm_is_close_enough() {
        for step in 0..10_000 {
            let x = f32::exp((step as f32 - 5_000.0) / 250.0);
            assert!((fast_ln(x) - x.ln()).abs() < 4e-5, "ln {x}");
        }
    }

    #[test]
    fn leaving_a_page_out_takes_its_own_words_out_of_its_score() {
        let mut counts = ClassCounts::default();
        let page = reading(&[("rare", 3.0)]);
        counts.add(&page, 1.0);
        counts.add(&reading(&[("goal", 3.0)]), 0.0);
        counts.add(&reading(&[("rice", 3.0)]), 1.0);
        assert!(counts.score_leaving_out(&page, 1.0) < 0.1);
    }
}

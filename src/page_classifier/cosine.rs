//! Cosine of TF-IDF vectors between a page and the mean of the topic's pages (systems.md 4).

use std::sync::Arc;

use super::{
    Judgement, KeywordTrust, PageClassifier, TrainedPageModel,
    bayes::Scale,
    reading::{Reading, column, sigmoid},
};
use crate::text::TermId;

/// A frozen cosine page classifier.
#[derive(Debug, Clone)]
pub struct CosineModel {
    /// Mean TF-IDF vector of the topic, of length 1; by column.
    pub(crate) topic: Vec<f32>,
    /// `ln(D / h)` by column: D pages, h of them with the word.
    pub(crate) idf: Vec<f32>,
    pub(crate) scale: Scale,
    pub(crate) trust: f64,
    pub(crate) keyword_threshold: f64,
    pub(crate) keyword_trust: KeywordTrust,
    /// A model made before the crawl, which speaks beside the cosine.
    pub(crate) trained: Option<Arc<TrainedPageModel>>,
}

impl CosineModel {
    /// The cosine between page and topic, 0..=1.
    pub(crate) fn cosine(&self, reading: &Reading) -> f64 {
        if self.topic.is_empty() {
            return 0.0;
        }
        let (mut dot, mut norm) = (0.0, 0.0);
        for &(word, x) in &reading.words {
            let w = f64::from(x * self.idf[column(word)]);
            dot += w * f64::from(self.topic[column(word)]);
            norm += w * w;
        }
        if norm > 0.0 { dot / norm.sqrt() } else { 0.0 }
    }
}

impl PageClassifier for CosineModel {
    fn judge(&self, reading: &Reading) -> Judgement {
        let keyword_score = reading.keyword_score(&self.keyword_trust);
        let cosine = self.cosine(reading);
        // Until the topic's vector rests on pages, the keywords carry the judgement.
        let by_keywords = 5.0 * (keyword_score - self.keyword_threshold);
        let log_odds = (1.0 - self.trust) * by_keywords
            + self.trust * 2.0 * self.scale.apply(cosine)
            + self.trained.as_ref().map_or(0.0, |trained| trained.evidence(reading));
        Judgement { relevance: sigmoid(log_odds), keyword_score, learned_score: cosine }
    }

    fn word_weight(&self, word: TermId) -> f64 {
        let column = column(word);
        self.topic.get(column).map_or(0.0, |&weight| f64::from(weight * self.idf[column]))
    }
}

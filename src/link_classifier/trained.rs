//! A link model made before the crawl: weights of the evidence, fitted to what came of the links of earlier crawls.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    evidence::{Evidence, FEATURES, Feature},
    logistic::{dot, fitted},
};
use crate::page::Relevance;

/// Weights by feature, in log-odds per unit of evidence; a crawl starts from them and goes on learning.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrainedLinkModel {
    weights: BTreeMap<Feature, f64>,
}

impl Default for TrainedLinkModel {
    /// The weights that every crawl starts from when there is no model.
    fn default() -> Self {
        Self { weights: Feature::ALL.into_iter().map(|feature| (feature, feature.prior_weight())).collect() }
    }
}

impl TrainedLinkModel {
    /// The most likely weights for links of which the relevance of the target is known, `(evidence, 0..=1)`, if the weights
    /// of `start` are where they are expected (logistic regression, MAP, Gaussian prior of precision 1).
    ///
    /// Evidence that is not finite is left out.
    #[must_use]
    pub fn fit(start: &Self, examples: &[(Evidence, f64)]) -> Self {
        let weights = fitted(start.all(), examples);
        // Four digits are more than a few thousand links can tell, and keep the file readable.
        let rounded = weights.map(|weight| (weight * 1e4).round() / 1e4);
        Self { weights: Feature::ALL.into_iter().zip(rounded).collect() }
    }

    /// The estimate for a link with this evidence.
    #[must_use]
    pub fn estimate(&self, evidence: &Evidence) -> Relevance {
        Relevance::new(1.0 / (1.0 + (-dot(&self.all(), evidence)).exp()))
    }

    /// All weights by [`Feature`]; one that the file did not name has its usual value.
    #[must_use]
    pub fn all(&self) -> [f64; FEATURES] {
        Feature::ALL.map(|feature| self.weights.get(&feature).copied().unwrap_or_else(|| feature.prior_weight()))
    }

    /// Whether every weight is a number that a logistic model can have.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.weights.values().all(|weight| weight.abs() < 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(feature: Feature, value: f64) -> Evidence {
        let mut evidence = Evidence::default();
        evidence.set(feature, value);
        evidence
    }

    #[test]
    fn weights_are_written_by_name_and_missing_ones_keep_their_usual_value() {
        let text = serde_json::to_string(&TrainedLinkModel::default()).unwrap();
        assert!(text.contains("\"anchor-keywords\":2.0"), "{text}");
        let model: TrainedLinkModel = serde_json::from_str("{\"hub\": 3.5}").unwrap();
        assert!((model.all()[Feature::Hub as usize] - 3.5).abs() < 1e-12);
        assert!((model.all()[Feature::AnchorKeywords as usize] - 2.0).abs() < 1e-12);
        assert!(serde_json::from_str::<TrainedLinkModel>("{\"hubs\": 3.5}").is_err());
    }

    #[test]
    fn what_led_to_the_topic_gains_weight_and_what_did_not_loses_it() {
        let mut examples = Vec::new();
        for _ in 0..200 {
            examples.push((link(Feature::Host, 1.0), 0.95));
            examples.push((link(Feature::AnchorKeywords, 1.0), 0.05));
        }
        let (start, fitted) = (TrainedLinkModel::default(), TrainedLinkModel::fit(&TrainedLinkModel::default(), &examples));
        assert!(start.estimate(&link(Feature::Host, 1.0)) < start.estimate(&link(Feature::AnchorKeywords, 1.0)));
        assert!((fitted.estimate(&link(Feature::Host, 1.0)).get() - 0.95).abs() < 0.05);
        assert!(fitted.estimate(&link(Feature::AnchorKeywords, 1.0)).get() < 0.12);
    }

    #[test]
    fn evidence_that_is_no_number_is_left_out() {
        let examples = [(link(Feature::Hub, f64::NAN), 1.0), (link(Feature::Hub, f64::INFINITY), 1.0)];
        assert_eq!(TrainedLinkModel::fit(&TrainedLinkModel::default(), &examples), TrainedLinkModel::default());
    }
}

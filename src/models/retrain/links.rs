//! New weights for the link classifier, from what came of a crawl's links.

use serde::Serialize;

use super::{HELD_OUT, LabelledPage, SOURCE};
use crate::{
    link_classifier::{Evidence, Feature, TrainedLinkModel},
    models::{Metrics, ModelBundle, Scored, training_set::is_held_out},
};

/// Links below which their weights are left alone, and held-out ones below which they cannot be measured.
const MIN_LINKS: (usize, usize) = (50, 20);

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

/// Links whose outcome is known, split like the pages they led to.
#[derive(Debug, Default)]
pub(super) struct Links {
    train: Vec<(Evidence, f64)>,
    held_out: Vec<(Evidence, f64)>,
}

impl Links {
    pub(super) fn add(&mut self, page: &LabelledPage) {
        let Some(evidence) = Evidence::from_slice(&page.evidence) else { return };
        let outcome = page.label.map_or(page.relevance, |label| f64::from(u8::from(label)));
        let side = if is_held_out(SOURCE, &page.url, HELD_OUT) { &mut self.held_out } else { &mut self.train };
        side.push((evidence, outcome));
    }

    /// New weights if they are better than those before, else those before.
    pub(super) fn train(&self, current: Option<&ModelBundle>) -> (Option<TrainedLinkModel>, Option<LinkDifference>) {
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

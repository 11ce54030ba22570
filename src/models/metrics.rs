//! How good judgements are: ranking (AUC), decisions (precision, recall, F1), probabilities (calibration error, log-loss).

use serde::{Deserialize, Serialize};

/// A judged document whose truth is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Judged probability of being relevant, 0..=1.
    pub probability: f64,
    /// What it is.
    pub relevant: bool,
}

/// Bins of the calibration error; 15 as in Guo et al. 2017.
const BINS: usize = 15;

/// Judgements of one set of documents, measured.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Metrics {
    pub documents: usize,
    pub relevant: usize,
    /// `None` where all documents are of one class.
    pub auc: Option<f64>,
    /// At the threshold; 0 where nothing was judged relevant.
    pub precision: f64,
    /// At the threshold; 0 where nothing is relevant.
    pub recall: f64,
    pub f1: f64,
    /// Expected calibration error, 15 bins of equal size.
    pub ece: f64,
    /// Mean negative log-likelihood, in nats.
    pub log_loss: f64,
}

impl Metrics {
    /// Measures at a threshold of 0.5, rounded to four digits; all zero for no documents.
    #[must_use]
    pub fn of(scored: &[Scored]) -> Self {
        Self::at(scored, 0.5)
    }

    /// [`Metrics::of`], where a document is called relevant from `threshold` on.
    #[must_use]
    pub fn at(scored: &[Scored], threshold: f64) -> Self {
        let round = |x: f64| (x * 1e4).round() / 1e4;
        let (precision, recall, f1) = decisions(scored, threshold);
        Self {
            documents: scored.len(),
            relevant: scored.iter().filter(|one| one.relevant).count(),
            auc: auc(scored).map(round),
            precision: round(precision),
            recall: round(recall),
            f1: round(f1),
            ece: round(expected_calibration_error(scored, BINS)),
            log_loss: round(log_loss(scored)),
        }
    }
}

/// Probability that a relevant document is judged higher than an irrelevant one, ties counting half (Mann–Whitney);
/// `None` where a class is missing.
#[must_use]
pub fn auc(scored: &[Scored]) -> Option<f64> {
    let mut sorted: Vec<Scored> = scored.to_vec();
    sorted.sort_by(|a, b| a.probability.total_cmp(&b.probability));
    let relevant = sorted.iter().filter(|one| one.relevant).count() as f64;
    let irrelevant = sorted.len() as f64 - relevant;
    if relevant == 0.0 || irrelevant == 0.0 {
        return None;
    }
    let (mut below, mut won) = (0.0, 0.0);
    for tied in sorted.chunk_by(|a, b| a.probability.total_cmp(&b.probability).is_eq()) {
        let positives = tied.iter().filter(|one| one.relevant).count() as f64;
        let negatives = tied.len() as f64 - positives;
        won += positives * (below + negatives / 2.0);
        below += negatives;
    }
    Some(won / (relevant * irrelevant))
}

/// Precision, recall and F1 of calling relevant what reaches `threshold`; 0 where they are not defined.
fn decisions(scored: &[Scored], threshold: f64) -> (f64, f64, f64) {
    let count = |called: bool, relevant: bool| {
        scored.iter().filter(|one| (one.probability >= threshold) == called && one.relevant == relevant).count() as f64
    };
    let (hit, wrong, missed) = (count(true, true), count(true, false), count(false, true));
    let ratio = |part: f64, rest: f64| if part > 0.0 { part / (part + rest) } else { 0.0 };
    (ratio(hit, wrong), ratio(hit, missed), ratio(2.0 * hit, wrong + missed))
}

/// Mean distance between judged and true share of relevant documents, over bins of equal size by judgement.
#[must_use]
pub fn expected_calibration_error(scored: &[Scored], bins: usize) -> f64 {
    let mut sorted: Vec<Scored> = scored.to_vec();
    // A stable sort: ties keep the order they came in, which has nothing to do with their class.
    sorted.sort_by(|a, b| a.probability.total_cmp(&b.probability));
    let bins = bins.min(sorted.len());
    let mut error = 0.0;
    for bin in 0..bins {
        let part = &sorted[bin * sorted.len() / bins..(bin + 1) * sorted.len() / bins];
        let judged: f64 = part.iter().map(|one| one.probability).sum();
        let relevant = part.iter().filter(|one| one.relevant).count() as f64;
        error += (judged - relevant).abs();
    }
    error / sorted.len().max(1) as f64
}

/// Mean `−ln p` of what is true; judgements are kept 10⁻⁶ away from certainty.
#[must_use]
pub fn log_loss(scored: &[Scored]) -> f64 {
    let loss = |one: &Scored| {
        let p = one.probability.clamp(1e-6, 1.0 - 1e-6);
        if one.relevant { -p.ln() } else { -(1.0 - p).ln() }
    };
    scored.iter().map(loss).sum::<f64>() / scored.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scored(judged: &[(f64, u8)]) -> Vec<Scored> {
        judged.iter().map(|&(probability, relevant)| Scored { probability, relevant: relevant == 1 }).collect()
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn auc_counts_the_pairs_in_the_right_order() {
        // Pairs: (.9,.8) (.9,.3) right, (.5,.8) wrong, (.5,.3) right: 3 of 4.
        close(auc(&scored(&[(0.9, 1), (0.8, 0), (0.5, 1), (0.3, 0)])).unwrap(), 0.75);
        close(auc(&scored(&[(0.1, 1), (0.9, 0)])).unwrap(), 0.0);
    }

    #[test]
    fn a_tie_is_half_a_right_pair() {
        close(auc(&scored(&[(0.5, 1), (0.5, 0), (0.5, 0)])).unwrap(), 0.5);
        // .7 beats both, .4 ties with one and beats none of the other: 2 + 0.5 of 4.
        close(auc(&scored(&[(0.7, 1), (0.4, 1), (0.4, 0), (0.6, 0)])).unwrap(), 0.625);
    }

    #[test]
    fn one_class_alone_has_no_auc() {
        assert_eq!(auc(&scored(&[(0.5, 1), (0.7, 1)])), None);
        assert_eq!(auc(&[]), None);
    }

    #[test]
    fn decisions_are_counted_at_the_threshold() {
        // Called relevant: .9 (right), .5 (right), .6 (wrong); missed: .4.
        let metrics = Metrics::of(&scored(&[(0.9, 1), (0.6, 0), (0.5, 1), (0.4, 1), (0.1, 0)]));
        close(metrics.precision, 0.6667);
        close(metrics.recall, 0.6667);
        close(metrics.f1, 0.6667);
        assert_eq!((metrics.documents, metrics.relevant), (5, 3));
    }

    #[test]
    fn what_is_not_defined_is_zero() {
        let none = Metrics::of(&scored(&[(0.1, 1), (0.2, 1)]));
        assert_eq!((none.precision, none.recall, none.f1, none.auc), (0.0, 0.0, 0.0, None));
        assert_eq!(Metrics::of(&[]), Metrics::default());
    }

    #[test]
    fn calibration_error_is_the_mean_gap_of_equal_bins() {
        // Two bins of two: |.1 + .3 − 1| and |.7 + .9 − 2|, over four.
        close(expected_calibration_error(&scored(&[(0.1, 0), (0.3, 1), (0.7, 1), (0.9, 1)]), 2), (0.6 + 0.4) / 4.0);
        // One bin: 2.0 judged, 2 relevant.
        close(expected_calibration_error(&scored(&[(0.1, 0), (0.9, 1), (0.2, 0), (0.8, 1)]), 1), 0.0);
        // Five documents in two bins: two and three of them.
        close(expected_calibration_error(&scored(&[(0.0, 0), (0.0, 0), (1.0, 1), (1.0, 1), (1.0, 0)]), 2), 0.2);
    }

    #[test]
    fn log_loss_is_the_mean_surprise_and_never_infinite() {
        close(log_loss(&scored(&[(0.5, 1), (0.25, 0)])), (0.5_f64.ln() + 0.75_f64.ln()) / -2.0);
        assert!(log_loss(&scored(&[(0.0, 1)])).is_finite());
    }
}

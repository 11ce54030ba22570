//! How good the link model's estimates were, each compared with the page it led to.
//!
//! Prequential: an estimate was made before its page was fetched and learnt
//! from, so every pair is a fair test. AUC and calibration are computed from a
//! histogram over the log-odds of the estimates.
//!
//! Promises: bounded memory; estimates closer than 0.01 in log-odds count as ties.

use serde::Serialize;

/// Cells of the histogram.
const CELLS: usize = 4_096;
/// Estimates are f32: their log-odds lie within this bound where they are not exactly 0 or 1.
const MAX_LOG_ODDS: f64 = 17.0;
/// Groups of equal size for the calibration error, as is usual (Naeini et al. 2015 with equal mass).
const GROUPS: u64 = 15;

/// The quality of the link model over a crawl.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinkModelQuality {
    /// Pages that were taken from the frontier, fetched and judged.
    pub judged: u64,
    /// How many of them were relevant.
    pub relevant: u64,
    /// Chance that a relevant page had a higher estimate than an irrelevant one, 0 to 1; none where one kind is missing.
    pub auc: Option<f64>,
    /// Expected calibration error, 0 to 1: mean distance between estimate and share of relevant pages over `groups`.
    pub ece: Option<f64>,
    /// Pages of like estimate, lowest first; up to 15 of about equal size.
    pub groups: Vec<EstimateGroup>,
}

/// Pages whose estimates were alike.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EstimateGroup {
    pub judged: u64,
    /// Mean estimate, 0 to 1.
    pub estimate: f64,
    /// Share of relevant pages, 0 to 1.
    pub relevant: f64,
}

/// Collects estimates and what became of them.
#[derive(Debug)]
pub(super) struct EstimateHistogram(Vec<Cell>);

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    judged: u64,
    relevant: u64,
    estimates: f64,
}

impl Default for EstimateHistogram {
    fn default() -> Self {
        Self(vec![Cell::default(); CELLS])
    }
}

impl EstimateHistogram {
    /// Counts a page that was expected to be relevant with probability `estimate`.
    pub fn add(&mut self, estimate: f64, relevant: bool) {
        // 0 and 1 have infinite log-odds, which the clamp puts into the outermost cells.
        let log_odds = (estimate / (1.0 - estimate)).ln().clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS);
        let place = (log_odds + MAX_LOG_ODDS) / (2.0 * MAX_LOG_ODDS) * (CELLS - 1) as f64;
        let cell = &mut self.0[place.round() as usize];
        cell.judged += 1;
        cell.relevant += u64::from(relevant);
        cell.estimates += estimate;
    }

    pub fn quality(&self) -> LinkModelQuality {
        let judged = self.0.iter().map(|cell| cell.judged).sum();
        let relevant = self.0.iter().map(|cell| cell.relevant).sum();
        let groups = self.groups(judged);
        let gap = |group: &EstimateGroup| group.judged as f64 * (group.estimate - group.relevant).abs();
        let ece = (judged > 0).then(|| groups.iter().map(gap).sum::<f64>() / judged as f64);
        LinkModelQuality { judged, relevant, auc: self.auc(judged, relevant), ece, groups }
    }

    /// Mann–Whitney's statistic; ties count one half.
    fn auc(&self, judged: u64, relevant: u64) -> Option<f64> {
        let pairs = relevant as f64 * (judged - relevant) as f64;
        let mut below = 0.0;
        let mut won = 0.0;
        for cell in &self.0 {
            let irrelevant = (cell.judged - cell.relevant) as f64;
            won += cell.relevant as f64 * (below + irrelevant / 2.0);
            below += irrelevant;
        }
        (pairs > 0.0).then(|| won / pairs)
    }

    fn groups(&self, judged: u64) -> Vec<EstimateGroup> {
        let mut groups = Vec::new();
        let mut seen = 0;
        let mut group = Cell::default();
        for cell in self.0.iter().filter(|cell| cell.judged > 0) {
            seen += cell.judged;
            group.judged += cell.judged;
            group.relevant += cell.relevant;
            group.estimates += cell.estimates;
            if group.judged * GROUPS >= judged || seen == judged {
                let size = group.judged as f64;
                let (estimate, relevant) = (group.estimates / size, group.relevant as f64 / size);
                groups.push(EstimateGroup { judged: group.judged, estimate, relevant });
                group = Cell::default();
            }
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quality(pairs: impl IntoIterator<Item = (f64, bool)>) -> LinkModelQuality {
        let mut histogram = EstimateHistogram::default();
        pairs.into_iter().for_each(|(estimate, relevant)| histogram.add(estimate, relevant));
        histogram.quality()
    }

    #[test]
    fn auc_counts_the_pairs_in_the_right_order_and_ties_by_half() {
        let auc = |pairs: &[(f64, bool)]| quality(pairs.iter().copied()).auc.unwrap();
        assert!((auc(&[(0.9, true), (0.1, false)]) - 1.0).abs() < 1e-12);
        assert!(auc(&[(0.0, true), (1.0, false)]).abs() < 1e-12);
        assert!((auc(&[(0.5, true), (0.5, false)]) - 0.5).abs() < 1e-12);
        assert!((auc(&[(0.8, true), (0.3, true), (0.5, false), (0.1, false)]) - 0.75).abs() < 1e-12);
    }

    #[test]
    fn estimates_that_come_true_have_no_calibration_error() {
        let honest = quality((0..1_000).map(|i| (0.25, i % 4 == 0)));
        assert!(honest.ece.unwrap() < 1e-9);
        let boastful = quality((0..1_000).map(|i| (0.75, i % 4 == 0)));
        assert!((boastful.ece.unwrap() - 0.5).abs() < 1e-9);
    }

    #[test]
    fn groups_hold_every_page_once() {
        let quality = quality((0..997_u32).map(|i| (f64::from(i) / 997.0, i % 2 == 0)));
        assert_eq!(quality.groups.iter().map(|group| group.judged).sum::<u64>(), 997);
        assert_eq!(quality.groups.len(), 15);
    }

    #[test]
    fn nothing_judged_gives_no_figures() {
        let empty = quality([]);
        assert_eq!((empty.auc, empty.ece, empty.groups.len()), (None, None, 0));
        assert_eq!(quality([(0.4, true)]).auc, None);
    }
}

//! Harvest, its area under the curve, and recall, from which fetches were hits.

/// Scores of one crawl.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Score {
    /// Targets fetched / budget.
    pub harvest: f64,
    /// Mean of the running harvest over the budget.
    pub auc: f64,
    /// Targets fetched / targets that can be reached.
    pub recall: f64,
}

impl Score {
    /// Scores a crawl; one that ended before its budget keeps what it had.
    #[must_use]
    pub fn of(hits: &[bool], budget: usize, reachable_targets: usize) -> Self {
        let (mut found, mut area) = (0_usize, 0.0);
        for fetched in 1..=budget {
            found += usize::from(hits.get(fetched - 1).copied().unwrap_or(false));
            area += found as f64 / fetched as f64;
        }
        let budget = budget.max(1) as f64;
        Self { harvest: found as f64 / budget, auc: area / budget, recall: found as f64 / reachable_targets.max(1) as f64 }
    }

    /// The mean of several; zero of none.
    #[must_use]
    pub fn mean(scores: &[Self]) -> Self {
        let number = scores.len().max(1) as f64;
        let mean = |of: fn(&Self) -> f64| scores.iter().map(of).sum::<f64>() / number;
        Self { harvest: mean(|s| s.harvest), auc: mean(|s| s.auc), recall: mean(|s| s.recall) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_hits_give_more_area_than_late_ones() {
        let early = Score::of(&[true, true, false, false], 4, 4);
        let late = Score::of(&[false, false, true, true], 4, 4);
        assert!((early.harvest - 0.5).abs() < 1e-12 && (late.harvest - 0.5).abs() < 1e-12);
        assert!((early.auc - (1.0 + 1.0 + 2.0 / 3.0 + 0.5) / 4.0).abs() < 1e-12);
        assert!(late.auc < early.auc);
    }

    #[test]
    fn a_crawl_that_ends_early_is_measured_over_the_whole_budget() {
        let score = Score::of(&[true], 10, 2);
        assert!((score.harvest - 0.1).abs() < 1e-12 && (score.recall - 0.5).abs() < 1e-12);
    }
}

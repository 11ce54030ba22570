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

    /// Harvest in each of `windows` equal parts of the budget.
    #[must_use]
    pub fn windowed(hits: &[bool], budget: usize, windows: usize) -> Vec<f64> {
        (0..windows)
            .map(|window| {
                let part = window * budget / windows..(window + 1) * budget / windows;
                let length = part.len().max(1) as f64;
                part.filter(|&at| hits.get(at).copied().unwrap_or(false)).count() as f64 / length
            })
            .collect()
    }

    /// Fetches after which the first has found at least as much as the second, for good; `None` if it ends behind.
    #[must_use]
    pub fn ahead_from(first: &[bool], second: &[bool], budget: usize) -> Option<usize> {
        let (mut lead, mut from) = (0_i64, Some(0));
        for at in 0..budget {
            let hit = |hits: &[bool]| i64::from(hits.get(at).copied().unwrap_or(false));
            lead += hit(first) - hit(second);
            from = if lead < 0 { None } else { from.or(Some(at + 1)) };
        }
        from
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
    fn harvest_is_told_by_parts_of_the_budget() {
        assert_eq!(Score::windowed(&[true, true, false, true], 6, 3), [1.0, 0.5, 0.0]);
    }

    #[test]
    fn a_crawl_is_ahead_from_where_it_never_falls_behind_again() {
        let (late, early) = ([false, true, true, true], [true, true, false, false]);
        assert_eq!(Score::ahead_from(&late, &early, 4), Some(3));
        assert_eq!(Score::ahead_from(&early, &late, 4), None);
        assert_eq!(Score::ahead_from(&late, &late, 4), Some(0));
    }

    #[test]
    fn a_crawl_that_ends_early_is_measured_over_the_whole_budget() {
        let score = Score::of(&[true], 10, 2);
        assert!((score.harvest - 0.1).abs() < 1e-12 && (score.recall - 0.5).abs() < 1e-12);
    }
}

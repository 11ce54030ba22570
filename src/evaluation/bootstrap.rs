//! Paired comparison of two contestants over tasks, with a bootstrap interval.

/// The mean difference of paired values and its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    pub difference: f64,
    pub low: f64,
    pub high: f64,
    /// Pairs in which the first is lower.
    pub losses: usize,
}

/// Compares paired values by 10,000 bootstrap resamples with a fixed seed; `None` for no pairs.
#[must_use]
pub fn compare(first: &[f64], second: &[f64]) -> Option<Comparison> {
    const RESAMPLES: usize = 10_000;
    let differences: Vec<f64> = first.iter().zip(second).map(|(a, b)| a - b).collect();
    if differences.is_empty() {
        return None;
    }
    let number = differences.len();
    let mean = |sum: f64| sum / number as f64;
    let mut random = fastrand::Rng::with_seed(20_261_121);
    let mut means: Vec<f64> =
        (0..RESAMPLES).map(|_| mean((0..number).map(|_| differences[random.usize(0..number)]).sum())).collect();
    means.sort_by(f64::total_cmp);
    Some(Comparison {
        difference: mean(differences.iter().sum()),
        low: means[RESAMPLES / 40],
        high: means[RESAMPLES - 1 - RESAMPLES / 40],
        losses: differences.iter().filter(|&&difference| difference < -1e-9).count(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clear_gain_has_an_interval_above_zero_and_noise_does_not() {
        let clear = compare(&[0.6, 0.7, 0.8, 0.65, 0.7], &[0.5, 0.6, 0.6, 0.6, 0.55]).unwrap();
        assert!(clear.low > 0.0 && clear.losses == 0);
        let noise = compare(&[0.6, 0.4, 0.7, 0.3], &[0.4, 0.6, 0.3, 0.7]).unwrap();
        assert!(noise.low < 0.0 && noise.high > 0.0 && noise.losses == 2);
        assert!(compare(&[], &[]).is_none());
    }
}

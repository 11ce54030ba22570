//! Platt's calibration: from a scaled score to log-odds, fitted by penalised logistic regression.

use super::Calibration;

/// How hard slope and offset are held at where they start, in documents' worth.
const PRECISION: f64 = 0.5;

/// One score whose relevance is known, and how much it counts.
#[derive(Debug, Clone, Copy)]
pub struct ScoredExample {
    pub score: f64,
    /// 0..=1.
    pub relevance: f64,
    pub weight: f64,
}

/// Fits slope (never negative: a score may be worthless, not reversed) and offset around `start` by Newton's method.
#[must_use]
pub fn fit_calibration(examples: &[ScoredExample], start: Calibration) -> Calibration {
    let (mut slope, mut offset) = (start.slope, start.offset);
    for _ in 0..60 {
        let (mut d_slope, mut d_offset) = (PRECISION * (start.slope - slope), PRECISION * (start.offset - offset));
        let (mut slope_slope, mut slope_offset, mut offset_offset) = (PRECISION, 0.0, PRECISION);
        for one in examples {
            let p = 1.0 / (1.0 + (-(slope * one.score + offset)).exp());
            let error = one.weight * (one.relevance - p);
            let curvature = one.weight * (p * (1.0 - p)).max(1e-6);
            d_slope += error * one.score;
            d_offset += error;
            slope_slope += curvature * one.score * one.score;
            slope_offset += curvature * one.score;
            offset_offset += curvature;
        }
        let determinant = slope_slope * offset_offset - slope_offset * slope_offset;
        let step = (
            ((d_slope * offset_offset - d_offset * slope_offset) / determinant).clamp(-1.0, 1.0),
            ((d_offset * slope_slope - d_slope * slope_offset) / determinant).clamp(-1.0, 1.0),
        );
        slope += step.0;
        offset += step.1;
        if step.0.abs() + step.1.abs() < 1e-9 {
            break;
        }
    }
    Calibration { slope: slope.max(0.0), offset }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_relevant_documents_at_each_score_is_found() {
        // At score ±1 the shares are σ(2 ± 3).
        let share = |z: f64| 1.0 / (1.0 + f64::exp(-z));
        let examples =
            [(1.0, share(1.0)), (-1.0, share(-5.0))].map(|(score, relevance)| ScoredExample { score, relevance, weight: 1e6 });
        let found = fit_calibration(&examples, Calibration::default());
        assert!((found.slope - 3.0).abs() < 0.01 && (found.offset + 2.0).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn classes_that_are_quite_apart_give_a_bounded_slope() {
        let examples: Vec<_> = [(1.0, 1.0), (-1.0, 0.0)]
            .iter()
            .cycle()
            .take(100)
            .map(|&(score, relevance)| ScoredExample { score, relevance, weight: 1.0 })
            .collect();
        let found = fit_calibration(&examples, Calibration::default());
        assert!(found.slope > 2.0 && found.slope < 10.0, "{found:?}");
    }

    #[test]
    fn scores_that_say_the_opposite_are_worthless_not_reversed() {
        let examples = [(1.0, 0.0), (-1.0, 1.0)].map(|(score, relevance)| ScoredExample { score, relevance, weight: 50.0 });
        assert!(fit_calibration(&examples, Calibration::default()).slope.abs() < 1e-12);
        assert_eq!(fit_calibration(&[], Calibration::default()), Calibration::default());
    }
}

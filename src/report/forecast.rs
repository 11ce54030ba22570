//! What going on would bring: the relevant pages to expect of the next fetches, with an interval.
//!
//! The harvest is taken for a level that drifts: an exponentially weighted mean over blocks of 25 pages, with the drift that
//! the differences of neighbouring blocks show beyond what chance explains (a local level model).
//!
//! Promises: no forecast where nothing was fetched or nothing waits; the interval is within what can be.

use serde::Serialize;

/// The next fetches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Forecast {
    /// How many fetches it is about.
    pub pages: u64,
    /// Relevant pages to expect of them.
    pub relevant: f64,
    /// Interval that ought to hold the number nine times of ten.
    pub low: f64,
    pub high: f64,
}

/// Pages in a block.
const BLOCK: usize = 25;
/// Weight of the latest block in the level.
const SMOOTHING: f64 = 0.3;
/// Least drift from block to block, as a variance: two points of harvest.
const LEAST_DRIFT: f64 = 4e-4;
/// Half the width of the interval, in standard deviations.
const Z: f64 = 1.645;

impl Forecast {
    /// From whether each of the latest pages was relevant, the last one last, of `fetched` in all; `waiting` links are left.
    pub(super) fn of(latest: &[bool], fetched: u64, waiting: u64) -> Option<Self> {
        let pages = fetched.clamp(100, 1_000).min(waiting);
        if latest.is_empty() || pages == 0 {
            return None;
        }
        // Blocks end with the last page; what is left over at the beginning is forgotten, unless it is all there is.
        let whole = latest.len() / BLOCK * BLOCK;
        let latest = if whole == 0 { latest } else { &latest[latest.len() - whole..] };
        let rates: Vec<f64> = latest.chunks(BLOCK).map(share).collect();
        let size = BLOCK.min(latest.len()) as f64;
        // A page of each kind on top, so that nothing is ever certain.
        let mean = (share(latest) * latest.len() as f64 + 1.0) / (latest.len() as f64 + 2.0);
        let chance = mean * (1.0 - mean) / size;
        let drift = (mean_square_step(&rates) - 2.0 * chance).max(LEAST_DRIFT);
        let mut level = mean;
        for rate in &rates {
            level += SMOOTHING * (rate - level);
        }
        let blocks = pages as f64 / size;
        let of_level = SMOOTHING / (2.0 - SMOOTHING) * chance + drift;
        let deviation = (of_level + drift * blocks / 3.0 + mean * (1.0 - mean) / pages as f64).sqrt();
        let number = |rate: f64| (rate.clamp(0.0, 1.0) * pages as f64 * 10.0).round() / 10.0;
        let (low, high) = (number(level - Z * deviation), number(level + Z * deviation));
        Some(Self { pages, relevant: number(level), low, high })
    }
}

fn share(pages: &[bool]) -> f64 {
    pages.iter().filter(|&&relevant| relevant).count() as f64 / pages.len().max(1) as f64
}

fn mean_square_step(rates: &[f64]) -> f64 {
    let steps: Vec<f64> = rates.windows(2).map(|pair| (pair[1] - pair[0]).powi(2)).collect();
    steps.iter().sum::<f64>() / steps.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_harvest_goes_on_and_the_interval_holds_it() {
        let mut random = fastrand::Rng::with_seed(4);
        let mut held = 0;
        for _ in 0..200 {
            let pages: Vec<bool> = (0..800).map(|_| random.f64() < 0.4).collect();
            let forecast = Forecast::of(&pages[..500], 500, 10_000).unwrap();
            assert_eq!(forecast.pages, 500);
            let next = share(&pages[500..]) * 500.0;
            held += usize::from(forecast.low <= next && next <= forecast.high);
        }
        assert!(held >= 180, "{held} of 200");
    }

    #[test]
    fn a_harvest_that_dries_up_is_not_taken_for_its_mean() {
        let pages: Vec<bool> = (0..400).map(|n| n < 200 || n % 10 == 0).collect();
        let forecast = Forecast::of(&pages, 400, 1_000).unwrap();
        assert!(forecast.relevant < 80.0 && forecast.low <= 40.0 && forecast.high > 40.0, "{forecast:?}");
    }

    #[test]
    fn it_stays_within_what_can_be_and_says_nothing_of_nothing() {
        for pages in [vec![true; 3], vec![false; 60], vec![true; 60]] {
            let forecast = Forecast::of(&pages, pages.len() as u64, 40).unwrap();
            assert!(forecast.pages == 40 && forecast.low >= 0.0 && forecast.high <= 40.0, "{forecast:?}");
            assert!(forecast.low <= forecast.relevant && forecast.relevant <= forecast.high);
        }
        assert_eq!(Forecast::of(&[], 0, 40), None);
        assert_eq!(Forecast::of(&[true], 1, 0), None);
    }
}

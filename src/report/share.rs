//! Counts of fetched and relevant pages, and how sure their share is.

use serde::Serialize;

/// Fetched pages of one kind, and how many of them are relevant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Yield {
    pub fetched: u64,
    pub relevant: u64,
}

impl Yield {
    /// Counts a fetched page.
    pub(super) fn add(&mut self, relevant: bool) {
        self.fetched += 1;
        self.relevant += u64::from(relevant);
    }

    /// Relevant pages per fetched page, 0 to 1; `None` where nothing was fetched.
    #[must_use]
    pub fn harvest(self) -> Option<f64> {
        (self.fetched > 0).then(|| self.relevant as f64 / self.fetched as f64)
    }

    /// The share with its 95 % interval (Wilson 1927); `None` where nothing was fetched.
    pub(super) fn estimate(self) -> Option<ShareEstimate> {
        const Z: f64 = 1.959_964;
        let harvest = self.harvest()?;
        let n = self.fetched as f64;
        let scale = 1.0 + Z * Z / n;
        let centre = (harvest + Z * Z / (2.0 * n)) / scale;
        let half = Z / scale * (harvest * (1.0 - harvest) / n + Z * Z / (4.0 * n * n)).sqrt();
        Some(ShareEstimate { harvest, low: (centre - half).max(0.0), high: (centre + half).min(1.0) })
    }
}

/// A share and the interval that holds its true value with 95 % confidence, all 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ShareEstimate {
    pub harvest: f64,
    pub low: f64,
    pub high: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_samples_have_wide_intervals_that_stay_within_bounds() {
        let none = Yield { fetched: 10, relevant: 0 }.estimate().unwrap();
        assert!(none.low.abs() < 1e-12 && (none.high - 0.2775).abs() < 1e-3, "{none:?}");
        let half = Yield { fetched: 100, relevant: 50 }.estimate().unwrap();
        assert!((half.low - 0.4038).abs() < 1e-3 && (half.high - 0.5962).abs() < 1e-3, "{half:?}");
        assert_eq!(Yield::default().estimate(), None);
    }
}

//! The harvest as it develops: the share of relevant pages, over all and over the last ones.
//!
//! Promises: bounded memory (a ring of 1,000 flags, 200 points) however long the crawl.

use std::collections::VecDeque;

use serde::Serialize;

/// The two windows, in fetched pages.
const SHORT: usize = 100;
const LONG: usize = 1_000;
/// Points of the series at most.
const MAX_POINTS: usize = 200;

/// The crawl after `fetched` pages.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct HarvestPoint {
    pub fetched: u64,
    pub relevant: u64,
    /// Share of relevant pages among the last 100 (or all, where there are fewer), 0 to 1.
    pub harvest_100: f64,
    /// The same over the last 1,000.
    pub harvest_1000: f64,
}

/// Follows the harvest page by page.
#[derive(Debug)]
pub(super) struct HarvestCurve {
    recent: VecDeque<bool>,
    hits_short: usize,
    hits_long: usize,
    fetched: u64,
    relevant: u64,
    points: Vec<HarvestPoint>,
    stride: u64,
}

impl Default for HarvestCurve {
    fn default() -> Self {
        let recent = VecDeque::with_capacity(LONG);
        Self { recent, hits_short: 0, hits_long: 0, fetched: 0, relevant: 0, points: Vec::new(), stride: 1 }
    }
}

impl HarvestCurve {
    /// Counts the next fetched page.
    pub fn add(&mut self, relevant: bool) {
        if self.recent.len() >= SHORT {
            self.hits_short -= usize::from(self.recent[self.recent.len() - SHORT]);
        }
        if self.recent.len() == LONG {
            self.hits_long -= usize::from(self.recent.pop_front() == Some(true));
        }
        self.recent.push_back(relevant);
        self.hits_short += usize::from(relevant);
        self.hits_long += usize::from(relevant);
        self.fetched += 1;
        self.relevant += u64::from(relevant);
        if self.fetched.is_multiple_of(self.stride) {
            self.keep_point();
        }
    }

    /// Adds a point; where that makes too many, every second goes and the steps double.
    fn keep_point(&mut self) {
        self.points.extend(self.now());
        if self.points.len() == MAX_POINTS {
            self.stride *= 2;
            self.points.retain(|point| point.fetched.is_multiple_of(self.stride));
        }
    }

    /// Where the crawl stands; `None` before the first page.
    pub fn now(&self) -> Option<HarvestPoint> {
        let share = |hits: usize, window: usize| hits as f64 / self.recent.len().min(window) as f64;
        (self.fetched > 0).then(|| HarvestPoint {
            fetched: self.fetched,
            relevant: self.relevant,
            harvest_100: share(self.hits_short, SHORT),
            harvest_1000: share(self.hits_long, LONG),
        })
    }

    /// Whether each of the last 1,000 pages was relevant, the last one last.
    pub fn latest(&self) -> Vec<bool> {
        self.recent.iter().copied().collect()
    }

    /// At most 200 points at equal steps, the last page among them.
    pub fn series(&self) -> Vec<HarvestPoint> {
        let last = self.now().filter(|now| self.points.last().is_none_or(|point| point.fetched < now.fetched));
        self.points.iter().copied().chain(last).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(pages: impl IntoIterator<Item = bool>) -> HarvestCurve {
        let mut curve = HarvestCurve::default();
        pages.into_iter().for_each(|relevant| curve.add(relevant));
        curve
    }

    #[test]
    fn windows_forget_what_lies_behind_them() {
        let curve = curve((0..1_500).map(|page| page < 1_000));
        let now = curve.now().unwrap();
        assert_eq!((now.fetched, now.relevant), (1_500, 1_000));
        assert!(now.harvest_100.abs() < 1e-12);
        assert!((now.harvest_1000 - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_long_crawl_keeps_few_points_and_the_last_one() {
        for pages in [1_u64, 199, 200, 201, 12_345] {
            let series = curve((0..pages).map(|page| page % 3 == 0)).series();
            assert!(series.len() <= MAX_POINTS, "{} points of {pages} pages", series.len());
            assert_eq!(series.last().unwrap().fetched, pages);
            assert!(series.windows(2).all(|pair| pair[0].fetched < pair[1].fetched));
        }
    }

    #[test]
    fn an_empty_crawl_has_no_points() {
        assert!(curve([]).series().is_empty());
        assert_eq!(curve([]).now(), None);
    }
}

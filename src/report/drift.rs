//! How the topic's vocabulary drifted: which words relevant pages hold late in the crawl that they did not hold early, and the reverse.
//!
//! Promises: bounded memory: the telling words of the first and the last [`PAGES`] relevant pages; the two never overlap.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Serialize;

use crate::store::PageRecord;

/// Relevant pages looked at on either side.
const PAGES: usize = 200;
/// With fewer pages on a side, shares jump.
const FEW_PAGES: usize = 20;
/// Telling words taken of a page.
const WORDS: usize = 60;
/// Words told of each kind.
const TOLD: usize = 12;
/// Least change of a word's share of pages that is told.
const CHANGE: f64 = 0.08;

/// The words that came up, and those that faded, the largest change first.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Drift {
    /// Pages on either side; 0 where there were too few to compare.
    pub pages: u64,
    pub rising: Vec<DriftWord>,
    pub fading: Vec<DriftWord>,
}

/// A word, and the share of early and of late relevant pages that hold it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DriftWord {
    pub word: String,
    pub early: f64,
    pub late: f64,
}

/// Gathers the words of relevant pages as they come.
#[derive(Default)]
pub(super) struct DriftTally {
    first: Vec<Vec<String>>,
    last: VecDeque<Vec<String>>,
    pages: usize,
}

impl DriftTally {
    pub fn add(&mut self, page: &PageRecord) {
        let distinct: BTreeSet<&str> = page.terms.iter().take(WORDS).map(|term| term.word).collect();
        let words: Vec<String> = distinct.into_iter().map(str::to_owned).collect();
        self.pages += 1;
        if self.first.len() < PAGES {
            self.first.push(words.clone());
        }
        if self.last.len() == PAGES {
            self.last.pop_front();
        }
        self.last.push_back(words);
    }

    pub fn finish(self) -> Drift {
        let side = (self.pages / 2).min(PAGES);
        if side < FEW_PAGES {
            return Drift::default();
        }
        let mut counts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
        for word in self.first[..side].iter().flatten() {
            counts.entry(word).or_default().0 += 1;
        }
        for word in self.last.iter().skip(self.last.len() - side).flatten() {
            counts.entry(word).or_default().1 += 1;
        }
        let share = |count: u32| f64::from(count) / side as f64;
        let words = counts.into_iter().map(|(word, (early, late))| DriftWord {
            word: word.to_owned(),
            early: share(early),
            late: share(late),
        });
        let changed: Vec<DriftWord> = words.filter(|word| (word.late - word.early).abs() >= CHANGE).collect();
        let told = |sign: f64| {
            let mut words: Vec<DriftWord> =
                changed.iter().filter(|word| (word.late - word.early) * sign > 0.0).cloned().collect();
            words.sort_by(|a, b| ((b.late - b.early) * sign).total_cmp(&((a.late - a.early) * sign)));
            words.truncate(TOLD);
            words
        };
        Drift { pages: side as u64, rising: told(1.0), fading: told(-1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::tests::fixture::page;

    fn drift_of(pages: u64, words: impl Fn(u64) -> Vec<&'static str>) -> Drift {
        let mut tally = DriftTally::default();
        for n in 1..=pages {
            let mut page = page(n, &format!("http://e.com/{n}"));
            page.terms = words(n).into_iter().map(|word| (word, 1.0)).collect();
            tally.add(&page);
        }
        tally.finish()
    }

    #[test]
    fn words_that_come_up_and_fade_are_told_with_their_shares() {
        let drift = drift_of(1_000, |n| if n <= 100 { vec!["rice", "paddy"] } else { vec!["rice", "drone"] });
        let told = |words: &[DriftWord]| words.iter().map(|w| (w.word.clone(), w.early, w.late)).collect::<Vec<_>>();
        assert_eq!(drift.pages, 200);
        assert_eq!(told(&drift.rising), [("drone".to_owned(), 0.5, 1.0)]);
        assert_eq!(told(&drift.fading), [("paddy".to_owned(), 0.5, 0.0)]);
    }

    #[test]
    fn the_sides_of_a_short_crawl_do_not_overlap_and_a_handful_of_pages_tells_nothing() {
        let drift = drift_of(41, |n| if n <= 20 { vec!["early"] } else { vec!["late"] });
        assert_eq!((drift.pages, drift.rising[0].late, drift.fading[0].early), (20, 1.0, 1.0));
        assert_eq!(drift_of(39, |_| vec!["word"]), Drift::default());
    }
}

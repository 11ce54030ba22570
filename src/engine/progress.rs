//! What a running crawl shows of itself.

use serde::Serialize;

use crate::page::Timestamp;

/// A snapshot of a running crawl, sent after every visit.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Progress {
    /// Pages fetched, and how many of them are relevant.
    pub fetched: u64,
    pub relevant: u64,
    /// Share of relevant pages among the last 100 fetched.
    pub recent_harvest: f64,
    /// URLs finished, whatever their outcome.
    pub finished: u64,
    pub waiting: u64,
    pub active_hosts: u64,
    pub running: u64,
    pub bytes: u64,
    /// The crawl's time and how long it has run, in its own time.
    pub now: Timestamp,
    pub elapsed_ms: u64,
    /// Page limit, if there is one.
    pub max_pages: Option<u64>,
    pub model_version: u32,
    pub last_url: String,
}

/// Which of the last pages were relevant.
#[derive(Debug, Clone)]
pub(super) struct Recent {
    window: std::collections::VecDeque<bool>,
    length: usize,
    relevant: usize,
}

impl Default for Recent {
    fn default() -> Self {
        Self::over(100)
    }
}

impl Recent {
    /// Remembers `length` pages, at least one.
    pub(super) fn over(length: usize) -> Self {
        Self { window: std::collections::VecDeque::new(), length: length.max(1), relevant: 0 }
    }

    pub(super) fn add(&mut self, relevant: bool) {
        if self.window.len() == self.length && self.window.pop_front() == Some(true) {
            self.relevant -= 1;
        }
        self.window.push_back(relevant);
        self.relevant += usize::from(relevant);
    }

    pub(super) fn harvest(&self) -> f64 {
        if self.window.is_empty() { 0.0 } else { self.relevant as f64 / self.window.len() as f64 }
    }

    /// Whether as many pages are remembered as should be.
    pub(super) fn is_full(&self) -> bool {
        self.window.len() == self.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_harvest_forgets_what_is_past() {
        let mut recent = Recent::default();
        (0..100).for_each(|_| recent.add(true));
        assert!((recent.harvest() - 1.0).abs() < 1e-12);
        (0..50).for_each(|_| recent.add(false));
        assert!((recent.harvest() - 0.5).abs() < 1e-12);
    }
}

//! A ceiling on pages per second over the whole crawl, in real time: for watching a replay, or for a line that others need.
//!
//! Promises: the order of the crawl does not depend on it.

use std::time::Duration;

use tokio::time::Instant;

use super::Crawl;

/// When the next page may be taken in.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    every: Option<Duration>,
    until: Option<Instant>,
    counted: u64,
}

impl Throttle {
    /// Until when nothing more is to be done.
    pub(super) fn until(&self) -> Option<Instant> {
        self.until
    }

    /// `fetched` pages have come in by now.
    pub(super) fn count(&mut self, fetched: u64) {
        if let Some(every) = self.every
            && fetched > self.counted
        {
            self.until = Some(Instant::now() + every);
        }
        self.counted = fetched;
    }

    /// The wait is over.
    pub(super) fn pass(&mut self) {
        self.until = None;
    }
}

impl Crawl {
    /// Takes in this many pages a second at most, a number above 0; its limits on time run on meanwhile.
    #[must_use]
    pub fn at_most(mut self, pages_per_second: f64) -> Self {
        self.throttle.every = Duration::try_from_secs_f64(1.0 / pages_per_second.max(0.001)).ok();
        self.throttle.counted = self.state.fetched;
        self
    }
}

//! The guard against servers that send a byte now and then.

use std::time::Duration;

use tokio::time::Instant;

/// Counts bytes per window of time; the caller gives the time.
#[derive(Debug)]
pub(super) struct SpeedGuard {
    window: Duration,
    /// Bytes that a whole window must bring.
    least: u64,
    end: Instant,
    got: u64,
}

impl SpeedGuard {
    pub fn new(bytes_per_second: u64, window: Duration, now: Instant) -> Self {
        let least = bytes_per_second.saturating_mul(window.as_millis() as u64) / 1_000;
        Self { window, least, end: now + window, got: 0 }
    }

    /// When to look at the window, if nothing comes before.
    pub fn end(&self) -> Instant {
        self.end
    }

    /// Notes bytes that came by `now`; false when a window has ended with too few.
    pub fn count(&mut self, bytes: usize, now: Instant) -> bool {
        self.got += bytes as u64;
        if now < self.end {
            return true;
        }
        let is_fast_enough = self.got >= self.least;
        (self.end, self.got) = (now + self.window, 0);
        is_fast_enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_brings_too_little_ends_the_fetch() {
        let (start, second) = (Instant::now(), Duration::from_secs(1));
        let mut guard = SpeedGuard::new(100, second * 10, start);
        assert!(guard.count(999, start + second));
        assert!(guard.count(1, start + second * 10));
        assert!(guard.count(999, start + second * 19));
        assert!(!guard.count(0, start + second * 20));
    }
}

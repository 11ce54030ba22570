//! A ceiling on the bytes per second of the whole crawl.
//!
//! Promises: over any stretch of time, no request starts before the bytes that came since the ceiling was last
//! idle have been paid for in time; what is under way may overshoot by its own size, which is paid for next.
//! Never: reads a clock.

use std::time::Duration;

use crate::page::Timestamp;

/// The crawl's account of bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bandwidth {
    /// Bytes per second; 0 sets no ceiling.
    ceiling: u64,
    free_at: Timestamp,
}

impl Bandwidth {
    #[must_use]
    pub fn new(bytes_per_second: u64) -> Self {
        Self { ceiling: bytes_per_second, free_at: Timestamp::default() }
    }

    /// Bytes have come.
    pub fn spend(&mut self, bytes: u64, now: Timestamp) {
        if self.ceiling > 0 {
            let took = Duration::try_from_secs_f64(bytes as f64 / self.ceiling as f64).unwrap_or(Duration::MAX);
            self.free_at = self.free_at.max(now) + took;
        }
    }

    /// When the next request may start, if that is not now.
    #[must_use]
    pub fn busy_until(&self, now: Timestamp) -> Option<Timestamp> {
        (self.free_at > now).then_some(self.free_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_paid_for_in_time() {
        let mut account = Bandwidth::new(1_000);
        let now = Timestamp(50_000);
        assert_eq!(account.busy_until(now), None);
        account.spend(3_000, now);
        account.spend(500, now);
        assert_eq!(account.busy_until(now), Some(Timestamp(53_500)));
        assert_eq!(account.busy_until(Timestamp(53_500)), None);
        account.spend(1_000, Timestamp(90_000));
        assert_eq!(account.busy_until(Timestamp(90_000)), Some(Timestamp(91_000)), "what was not used is not saved up");
    }

    #[test]
    fn without_a_ceiling_nothing_waits() {
        let mut account = Bandwidth::new(0);
        account.spend(u64::MAX, Timestamp(1));
        assert_eq!(account.busy_until(Timestamp(1)), None);
    }
}

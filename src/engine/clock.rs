//! Time: the system's in a live crawl, the crawl's own in a replay.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::page::Timestamp;

/// Where `now` comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Clock {
    System,
    /// Advances only when the engine says so.
    Virtual(Timestamp),
}

impl Clock {
    pub(super) fn now(self) -> Timestamp {
        match self {
            Self::System => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                Timestamp(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
            }
            Self::Virtual(now) => now,
        }
    }

    /// Moves virtual time on to `to`; does nothing to real time, or backwards.
    pub(super) fn advance(&mut self, to: Timestamp) {
        if let Self::Virtual(now) = self {
            *now = (*now).max(to);
        }
    }
}

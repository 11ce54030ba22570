//! Counting what a crawl brings, and how fast.
//!
//! Promises: every finished URL is counted once, whether it came before, during or after the server ran.

use std::time::Instant;

use super::{Phase, Slot};
use crate::{
    monitor::{
        crawls::{Tally, locked, tally::Seen},
        files,
    },
    store::{PageRecord, Store},
};

/// Finished URLs counted at a time.
const PORTION: usize = 5_000;

/// Pages a second, over the last seconds.
#[derive(Debug, Default)]
pub(super) struct Rate {
    last: Option<(Instant, u64)>,
    pub(super) value: f64,
}

impl Slot {
    pub fn tally<T>(&self, look: impl FnOnce(&mut Tally) -> T) -> T {
        look(&mut locked(&self.tally))
    }

    pub fn save_tally(&self) -> anyhow::Result<()> {
        let tally = locked(&self.tally).clone();
        files::save(&self.keep.join("tally.json"), &tally)
    }

    /// Counts what has come in since the last time, a portion at most; returns the last `wanted` of it, and whether there is
    /// more. Blocking.
    pub fn catch_up(&self, wanted: usize) -> anyhow::Result<(Vec<PageRecord>, bool)> {
        let Some(store) = self.reader()? else { return Ok((Vec::new(), false)) };
        let seen = self.seen(&store)?;
        let from = locked(&self.tally).seq + 1;
        let (mut last, mut number) = (std::collections::VecDeque::new(), 0);
        for page in store.pages(from)?.take(PORTION) {
            let page = page?;
            locked(&self.tally).add(&page, &seen);
            number += 1;
            if last.len() == wanted {
                last.pop_front();
            }
            last.push_back(page);
        }
        Ok((last.into(), number == PORTION))
    }

    fn seen(&self, store: &Store) -> anyhow::Result<Seen> {
        let at_ms = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
        let live = self.phase(|phase| match phase {
            Phase::Running(live) => Some((live.progress.borrow().clone(), live.virtual_time)),
            _ => None,
        });
        let rate = locked(&self.state).rate.value;
        if let Some((progress, virtual_time)) = live.filter(|(progress, _)| progress.finished > 0) {
            return Ok(Seen {
                at_ms,
                waiting: progress.waiting,
                pages_per_second: rate,
                crawl_now: progress.now.0,
                elapsed_ms: progress.elapsed_ms,
                virtual_time,
            });
        }
        let state = store.state()?.unwrap_or_default();
        let virtual_time = crate::engine::RunFacts::load(store)?.virtual_time;
        Ok(Seen {
            at_ms,
            waiting: state.waiting,
            pages_per_second: 0.0,
            crawl_now: state.now.0,
            elapsed_ms: state.elapsed_ms,
            virtual_time,
        })
    }

    /// Measures its speed; call it now and then.
    pub fn measure(&self) {
        let mut inner = locked(&self.state);
        let Phase::Running(live) = &inner.phase else {
            inner.rate = Rate::default();
            return;
        };
        let (now, fetched) = (Instant::now(), live.progress.borrow().fetched);
        let Some((then, before)) = inner.rate.last else {
            inner.rate.last = Some((now, fetched));
            return;
        };
        let seconds = now.duration_since(then).as_secs_f64();
        if seconds > 0.4 && before > 0 {
            let rate = fetched.saturating_sub(before) as f64 / seconds;
            inner.rate.value = if inner.rate.value > 0.0 { 0.7 * inner.rate.value + 0.3 * rate } else { rate };
        }
        inner.rate.last = Some((now, fetched));
    }
}

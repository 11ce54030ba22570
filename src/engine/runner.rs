//! Running errands: on the network in a live crawl, in virtual time in a replay.
//!
//! A replay's fetches answer at once and say how long they would have taken; their visits are handed
//! over in the order they would have ended. Nothing depends on which thread is quicker.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::task::{JoinError, JoinHandle, JoinSet};

use super::{
    clock::Clock,
    visit::{Errand, Visit, Web},
};
use crate::page::Timestamp;

/// What happened next.
pub(super) enum Event {
    Visit(Box<Visit>),
    /// The time that was waited for has come.
    Time,
}

pub(super) enum Runner {
    Live(JoinSet<Visit>),
    Virtual { running: BTreeMap<(Timestamp, u64), JoinHandle<Visit>>, started: u64 },
}

impl Runner {
    pub(super) fn new(clock: Clock) -> Self {
        match clock {
            Clock::System => Self::Live(JoinSet::new()),
            Clock::Virtual(_) => Self::Virtual { running: BTreeMap::new(), started: 0 },
        }
    }

    /// Whether it runs in real time.
    pub(super) fn is_live(&self) -> bool {
        matches!(self, Self::Live(_))
    }

    /// Errands under way.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Live(running) => running.len(),
            Self::Virtual { running, .. } => running.len(),
        }
    }

    /// Starts an errand.
    pub(super) async fn start(&mut self, web: &Arc<Web>, errand: Errand) {
        let web = Arc::clone(web);
        match self {
            Self::Live(running) => {
                running.spawn(async move {
                    let fetched = web.fetch(&errand).await;
                    let reading = tokio::task::spawn_blocking(move || web.read(errand, fetched));
                    // A panic in parsing is passed on: it is a defect, not an outcome.
                    reading.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
                });
            }
            Self::Virtual { running, started } => {
                let fetched = web.fetch(&errand).await;
                let ends = errand.started + fetched.elapsed;
                *started += 1;
                running.insert((ends, *started), tokio::task::spawn_blocking(move || web.read(errand, fetched)));
            }
        }
    }

    /// Waits for a visit, or for a time if one is given and comes first. Nothing is lost where the waiting is given up.
    pub(super) async fn next(&mut self, until: Option<Timestamp>, clock: &mut Clock) -> Result<Event, JoinError> {
        match self {
            Self::Live(running) => {
                let wait = until.map_or(Duration::from_hours(1), |until| until.since(clock.now()));
                if running.is_empty() {
                    tokio::time::sleep(wait).await;
                    return Ok(Event::Time);
                }
                match tokio::time::timeout(wait, running.join_next()).await {
                    Ok(Some(visit)) => Ok(Event::Visit(Box::new(visit?))),
                    Ok(None) | Err(_) => Ok(Event::Time),
                }
            }
            Self::Virtual { running, .. } => {
                let first = running.first_key_value().map(|(&(ends, _), _)| ends);
                match (first, until) {
                    (Some(ends), until) if until.is_none_or(|until| ends <= until) => {
                        clock.advance(ends);
                        let Some(mut entry) = running.first_entry() else { return Ok(Event::Time) };
                        // Taken out when it has ended: who waits here may be called away, and comes back.
                        let visit = entry.get_mut().await;
                        entry.remove();
                        Ok(Event::Visit(Box::new(visit?)))
                    }
                    (_, Some(until)) => {
                        clock.advance(until);
                        Ok(Event::Time)
                    }
                    _ => Ok(Event::Time),
                }
            }
        }
    }
}

//! Running errands: on the network in a live crawl, in virtual time in a replay.
//!
//! A replay's fetches answer at once and say how long they would have taken; their visits are handed
//! over in the order they would have ended. Nothing depends on which thread is quicker.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::{
    sync::Semaphore,
    task::{JoinError, JoinHandle, JoinSet},
};

use super::{
    clock::Clock,
    visit::{Errand, Visit, Web},
};
use crate::{fetch::Fetched, page::Timestamp};

/// What happened next.
pub(super) enum Event {
    Visit(Box<Visit>),
    /// The time that was waited for has come.
    Time,
}

pub(super) struct Runner {
    errands: Errands,
    readers: Readers,
}

enum Errands {
    Live(JoinSet<Visit>),
    Virtual { running: BTreeMap<(Timestamp, u64), JoinHandle<Visit>>, started: u64 },
}

/// Threads that read pages: no more at a time than there are processors, since more would only take each other's caches and
/// keep memory of their own.
#[derive(Clone)]
struct Readers(Arc<Semaphore>);

impl Readers {
    fn new() -> Self {
        Self(Arc::new(Semaphore::new(std::thread::available_parallelism().map_or(2, usize::from))))
    }

    async fn read(self, web: Arc<Web>, errand: Errand, fetched: Fetched) -> Visit {
        // The semaphore is never closed.
        let turn = self.0.acquire_owned().await.ok();
        let reading = tokio::task::spawn_blocking(move || {
            let visit = web.read(errand, fetched);
            drop(turn);
            visit
        });
        // A panic in parsing is passed on: it is a defect, not an outcome.
        reading.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }
}

impl Runner {
    pub(super) fn new(clock: Clock) -> Self {
        let errands = match clock {
            Clock::System => Errands::Live(JoinSet::new()),
            Clock::Virtual(_) => Errands::Virtual { running: BTreeMap::new(), started: 0 },
        };
        Self { errands, readers: Readers::new() }
    }

    /// Whether it runs in real time.
    pub(super) fn is_live(&self) -> bool {
        matches!(self.errands, Errands::Live(_))
    }

    /// Errands under way.
    pub(super) fn len(&self) -> usize {
        match &self.errands {
            Errands::Live(running) => running.len(),
            Errands::Virtual { running, .. } => running.len(),
        }
    }

    /// Starts an errand.
    pub(super) async fn start(&mut self, web: &Arc<Web>, errand: Errand) {
        let (web, readers) = (Arc::clone(web), self.readers.clone());
        match &mut self.errands {
            Errands::Live(running) => {
                running.spawn(async move {
                    let fetched = web.fetch(&errand).await;
                    readers.read(web, errand, fetched).await
                });
            }
            Errands::Virtual { running, started } => {
                let fetched = web.fetch(&errand).await;
                let ends = errand.started + fetched.elapsed;
                *started += 1;
                running.insert((ends, *started), tokio::spawn(readers.read(web, errand, fetched)));
            }
        }
    }

    /// Waits for a visit, or for a time if one is given and comes first. Nothing is lost where the waiting is given up.
    pub(super) async fn next(&mut self, until: Option<Timestamp>, clock: &mut Clock) -> Result<Event, JoinError> {
        match &mut self.errands {
            Errands::Live(running) => {
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
            Errands::Virtual { running, .. } => {
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

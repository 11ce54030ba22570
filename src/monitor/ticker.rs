//! What happens by itself, twice a second: pages are counted, events told, alerts raised, schedules and the watched folder
//! looked at, idle stores closed.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, MissedTickBehavior};

use super::{
    alerts,
    app::{App, Event, blocking},
    crawls::{Phase, Slot},
    schedule, watched,
    wire::PageItem,
};

const EVERY: Duration = Duration::from_millis(500);
/// Page events of a crawl in one tick: five a second.
const PAGES: usize = 2;
/// What is slow and can wait: every so many ticks.
const SELDOM: u64 = 4;
const RARELY: u64 = 20;

/// Runs until the server goes down.
pub async fn tick(app: Arc<App>) {
    let mut stop = app.stop.clone();
    let mut interval = tokio::time::interval_at(Instant::now() + EVERY, EVERY);
    interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for number in 0_u64.. {
        tokio::select! {
            _ = interval.tick() => {}
            _ = stop.changed() => {}
        }
        if *stop.borrow() || stop.has_changed().is_err() {
            return;
        }
        look(&app, number).await;
        if number.is_multiple_of(SELDOM) {
            app.auth.reload();
            app.rebuilt.forget_unused();
            schedule::run_due(&app).await;
            watched::scan(&app).await;
            alerts::check(&app).await;
        }
    }
}

/// Counts what came in, and tells of it.
async fn look(app: &Arc<App>, number: u64) {
    for slot in app.slots() {
        let runs = slot.phase(|phase| matches!(phase, Phase::Running(_)));
        slot.measure();
        let before = slot.tally(|tally| tally.seq);
        if !runs && number > 0 && !number.is_multiple_of(RARELY) {
            continue;
        }
        let (looking, listens) = (Arc::clone(&slot), app.events.receiver_count() > 0);
        let looked = blocking(move || {
            let pages = catch_up(&looking, if listens { PAGES } else { 0 }, runs)?;
            if number.is_multiple_of(RARELY) {
                looking.save_tally()?;
            }
            looking.close_if_unused();
            Ok(pages)
        });
        match looked.await {
            Ok(pages) => {
                let id = slot.id.clone();
                for page in pages {
                    app.tell(Event::Page(id.clone(), Box::new(page)));
                }
            }
            Err(problem) => tracing::warn!("{}: {}", slot.id, problem.detail),
        }
        if runs && slot.tally(|tally| tally.seq) != before {
            app.tell_crawl(&slot);
        }
    }
}

/// Counts all that is new, and gives the last pages of it.
fn catch_up(slot: &Slot, wanted: usize, runs: bool) -> anyhow::Result<Vec<PageItem>> {
    if !runs && !is_behind(slot)? {
        return Ok(Vec::new());
    }
    loop {
        let (pages, more) = slot.catch_up(wanted)?;
        if !more {
            return Ok(pages.iter().map(|page| super::api::page_item(page, None)).collect());
        }
    }
}

/// Whether a crawl that does not run has pages that were never counted, without keeping its store open.
fn is_behind(slot: &Slot) -> anyhow::Result<bool> {
    Ok(slot.tally(|tally| tally.seq) == 0 && crate::store::Store::exists(&slot.dir) && slot.reader()?.is_some())
}

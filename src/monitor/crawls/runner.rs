//! Running crawls: each on a thread and a runtime of its own.
//!
//! Promises: whatever happens to a crawl, an error or a panic, ends that crawl alone and is told in its state; at most as many
//! run at a time as the server allows.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
};

use anyhow::Context;
use tokio::sync::watch;

use super::{Live, Phase, Slot, Wanted, job::Task, log::Level};
use crate::{
    engine::{Controls, MemoryReport, Progress, RefreshCounts, StopReason, remote},
    monitor::{
        app::App,
        files,
        wire::{Recrawl, Schedule},
    },
    session::{Ended, Session, Start, told},
};

/// Threads of a crawl's runtime, and those that parse for it.
const WORKERS: usize = 1;
const PARSERS: usize = 4;

/// Starts crawls that wait for their turn, as many as may run.
pub fn start_waiting(app: &Arc<App>) {
    let slots = app.slots();
    let is_running = |slot: &&Arc<Slot>| slot.phase(|phase| matches!(phase, Phase::Running(_)));
    let running = slots.iter().filter(is_running).count();
    let free = app.options.max_running.saturating_sub(running);
    let queued = slots.iter().filter(|slot| slot.phase(|phase| matches!(phase, Phase::Queued)));
    for slot in queued.take(free) {
        launch(app, slot);
    }
}

/// Starts a crawl's thread.
fn launch(app: &Arc<App>, slot: &Arc<Slot>) {
    let (progress, seen) = watch::channel(Progress::default());
    let (stopper, stop) = watch::channel(false);
    let before = slot.tally(|tally| (tally.fetched, tally.relevant));
    let live = Live { remote: None, progress: seen, stop: stopper, memory: MemoryReport::default(), before, virtual_time: false };
    let was_queued = slot.phase(|phase| {
        let queued = matches!(phase, Phase::Queued);
        if queued {
            *phase = Phase::Running(live);
        }
        queued
    });
    if !was_queued {
        return;
    }
    let (app, slot) = (Arc::clone(app), Arc::clone(slot));
    let name = format!("crawl-{}", slot.id);
    let failed = Arc::clone(&slot);
    let spawned = thread::Builder::new().name(name).spawn(move || {
        // Watching comes first where there are more crawls than processors; a system that refuses loses nothing else.
        let _ = rustix::process::nice(5);
        let run = catch_unwind(AssertUnwindSafe(|| run(&app, &slot, Controls { stop, progress })));
        let ended = match run {
            Ok(Ok(ended)) => Ok((ended.summary.stop, ended.summary.trouble)),
            Ok(Err(error)) => Err(told(&error)),
            Err(panic) => Err(format!("a defect of windrow: {}", words(panic.as_ref()))),
        };
        if let Err(error) = last_look(&slot) {
            tracing::error!("{}: {}", slot.id, told(&error));
        }
        let goes_down = *app.stop.borrow() && matches!(ended, Ok((StopReason::User, _)));
        let at_the_edge = matches!(ended, Ok((StopReason::FrontierEmpty, _))) && slot.job().task == Task::Crawl;
        slot.ended(&ended, goes_down);
        app.tell_crawl(&slot);
        if at_the_edge && !*app.stop.borrow() {
            look_again(&app, &slot);
        }
        if !*app.stop.borrow() {
            start_waiting(&app);
        }
    });
    if let Err(error) = spawned {
        failed.ended(&Err(format!("no thread can be started: {error}")), false);
    }
}

/// At the edge of the crawl, where no link is left, the pages it has may have changed and hold new ones (systems.md 5): they are
/// asked for again at once, if the crawl is to be refreshed at all.
fn look_again(app: &Arc<App>, slot: &Arc<Slot>) {
    let wants = |schedule: Schedule| schedule.enabled && schedule.recrawl == Recrawl::Refresh;
    if slot.job().schedule.is_some_and(wants)
        && let Err(problem) = app.start_on_schedule(slot, Recrawl::Refresh)
    {
        tracing::warn!("{}: {}", slot.id, problem.detail);
    }
}

/// What a panic said.
fn words(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_else(|| "it panicked".to_owned())
}

fn last_look(slot: &Slot) -> anyhow::Result<()> {
    while slot.catch_up(0)?.1 {}
    Ok(())
}

/// A crawl from its start to its report.
fn run(app: &Arc<App>, slot: &Arc<Slot>, controls: Controls) -> anyhow::Result<Ended> {
    let folder = slot.folder()?;
    let job = slot.job();
    let fetcher = app.options.webs.open(&job.source, &folder.config, &app.options.recordings(), &slot.dir)?;
    let virtual_time = fetcher.recorded_at().is_some();
    let model = app.model_of(&folder, job.model.as_deref())?;
    let start = Start { topic: &folder.topic, config: &folder.config, model, max_pages: job.max_pages, accept_changes: true };
    let store = slot.store_to_write()?;
    slot.change(|job| job.begin_run(files::now()))?;
    let session = Session::with_store(start, fetcher, store, &slot.dir, |writer| Ok(Box::new(writer)))?;
    if let Some(retrained) = &session.retrained {
        slot.log.add(Level::Info, retrained.in_words());
    }
    let (line, commands) = remote();
    let mut crawl = session.crawl.listen(commands);
    let refreshes = job.task == Task::Refresh;
    if refreshes {
        crawl = crawl.refreshing();
    }
    if let Some(pages_per_second) = job.pages_per_second {
        crawl = crawl.at_most(pages_per_second);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(PARSERS)
        .thread_name(format!("crawl-{}", slot.id))
        .enable_all()
        .build()
        .context("no runtime can be made")?;
    slot.phase(|phase| {
        if let Phase::Running(live) = phase {
            live.remote = Some(line.clone());
            live.virtual_time = virtual_time;
        }
    });
    slot.log.add(Level::Info, if refreshes { "started: asks for the relevant pages again" } else { "started" });
    let summary = runtime.block_on(async {
        // A pause that was asked for before there was a line to the crawl.
        if slot.job().wanted == Wanted::Pause {
            line.pause().await?;
        }
        Ok::<_, anyhow::Error>(crawl.run(controls).await?)
    })?;
    // The last word of the crawl counts; whoever asks for its inside from now on asks the disk.
    slot.phase(|phase| {
        if let Phase::Running(live) = phase {
            live.remote = None;
            live.memory = summary.memory;
        }
    });
    if let Some(counts) = summary.refreshed {
        let RefreshCounts { changed, unchanged, gone, failed } = counts;
        let at = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
        slot.tally(|tally| tally.add_refreshed(at, changed, unchanged, gone));
        slot.log.add(Level::Info, format!("asked again: {changed} changed, {unchanged} unchanged, {gone} gone, {failed} failed"));
    }
    Ended::after(summary, session.store, &slot.dir)
}

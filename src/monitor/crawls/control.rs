//! Making, starting, pausing, stopping and deleting crawls.

use std::{fs, sync::Arc};

use axum::http::StatusCode;

use super::{Job, Phase, Slot, Wanted, job::Task, log::Level, runner::start_waiting};
use crate::{
    monitor::{
        app::App,
        files,
        problem::Problem,
        uploads::Upload,
        wire::{Recrawl, State},
    },
    session::begin,
};

impl App {
    /// Makes a crawl's folder and takes the crawl in; starts it if `starts`. Blocking.
    pub fn add_crawl(self: &Arc<Self>, upload: Upload, starts: bool) -> Result<Arc<Slot>, Problem> {
        let Upload { name, topic, config, source, model, max_pages, pages_per_second, schedule, made_by } = upload;
        let id = self.reserve(&name)?;
        let dir = self.crawl_dir(&id);
        let made = || -> anyhow::Result<Arc<Slot>> {
            begin(&dir, &topic, &config)?;
            let job = Job {
                id: id.clone(),
                name,
                topic_name: topic.name.clone(),
                source,
                created: files::now(),
                model,
                max_pages,
                portion: max_pages,
                pages_per_second,
                schedule,
                wanted: Wanted::Stop,
                task: Task::Crawl,
                runs: Vec::new(),
                error: None,
                made_by,
            };
            let slot = Slot::new(job, dir.clone(), dir.join("monitor"))?;
            slot.change(|_| ())?;
            Ok(Arc::new(slot))
        };
        let slot = made().inspect_err(|_| self.give_up(&id))?;
        slot.log.add(Level::Info, "made");
        self.enter(Arc::clone(&slot));
        if starts {
            self.start_crawl(&slot)?;
        }
        self.tell_crawl(&slot);
        Ok(slot)
    }

    /// Starts a crawl, or goes on with it. Blocking.
    pub fn start_crawl(self: &Arc<Self>, slot: &Arc<Slot>) -> Result<(), Problem> {
        self.may_run()?;
        let was_idle = slot.phase(|phase| {
            let idle = matches!(phase, Phase::Idle);
            if idle {
                *phase = Phase::Queued;
            }
            idle
        });
        if !was_idle {
            return Err(Problem::conflict(format!("{} is {} already", slot.id, word(slot.state()))));
        }
        self.rebuilt.forget(&slot.id);
        slot.change(|job| job.wanted = Wanted::Run)?;
        start_waiting(self);
        Ok(())
    }

    /// Starts a run that the schedule asks for. Blocking.
    pub fn start_on_schedule(self: &Arc<Self>, slot: &Arc<Slot>, recrawl: Recrawl) -> Result<(), Problem> {
        if !slot.is_idle() {
            return Ok(());
        }
        slot.change(|job| match recrawl {
            Recrawl::Refresh => job.task = Task::Refresh,
            Recrawl::Continue => {
                job.task = Task::Crawl;
                if let (Some(limit), Some(portion)) = (job.max_pages, job.portion) {
                    job.max_pages = Some(limit.saturating_add(portion));
                }
            }
        })?;
        slot.log.add(Level::Info, format!("the schedule starts it: {}", word(recrawl)));
        self.start_crawl(slot)
    }

    /// Brings crawls back to where they were when the server went down. Blocking.
    pub fn bring_back(self: &Arc<Self>) {
        for slot in self.slots() {
            if slot.job().wanted != Wanted::Stop {
                slot.phase(|phase| *phase = Phase::Queued);
                slot.log.add(Level::Info, "the server has started: goes on");
            }
        }
        start_waiting(self);
    }

    /// Starts no more fetches of a crawl.
    pub async fn pause_crawl(&self, slot: &Slot) -> Result<(), Problem> {
        Self::expect(slot, &[State::Running])?;
        slot.change(|job| job.wanted = Wanted::Pause)?;
        if let Some(line) = slot.remote() {
            // It may have ended in this moment, which its state says.
            let _ = line.pause().await;
        }
        slot.log.add(Level::Info, "paused");
        Ok(())
    }

    /// Goes on with a crawl that pauses.
    pub async fn resume_crawl(&self, slot: &Slot) -> Result<(), Problem> {
        Self::expect(slot, &[State::Paused])?;
        slot.change(|job| job.wanted = Wanted::Run)?;
        if let Some(line) = slot.remote() {
            let _ = line.resume().await;
        }
        slot.log.add(Level::Info, "goes on");
        Ok(())
    }

    /// Stops a crawl: fetches under way are finished.
    pub fn stop_crawl(&self, slot: &Slot) -> Result<(), Problem> {
        Self::expect(slot, &[State::Running, State::Paused, State::Queued])?;
        slot.change(|job| job.wanted = Wanted::Stop)?;
        slot.phase(|phase| match phase {
            Phase::Running(live) => drop(live.stop.send_replace(true)),
            Phase::Queued => *phase = Phase::Idle,
            Phase::Idle => {}
        });
        self.tell_crawl(slot);
        Ok(())
    }

    /// Removes a crawl with all that it found. Blocking.
    pub fn delete_crawl(&self, slot: &Slot) -> Result<(), Problem> {
        Self::expect(slot, &[State::Stopped, State::Finished, State::Failed])?;
        self.may_run()?;
        self.forget(&slot.id);
        slot.close();
        let gone = self.crawl_dir(&format!(".gone-{}", slot.id));
        let removed = fs::rename(&slot.dir, &gone).and_then(|()| fs::remove_dir_all(&gone));
        removed.map_err(|error| Problem::internal(&anyhow::anyhow!("{} cannot be removed: {error}", slot.dir.display())))
    }

    fn expect(slot: &Slot, states: &[State]) -> Result<(), Problem> {
        let now = slot.state();
        if states.contains(&now) {
            return Ok(());
        }
        let needed: Vec<String> = states.iter().map(|&state| word(state)).collect();
        Err(Problem::new(StatusCode::CONFLICT, format!("{} is {}; that needs it {}", slot.id, word(now), needed.join(" or "))))
    }
}

/// The name of a value in the interface.
pub(super) fn word(value: impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

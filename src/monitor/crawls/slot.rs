//! One crawl of the server: its folder, its job, and while it runs the line to it.
//!
//! Promises: how it stands can be told without reading the disk; who hears of it last hears the latest.

mod counting;

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
};

use tokio::sync::watch;

use super::{
    Job, Tally, Wanted,
    job::Task,
    locked,
    log::{Level, Log},
    open_store::OpenStore,
};
use crate::{
    engine::{MemoryReport, Progress, Remote, StopReason},
    monitor::{
        files,
        wire::{Alert, CrawlSummary, State},
    },
    session::{CrawlFolder, told},
    store::Store,
};
use counting::Rate;

/// A crawl of the server.
pub struct Slot {
    pub id: String,
    /// The crawl's folder.
    pub dir: PathBuf,
    /// Where the monitor keeps what is its own.
    keep: PathBuf,
    pub log: Log,
    state: Mutex<Inner>,
    saving: Mutex<()>,
    telling: Mutex<()>,
    store: OpenStore,
    tally: Mutex<Tally>,
    /// One at a time: reading a crawl back, training.
    pub heavy: tokio::sync::Mutex<()>,
    /// Writing labels.
    pub labelling: tokio::sync::Mutex<()>,
}

struct Inner {
    job: Job,
    phase: Phase,
    alerts: Vec<Alert>,
    rate: Rate,
}

/// Whether a crawl runs.
pub enum Phase {
    Idle,
    /// Waits for its turn.
    Queued,
    Running(Live),
}

/// A crawl that runs.
pub struct Live {
    /// `None` until it has been opened.
    pub remote: Option<Remote>,
    pub progress: watch::Receiver<Progress>,
    pub stop: watch::Sender<bool>,
    pub memory: MemoryReport,
    /// Pages before this run.
    pub before: (u64, u64),
    pub virtual_time: bool,
}

impl Slot {
    /// A crawl whose own files are in `dir` and the monitor's in `keep`.
    pub fn new(job: Job, dir: PathBuf, keep: PathBuf) -> anyhow::Result<Self> {
        std::fs::create_dir_all(&keep)?;
        let tally = files::load(&keep.join("tally.json")).unwrap_or_else(|error| {
            tracing::warn!("{}: counted again", told(&error));
            None
        });
        let inner = Inner { phase: Phase::Idle, alerts: Vec::new(), rate: Rate::default(), job };
        Ok(Self {
            id: inner.job.id.clone(),
            log: Log::new(&keep),
            dir,
            keep,
            state: Mutex::new(inner),
            saving: Mutex::new(()),
            telling: Mutex::new(()),
            store: OpenStore::default(),
            tally: Mutex::new(tally.unwrap_or_default()),
            heavy: tokio::sync::Mutex::new(()),
            labelling: tokio::sync::Mutex::new(()),
        })
    }

    /// The crawl that an earlier server kept in `dir`.
    pub fn load(dir: &Path) -> anyhow::Result<Option<Self>> {
        let keep = dir.join("monitor");
        let job: Option<Job> = files::load(&keep.join("job.json"))?;
        job.map(|job| Self::new(job, dir.to_owned(), keep)).transpose()
    }

    pub fn job(&self) -> Job {
        locked(&self.state).job.clone()
    }

    /// Changes the job, and keeps it.
    pub fn change<T>(&self, change: impl FnOnce(&mut Job) -> T) -> anyhow::Result<T> {
        // Under a lock of its own: a disk that is busy with crawls may take long, and nobody else is to wait for it.
        let _one = locked(&self.saving);
        let (answer, job) = {
            let mut inner = locked(&self.state);
            (change(&mut inner.job), inner.job.clone())
        };
        files::save(&self.keep.join("job.json"), &job)?;
        Ok(answer)
    }

    /// Looks at, or changes, whether it runs.
    pub fn phase<T>(&self, look: impl FnOnce(&mut Phase) -> T) -> T {
        look(&mut locked(&self.state).phase)
    }

    pub fn is_idle(&self) -> bool {
        self.phase(|phase| matches!(phase, Phase::Idle))
    }

    /// The line to the crawl, if it runs.
    pub fn remote(&self) -> Option<Remote> {
        self.phase(|phase| match phase {
            Phase::Running(live) => live.remote.clone(),
            _ => None,
        })
    }

    pub fn folder(&self) -> anyhow::Result<CrawlFolder> {
        CrawlFolder::read(&self.dir)
    }

    /// The store, if there is one: the one that the crawl writes while it runs. Blocking.
    pub fn reader(&self) -> anyhow::Result<Option<Store>> {
        self.store.reader(&self.dir)
    }

    /// The store, to crawl into; it is made where there is none. Blocking.
    pub fn store_to_write(&self) -> anyhow::Result<Store> {
        self.store.to_write(&self.dir)
    }

    /// Reads from this store from now on.
    pub fn lend(&self, store: Store) {
        self.store.lend(store);
    }

    /// Packs and closes the store when nobody has asked for a while. Blocking.
    pub fn close_if_unused(&self) {
        if self.is_idle() {
            self.store.close_if_unused(&self.dir);
        }
    }

    /// Lets go of the store, whoever still reads.
    pub fn close(&self) {
        self.store.close();
    }

    pub fn alerts(&self) -> Vec<Alert> {
        locked(&self.state).alerts.clone()
    }

    pub fn set_alerts(&self, alerts: Vec<Alert>) {
        locked(&self.state).alerts = alerts;
    }

    pub fn state(&self) -> State {
        state_of(&locked(&self.state))
    }

    /// Hands how it stands to `listener`: to one at a time, so that who hears last hears the latest.
    pub fn tell(&self, listener: impl FnOnce(CrawlSummary)) {
        let _one = locked(&self.telling);
        listener(self.summary());
    }

    /// How it stands, without reading the disk.
    pub fn summary(&self) -> CrawlSummary {
        let inner = locked(&self.state);
        let tally = locked(&self.tally);
        let (job, last) = (&inner.job, inner.job.runs.last());
        let progress = match &inner.phase {
            Phase::Running(live) => Some(live.progress.borrow().clone()).filter(|progress| progress.finished > 0),
            _ => None,
        };
        let points = tally.points(1);
        let point = points.first();
        let mut summary = CrawlSummary {
            id: self.id.clone(),
            name: job.name.clone(),
            topic_name: job.topic_name.clone(),
            state: state_of(&inner),
            stop_reason: last.and_then(|run| run.stop_reason.clone()),
            error: job.error.clone(),
            created: job.created.clone(),
            started: last.map(|run| run.started.clone()),
            finished: last.and_then(|run| run.finished.clone()),
            fetched: tally.fetched,
            relevant: tally.relevant,
            recent_harvest: tally.recent_harvest(),
            waiting: point.map_or(0, |point| point.waiting),
            active_hosts: 0,
            running: 0,
            bytes: tally.bytes,
            elapsed_ms: point.map_or(0, |point| point.elapsed_ms),
            max_pages: job.max_pages,
            pages_per_second: (inner.rate.value * 100.0).round() / 100.0,
            spark: tally.spark(),
            server: None,
            alerts: inner.alerts.clone(),
        };
        if let Some(now) = progress {
            summary.fetched = now.fetched;
            summary.relevant = now.relevant;
            summary.recent_harvest = now.recent_harvest;
            summary.waiting = now.waiting;
            summary.active_hosts = now.active_hosts;
            summary.running = now.running;
            summary.bytes = now.bytes;
            summary.elapsed_ms = now.elapsed_ms;
            summary.max_pages = now.max_pages;
        }
        summary
    }

    /// Memory that it takes, as far as windrow knows.
    pub fn memory(&self) -> Option<MemoryReport> {
        self.phase(|phase| match phase {
            Phase::Running(live) => Some(live.memory),
            _ => None,
        })
    }

    /// Version of the page model of a crawl that runs.
    pub fn live_model_version(&self) -> Option<u32> {
        self.phase(|phase| match phase {
            Phase::Running(live) => Some(live.progress.borrow().model_version).filter(|&version| version > 0),
            _ => None,
        })
    }

    /// Ends a run: `stop` is why, or `Err` what went wrong.
    pub fn ended(&self, ended: &Result<(StopReason, Option<String>), String>, stays_wanted: bool) {
        let before = self.phase(|phase| match std::mem::replace(phase, Phase::Idle) {
            Phase::Running(live) => live.before,
            _ => (0, 0),
        });
        let (fetched, relevant) = self.tally(|tally| (tally.fetched, tally.relevant));
        let pages = (fetched.saturating_sub(before.0), relevant.saturating_sub(before.1));
        let (reason, error) = match ended {
            Ok((stop, trouble)) => (Some(stop.name().to_owned()), trouble.clone()),
            Err(error) => (None, Some(error.clone())),
        };
        match ended {
            Ok((stop, _)) => self.log.add(Level::Info, format!("stopped after {} pages: {}", pages.0, stop.in_words())),
            Err(error) => self.log.add(Level::Error, format!("failed: {error}")),
        }
        let kept = self.change(|job| {
            job.end_run(files::now(), pages, reason, error);
            // A server that goes down brings its crawls back when it starts again.
            if !stays_wanted {
                job.wanted = Wanted::Stop;
                job.task = Task::Crawl;
            }
        });
        if let Err(error) = kept.and_then(|()| self.save_tally()) {
            tracing::error!("{}", told(&error));
        }
    }
}

fn state_of(inner: &Inner) -> State {
    match &inner.phase {
        Phase::Queued => State::Queued,
        Phase::Running(live) if *live.stop.borrow() => State::Stopping,
        Phase::Running(_) if inner.job.wanted == Wanted::Pause => State::Paused,
        Phase::Running(_) => State::Running,
        Phase::Idle => {
            let reason = inner.job.runs.last().and_then(|run| run.stop_reason.as_deref()).and_then(StopReason::from_name);
            match (reason, &inner.job.error) {
                (Some(StopReason::SeedsFailed), _) | (None, Some(_)) => State::Failed,
                (None | Some(StopReason::User | StopReason::DiskFull | StopReason::HostsWait), _) => State::Stopped,
                (Some(_), _) => State::Finished,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread, time::Duration};

    use super::*;
    use crate::monitor::wire::Source;

    #[test]
    fn who_hears_of_a_crawl_last_hears_the_latest() {
        let folder = tempfile::tempdir().unwrap();
        let job = Job::watched("earlier", "t", Source::Demo, None);
        let slot = Slot::new(job, folder.path().to_owned(), folder.path().join("monitor")).unwrap();
        let (heard, messages) = mpsc::channel();
        thread::scope(|scope| {
            slot.tell(|summary| {
                // Another change and another message, while this one is under way.
                let (slot, other) = (&slot, heard.clone());
                scope.spawn(move || {
                    slot.change(|job| job.name = "later".to_owned()).unwrap();
                    slot.tell(|summary| other.send(summary.name).unwrap());
                });
                assert!(messages.recv_timeout(Duration::from_millis(300)).is_err(), "the later message overtook the earlier one");
                heard.send(summary.name).unwrap();
            });
        });
        assert_eq!(messages.try_iter().collect::<Vec<_>>(), ["earlier", "later"]);
    }
}

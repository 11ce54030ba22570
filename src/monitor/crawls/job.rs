//! What a crawl of the server is asked to do, and what became of its runs: `monitor/job.json` in its folder.

use serde::{Deserialize, Serialize};

use crate::monitor::wire::{Run, Schedule, Source};

/// Runs that are remembered.
const RUNS: usize = 50;

/// What is wanted of a crawl; it is brought there again when the server starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Wanted {
    Run,
    Pause,
    #[default]
    Stop,
}

/// What kind of run comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    #[default]
    Crawl,
    /// Ask for the relevant pages again.
    Refresh,
}

/// A crawl's job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    pub id: String,
    pub name: String,
    pub topic_name: String,
    pub source: Source,
    pub created: String,
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub max_pages: Option<u64>,
    /// As many pages more each time that it is continued on schedule.
    #[serde(default)]
    pub portion: Option<u64>,
    #[serde(default)]
    pub pages_per_second: Option<f64>,
    #[serde(default)]
    pub schedule: Option<Schedule>,
    #[serde(default)]
    pub wanted: Wanted,
    #[serde(default)]
    pub task: Task,
    #[serde(default)]
    pub runs: Vec<Run>,
    #[serde(default)]
    pub error: Option<String>,
    /// Key and digest of the request that made it.
    #[serde(default)]
    pub made_by: Option<(String, String)>,
}

impl Job {
    /// Notes that a run begins.
    pub fn begin_run(&mut self, now: String) {
        let run = self.runs.last().map_or(1, |last| last.run + 1);
        self.runs.push(Run { run, started: now, finished: None, fetched: 0, relevant: 0, stop_reason: None });
        if self.runs.len() > RUNS {
            self.runs.remove(0);
        }
        self.error = None;
    }

    /// Notes how the run ended, after so many pages of its own.
    pub fn end_run(&mut self, now: String, pages: (u64, u64), stop_reason: Option<String>, error: Option<String>) {
        if let Some(run) = self.runs.last_mut() {
            run.finished = Some(now);
            (run.fetched, run.relevant) = pages;
            run.stop_reason = stop_reason;
        }
        self.error = error;
    }
}

impl Job {
    /// The job of a crawl that another has started.
    pub fn watched(name: &str, topic_name: &str, source: Source, max_pages: Option<u64>) -> Self {
        Self {
            id: "crawl".to_owned(),
            name: name.to_owned(),
            topic_name: topic_name.to_owned(),
            source,
            created: crate::monitor::files::now(),
            model: None,
            max_pages,
            portion: None,
            pages_per_second: None,
            schedule: None,
            wanted: Wanted::Run,
            task: Task::Crawl,
            runs: Vec::new(),
            error: None,
            made_by: None,
        }
    }
}

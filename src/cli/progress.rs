//! Progress of long commands: a bar on a terminal, JSON lines for machines, nothing where neither is wanted.

use std::{
    io::{IsTerminal, Write},
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::watch;

use crate::engine::Progress;

/// How results and progress are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Show {
    pub(crate) json: bool,
    bar: bool,
}

impl Show {
    pub(crate) fn new(json: bool, quiet: bool) -> Self {
        Self { json, bar: !json && !quiet && std::io::stderr().is_terminal() }
    }

    /// A bar over a known number of steps; hidden where none is wanted.
    pub(crate) fn steps(self, number: u64, what: &str) -> ProgressBar {
        if !self.bar {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(number).with_message(what.to_owned());
        bar.set_style(style("{msg} {wide_bar} {pos}/{len} · {elapsed} · ETA {eta}"));
        bar
    }

    /// Follows a crawl until its sender is gone.
    pub(crate) async fn follow(self, mut progress: watch::Receiver<Progress>) {
        if self.json {
            follow_as_json(progress).await;
        } else if self.bar {
            let bar = ProgressBar::new_spinner();
            bar.enable_steady_tick(Duration::from_millis(200));
            let started = Instant::now();
            while progress.changed().await.is_ok() {
                let now = progress.borrow_and_update().clone();
                show(&bar, &now, started);
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

async fn follow_as_json(mut progress: watch::Receiver<Progress>) {
    while progress.changed().await.is_ok() {
        let now = progress.borrow_and_update().clone();
        if let Ok(line) = serde_json::to_string(&now) {
            // A closed pipe ends the reading, not the crawl.
            let _ = writeln!(std::io::stdout().lock(), "{line}");
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

fn show(bar: &ProgressBar, now: &Progress, started: Instant) {
    let seconds = started.elapsed().as_secs_f64().max(0.001);
    let facts = format!(
        "{fetched} pages · {rate:.1}/s · {relevant} relevant ({share:.0} %, lately {recent:.0} %) · {waiting} waiting on {hosts} hosts",
        fetched = now.fetched,
        rate = now.fetched as f64 / seconds,
        relevant = now.relevant,
        share = 100.0 * now.relevant as f64 / (now.fetched.max(1)) as f64,
        recent = 100.0 * now.recent_harvest,
        waiting = now.waiting,
        hosts = now.active_hosts,
    );
    match now.max_pages {
        Some(max) => {
            bar.set_style(style("{wide_bar} {percent} % · ETA {eta}\n{msg}"));
            bar.set_length(max);
            bar.set_position(now.fetched.min(max));
        }
        None => bar.set_style(style("{spinner} {elapsed} · {msg}")),
    }
    bar.set_message(facts);
}

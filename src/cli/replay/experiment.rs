//! The experiment of the incremental adaptive crawler's paper (systems.md 5), in virtual time.
//!
//! The base crawler judges pages and takes links by link importance; the adaptive one learns which links to take. Both follow
//! links of pages whose relevance is at least 0.2, or tunnel; depth 4, 10 workers, 10 minutes, the same politeness.

use std::{fmt::Write as _, path::PathBuf};

use anyhow::Context;
use clap::ValueEnum;

use super::{ReplayArgs, race};
use crate::{
    cli::{demo, progress::Show},
    config::Config,
    engine::CrawlPlan,
    evaluation::{Contestant, Labels, RecordedWeb, run_trial},
    frontier::Order,
    topic::Topic,
    url::{Scope, ScopeConfig},
};

/// Experiments that can be repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Experiment {
    /// Base crawler (page classifier, link importance) against the adaptive one, 10 minutes each.
    Adaptive,
}

const THRESHOLD: f64 = 0.2;
const DEPTH: u16 = 4;
const WORKERS: usize = 10;
const MINUTES: u64 = 10;

struct Row {
    topic: String,
    crawler: &'static str,
    pages: usize,
    judged_relevant: usize,
    labelled: usize,
    /// Labelled targets that can be reached.
    targets: usize,
}

/// Runs the experiment on the given tasks, or on the demo web, and returns the paper's table.
pub(super) fn run(args: &ReplayArgs, config: &Config, show: Show) -> anyhow::Result<String> {
    let folder = DemoFolder::new()?;
    let jobs = if args.tasks.is_some() || args.topic.is_some() { race::jobs(args)? } else { vec![folder.job()?] };
    let bar = show.steps(2 * jobs.len() as u64, "crawls");
    let mut rows = Vec::new();
    let mut open: Option<(Vec<PathBuf>, RecordedWeb)> = None;
    for job in &jobs {
        let web = match open.take() {
            Some((paths, web)) if paths == job.web => web,
            _ => RecordedWeb::open(&job.web)?,
        };
        let targets = Labels::load(&job.labels)?.targets(job.label.as_deref(), &job.name)?;
        for (crawler, order) in [("base", Order::Pagerank), ("adaptive", Order::Topical)] {
            let plan = under_the_papers_settings(config.plan(&job.topic, None)?)?;
            let trial = run_trial(Contestant::Order(order), plan, &web, &targets, web.len())?;
            rows.push(Row {
                topic: job.name.clone(),
                crawler,
                pages: trial.hits.len(),
                judged_relevant: trial.judged_relevant,
                labelled: trial.hits.iter().filter(|&&hit| hit).count(),
                targets: trial.reachable_targets,
            });
            bar.inc(1);
        }
        open = Some((job.web.clone(), web));
    }
    bar.finish_and_clear();
    Ok(told(&rows))
}

fn under_the_papers_settings(mut plan: CrawlPlan) -> anyhow::Result<CrawlPlan> {
    plan.threshold = THRESHOLD;
    plan.engine.workers = WORKERS;
    plan.limits.max_minutes = Some(MINUTES);
    plan.scope = Scope::new(ScopeConfig { max_depth: DEPTH, ..ScopeConfig::default() }, &plan.seeds)?;
    // The harvest is measured by what each order chooses.
    plan.engine.control_share = 0.0;
    Ok(plan)
}

fn told(rows: &[Row]) -> String {
    let mut text = format!(
        "Threshold {THRESHOLD}, depth {DEPTH}, {WORKERS} workers, {MINUTES} minutes of virtual time under the configured politeness.\n\n\
         {:<16} {:<9} {:>7} {:>10} {:>10} {:>9} {:>10} {:>9}\n",
        "topic", "crawler", "pages", "relevant*", "precision*", "labelled", "precision", "recall"
    );
    let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
    for row in rows {
        let _ = writeln!(
            text,
            "{:<16} {:<9} {:>7} {:>10} {:>10.3} {:>9} {:>10.3} {:>9.3}",
            row.topic,
            row.crawler,
            row.pages,
            row.judged_relevant,
            share(row.judged_relevant, row.pages),
            row.labelled,
            share(row.labelled, row.pages),
            share(row.labelled, row.targets)
        );
    }
    for crawler in ["base", "adaptive"] {
        let of = |count: fn(&Row) -> usize| rows.iter().filter(|row| row.crawler == crawler).map(count).sum::<usize>();
        let (pages, judged, labelled) = (of(|row| row.pages), of(|row| row.judged_relevant), of(|row| row.labelled));
        let _ = writeln!(
            text,
            "{:<16} {crawler:<9} {pages:>7} {judged:>10} {:>10.3} {labelled:>9} {:>10.3}",
            "all",
            share(judged, pages),
            share(labelled, pages)
        );
    }
    text.push_str(
        "\n* judged by the crawler's own page classifier, as in the paper; the other columns are by labels from outside.\n",
    );
    text
}

/// The demo web, unpacked for as long as the experiment runs.
struct DemoFolder(PathBuf);

impl DemoFolder {
    fn new() -> anyhow::Result<Self> {
        let folder = std::env::temp_dir().join(format!("windrow-experiment-{}", std::process::id()));
        std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
        Ok(Self(folder))
    }

    fn job(&self) -> anyhow::Result<race::Job> {
        let (web, labels) = (self.0.join("demo.warc.gz"), self.0.join("demo.labels.tsv"));
        std::fs::write(&web, demo::WEB)?;
        std::fs::write(&labels, demo::LABELS)?;
        let topic = Topic::parse(demo::TOPIC, &self.0.join("demo.toml"))?;
        Ok(race::Job {
            name: topic.name.clone(),
            web_name: "demo".to_owned(),
            topic,
            web: vec![web],
            labels,
            label: Some(demo::LABEL.to_owned()),
        })
    }
}

impl Drop for DemoFolder {
    fn drop(&mut self) {
        // Left in the folder for temporary files at worst.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

//! The crawls behind a comparison: every order on every task and seed draw, on all cores.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use anyhow::{Context, bail, ensure};
use clap::ValueEnum;

use super::{Budget, ReplayArgs};
use crate::{
    cli::progress::Show,
    config::Config,
    evaluation::{Contestant, Labels, RecordedWeb, Trial, load_tasks, run_trial},
    frontier::Order,
    politeness::PaceConfig,
    topic::Topic,
    url::{Fingerprint, Url},
};

/// One topic on one web.
pub(super) struct Job {
    pub(super) name: String,
    /// What its web is called.
    pub(super) web_name: String,
    pub(super) topic: Topic,
    pub(super) web: Vec<PathBuf>,
    pub(super) labels: PathBuf,
    pub(super) label: Option<String>,
}

/// A crawl to run: which topic, which seeds (0: the given ones), which order.
#[derive(Clone, Copy)]
struct Entry {
    job: usize,
    draw: u64,
    contestant: Contestant,
}

/// What a crawl brought.
pub(super) struct Outcome {
    pub(super) task: String,
    pub(super) web: String,
    pub(super) draw: u64,
    pub(super) trial: Trial,
}

/// No waiting: nobody is hurt by asking a recording, and orders are compared as such.
pub(super) fn unhurt(politeness: &PaceConfig) -> PaceConfig {
    PaceConfig {
        obey_robots: false,
        delay_ms: 0,
        response_factor: 0.0,
        address_delay_ms: 0,
        slow_start_requests: 0,
        per_address_connections: u32::MAX,
        ..politeness.clone()
    }
}

pub(super) fn contestant(name: &str) -> anyhow::Result<Contestant> {
    if name == "oracle" {
        return Ok(Contestant::Oracle);
    }
    if let Ok(order) = Order::from_str(name, true) {
        Ok(Contestant::Order(order))
    } else {
        let known: Vec<&str> = Order::value_variants().iter().map(|order| order.name()).collect();
        bail!("there is no order \"{name}\"; there are {}, oracle", known.join(", "))
    }
}

pub(super) fn jobs(args: &ReplayArgs) -> anyhow::Result<Vec<Job>> {
    if let (Some(path), Some(labels)) = (&args.topic, &args.labels) {
        let topic = Topic::load(path)?;
        let name = topic.name.clone();
        let web_name = args.web.first().map_or_else(String::new, |web| web.display().to_string());
        return Ok(vec![Job { name, web_name, topic, web: args.web.clone(), labels: labels.clone(), label: args.label.clone() }]);
    }
    let path = args.tasks.as_deref().context("give a topic file with --web and --labels, or --tasks")?;
    let mut jobs = Vec::new();
    for task in load_tasks(path)? {
        if args.only.is_empty() || args.only.iter().any(|only| *only == task.id || *only == task.corpus) {
            let topic = Topic::from_parts(&task.id, &task.keywords, &task.seeds)?;
            let (web, labels) = (vec![task.web_path()], task.labels_path());
            jobs.push(Job { name: task.id, web_name: task.corpus, topic, web, labels, label: Some(task.label) });
        }
    }
    ensure!(!jobs.is_empty(), "{}: no task is left to run", path.display());
    Ok(jobs)
}

/// Runs all crawls, web by web, on all cores.
pub(super) fn compete(
    args: &ReplayArgs,
    config: &Config,
    jobs: &[Job],
    contestants: &[Contestant],
    show: Show,
) -> anyhow::Result<Vec<Outcome>> {
    let mut by_web: BTreeMap<&[PathBuf], Vec<usize>> = BTreeMap::new();
    for (index, job) in jobs.iter().enumerate() {
        by_web.entry(&job.web).or_default().push(index);
    }
    let total = jobs.len() as u64 * (args.seed_draws + 1) * contestants.len() as u64;
    let bar = show.steps(total, "crawls");
    let mut outcomes = Vec::new();
    for (paths, indices) in by_web {
        let web = RecordedWeb::open(paths)?;
        let mut entries = Vec::new();
        for job in indices {
            for draw in 0..=args.seed_draws {
                entries.extend(contestants.iter().map(|&contestant| Entry { job, draw, contestant }));
            }
        }
        let next = AtomicUsize::new(0);
        let done = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(|| {
                    while let Some((at, &entry)) = take(&next, &entries) {
                        let outcome = crawl(args.budget, config, &jobs[entry.job], &web, entry);
                        done.lock().unwrap_or_else(PoisonError::into_inner).push((at, outcome));
                        bar.inc(1);
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_by_key(|&(at, _)| at);
        for (_, outcome) in done {
            outcomes.push(outcome?);
        }
    }
    bar.finish_and_clear();
    Ok(outcomes)
}

fn take<'a>(next: &AtomicUsize, entries: &'a [Entry]) -> Option<(usize, &'a Entry)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    entries.get(at).map(|entry| (at, entry))
}

fn crawl(budget: Budget, config: &Config, job: &Job, web: &RecordedWeb, entry: Entry) -> anyhow::Result<Outcome> {
    let labels = Labels::load(&job.labels)?;
    let mut targets = labels.targets(job.label.as_deref(), &job.name)?;
    let mut plan = config.plan(&job.topic, None)?;
    if entry.draw > 0 {
        plan.seeds = draw_seeds(&targets, web, entry.draw);
    }
    if !entry.contestant.tunnels() {
        plan.tunnel_depth = u8::MAX;
    }
    for seed in &plan.seeds {
        targets.remove(&Fingerprint::of(seed));
    }
    let reachable = web.reachable(&plan.seeds);
    let budget = match budget {
        Budget::Pages(pages) => pages,
        Budget::Multiple(times) => targets.iter().filter(|target| reachable.contains(target)).count().max(100) * times,
    };
    let trial = run_trial(entry.contestant, plan, web, &targets, budget)?;
    Ok(Outcome { task: job.name.clone(), web: job.web_name.clone(), draw: entry.draw, trial })
}

/// Three random targets as seeds, the same for every order.
fn draw_seeds(targets: &BTreeSet<Fingerprint>, web: &RecordedWeb, draw: u64) -> Vec<Url> {
    let recorded: Vec<&Url> = targets.iter().filter_map(|&target| web.url(target)).collect();
    let mut random = fastrand::Rng::with_seed(draw * 1_000 + 7);
    (0..3.min(recorded.len())).map(|_| recorded[random.usize(0..recorded.len())].clone()).collect()
}

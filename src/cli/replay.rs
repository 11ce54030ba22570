//! `windrow replay`: crawl orders side by side on recorded webs, scored by labels from outside.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};

use super::progress::Show;
use crate::{
    config::Config,
    engine::Ingredient,
    evaluation::{Contestant, Curve, Labels, RecordedWeb, Score, Trial, compare, draw_curves, load_tasks, run_trial},
    frontier::Order,
    politeness::PaceConfig,
    topic::Topic,
    url::{Fingerprint, Url},
};

/// Compare crawl orders on a recorded web with labels.
#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// The topic file (or use --tasks)
    #[arg(required_unless_present = "tasks", requires = "web", requires = "labels")]
    topic: Option<PathBuf>,
    /// Recorded web; may be given again
    #[arg(long, value_name = "WARC")]
    web: Vec<PathBuf>,
    /// Labels of its pages: lines of `url<TAB>label`
    #[arg(long, value_name = "TSV")]
    labels: Option<PathBuf>,
    /// The label that makes a page a target [default: the topic's name, or the only label there is]
    #[arg(long)]
    label: Option<String>,
    /// Many topics at once: a JSON list of tasks, with their webs and labels beside it
    #[arg(long, value_name = "JSON", conflicts_with = "topic")]
    tasks: Option<PathBuf>,
    /// Only these tasks or webs
    #[arg(long, value_delimiter = ',', requires = "tasks", value_name = "ID")]
    only: Vec<String>,
    /// Orders to compare; `oracle` knows the labels and is the upper bound
    #[arg(long, value_delimiter = ',', default_value = "topical,best-first,keyword,parent,breadth-first,oracle")]
    orders: Vec<String>,
    /// Fetches: a number, or a multiple of the targets that can be reached (`1x`, `4x`; at least 100)
    #[arg(long, default_value = "1x")]
    budget: Budget,
    /// Besides the given seeds, this many random draws of three labelled pages as seeds
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed_draws: u64,
    /// Leave ingredients of the focus out, to measure what they are worth
    #[arg(long, value_enum, value_delimiter = ',', value_name = "NAME")]
    without: Vec<Ingredient>,
    /// Keep the configured politeness, in virtual time; without it hosts are always ready and orders are strict
    #[arg(long)]
    polite: bool,
    /// Fetches at a time
    #[arg(long, default_value_t = 1)]
    workers: usize,
    /// Configuration file
    #[arg(long, value_name = "TOML")]
    config: Option<PathBuf>,
    /// Folder for curves (CSV and SVG) and the table
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
enum Budget {
    Pages(usize),
    Multiple(usize),
}

impl std::str::FromStr for Budget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number =
            |digits: &str| digits.parse().ok().filter(|&n| n > 0).ok_or("give a number of pages, or 1x, 4x …".to_owned());
        text.strip_suffix('x').map_or_else(|| number(text).map(Self::Pages), |digits| number(digits).map(Self::Multiple))
    }
}

/// One topic on one web.
struct Job {
    name: String,
    topic: Topic,
    web: Vec<PathBuf>,
    labels: PathBuf,
    label: Option<String>,
}

/// A crawl to run: which topic, which seeds (0: the given ones), which order.
#[derive(Clone, Copy)]
struct Entry {
    job: usize,
    draw: u64,
    contestant: Contestant,
}

struct Outcome {
    task: String,
    draw: u64,
    trial: Trial,
}

pub(super) fn run(args: &ReplayArgs, show: Show) -> anyhow::Result<ExitCode> {
    let contestants = args.orders.iter().map(|name| contestant(name)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut config = args.config.as_deref().map(Config::load).transpose()?.unwrap_or_default();
    config.crawl.workers = args.workers.max(1);
    config.crawl.without.extend_from_slice(&args.without);
    if !args.polite {
        config.politeness = unhurt(&config.politeness);
    }
    let jobs = jobs(args)?;
    let outcomes = compete(args, &config, &jobs, &contestants, show)?;
    let table = table(&outcomes, &contestants);
    if show.json {
        println!("{}", as_json(&outcomes));
    } else {
        print!("{table}");
    }
    if let Some(out) = &args.out {
        write_curves(out, &outcomes, &table)?;
        eprintln!("curves and table: {}", out.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// No waiting: nobody is hurt by asking a recording, and orders are compared as such.
fn unhurt(politeness: &PaceConfig) -> PaceConfig {
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

fn contestant(name: &str) -> anyhow::Result<Contestant> {
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

fn jobs(args: &ReplayArgs) -> anyhow::Result<Vec<Job>> {
    if let (Some(path), Some(labels)) = (&args.topic, &args.labels) {
        let topic = Topic::load(path)?;
        let name = topic.name.clone();
        return Ok(vec![Job { name, topic, web: args.web.clone(), labels: labels.clone(), label: args.label.clone() }]);
    }
    let path = args.tasks.as_deref().context("give a topic file with --web and --labels, or --tasks")?;
    let mut jobs = Vec::new();
    for task in load_tasks(path)? {
        if args.only.is_empty() || args.only.iter().any(|only| *only == task.id || *only == task.corpus) {
            let topic = Topic::from_parts(&task.id, &task.keywords, &task.seeds)?;
            let (web, labels) = (vec![task.web_path()], task.labels_path());
            jobs.push(Job { name: task.id, topic, web, labels, label: Some(task.label) });
        }
    }
    ensure!(!jobs.is_empty(), "{}: no task is left to run", path.display());
    Ok(jobs)
}

/// Runs all crawls, web by web, on all cores.
fn compete(
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
    for seed in &plan.seeds {
        targets.remove(&Fingerprint::of(seed));
    }
    let reachable = web.reachable(&plan.seeds);
    let budget = match budget {
        Budget::Pages(pages) => pages,
        Budget::Multiple(times) => targets.iter().filter(|target| reachable.contains(target)).count().max(100) * times,
    };
    let trial = run_trial(entry.contestant, plan, web, &targets, budget)?;
    Ok(Outcome { task: job.name.clone(), draw: entry.draw, trial })
}

/// Three random targets as seeds, the same for every order.
fn draw_seeds(targets: &BTreeSet<Fingerprint>, web: &RecordedWeb, draw: u64) -> Vec<Url> {
    let recorded: Vec<&Url> = targets.iter().filter_map(|&target| web.url(target)).collect();
    let mut random = fastrand::Rng::with_seed(draw * 1_000 + 7);
    (0..3.min(recorded.len())).map(|_| recorded[random.usize(0..recorded.len())].clone()).collect()
}

/// Given seeds and draws are means of their own.
fn is_of(outcome: &Outcome, contestant: Contestant, drawn: bool) -> bool {
    outcome.trial.contestant == contestant && (outcome.draw > 0) == drawn
}

fn table(outcomes: &[Outcome], contestants: &[Contestant]) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{:<14} {:>5} {:<14} {:>7} {:>6} {:>6} {:>7} {:>8} {:>9}",
        "task", "draw", "order", "harvest", "AUC", "recall", "budget", "targets", "µs/page"
    );
    for Outcome { task, draw, trial } in outcomes {
        let score = trial.score();
        let _ = writeln!(
            text,
            "{task:<14} {draw:>5} {:<14} {:>7.3} {:>6.3} {:>6.3} {:>7} {:>8} {:>9.0}",
            trial.contestant.name(),
            score.harvest,
            score.auc,
            score.recall,
            trial.budget,
            trial.reachable_targets,
            trial.micros_per_page
        );
    }
    for (drawn, title) in [(false, "mean, given seeds"), (true, "mean, drawn seeds")] {
        if !outcomes.iter().any(|outcome| (outcome.draw > 0) == drawn) {
            continue;
        }
        let _ = writeln!(text, "\n{title}");
        for &contestant in contestants {
            let scores: Vec<Score> = outcomes
                .iter()
                .filter(|outcome| is_of(outcome, contestant, drawn))
                .map(|outcome| outcome.trial.score())
                .collect();
            let mean = Score::mean(&scores);
            let _ = writeln!(
                text,
                "  {:<14} {:.3} / {:.3}  recall {:.3}{}",
                contestant.name(),
                mean.harvest,
                mean.auc,
                mean.recall,
                versus(outcomes, contestants, contestant, drawn)
            );
        }
    }
    text
}

/// The paired difference of AUC to the first order, with its 95 % interval.
fn versus(outcomes: &[Outcome], contestants: &[Contestant], contestant: Contestant, drawn: bool) -> String {
    let aucs = |contestant| -> Vec<f64> {
        outcomes.iter().filter(|outcome| is_of(outcome, contestant, drawn)).map(|outcome| outcome.trial.score().auc).collect()
    };
    let Some(&first) = contestants.first().filter(|&&first| first != contestant) else { return String::new() };
    compare(&aucs(first), &aucs(contestant)).map_or(String::new(), |c| {
        format!("  ({} {:+.3} AUC, 95 % {:+.3} … {:+.3}, behind on {})", first.name(), c.difference, c.low, c.high, c.losses)
    })
}

fn as_json(outcomes: &[Outcome]) -> serde_json::Value {
    let rows = outcomes.iter().map(|Outcome { task, draw, trial }| {
        let score = trial.score();
        serde_json::json!({
            "task": task, "draw": draw, "order": trial.contestant.name(), "harvest": score.harvest, "auc": score.auc,
            "recall": score.recall, "budget": trial.budget, "reachable_targets": trial.reachable_targets,
            "micros_per_page": trial.micros_per_page,
        })
    });
    rows.collect()
}

/// For each task and draw: `curve-TASK-DRAW.csv` (fetch, then hits so far by order) and an SVG of the same.
fn write_curves(out: &Path, outcomes: &[Outcome], table: &str) -> anyhow::Result<()> {
    fs::create_dir_all(out).with_context(|| format!("{} cannot be made", out.display()))?;
    fs::write(out.join("table.txt"), table)?;
    let mut groups: BTreeMap<(&str, u64), Vec<&Trial>> = BTreeMap::new();
    for outcome in outcomes {
        groups.entry((&outcome.task, outcome.draw)).or_default().push(&outcome.trial);
    }
    for ((task, draw), trials) in groups {
        let name = format!("curve-{task}-{draw}");
        let budget = trials.iter().map(|trial| trial.budget).max().unwrap_or(0);
        let mut csv = csv::Writer::from_path(out.join(format!("{name}.csv")))?;
        csv.write_record(std::iter::once("fetched").chain(trials.iter().map(|trial| trial.contestant.name())))?;
        let mut found = vec![0_usize; trials.len()];
        for fetched in 0..budget {
            for (found, trial) in found.iter_mut().zip(&trials) {
                *found += usize::from(trial.hits.get(fetched).copied().unwrap_or(false));
            }
            csv.write_record(std::iter::once((fetched + 1).to_string()).chain(found.iter().map(usize::to_string)))?;
        }
        csv.flush()?;
        let curves: Vec<Curve> =
            trials.iter().map(|trial| Curve { name: trial.contestant.name().to_owned(), hits: trial.hits.clone() }).collect();
        fs::write(out.join(format!("{name}.svg")), draw_curves(&format!("{task}: targets found"), &curves, budget))?;
    }
    Ok(())
}

//! `windrow replay`: crawl orders side by side on recorded webs, scored by labels from outside.

mod curves;
mod experiment;
mod race;
mod table;
mod variants;

use std::{path::PathBuf, process::ExitCode};

use clap::Args;

use self::{
    curves::write_curves,
    experiment::Experiment,
    race::{compete, contestant, jobs, unhurt},
    table::{as_json, table},
    variants::Vary,
};
use super::progress::Show;
use crate::{config::Config, engine::Ingredient};

/// Compare crawl orders on a recorded web with labels.
#[derive(Debug, Args)]
pub(super) struct ReplayArgs {
    /// The topic file (or use --tasks)
    #[arg(required_unless_present_any = ["tasks", "experiment"], requires = "web", requires = "labels")]
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
    /// Try settings of the first order one by one, on several webs, and print for each web what the others would choose;
    /// may be given again
    #[arg(long, value_name = "SECTION.KEY=VALUE,VALUE…", requires = "tasks")]
    vary: Vec<Vary>,
    /// Repeat an experiment of the literature, on the given tasks or topic, else on the demo web
    #[arg(long, value_enum, value_name = "NAME")]
    experiment: Option<Experiment>,
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

pub(super) fn run(args: &ReplayArgs, show: Show) -> anyhow::Result<ExitCode> {
    let mut config = args.config.as_deref().map(Config::load).transpose()?.unwrap_or_default();
    config.crawl.without.extend_from_slice(&args.without);
    if let Some(Experiment::Adaptive) = args.experiment {
        print!("{}", experiment::run(args, &config, show)?);
        return Ok(ExitCode::SUCCESS);
    }
    let contestants = args.orders.iter().map(|name| contestant(name)).collect::<anyhow::Result<Vec<_>>>()?;
    config.crawl.workers = args.workers.max(1);
    if !args.polite {
        config.politeness = unhurt(&config.politeness);
    }
    let jobs = jobs(args)?;
    if let Some(&first) = contestants.first().filter(|_| !args.vary.is_empty()) {
        print!("{}", variants::run(args, &config, &jobs, first, show)?);
        return Ok(ExitCode::SUCCESS);
    }
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

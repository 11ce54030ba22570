//! `windrow report`: the relevance report of a crawl, from its store.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, ensure};
use clap::Args;

use super::progress::Show;
use crate::{
    engine::{RunFacts, StopReason},
    report::{CrawlFacts, LinkWeight, Stop, Written, write_report},
    store::Store,
    text::Language,
    topic::Topic,
};

/// Write the relevance report of a crawl into its folder.
#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// The crawl's folder
    dir: PathBuf,
    /// Language of report.html: en or zh [default: the topic's]
    #[arg(long, value_name = "CODE")]
    language: Option<String>,
}

pub(super) fn run(args: &ReportArgs, show: Show) -> anyhow::Result<ExitCode> {
    ensure!(Store::exists(&args.dir), "{}: no crawl here; `windrow crawl TOPIC.toml --out {0}` makes one", args.dir.display());
    let store = Store::open(&args.dir)?;
    let written = write(&store, &args.dir, args.language.as_deref())?;
    if show.json {
        println!("{}", serde_json::to_string(&written.summary)?);
    } else {
        println!("{}", written.html.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes `DIR/report/` from an open store.
pub(super) fn write(store: &Store, dir: &Path, language: Option<&str>) -> anyhow::Result<Written> {
    let path = dir.join("topic.toml");
    let topic = Topic::load(&path).with_context(|| format!("{} says what the crawl was about", path.display()))?;
    let run = RunFacts::load(store)?;
    let state = store.state()?.unwrap_or_default();
    let language = language.map_or(topic.languages[0], Language::from_code);
    let stop = state.stop.as_deref().and_then(StopReason::from_name).map(|reason| Stop {
        name: reason.name().to_owned(),
        words: if language == Language::Zh { reason.in_chinese() } else { reason.in_words() }.to_owned(),
    });
    let facts = CrawlFacts {
        topic_name: topic.name.clone(),
        keywords: topic.keywords.iter().map(|keyword| keyword.text.clone()).collect(),
        seeds: topic.seeds.iter().map(ToString::to_string).collect(),
        threshold: topic.threshold.get(),
        order: run.order,
        stop,
        started: Some(run.started),
        virtual_time: run.virtual_time,
        model_versions: run.model_versions,
        top_terms: run.top_terms,
        link_weights: run.link_weights.into_iter().map(|(name, prior, now)| LinkWeight { name, prior, now }).collect(),
        language,
        state,
    };
    Ok(write_report(store, &facts, &dir.join("report"))?)
}

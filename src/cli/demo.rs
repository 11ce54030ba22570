//! `windrow demo`: the main job on a web that comes with windrow, offline, in under a minute.

use std::{path::PathBuf, process::ExitCode, sync::Arc};

use anyhow::Context;
use clap::Args;

use super::{
    crawl::{code_of, crawl},
    progress::Show,
};
pub(super) use crate::session::{DEMO_TOPIC as TOPIC, DEMO_WEB as WEB};
use crate::{
    config::Config,
    fetch::ReplayFetcher,
    session::{Ended, Start},
    topic::Topic,
};

/// Which of its pages are about what; never seen by a crawl.
pub(super) const LABELS: &str = include_str!("../../corpora/demo.labels.tsv");
/// The label of the pages that the demo's topic is after.
pub(super) const LABEL: &str = "agriculture";

/// Crawl the demo web: agriculture, in Chinese and English, among 2,000 pages on 40 hosts that do not exist.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Folder of the crawl; replaced if it holds a demo crawl already
    #[arg(long, short, value_name = "DIR", default_value = "windrow-demo")]
    out: PathBuf,
    /// Stop after this many pages, seeds included
    #[arg(long, value_name = "N", default_value_t = 600)]
    max_pages: u64,
}

pub(super) fn run(args: &DemoArgs, show: Show) -> anyhow::Result<ExitCode> {
    let out = &args.out;
    if out.join(MARK).exists() {
        std::fs::remove_dir_all(out).with_context(|| format!("{} cannot be replaced", out.display()))?;
    }
    std::fs::create_dir_all(out).with_context(|| format!("{} cannot be made", out.display()))?;
    std::fs::write(out.join(MARK), "Made by `windrow demo`, which replaces this folder when it runs again.\n")?;
    let web_path = out.join("demo.warc.gz");
    std::fs::write(&web_path, WEB)?;
    let topic = Topic::parse(TOPIC, &out.join("demo.toml"))?;
    let web = Arc::new(ReplayFetcher::open(&[web_path], false)?);
    if !show.json {
        eprintln!("A made-up web of {} pages; the topic: {}.", web.len(), keywords(&topic));
    }
    let start =
        Start { topic: &topic, config: &Config::default(), model: None, max_pages: Some(args.max_pages), accept_changes: false };
    let ended = crawl(start, web, out, None, show)?;
    let Ended { summary, written: Some(written), .. } = &ended else { return Ok(code_of(&ended)) };
    if show.json {
        println!("{}", serde_json::to_string(&written.summary)?);
        return Ok(code_of(&ended));
    }
    let state = &summary.state;
    println!(
        "windrow fetched {} pages from {} seeds and judged {} of them to be about the topic ({:.0} %).",
        state.fetched,
        topic.seeds.len(),
        state.relevant,
        100.0 * state.relevant as f64 / state.fetched.max(1) as f64
    );
    println!("It knew {} links; the link classifier, trained on the way, decided which to follow.", state.discovered);
    println!("Stopped because {}.", summary.stop.in_words());
    println!("Read the report: {}", written.html.display());
    println!("Then try your own: windrow topic new NAME --keywords … --seeds …");
    Ok(code_of(&ended))
}

/// A folder that holds this file was made by the demo and may be replaced.
const MARK: &str = "DEMO";

fn keywords(topic: &Topic) -> String {
    topic.keywords.iter().take(6).map(|keyword| keyword.text.as_str()).collect::<Vec<_>>().join(", ")
}

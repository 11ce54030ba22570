//! `windrow report`: the relevance report of a crawl, from its store.

use std::{path::PathBuf, process::ExitCode};

use anyhow::ensure;
use clap::Args;

use super::progress::Show;
use crate::{session, store::Store};

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
    let written = session::write(&store, &args.dir, args.language.as_deref())?;
    if show.json {
        println!("{}", serde_json::to_string(&written.summary)?);
    } else {
        println!("{}", written.html.display());
    }
    Ok(ExitCode::SUCCESS)
}

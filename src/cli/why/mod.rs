//! `windrow why DIR URL`: why a page was judged as it was, why a link waits where it waits, which rule keeps a URL out.
//!
//! Promises: fetches nothing and changes nothing; `--json` holds all that the words say.

mod words;

use std::{path::PathBuf, process::ExitCode};

use anyhow::Context;
use clap::Args;

use super::progress::Show;
use crate::{
    session::{Answers, CrawlFolder, Why},
    store::Store,
    url::canonicalize,
};

/// Say why a page was judged as it was, why a link waits where it waits, or which rule keeps a URL out.
#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// The crawl's folder
    dir: PathBuf,
    /// The address of a page or link
    url: String,
}

pub(super) fn run(args: &WhyArgs, show: Show) -> anyhow::Result<ExitCode> {
    let folder = CrawlFolder::open(&args.dir)?;
    let url = canonicalize(&args.url, None).with_context(|| format!("{:?} is no address that a crawl can hold", args.url))?;
    let store = Store::open(&args.dir)?;
    let answers = Answers::read_back(&url, folder.plan(&store)?, &store)?;
    let why = Why::of(&url, answers, &store, &folder.topic, &folder.config)?;
    if show.json {
        println!("{}", serde_json::to_string(&why)?);
    } else {
        print!("{}", words::in_words(&why));
    }
    Ok(ExitCode::SUCCESS)
}

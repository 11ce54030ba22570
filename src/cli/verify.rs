//! `windrow verify`: proves a crawl's store consistent, and mends it where that can be done.

use std::{path::PathBuf, process::ExitCode};

use anyhow::ensure;
use clap::Args;

use super::progress::Show;
use crate::{
    engine::check_snapshot,
    store::{Store, VerifyOptions, verify},
};

/// Check every table, every archived page and every model of a crawl.
#[derive(Debug, Args)]
pub(super) struct VerifyArgs {
    /// The crawl's folder
    dir: PathBuf,
    /// Mend what can be mended
    #[arg(long)]
    repair: bool,
}

pub(super) fn run(args: &VerifyArgs, show: Show) -> anyhow::Result<ExitCode> {
    ensure!(Store::exists(&args.dir), "{}: no crawl here", args.dir.display());
    let bar = show.steps(0, "pages");
    let mut progress = |done: u64, of: u64| {
        bar.set_length(of);
        bar.set_position(done);
    };
    let options = VerifyOptions { repair: args.repair, check_model: &check_snapshot, progress: &mut progress };
    let verification = verify(&args.dir, options)?;
    bar.finish_and_clear();
    if show.json {
        println!("{}", serde_json::to_string(&verification)?);
    } else {
        println!(
            "{} finished pages, {} waiting links, {} hosts, {} captures read back.",
            verification.pages, verification.waiting, verification.hosts, verification.captures
        );
        for finding in &verification.findings {
            let (what, mend) = finding.problem.explanation();
            let after = match (finding.repaired, mend) {
                (true, Some(mend)) => format!("repaired: {mend}"),
                (_, Some(_)) => "`windrow verify --repair` mends it".to_owned(),
                _ => "cannot be mended".to_owned(),
            };
            println!("{} × {what} ({after}); such as {}", finding.count, finding.examples.join(", "));
        }
        println!("{}", if verification.is_clean() { "The store is consistent." } else { "The store is NOT consistent." });
    }
    Ok(if verification.is_clean() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

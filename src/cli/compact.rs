//! `windrow compact`: makes a crawl's store as small as it goes.

use std::{path::PathBuf, process::ExitCode};

use anyhow::ensure;
use clap::Args;

use super::progress::Show;
use crate::store::Store;

/// Give the free space of a crawl's store back to the disk.
#[derive(Debug, Args)]
pub(super) struct CompactArgs {
    /// The crawl's folder
    dir: PathBuf,
}

pub(super) fn run(args: &CompactArgs, show: Show) -> anyhow::Result<ExitCode> {
    ensure!(Store::exists(&args.dir), "{}: no crawl here", args.dir.display());
    let mut store = Store::open(&args.dir)?;
    let saved = store.compact()?;
    let sizes = store.sizes()?;
    if show.json {
        println!("{}", serde_json::to_string(&serde_json::json!({ "saved_bytes": saved, "sizes": sizes }))?);
        return Ok(ExitCode::SUCCESS);
    }
    println!("{:.1} MB saved; the store takes {:.1} MB.", mb(saved), mb(sizes.file_bytes));
    println!("{:.0} bytes per known URL in frontier and URL-seen test.", sizes.bytes_per_known_url());
    for table in &sizes.tables {
        println!("{:>10} {:>10} rows {:>9.1} MB", table.name, table.rows, mb(table.allocated_bytes));
    }
    Ok(ExitCode::SUCCESS)
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

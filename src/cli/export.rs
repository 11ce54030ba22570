//! `windrow export`: tables and archives of a crawl, for other programs.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, ensure};
use clap::Args;

use super::{INVALID, progress::Show};
use crate::{
    export::{Export, ExportError, Format, Packing, Rows, schema},
    store::Store,
    topic::Topic,
};

/// Write a crawl's pages, links or hosts as a table, or its captures as an archive.
#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// The crawl's folder
    #[arg(required_unless_present = "schema")]
    dir: Option<PathBuf>,
    /// csv, jsonl (with the main text), parquet; warc (a folder), wacz (one file), cdxj (an index of the crawl's own archive)
    #[arg(long, value_enum, required_unless_present = "schema")]
    format: Option<Format>,
    /// File to write, or folder for warc; - writes csv, jsonl and cdxj to standard output
    #[arg(long, short, value_name = "PATH", required_unless_present = "schema")]
    out: Option<PathBuf>,
    /// Rows to write
    #[arg(long, value_enum, default_value_t)]
    table: Rows,
    /// Only rows that pass a filter, such as 'relevance>0.8 and language="zh"' (--schema lists the fields)
    #[arg(long = "where", value_name = "FILTER")]
    filter: Option<String>,
    /// Leave the main text out of JSON lines
    #[arg(long)]
    without_text: bool,
    /// Size at which a WARC file is followed by the next, in MiB
    #[arg(long, value_name = "MIB", default_value_t = 1_024)]
    file_mib: u64,
    /// How each record of a WARC file is compressed
    #[arg(long, value_enum, default_value_t)]
    packing: Packing,
    /// Print the tables, their columns and the filter language, and export nothing
    #[arg(long)]
    schema: bool,
}

pub(super) fn run(args: &ExportArgs, show: Show) -> anyhow::Result<ExitCode> {
    if args.schema {
        print!("{}", schema());
        return Ok(ExitCode::SUCCESS);
    }
    let (Some(dir), Some(format), Some(out)) = (&args.dir, args.format, &args.out) else { return Ok(ExitCode::from(INVALID)) };
    ensure!(Store::exists(dir), "{}: no crawl here; `windrow crawl TOPIC.toml --out {0}` makes one", dir.display());
    let store = Store::open(dir)?;
    let topic = dir.join("topic.toml");
    let topic = Topic::load(&topic).with_context(|| format!("{} says what the crawl was about", topic.display()))?;
    let export = Export {
        format,
        rows: args.table,
        out,
        filter: args.filter.as_deref(),
        text: !args.without_text,
        file_bytes: args.file_mib << 20,
        packing: args.packing,
        name: &topic.name,
    };
    let exported = match export.write(&store, dir) {
        Ok(exported) => exported,
        Err(error) if error.is_broken_pipe() => return Ok(ExitCode::SUCCESS),
        Err(error @ (ExportError::Filter(_) | ExportError::Unsuited(_))) => {
            eprintln!("windrow: {error}");
            return Ok(ExitCode::from(INVALID));
        }
        Err(error) => return Err(error.into()),
    };
    if out != Path::new("-") {
        if show.json {
            println!("{}", serde_json::json!({ "out": out, "rows": exported.rows, "without_capture": exported.without_capture }));
        } else {
            println!("{} rows: {}", exported.rows, out.display());
            if exported.without_capture > 0 {
                println!("{} more are not in the archive (store.archive, or no answer came).", exported.without_capture);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

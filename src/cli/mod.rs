//! The command line: one file for each command.
//!
//! Promises: results on standard output, progress and complaints on standard error; `--json` for machines; long
//! commands end with where they wrote and why they stopped.
//! Exit codes: 0 done; 1 something failed; 2 the input cannot be used (topic, configuration, arguments);
//! 3 the crawl was stopped by the user, and can be resumed; 4 the disk is full: what is on it is whole, and the same command goes on
//! when there is room.

mod compact;
mod config;
mod crawl;
mod demo;
mod explain;
mod export;
mod label;
mod progress;
mod replay;
mod report;
mod retrain;
mod serve;
mod stream;
mod suggest;
mod token;
pub mod topic;
pub mod train;
mod verify;
mod why;

use std::{fmt::Write as _, process::ExitCode};

use clap::{Parser, Subcommand};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::session::{is_disk_full, told};

/// Exit code for input that cannot be used.
pub(crate) const INVALID: u8 = 2;
/// Exit code for a crawl that the user stopped.
pub(crate) const STOPPED: u8 = 3;
/// Exit code for a crawl, or any other command, that ran out of disk.
pub(crate) const DISK_FULL: u8 = 4;

/// A focused crawler that learns its topic while it crawls.
#[derive(Debug, Parser)]
#[command(version, about, long_about = LONG_ABOUT, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Print results and progress as JSON
    #[arg(long, global = true)]
    json: bool,
    /// No progress
    #[arg(long, short, global = true)]
    quiet: bool,
}

const LONG_ABOUT: &str = "A focused crawler that learns its topic while it crawls.

  windrow demo                                      see it work, offline, in under a minute
  windrow topic new rice -k 水稻,病虫害 -s https://…   describe a topic
  windrow crawl rice.toml --out rice                crawl it; the same command resumes it
  windrow report rice                               write the relevance report again
  windrow why rice https://…                        ask why a page or link was treated as it was
  windrow label rice                                say of a few pages whether they are about the topic
  windrow retrain rice                              make a better model of what it found and you said
  windrow export rice --format parquet -o r.parquet take its pages elsewhere
  windrow replay --tasks tasks.json                 compare crawl orders on recorded webs
  windrow serve                                     watch and steer many crawls from a browser";

#[derive(Debug, Subcommand)]
enum Command {
    /// Crawl the demo web that comes with windrow, offline, and write its report
    Demo(demo::DemoArgs),
    /// Describe a topic: keywords and seeds become a topic file
    Topic(topic::TopicArgs),
    /// Crawl a topic, on the web or on a recorded one
    Crawl(crawl::CrawlArgs),
    /// Write the relevance report of a crawl
    Report(report::ReportArgs),
    /// Say which pages are about the topic, those first whose label helps most
    Label(label::LabelArgs),
    /// Write a crawl's pages, links or hosts as a table, or its captures as an archive
    Export(export::ExportArgs),
    /// Train better models from a crawl and labels; kept only if they are better
    Retrain(retrain::RetrainArgs),
    /// Train a model from labelled documents and term lists, as a manifest says
    Train(train::TrainArgs),
    /// Compare crawl orders on a recorded web with labels
    Replay(replay::ReplayArgs),
    /// Say why a page or link was treated as it was
    Why(why::WhyArgs),
    /// Serve many crawls: a console for browsers, and REST
    Serve(serve::ServeArgs),
    /// Make tokens for `windrow serve`
    Token(token::TokenArgs),
    /// Prove a crawl's store consistent, and mend it where it is not
    Verify(verify::VerifyArgs),
    /// Give the free space of a crawl's store back to the disk
    Compact(compact::CompactArgs),
    /// Print the configuration file with every key, its default and what it does
    Config,
}

/// Runs a command.
///
/// # Errors
/// What the user must hear; [`failure`] has the exit code.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    start_log();
    let show = progress::Show::new(cli.json, cli.quiet);
    match cli.command {
        Command::Demo(args) => demo::run(&args, show),
        Command::Topic(args) => topic::run(&args, cli.json),
        Command::Crawl(args) => crawl::run(&args, show),
        Command::Report(args) => report::run(&args, show),
        Command::Label(args) => label::run(&args, show),
        Command::Export(args) => export::run(&args, show),
        Command::Retrain(args) => retrain::run(&args, show),
        Command::Train(args) => train::run(&args, cli.json),
        Command::Replay(args) => replay::run(&args, show),
        Command::Why(args) => why::run(&args, show),
        Command::Serve(args) => serve::run(&args, show),
        Command::Token(args) => token::run(&args, cli.json),
        Command::Verify(args) => verify::run(&args, show),
        Command::Compact(args) => compact::run(&args, show),
        Command::Config => config::run(),
    }
}

/// Says why a command failed; returns its exit code.
#[must_use]
pub fn failure(error: &anyhow::Error) -> ExitCode {
    eprintln!("windrow: {}", told(error));
    if is_disk_full(error) { ExitCode::from(DISK_FULL) } else { ExitCode::FAILURE }
}

/// Warnings to standard error; more by `WINDROW_LOG` (a filter such as `windrow=debug`).
fn start_log() {
    let filter = tracing_subscriber::EnvFilter::try_from_env("WINDROW_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,html5ever=error"));
    // A second start, as in tests, leaves the first in place.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
}

/// Rows in columns; a Han character is two columns wide on a terminal.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let widths: [usize; N] = std::array::from_fn(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or_default());
    let mut text = String::new();
    for row in rows {
        let mut line = String::from(" ");
        for (cell, width) in row.iter().zip(widths) {
            let _ = write!(line, " {cell}{}", " ".repeat(width - cell.width() + 1));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The start of a text, at most `columns` wide.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if short.width() + c.width().unwrap_or_default() + 1 > columns {
            break;
        }
        short.push(c);
    }
    short + "…"
}

//! The command line: one file for each command.
//!
//! Promises: results on standard output, progress and complaints on standard error; `--json` for machines; long
//! commands end with where they wrote and why they stopped.
//! Exit codes: 0 done; 1 something failed; 2 the input cannot be used (topic, configuration, arguments);
//! 3 the crawl was stopped by the user and can be resumed.

mod config;
mod crawl;
mod demo;
mod progress;
mod replay;
mod report;
mod retrain;
pub mod topic;
pub mod train;
mod verify;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Exit code for input that cannot be used.
pub(crate) const INVALID: u8 = 2;
/// Exit code for a crawl that the user stopped.
pub(crate) const STOPPED: u8 = 3;

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
  windrow retrain rice --labels labels.tsv          make a better model of what it found
  windrow replay --tasks tasks.json                 compare crawl orders on recorded webs";

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
    /// Train better models from a crawl and labels; kept only if they are better
    Retrain(retrain::RetrainArgs),
    /// Train a model from labelled documents and term lists, as a manifest says
    Train(train::TrainArgs),
    /// Compare crawl orders on a recorded web with labels
    Replay(replay::ReplayArgs),
    /// Prove a crawl's store consistent, and mend it where it is not
    Verify(verify::VerifyArgs),
    /// Print the configuration file with every key, its default and what it does
    Config,
}

/// Runs a command.
///
/// # Errors
/// What the user must hear; the exit code is 1 then.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    start_log();
    let show = progress::Show::new(cli.json, cli.quiet);
    match cli.command {
        Command::Demo(args) => demo::run(&args, show),
        Command::Topic(args) => topic::run(&args, cli.json),
        Command::Crawl(args) => crawl::run(&args, show),
        Command::Report(args) => report::run(&args, show),
        Command::Retrain(args) => retrain::run(&args, show),
        Command::Train(args) => train::run(&args, cli.json),
        Command::Replay(args) => replay::run(&args, show),
        Command::Verify(args) => verify::run(&args, show),
        Command::Config => config::run(),
    }
}

/// Warnings to standard error; more by `WINDROW_LOG` (a filter such as `windrow=debug`).
fn start_log() {
    let filter =
        tracing_subscriber::EnvFilter::try_from_env("WINDROW_LOG").unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn"));
    // A second start, as in tests, leaves the first in place.
    let _ = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).try_init();
}

//! `windrow crawl`: a topic, on the web or on a recorded one; the same command resumes it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::Context;
use clap::Args;
use tokio::sync::watch;

use super::{INVALID, STOPPED, progress::Show, report};
use crate::{
    config::Config,
    engine::{Controls, Crawl, Progress, StopReason, Summary},
    fetch::{Fetcher, HttpFetcher, ReplayFetcher},
    frontier::Order,
    models::{ModelBundle, load, search_path},
    report::Written,
    store::Store,
    topic::Topic,
};

/// Crawl a topic; its folder is made, or gone on with if the crawl was stopped.
#[derive(Debug, Args)]
pub(super) struct CrawlArgs {
    /// The topic file (`windrow topic new` writes one)
    topic: PathBuf,
    /// Folder of the crawl [default: the topic's name]
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Crawl a recorded web instead of the live one; may be given again
    #[arg(long, value_name = "WARC", num_args = 1..)]
    replay: Vec<PathBuf>,
    /// In a replay, ask for links that were not recorded, too; they answer 404
    #[arg(long, requires = "replay")]
    open_web: bool,
    #[command(flatten)]
    overrides: Overrides,
    /// Configuration file (`windrow config` prints one)
    #[arg(long, value_name = "TOML")]
    config: Option<PathBuf>,
}

/// What the command line says over topic and configuration file.
#[derive(Debug, Default, Args)]
pub(super) struct Overrides {
    /// Stop after this many pages, seeds included
    #[arg(long, value_name = "N")]
    pub(super) max_pages: Option<u64>,
    /// How the frontier is ordered
    #[arg(long, value_enum)]
    order: Option<Order>,
    /// Seed of all randomness; a replay with the same seed is the same crawl
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fetches at a time, over all hosts
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// Least time between two requests to a host, in milliseconds
    #[arg(long, value_name = "MS")]
    delay: Option<u64>,
    /// Trained model to start from: a folder, or a name in models/ [default: the topic's]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Allow private and loopback addresses, as for tests on your own machine
    #[arg(long)]
    allow_private: bool,
}

impl Overrides {
    fn apply(&self, config: &mut Config) {
        let crawl = &mut config.crawl;
        crawl.order = self.order.unwrap_or(crawl.order);
        crawl.seed = self.seed.unwrap_or(crawl.seed);
        crawl.workers = self.workers.unwrap_or(crawl.workers).max(1);
        config.politeness.delay_ms = self.delay.unwrap_or(config.politeness.delay_ms);
        config.fetch.allow_private |= self.allow_private;
    }
}

pub(super) fn run(args: &CrawlArgs, show: Show) -> anyhow::Result<ExitCode> {
    let topic = match Topic::load(&args.topic) {
        Ok(topic) => topic,
        Err(error) => {
            eprintln!("windrow: {error}");
            return Ok(ExitCode::from(INVALID));
        }
    };
    let mut config = args.config.as_deref().map(Config::load).transpose()?.unwrap_or_default();
    args.overrides.apply(&mut config);
    config.politeness.check()?;
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(&topic.name));
    let fetcher: Arc<dyn Fetcher> = if args.replay.is_empty() {
        Arc::new(HttpFetcher::new(&config.fetch)?)
    } else {
        let web = ReplayFetcher::open(&args.replay, args.open_web)?;
        web.warnings().iter().for_each(|warning| eprintln!("windrow: {warning}"));
        Arc::new(web)
    };
    let name = args.overrides.model.as_deref().or(topic.model.as_deref());
    let model = name.map(|name| load(name, &search_path(Some(&args.topic)))).transpose()?;
    let start = Start { topic: &topic, config: &config, model, max_pages: args.overrides.max_pages };
    let (summary, written) = crawl(start, fetcher, &out, show)?;
    tell(&summary, &written, show)?;
    Ok(if summary.stop == StopReason::User { ExitCode::from(STOPPED) } else { ExitCode::SUCCESS })
}

/// What a crawl is started with.
pub(super) struct Start<'a> {
    pub(super) topic: &'a Topic,
    pub(super) config: &'a Config,
    pub(super) model: Option<ModelBundle>,
    /// Over the topic's own limit.
    pub(super) max_pages: Option<u64>,
}

/// Crawls into `out` and writes the report.
pub(super) fn crawl(start: Start<'_>, fetcher: Arc<dyn Fetcher>, out: &Path, show: Show) -> anyhow::Result<(Summary, Written)> {
    let Start { topic, config, model, max_pages } = start;
    let mut plan = config.plan(topic, model)?;
    plan.limits.max_pages = max_pages.or(plan.limits.max_pages);
    let resumes = Store::exists(out);
    fs::create_dir_all(out).with_context(|| format!("{} cannot be made", out.display()))?;
    let store = if resumes { Store::open_with(out, &config.store)? } else { Store::create_with(out, &config.store)? };
    if !resumes {
        fs::write(out.join("topic.toml"), topic.to_toml()?).context("the topic cannot be kept with the crawl")?;
        fs::write(out.join("config.toml"), toml::to_string(config)?).context("the configuration cannot be kept")?;
    }
    let writer = Box::new(store.writer(&config.store)?);
    let order = Arc::new(config.crawl.order);
    let crawl =
        if resumes { Crawl::resume(plan, order, fetcher, writer, &store)? } else { Crawl::new(plan, order, fetcher, writer) };
    let summary = block_on(crawl, show)?;
    let written = report::write(&store, out, None)?;
    Ok((summary, written))
}

/// Runs a crawl on its own runtime, with progress, until it ends or Ctrl-C stops it.
fn block_on(crawl: Crawl, show: Show) -> anyhow::Result<Summary> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let (stopper, stop) = watch::channel(false);
        let (progress, watched) = watch::channel(Progress::default());
        let follower = tokio::spawn(show.follow(watched));
        tokio::spawn(async move {
            if tokio::signal::ctrl_c().await.is_ok() {
                eprintln!("windrow: stopping; fetches under way are finished first (Ctrl-C again ends at once)");
                stopper.send_replace(true);
                if tokio::signal::ctrl_c().await.is_ok() {
                    // Nothing is lost: what was not committed is fetched again when the crawl is resumed.
                    std::process::exit(i32::from(STOPPED));
                }
            }
        });
        let summary = crawl.run(Controls { stop, progress }).await?;
        follower.await?;
        Ok(summary)
    })
}

fn tell(summary: &Summary, written: &Written, show: Show) -> anyhow::Result<()> {
    if show.json {
        let line = serde_json::json!({
            "stop": summary.stop, "fetched": summary.state.fetched, "relevant": summary.state.relevant,
            "report": written.html, "files": written.files,
        });
        println!("{}", serde_json::to_string(&line)?);
        return Ok(());
    }
    let share = 100.0 * summary.state.relevant as f64 / summary.state.fetched.max(1) as f64;
    println!("{} pages fetched, {} of them relevant ({share:.0} %).", summary.state.fetched, summary.state.relevant);
    println!("Stopped because {}.", summary.stop.in_words());
    println!("Report: {}", written.html.display());
    Ok(())
}

//! `windrow crawl`: a topic, on the web or on a recorded one; the same command resumes it.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
    thread,
    time::Duration,
};

use anyhow::{Context, anyhow};
use clap::Args;
use tokio::sync::watch;

use super::{DISK_FULL, INVALID, STOPPED, explain::explain, progress::Show, stream::StreamJournal};
use crate::{
    config::Config,
    engine::{Controls, Crawl, Focus, Memory, Progress, StopReason, Summary, remote},
    fetch::Fetcher,
    frontier::Order,
    models::{ModelBundle, load, search_path},
    monitor::{Options, Watched, one_crawl},
    session::{Ended, MODEL, Session, Start, fetcher_of},
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
    /// Write a JSON line for each finished URL as soon as it is on disk: to standard output (-), or to the end of a file
    #[arg(long, value_name = "FILE")]
    stream: Option<PathBuf>,
    /// Serve the console for this crawl while it runs, such as 127.0.0.1:8377
    #[arg(long, value_name = "ADDR")]
    monitor: Option<SocketAddr>,
    /// Tokens for --monitor, as for `windrow serve`
    #[arg(long, value_name = "FILE", requires = "monitor")]
    tokens: Option<PathBuf>,
    #[command(flatten)]
    overrides: Overrides,
    /// Say what the rules make of this URL and what became of it, and fetch nothing
    #[arg(long, value_name = "URL")]
    explain: Option<String>,
    /// Take URLs that match this regular expression out of quarantine, and never hold them back in this session
    #[arg(long, value_name = "REGEX")]
    release: Vec<String>,
    /// Configuration file (`windrow config` prints one)
    #[arg(long, value_name = "TOML")]
    config: Option<PathBuf>,
    /// Go on with a crawl though topic or configuration have changed since
    #[arg(long)]
    accept_changes: bool,
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
    /// Which pages' links are followed
    #[arg(long, value_enum)]
    focus: Option<Focus>,
    /// Seed of all randomness; a replay with the same seed is the same crawl
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Fetches at a time, over all hosts
    #[arg(long, value_name = "N")]
    workers: Option<usize>,
    /// Least time between two requests to a host, in milliseconds
    #[arg(long, value_name = "MS")]
    delay: Option<u64>,
    /// Memory that the crawl may take, in all, such as 600MiB; what does not fit is kept on disk
    #[arg(long, value_name = "SIZE")]
    memory: Option<Memory>,
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
        crawl.focus = self.focus.unwrap_or(crawl.focus);
        crawl.seed = self.seed.unwrap_or(crawl.seed);
        crawl.memory = self.memory.unwrap_or(crawl.memory);
        crawl.workers = self.workers.unwrap_or(crawl.workers).max(1);
        config.politeness.delay_ms = self.delay.unwrap_or(config.politeness.delay_ms);
        config.fetch.allow_private |= self.allow_private;
    }
}

pub(super) fn run(args: &CrawlArgs, show: Show) -> anyhow::Result<ExitCode> {
    let mut config = args.config.as_deref().map(Config::load).transpose()?.unwrap_or_default();
    args.overrides.apply(&mut config);
    config.politeness.check()?;
    config.traps.trusted.extend(args.release.iter().cloned());
    // Certificates, or a recording, are read while the topic waits for the dictionary.
    let web = args.explain.is_none().then(|| {
        let (config, replay, open_web) = (config.clone(), args.replay.clone(), args.open_web);
        thread::spawn(move || fetcher_of(&config, &replay, open_web))
    });
    let topic = match Topic::load(&args.topic) {
        Ok(topic) => topic,
        Err(error) => {
            eprintln!("windrow: {error}");
            return Ok(ExitCode::from(INVALID));
        }
    };
    let out = args.out.clone().unwrap_or_else(|| PathBuf::from(&topic.name));
    if let Some(url) = &args.explain {
        explain(url, &topic, &config, &out)?;
    }
    let Some(web) = web else { return Ok(ExitCode::SUCCESS) };
    let kept = out.join(MODEL);
    let model = if args.overrides.model.is_none() && kept.join("card.json").is_file() {
        Some(ModelBundle::open(&kept)?)
    } else {
        let name = args.overrides.model.as_deref().or(topic.model.as_deref());
        name.map(|name| load(name, &search_path(Some(&args.topic)))).transpose()?
    };
    let fetcher = web.join().map_err(|_| anyhow!("the web to crawl could not be set up"))??;
    let start =
        Start { topic: &topic, config: &config, model, max_pages: args.overrides.max_pages, accept_changes: args.accept_changes };
    let monitor = args.monitor.map(|address| Monitor { address, tokens: args.tokens.as_deref() });
    let ended = watched(start, fetcher, &out, args.stream.as_deref(), monitor.as_ref(), show)?;
    if args.stream.as_deref() != Some(Path::new("-")) {
        tell(&ended, show)?;
    }
    Ok(code_of(&ended))
}

/// Tells the trouble that a crawl ended with, and chooses the exit code.
pub(super) fn code_of(ended: &Ended) -> ExitCode {
    let Ended { summary, written, .. } = ended;
    if let Some(trouble) = &summary.trouble {
        eprintln!("windrow: {trouble}");
    }
    match summary.stop {
        StopReason::DiskFull => ExitCode::from(DISK_FULL),
        _ if written.is_none() => ExitCode::from(DISK_FULL),
        StopReason::User => ExitCode::from(STOPPED),
        _ => ExitCode::SUCCESS,
    }
}

/// Crawls into `out` and writes the report; finished URLs are told in `stream` while it runs (`-` is standard output).
pub(super) fn crawl(
    start: Start<'_>,
    fetcher: Arc<dyn Fetcher>,
    out: &Path,
    stream: Option<&Path>,
    show: Show,
) -> anyhow::Result<Ended> {
    watched(start, fetcher, out, stream, None, show)
}

/// [`crawl`], with a console for it at an address.
fn watched(
    start: Start<'_>,
    fetcher: Arc<dyn Fetcher>,
    out: &Path,
    stream: Option<&Path>,
    monitor: Option<&Monitor<'_>>,
    show: Show,
) -> anyhow::Result<Ended> {
    let (topic_name, max_pages) = (start.topic.name.clone(), start.max_pages);
    let virtual_time = fetcher.recorded_at().is_some();
    let Session { crawl, store, dir, retrained } = Session::open(start, fetcher, out, |writer| {
        Ok(match stream {
            Some(to) => Box::new(StreamJournal::new(writer, to)?),
            None => Box::new(writer),
        })
    })?;
    if let Some(retrained) = retrained {
        eprintln!("windrow: {}", retrained.in_words());
    }
    let summary = match monitor {
        None => block_on(crawl, None, show)?,
        Some(&Monitor { address, tokens }) => {
            let passing = tempfile::tempdir().context("no temporary folder can be made")?;
            let options = Options { tokens: tokens.map(Path::to_owned), ..Options::new(passing.path().to_owned(), address) };
            let named = Named { topic_name: &topic_name, dir: &dir, store: store.clone(), virtual_time, max_pages };
            block_on(crawl, Some((options, named)), show)?
        }
    };
    Ended::after(summary, store, &dir)
}

/// Where the console of a crawl is to be served.
struct Monitor<'m> {
    address: SocketAddr,
    tokens: Option<&'m Path>,
}

/// What the console needs to know of a crawl.
struct Named<'n> {
    topic_name: &'n str,
    dir: &'n Path,
    store: Store,
    virtual_time: bool,
    max_pages: Option<u64>,
}

/// Runs a crawl on its own runtime, with progress, until it ends or Ctrl-C stops it.
fn block_on(crawl: Crawl, monitor: Option<(Options, Named<'_>)>, show: Show) -> anyhow::Result<Summary> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let summary = runtime.block_on(async {
        let (stopper, stop) = watch::channel(false);
        let (progress, seen) = watch::channel(Progress::default());
        let follower = tokio::spawn(show.follow(seen.clone()));
        let mut crawl = crawl;
        let (down, going_down) = watch::channel(false);
        if let Some((options, named)) = monitor {
            let (line, commands) = remote();
            crawl = crawl.listen(commands);
            let Named { topic_name, dir, store, virtual_time, max_pages } = named;
            let name = topic_name;
            let (remote, stop) = (line, stopper.clone());
            let told = Watched { name, topic_name, dir, store, remote, progress: seen, stop, virtual_time, max_pages };
            let server = one_crawl(options, told, going_down).await?;
            eprintln!("windrow: watch it at http://{}/", server.address());
            tokio::spawn(server.run());
        }
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
        down.send_replace(true);
        follower.await?;
        Ok(summary)
    });
    // A request that is being answered does not keep the crawl from its end.
    runtime.shutdown_timeout(Duration::from_secs(2));
    summary
}

fn tell(ended: &Ended, show: Show) -> anyhow::Result<()> {
    let Ended { summary, sizes, written } = ended;
    let state = &summary.state;
    if show.json {
        let line = serde_json::json!({
            "stop": summary.stop, "trouble": summary.trouble, "fetched": state.fetched, "relevant": state.relevant,
            "known": state.discovered, "memory": summary.memory, "store_bytes": sizes.file_bytes,
            "bytes_per_known_url": sizes.bytes_per_known_url(),
            "forecast": written.as_ref().and_then(|written| written.summary.forecast.as_ref()),
            "report": written.as_ref().map(|written| &written.html), "files": written.as_ref().map(|written| &written.files),
        });
        println!("{}", serde_json::to_string(&line)?);
        return Ok(());
    }
    let share = 100.0 * state.relevant as f64 / state.fetched.max(1) as f64;
    println!("{} pages fetched, {} of them relevant ({share:.0} %).", state.fetched, state.relevant);
    println!("Stopped because {}.", summary.stop.in_words());
    let mib = |bytes: u64| bytes >> 20;
    println!(
        "{} links known, {} bytes each on disk; {} MiB of memory at the most, {} links waited on disk.",
        state.discovered,
        sizes.bytes_per_known_url().round(),
        mib(summary.memory.peak),
        summary.memory.links_on_disk
    );
    let Some(written) = written else { return Ok(()) };
    if let Some(next) = &written.summary.forecast {
        println!(
            "Going on, about {:.0} of the next {} pages can be expected to be relevant (90 % interval {:.0} to {:.0}).",
            next.relevant, next.pages, next.low, next.high
        );
    }
    println!("Report: {}", written.html.display());
    Ok(())
}

//! `windrow serve`: many crawls in one process, watched and steered by REST and from a browser.

use std::{net::SocketAddr, path::PathBuf, process::ExitCode, sync::Arc};

use clap::Args;
use tokio::sync::watch;

use super::{INVALID, progress::Show};
use crate::monitor::{Options, OptionsError, Server};

/// Serve many crawls: a console for browsers, and REST.
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// Folder of the server's crawls and settings
    #[arg(long, value_name = "DIR", default_value = "windrow-server")]
    dir: PathBuf,
    /// Address and port; another than this machine's own needs --tokens
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8377")]
    listen: SocketAddr,
    /// Crawl topic files that are put into this folder
    #[arg(long, value_name = "FOLDER")]
    watch: Option<PathBuf>,
    /// Recorded webs (WARC files) that crawls may name [default: recordings in DIR]
    #[arg(long, value_name = "FOLDER")]
    recordings: Option<PathBuf>,
    /// The file that `windrow token new` writes; everybody needs a token then
    #[arg(long, value_name = "FILE")]
    tokens: Option<PathBuf>,
    /// Crawls that run at a time; more wait for their turn
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..))]
    max_running: u16,
    /// A name under which the server is reached, as behind a proxy; may be given again
    #[arg(long = "host", value_name = "NAME")]
    names: Vec<String>,
}

pub(super) fn run(args: &ServeArgs, show: Show) -> anyhow::Result<ExitCode> {
    let options = Options {
        watch: args.watch.clone(),
        recordings: args.recordings.clone(),
        tokens: args.tokens.clone(),
        max_running: usize::from(args.max_running),
        names: args.names.clone(),
        ..Options::new(args.dir.clone(), args.listen)
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        let (stopper, stop) = watch::channel(false);
        let server = Server::bind(options, stop).await?;
        let address = format!("http://{}/", server.address());
        if show.json {
            println!("{}", serde_json::json!({ "address": address, "dir": args.dir }));
        } else {
            println!("windrow serves {address} (crawls in {}; Ctrl-C stops it)", args.dir.display());
        }
        tokio::spawn(until_told(stopper));
        server.run().await
    });
    match served {
        Err(error) if error.is::<OptionsError>() => {
            eprintln!("windrow: {error}");
            Ok(ExitCode::from(INVALID))
        }
        served => served.map(|()| ExitCode::SUCCESS),
    }
}

/// Waits for Ctrl-C or SIGTERM, and stops the server; a second time ends it at once.
async fn until_told(stopper: watch::Sender<bool>) {
    let stopper = Arc::new(stopper);
    for time in 0.. {
        if asked_to_end().await.is_err() {
            return;
        }
        if time > 0 {
            // Nothing is lost: crawls go on from their last commit.
            std::process::exit(1);
        }
        eprintln!("windrow: stopping; crawls finish what they fetch, and go on when the server starts (again: ends at once)");
        stopper.send_replace(true);
    }
}

async fn asked_to_end() -> std::io::Result<()> {
    let mut term = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        ended = tokio::signal::ctrl_c() => ended,
        _ = term.recv() => Ok(()),
    }
}

//! The server: listens, answers, goes down in good order.
//!
//! Promises: when it is told to stop, crawls finish the fetches under way and are committed before it returns, and run again
//! when it starts.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use anyhow::Context;
use axum::{Router, extract::DefaultBodyLimit, middleware};
use tokio::{net::TcpListener, sync::watch};
use tower_http::catch_panic::CatchPanicLayer;

use super::{
    api,
    app::App,
    console,
    crawls::{Job, Live, Phase, Slot, Source},
    files, guard,
    options::Options,
    problem::Problem,
    ticker,
};
use crate::{
    engine::{MemoryReport, Progress, Remote},
    store::Store,
};

/// Bytes of a request's body, at most.
const MAX_BODY: usize = 2 << 20;
/// How long crawls may take to stop.
const PATIENCE: Duration = Duration::from_mins(2);

/// A server that listens.
pub struct Server {
    app: Arc<App>,
    listener: TcpListener,
    stop: watch::Receiver<bool>,
}

impl Server {
    /// Opens the server's folder and listens; crawls that ran when it went down run again.
    ///
    /// # Errors
    /// Options that would let strangers in, an address that cannot be had, a folder that cannot be used.
    pub async fn bind(options: Options, stop: watch::Receiver<bool>) -> anyhow::Result<Self> {
        Self::listen(options, stop, false).await
    }

    async fn listen(options: Options, stop: watch::Receiver<bool>, watches_one: bool) -> anyhow::Result<Self> {
        options.check()?;
        let wanted = options.listen;
        let listener = TcpListener::bind(wanted).await.with_context(|| format!("{wanted} cannot be listened to"))?;
        let (address, watched) = (listener.local_addr()?, stop.clone());
        let opened = tokio::task::spawn_blocking(move || App::open(options, address, watched, watches_one));
        Ok(Self { app: Arc::new(opened.await??), listener, stop })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.app.address
    }

    /// Answers until it is told to stop, and then stops its crawls.
    ///
    /// # Errors
    /// The listener fails.
    pub async fn run(self) -> anyhow::Result<()> {
        let Self { app, listener, stop } = self;
        let bringing = Arc::clone(&app);
        tokio::task::spawn_blocking(move || bringing.bring_back()).await?;
        let ticking = tokio::spawn(ticker::tick(Arc::clone(&app)));
        let service = router(&app).into_make_service_with_connect_info::<SocketAddr>();
        axum::serve(listener, service).with_graceful_shutdown(stopped(stop)).await?;
        stop_all(&app).await;
        ticking.await?;
        app.slots().iter().for_each(|slot| slot.close());
        Ok(())
    }
}

/// Waits until it is told to stop, or nobody is left who could say so.
async fn stopped(mut stop: watch::Receiver<bool>) {
    while !*stop.borrow_and_update() {
        if stop.changed().await.is_err() {
            return;
        }
    }
}

async fn stop_all(app: &Arc<App>) {
    for slot in app.slots() {
        slot.phase(|phase| match phase {
            Phase::Running(live) => drop(live.stop.send_replace(true)),
            // Waits again when the server starts.
            Phase::Queued => *phase = Phase::Idle,
            Phase::Idle => {}
        });
    }
    let all_idle = async {
        while app.slots().iter().any(|slot| !slot.is_idle()) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    if tokio::time::timeout(PATIENCE, all_idle).await.is_err() {
        tracing::warn!("some crawls have not stopped; they go on from their last commit when the server starts");
    }
}

fn router(app: &Arc<App>) -> Router {
    let (api, _) = api::routes().split_for_parts();
    api.fallback(console::file)
        .method_not_allowed_fallback(|| async {
            Problem::new(axum::http::StatusCode::METHOD_NOT_ALLOWED, "that is not how this address is used; see /api/docs")
        })
        .layer(middleware::from_fn_with_state(Arc::clone(app), api::pass_on))
        .layer(middleware::from_fn_with_state(Arc::clone(app), guard::guard))
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| {
            use axum::response::IntoResponse;
            Problem::internal(&anyhow::anyhow!("a defect of windrow")).into_response()
        }))
        .with_state(Arc::clone(app))
}

/// A crawl that runs elsewhere in this process, for a server that watches it alone.
pub struct Watched<'w> {
    pub name: &'w str,
    pub topic_name: &'w str,
    pub dir: &'w Path,
    pub store: Store,
    pub remote: Remote,
    pub progress: watch::Receiver<Progress>,
    pub stop: watch::Sender<bool>,
    pub virtual_time: bool,
    pub max_pages: Option<u64>,
}

/// A server for one crawl that somebody else runs: `windrow crawl --monitor`. `options.dir` is for its own passing state.
///
/// # Errors
/// As for [`Server::bind`].
pub async fn one_crawl(options: Options, crawl: Watched<'_>, stop: watch::Receiver<bool>) -> anyhow::Result<Server> {
    let server = Server::listen(options, stop, true).await?;
    let source = if crawl.virtual_time { Source::Recording(String::new()) } else { Source::Web };
    let mut job = Job::watched(crawl.name, crawl.topic_name, source, crawl.max_pages);
    job.begin_run(files::now());
    let slot = Slot::new(job, crawl.dir.to_owned(), server.app.options.dir.join("watched"))?;
    slot.lend(crawl.store);
    slot.phase(|phase| {
        *phase = Phase::Running(Live {
            remote: Some(crawl.remote),
            progress: crawl.progress,
            stop: crawl.stop,
            memory: MemoryReport::default(),
            before: (0, 0),
            virtual_time: crawl.virtual_time,
        });
    });
    server.app.enter(Arc::new(slot));
    Ok(server)
}

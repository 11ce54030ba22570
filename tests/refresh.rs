//! Pages asked for again: those that changed, those that did not, and one that is gone.

use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use tokio::sync::watch;
use windrow::{
    config::Config,
    engine::{Controls, Progress, StopReason, Summary, check_snapshot},
    fetch::{Fetched, Fetcher, Request, Response},
    page::Timestamp,
    session::{Session, Start},
    store::{VerifyOptions, verify},
    topic::Topic,
};

/// A few pages on rice; once it has moved on, the first is another, the second unchanged by its `ETag`, the third gone, the
/// fourth the same bytes.
#[derive(Default)]
struct Farm {
    has_moved_on: AtomicBool,
    /// URLs that were asked for with an `If-None-Match`.
    conditional: Mutex<Vec<String>>,
}

impl Farm {
    fn answer(&self, request: &Request) -> Response {
        let later = self.has_moved_on.load(Ordering::Relaxed);
        let path = request.url.path();
        if request.validators.etag.is_some() {
            self.conditional.lock().unwrap().push(path.to_owned());
        }
        let page = |title: &str, more: &str| (200, format!("<title>{title}</title><p>rice rice, the rice of {path} {more}</p>"));
        let links = "<a href='/b'>rice b</a> <a href='/c'>rice c</a> <a href='/d'>rice d</a>";
        let (status, body) = match path {
            "/" if later => page("Rice anew", &format!("sown again <a href='/e'>rice e</a> {links}")),
            "/" => page("Rice", links),
            "/b" if later && request.validators.etag.is_some() => (304, String::new()),
            "/c" if later => (404, "gone".to_owned()),
            "/b" | "/c" | "/d" => page("Rice field", ""),
            "/e" if later => page("A new rice field", ""),
            _ => (404, String::new()),
        };
        let mut headers = vec![("content-type".to_owned(), "text/html".to_owned())];
        if path == "/b" {
            headers.push(("etag".to_owned(), "\"b\"".to_owned()));
        }
        Response { status, headers, body: body.into(), truncated: false }
    }
}

struct Web(Arc<Farm>);

impl Fetcher for Web {
    fn fetch(&self, request: Request) -> BoxFuture<'_, Fetched> {
        let result = Ok(self.0.answer(&request));
        Box::pin(std::future::ready(Fetched { elapsed: Duration::from_millis(20), address: None, result }))
    }

    fn recorded_at(&self) -> Option<Timestamp> {
        Some(Timestamp(1_000_000))
    }
}

async fn crawl(farm: &Arc<Farm>, dir: &Path, refreshes: bool) -> Summary {
    let topic = Topic::from_parts("farm", ["rice"], vec!["http://farm.test/".to_owned()]).unwrap();
    let config = Config::default();
    let start = Start { topic: &topic, config: &config, model: None, max_pages: None, accept_changes: false };
    let session = Session::open(start, Arc::new(Web(Arc::clone(farm))), dir, |writer| Ok(Box::new(writer))).unwrap();
    let crawl = if refreshes { session.crawl.refreshing() } else { session.crawl };
    let (_stopper, stop) = watch::channel(false);
    let (progress, _) = watch::channel(Progress::default());
    Box::pin(crawl.run(Controls { stop, progress })).await.unwrap()
}

#[tokio::test]
async fn changed_pages_take_the_place_of_their_rows_and_their_new_links_are_followed() {
    let folder = tempfile::tempdir().unwrap();
    let farm = Arc::new(Farm::default());
    let first = Box::pin(crawl(&farm, folder.path(), false)).await;
    assert_eq!((first.stop, first.state.fetched, first.state.relevant), (StopReason::FrontierEmpty, 4, 4));

    farm.has_moved_on.store(true, Ordering::Relaxed);
    let second = Box::pin(crawl(&farm, folder.path(), true)).await;
    let counts = second.refreshed.unwrap();
    assert_eq!((counts.changed, counts.unchanged, counts.gone, counts.failed), (1, 2, 1, 0));
    assert_eq!(*farm.conditional.lock().unwrap(), ["/b"], "only one page had an ETag");
    assert_eq!(second.state.fetched, 5, "the new link was followed");

    let third = Box::pin(crawl(&farm, folder.path(), false)).await;
    assert_eq!((third.stop, third.state.fetched), (StopReason::FrontierEmpty, 5), "a third session finds nothing to do");
    let store = windrow::store::Store::open(folder.path()).unwrap();
    let titles: Vec<String> = store.pages(1).unwrap().map(|page| page.unwrap().title).filter(|title| !title.is_empty()).collect();
    assert!(titles.contains(&"Rice anew".to_owned()) && titles.contains(&"A new rice field".to_owned()), "{titles:?}");
    assert!(!titles.contains(&"Rice".to_owned()), "{titles:?}");
    drop(store);
    let options = VerifyOptions { repair: false, check_model: &check_snapshot, progress: &mut |_, _| {} };
    let verified = verify(folder.path(), options).unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
}

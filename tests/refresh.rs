//! Pages asked for again: those that changed, those that did not, and one that is gone.

use std::{
    collections::BTreeMap,
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
    engine::{Controls, EngineConfig, Progress, Steer, StopReason, Summary, Which, check_snapshot, remote},
    fetch::{Fetched, Fetcher, Request, Response},
    page::Timestamp,
    session::{Session, Start},
    store::{LinkRecord, OutlinkFate, Store, VerifyOptions, verify},
    topic::Topic,
};

/// A few pages on rice; once it has moved on, the first is another, the second unchanged by its `ETag`, the third gone, the
/// fourth the same bytes.
#[derive(Default)]
struct Farm {
    has_moved_on: AtomicBool,
    /// The links of the first page, where a test says so.
    front: Mutex<Option<String>>,
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
            "/" if self.front.lock().unwrap().is_some() => page("Rice", self.front.lock().unwrap().as_ref().unwrap()),
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
    Box::pin(crawl_to(farm, dir, refreshes, None)).await
}

fn session(farm: &Arc<Farm>, dir: &Path, max_pages: Option<u64>) -> Session {
    let topic = Topic::from_parts("farm", ["rice"], vec!["http://farm.test/".to_owned()]).unwrap();
    // What is under way when something is committed is under test, too.
    let config = Config { crawl: EngineConfig { commit_visits: 1, ..EngineConfig::default() }, ..Config::default() };
    let start = Start { topic: &topic, config: &config, model: None, max_pages, accept_changes: false };
    Session::open(start, Arc::new(Web(Arc::clone(farm))), dir, |writer| Ok(Box::new(writer))).unwrap()
}

async fn crawl_to(farm: &Arc<Farm>, dir: &Path, refreshes: bool, max_pages: Option<u64>) -> Summary {
    let session = session(farm, dir, max_pages);
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
    let store = Store::open(folder.path()).unwrap();
    let titles: Vec<String> = store.pages(1).unwrap().map(|page| page.unwrap().title).filter(|title| !title.is_empty()).collect();
    assert!(titles.contains(&"Rice anew".to_owned()) && titles.contains(&"A new rice field".to_owned()), "{titles:?}");
    assert!(!titles.contains(&"Rice".to_owned()), "{titles:?}");
    drop(store);
    assert_clean(folder.path());
}

/// Targets of the links that the report and the exports tell of the first page, with what became of them.
fn links_of_the_first_page(dir: &Path) -> Vec<(String, OutlinkFate)> {
    let links = Store::open(dir).unwrap().outlinks(1).unwrap();
    links.into_iter().map(|link| (link.url.strip_prefix("http://farm.test").unwrap().to_owned(), link.fate)).collect()
}

fn assert_clean(dir: &Path) {
    let options = VerifyOptions { repair: false, check_model: &check_snapshot, progress: &mut |_, _| {} };
    let verified = verify(dir, options).unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
}

#[tokio::test]
async fn a_changed_page_has_the_links_of_now_and_what_it_led_to_before_still_waits_with_its_surroundings() {
    use OutlinkFate::Queued;
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let farm = Arc::new(Farm::default());
    let named = |links: &[(&str, OutlinkFate)]| links.iter().map(|&(path, fate)| (path.to_owned(), fate)).collect::<Vec<_>>();
    let anchor = |path: &&str| format!("<a href='{path}'>rice {}</a> ", &path[1..]);
    let links_to = |paths: &[&str]| paths.iter().map(anchor).collect::<Vec<_>>().concat();
    let front = |paths: &[&str]| *farm.front.lock().unwrap() = Some(links_to(paths));
    front(&["/b", "/c", "/d"]);
    Box::pin(crawl_to(&farm, dir, false, Some(1))).await;
    assert_eq!(links_of_the_first_page(dir), named(&[("/b", Queued), ("/c", Queued), ("/d", Queued)]));
    let waiting = || -> BTreeMap<String, LinkRecord> {
        let rows = Store::open(dir).unwrap().waiting().unwrap().map(|row| row.unwrap().1).collect::<Vec<_>>();
        rows.into_iter().map(|link| (link.url.strip_prefix("http://farm.test").unwrap().to_owned(), link)).collect()
    };
    let in_links = |link: &LinkRecord| link.in_links.clone();
    let before = waiting();
    // Links go, come, move, and come back, in one refresh after the other.
    for (paths, fates) in [
        (&["/e", "/d"][..], &[("/e", Queued), ("/d", Queued)][..]),
        (&["/d", "/f", "/e"], &[("/d", Queued), ("/f", Queued), ("/e", Queued)]),
        (&[], &[]),
        (&["/b", "/g"], &[("/b", OutlinkFate::Known), ("/g", Queued)]),
    ] {
        front(paths);
        let summary = Box::pin(crawl_to(&farm, dir, true, Some(1))).await;
        assert_eq!(summary.refreshed.unwrap().changed, 1, "{paths:?}");
        assert_eq!(links_of_the_first_page(dir), named(fates));
        assert_clean(dir);
        let now = waiting();
        for (path, link) in &before {
            let same = now[path].in_links.iter().any(|in_link| *in_link == link.in_links[0]);
            assert!(same && now[path].url == link.url, "{path} after {paths:?}: {:?}", in_links(&now[path]));
        }
        let mut ordinals: Vec<u16> = now.values().flat_map(in_links).map(|in_link| in_link.ordinal).collect();
        ordinals.sort_unstable();
        assert!(ordinals.windows(2).all(|pair| pair[0] != pair[1]), "one number, one link: {ordinals:?}");
    }
    assert_eq!(waiting().into_keys().collect::<Vec<_>>(), ["/b", "/c", "/d", "/e", "/f", "/g"]);
    assert_eq!(waiting()["/e"].in_links.len(), 1, "a link that stays is no other link");

    let last = Box::pin(crawl(&farm, dir, false)).await;
    assert_eq!((last.stop, last.state.waiting), (StopReason::FrontierEmpty, 0));
    assert_clean(dir);
    for page in Store::open(dir).unwrap().pages(2).unwrap().map(Result::unwrap) {
        let path = page.url.strip_prefix("http://farm.test/").unwrap().to_owned();
        assert_eq!((page.source_url.as_deref(), page.anchor), (Some("http://farm.test/"), format!("rice {path}")));
    }
}

#[tokio::test]
async fn a_page_that_may_not_be_asked_any_more_keeps_no_other_from_being_asked() {
    let folder = tempfile::tempdir().unwrap();
    let farm = Arc::new(Farm::default());
    let first = Box::pin(crawl(&farm, folder.path(), false)).await;
    assert_eq!(first.state.relevant, 4);
    let (remote, commands) = remote();
    let steer = async {
        let pages = Which::Matching("/b$".to_owned());
        remote.steer(Steer::Exclude(pages)).await.unwrap().unwrap();
    };
    let (_stopper, stop) = watch::channel(false);
    let (progress, _) = watch::channel(Progress::default());
    let run = session(&farm, folder.path(), None).crawl.refreshing().listen(commands).run(Controls { stop, progress });
    let (told_meanwhile, ()) = tokio::join!(Box::pin(run), steer);
    // The next time it is known from the start.
    for summary in [told_meanwhile.unwrap(), Box::pin(crawl(&farm, folder.path(), true)).await] {
        assert_eq!(summary.stop, StopReason::Refreshed);
        let counts = summary.refreshed.unwrap();
        assert_eq!((counts.changed, counts.unchanged, counts.gone, counts.failed), (0, 3, 0, 1));
        assert_clean(folder.path());
    }
}

#[tokio::test]
async fn a_changed_page_may_link_to_another_that_is_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    let farm = Arc::new(Farm::default());
    let front = |links: &str| *farm.front.lock().unwrap() = Some(links.to_owned());
    front("<a href='/b'>rice b</a> <a href='/d'>rice d</a>");
    let first = Box::pin(crawl(&farm, dir, false)).await;
    assert_eq!((first.stop, first.state.fetched), (StopReason::FrontierEmpty, 3));
    // The links are gone, then new again; all three pages are under way while they come.
    for links in ["", "<a href='/d'>the rice of d</a> <a href='/b'>rice b</a>"] {
        front(links);
        let counts = Box::pin(crawl(&farm, dir, true)).await.refreshed.unwrap();
        assert_eq!((counts.changed, counts.unchanged, counts.gone, counts.failed), (1, 2, 0, 0));
        assert_clean(dir);
    }
    let known = |path: &str| (path.to_owned(), OutlinkFate::Known);
    assert_eq!(links_of_the_first_page(dir), [known("/d"), known("/b")]);
    assert_eq!(Store::open(dir).unwrap().waiting().unwrap().count(), 0, "a page that is finished does not wait");
}

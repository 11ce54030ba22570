//! What the hot functions allocate per page: a count that does not depend on how busy the machine is, so that it can be held to.
//!
//! `cargo bench --bench hot` reads every page of the demo web, prints allocations and bytes per page of each function, and fails
//! where one allocates more than its limit (about a tenth above what it took when the limit was set).
#![allow(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

use std::{alloc::System, path::Path, process::ExitCode};

use futures_util::FutureExt;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use windrow::{
    fetch::{Fetcher, ReplayFetcher, Request},
    page::Page,
    page_classifier::{PageClassifierConfig, PageLearner, Reading},
    parse::{Document, ParseConfig, parse},
    text::{Segmenter, url_words},
    topic::KeywordSet,
    url::Url,
};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocations per page that a function may take at most.
const LIMITS: [(&str, f64); 4] = [("parse", 510.0), ("read", 1.5), ("judge and learn", 0.1), ("judge anew", 0.6)];

/// What some calls have allocated.
#[derive(Clone, Copy, Default)]
struct Taken {
    calls: usize,
    bytes: usize,
}

impl Taken {
    fn by<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let region = Region::new(COUNTING);
        let done = work();
        let change = region.change();
        self.calls += change.allocations + change.reallocations;
        self.bytes += change.bytes_allocated;
        done
    }
}

fn main() -> ExitCode {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/demo.warc.gz");
    let web = ReplayFetcher::open(&[web], false).unwrap();
    let segmenter = Segmenter::shared();
    let keywords = KeywordSet::new(["水稻", "病虫害", "crop", "soil"].map(|word| segmenter.term_ids(word)));
    let mut learner = PageLearner::new(&PageClassifierConfig::default(), keywords.len(), None);
    let mut taken = [Taken::default(); LIMITS.len()];
    let mut pages = 0;
    for url in web.urls() {
        let url = Url::parse(url).unwrap();
        let Some(Ok(response)) = web.fetch(Request::get(url.clone())).now_or_never().map(|fetched| fetched.result) else {
            continue;
        };
        let document = Document { url: &url, content_type: response.header("content-type"), body: &response.body };
        let [parsed, read, judged, anew] = &mut taken;
        let Ok(page): Result<Page, _> = parsed.by(|| parse(&document, &segmenter, &ParseConfig::default())) else { continue };
        let words = url_words(&url, &segmenter).directory;
        let reading = read.by(|| Reading::of(&page.terms, &words, &keywords));
        judged.by(|| learner.observe(pages, reading));
        if learner.is_due() {
            anew.by(|| learner.rejudge());
        }
        pages += 1;
    }
    println!("{pages} pages of the demo web\n{:<16} {:>18} {:>14} {:>8}", "", "allocations/page", "bytes/page", "limit");
    let mut over = false;
    for ((name, limit), taken) in LIMITS.iter().zip(taken) {
        let calls = taken.calls as f64 / pages as f64;
        println!("{name:<16} {calls:>18.1} {:>14.0} {limit:>8.1}", taken.bytes as f64 / pages as f64);
        over |= calls > *limit;
    }
    if over { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

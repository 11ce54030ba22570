//! Parts of reading and keeping a page, each measured by itself over the same pages: they run on other threads than the engine.

use std::time::Duration;

use windrow::{
    fetch::{Fetcher, Request},
    page::{Timestamp, thread_time},
    parse::{Document, ParseConfig, parse},
    store::{Capture, warc},
    text::Segmenter,
    url::Url,
};

use super::parse_and_walk;

/// Pages that are looked at.
const PAGES: usize = 500;

/// Means per page.
pub struct Alone {
    pub bytes: f64,
    pub links: f64,
    /// Name, CPU µs.
    pub parts: Vec<(&'static str, f64)>,
}

pub fn measure(runtime: &tokio::runtime::Runtime, fetcher: &dyn Fetcher, urls: &[Url]) -> Alone {
    let segmenter = Segmenter::shared();
    let step = urls.len().div_ceil(PAGES).max(1);
    let mut spent = [Duration::ZERO; 4];
    let (mut pages, mut bytes, mut links) = (0.0, 0, 0);
    for url in urls.iter().step_by(step) {
        let Ok(response) = runtime.block_on(fetcher.fetch(Request::get(url.clone()))).result else { continue };
        let document = Document { url, content_type: response.header("content-type"), body: &response.body };
        let Some(Ok(page)) = timed(&mut spent[1], || Some(parse(&document, &segmenter, &ParseConfig::default()))) else {
            continue;
        };
        timed(&mut spent[0], || std::hint::black_box(parse_and_walk(&response.body)));
        timed(&mut spent[2], || segmenter.for_each_word(&page.text, |word| _ = std::hint::black_box(word.len())));
        (pages, bytes, links) = (pages + 1.0, bytes + response.body.len(), links + page.outlinks.len());
        let capture = Capture {
            seq: 1,
            url: url.to_string(),
            fetched_at: Timestamp::default(),
            address: None,
            status: response.status,
            headers: response.headers,
            body: response.body,
            request: None,
        };
        timed(&mut spent[3], || std::hint::black_box(warc::member(&warc::response(&capture)).unwrap().len()));
    }
    let names = ["decode, scraper, one walk", "all of reading", "of it, words", "archive record"];
    let micros = |time: Duration| time.as_secs_f64() * 1e6 / pages;
    Alone {
        bytes: bytes as f64 / pages,
        links: links as f64 / pages,
        parts: names.into_iter().zip(spent).map(|(name, time)| (name, micros(time))).collect(),
    }
}

fn timed<R>(total: &mut Duration, what: impl FnOnce() -> R) -> R {
    let start = thread_time();
    let result = what();
    *total += thread_time().saturating_sub(start);
    result
}

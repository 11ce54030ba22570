//! The values that travel: a parsed page, its terms and its outlinks.
//!
//! Promises: plain owned data; whoever holds a [`Page`] holds all of it.
//! Never: knows where the page came from or what it is worth.

mod outcome;
mod relevance;
mod sketch;
mod term_bag;
mod time;

use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use outcome::Outcome;
pub use relevance::Relevance;
pub use sketch::{SKETCH, Sketch};
pub use term_bag::{Term, TermBag, TermBagBuilder};
pub use time::{Timestamp, thread_time};

use crate::{
    text::{Language, TermId},
    url::{Fingerprint, Url},
};

/// What parsing found in one document.
#[derive(Debug, Clone, Default)]
pub struct Page {
    pub title: String,
    pub language: Language,
    /// WHATWG name of the encoding the bytes were decoded with, in lower case.
    pub charset: &'static str,
    /// Bytes that were not valid in that encoding were replaced.
    pub had_decode_errors: bool,
    /// Visible text, blocks separated by newlines.
    pub text: String,
    /// Parts of `text`, in bytes, that are navigation: inside `nav` and its like, or in blocks that are mostly links; in order.
    pub boilerplate: Vec<Range<u32>>,
    /// The day of publication that the page states, `YYYY-MM-DD`.
    pub published: Option<String>,
    /// Words with their weighted counts.
    pub terms: TermBag,
    /// The title's words.
    pub title_terms: Vec<TermId>,
    /// Words of the headings that links refer to by [`LinkContext::heading`].
    pub headings: Vec<Box<[TermId]>>,
    pub outlinks: Vec<Outlink>,
    /// `<link rel=canonical>`, made absolute.
    pub canonical: Option<Url>,
    /// The target of `<meta http-equiv=refresh>` with a delay of at most 5 seconds.
    pub refresh: Option<Url>,
    pub directives: Directives,
    /// Near-duplicate fingerprint of the content's words: near-copies differ in few bits; 0 where there are too few.
    pub simhash: u64,
    /// Links beyond the cap, or that were no address, and so were left out.
    pub links_dropped: u32,
    /// The parser's deadline or size cap cut the document short.
    pub truncated: bool,
}

impl Page {
    /// The text without navigation, one line per block.
    #[must_use]
    pub fn main_text(&self) -> String {
        let mut kept = String::with_capacity(self.text.len());
        let mut at = 0;
        for span in &self.boilerplate {
            kept.push_str(self.text.get(at..span.start as usize).unwrap_or_default());
            kept.push('\n');
            at = span.end as usize;
        }
        kept.push_str(self.text.get(at..).unwrap_or_default());
        kept.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    }
}

/// What a page asks of crawlers (`<meta name=robots>`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Directives {
    pub noindex: bool,
    pub nofollow: bool,
}

/// One link of a page, the first where several lead to the same place.
#[derive(Debug, Clone)]
pub struct Outlink {
    pub url: Url,
    pub fingerprint: Fingerprint,
    /// `rel=nofollow`, `ugc` or `sponsored`.
    pub nofollow: bool,
    pub context: LinkContext,
}

/// The surroundings of a link: what is known of its target before it is fetched.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct LinkContext {
    /// Anchor text, shortened; the `alt` of images or `title` where there is no text.
    pub anchor_text: Box<str>,
    /// Words of the anchor.
    pub anchor: Box<[TermId]>,
    /// Words of the aggregation node around the link, the nearest first, without the anchor's own.
    pub around: Box<[TermId]>,
    /// Index into [`Page::headings`] of the nearest heading above.
    pub heading: Option<u16>,
    /// Hash of the last elements above the link, with classes stripped of digits.
    pub tag_path: u32,
    /// Links of one page with one tag path in one list share a group; numbered from 0 in page order.
    pub group: u16,
    /// Place among the page's links, 0 (first) to 1 (last).
    pub position: f32,
    /// Inside `nav`, `header`, `footer`, `aside`, or a link-dense block.
    pub navigation: bool,
}

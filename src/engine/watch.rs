//! What the crawl does about traps and copies.
//!
//! The watch on traps is taught by the records of finished URLs, in their order, so a resumed crawl knows what the
//! stopped one knew.

use super::{Crawl, copies::TextPrint};
use crate::{
    frontier::Brought,
    page::{Outcome, Page, Term},
    store::{CopyKind, CopyOf, PageRecord},
    text::url_words,
    topical_rank::NodeId,
    url::{Fingerprint, Url, site_of, templates},
};

impl Crawl {
    /// Tells the watch on traps what came of a finished URL.
    pub(super) fn watch(&mut self, record: &PageRecord) {
        let Ok(url) = Url::parse(&record.url) else { return };
        let relevant = record.relevant;
        match record.outcome {
            Outcome::Fetched => {
                let words = self.words_of_its_own(record, &url);
                let pays = self.traps.observe(&url, Brought::Page { words: &words, relevant });
                let source = record.source_url.as_deref().filter(|_| pays).and_then(|source| Url::parse(source).ok());
                if let Some(source) = source {
                    self.traps.credit(&source);
                }
            }
            Outcome::Redirected => {
                let target = record.reason.as_deref().and_then(|target| Url::parse(target).ok());
                if target.is_some_and(|target| templates(&target)[1] == templates(&url)[1]) {
                    self.traps.observe(&url, Brought::Nothing);
                }
            }
            Outcome::Failed if !(400..500).contains(&record.status) => {}
            Outcome::Duplicate | Outcome::Gone | Outcome::Failed => {
                self.traps.observe(&url, Brought::Nothing);
            }
            Outcome::Excluded | Outcome::LinksOnly => {}
        }
    }

    /// The words of a page's text (not those of its menus), without numbers and without those of its URL, which a soft
    /// 404 repeats.
    fn words_of_its_own(&self, record: &PageRecord, url: &Url) -> Vec<u32> {
        let url = url_words(url, &self.web.segmenter);
        let says = |term: &Term<'_>| term.count >= 1.0 && !term.word.bytes().any(|byte| byte.is_ascii_digit());
        let words = record.terms.iter().filter(says).map(|term| term.id);
        words.filter(|word| !url.file.contains(word) && !url.directory.contains(word)).map(|word| word.0).collect()
    }

    /// The page that another one is a copy of.
    pub(super) fn copy_of(&self, page: &Page, url: &Url, digest: u64, print: &TextPrint) -> Option<CopyOf> {
        let copy = |kind| move |seq| CopyOf { seq, kind };
        let exact = self.copies.same_content(digest).map(copy(CopyKind::Exact));
        let near = || self.copies.same_words(print).map(copy(CopyKind::Near));
        let canonical = || {
            let named = page.canonical.as_ref().filter(|named| site_of(named) == site_of(url))?;
            let node: NodeId = self.frontier.seen(Fingerprint::of(named))?;
            let seq = self.knowledge.sources.get(node)?.seq;
            self.copies.agrees_with(print, seq).then_some(seq).map(copy(CopyKind::Canonical))
        };
        exact.or_else(near).or_else(canonical)
    }
}

/// What a copy is, in words.
pub(super) fn in_words(copy: CopyOf) -> String {
    let CopyOf { seq, kind } = copy;
    match kind {
        CopyKind::Exact => format!("same content as page {seq}"),
        CopyKind::Near => format!("nearly the same words as page {seq}"),
        CopyKind::Canonical => format!("another address of page {seq}, by its rel=canonical"),
    }
}

//! What only the crawl itself knows of a URL: asked of a running one, or of one that is read back.

use crate::{
    engine::{Crawl, EvidencePart, LinkReasons, PageReasons},
    link_classifier::Evidence,
    page::Outcome,
    store::{PageRecord, Store},
    url::{Fingerprint, Url},
};

/// The crawl's own part of [`Why`](super::Why).
#[derive(Debug, Clone, Default)]
pub struct Answers {
    /// The row of a finished URL.
    pub page: Option<PageRecord>,
    pub reasons: Option<PageReasons>,
    pub evidence: Vec<EvidencePart>,
    /// Of a URL that waits.
    pub link: Option<LinkReasons>,
}

impl Answers {
    /// Asks a crawl about `url`, whose row in the store is `page` if it is finished.
    #[must_use]
    pub fn of(url: &Url, page: Option<PageRecord>, crawl: &Crawl) -> Self {
        let Some(page) = page else {
            return Self { link: crawl.why_link(Fingerprint::of(url)), ..Self::default() };
        };
        let reasons = if page.outcome == Outcome::Fetched { crawl.why_page(&page) } else { None };
        let evidence = Evidence::from_slice(&page.evidence).filter(|_| page.source.is_some());
        let evidence = evidence.map(|evidence| crawl.evidence_parts(&evidence)).unwrap_or_default();
        Self { page: Some(page), reasons, evidence, link: None }
    }

    /// Asks the crawl of a folder that does not run.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn read_back(url: &Url, plan: crate::engine::CrawlPlan, store: &Store) -> anyhow::Result<Self> {
        let page = store.page_by_fingerprint(Fingerprint::of(url))?;
        Ok(Self::of(url, page, &Crawl::read_back(plan, store)?))
    }
}

//! Sitemaps and feeds: lists of links that are no pages.
//!
//! Sitemaps that a robots.txt names wait in the frontier like pages, under the same pace and robots rules. A list's
//! links have it as their source, with the crawl's own rate of relevant pages as its relevance: a neutral prior that what comes
//! of its first links corrects.

use super::{
    Crawl,
    visit::{LinkMatches, ReadDocument, SITEMAP_INDEX},
};
use crate::{
    frontier::{HostId, Link, LinkView, Priority},
    page::{Outcome, Page, Relevance},
    store::PageRecord,
    topical_rank::NodeId,
    url::{Fingerprint, Url, canonicalize, registrable_domain, site_of},
};

impl Crawl {
    /// Queues the sitemaps that a robots.txt names.
    pub(super) fn admit_sitemaps(&mut self, host: HostId, named: &[String]) {
        for address in named {
            if let Ok(url) = canonicalize(address, None) {
                self.admit_list(host, url);
            }
        }
    }

    /// Queues a list that was found on `host`, if it is one of the same site and there were not too many.
    fn admit_list(&mut self, host: HostId, url: Url) {
        let name = self.frontier.host_name(host);
        let port = |(_, port): &(&str, &str)| port.bytes().all(|byte| byte.is_ascii_digit());
        let bare = name.rsplit_once(':').filter(port).map_or(&*name, |(name, _)| name);
        let own_site = registrable_domain(bare) == site_of(&url);
        let fingerprint = Fingerprint::of(&url);
        let known = self.frontier.seen(fingerprint).is_some();
        if !own_site || known || self.hosts.get(host).lists >= self.plan.engine.lists_per_host || !self.web.fetcher.holds(&url) {
            return;
        }
        self.hosts.get_mut(host).lists += 1;
        // One link from a seed at least: what no page leads to at depth 0 is a seed.
        let mut link = self.new_link(url, fingerprint, 1, 0);
        link.estimate = self.rate();
        let node = self.admit(link);
        if let Some(link) = self.frontier.link(node) {
            let view = LinkView { link, rank: self.graph.rank(node), lot: self.rate().get(), sampled: false };
            let priority = Priority(self.order.priority(&view));
            self.frontier.reprioritise(node, priority);
        }
    }

    /// Takes in a list, or a page that is read for its links only.
    pub(super) fn absorb_links(&mut self, link: &Link, node: NodeId, document: ReadDocument, record: &mut PageRecord) {
        record.outcome = Outcome::LinksOnly;
        record.reason = Some(document.list.unwrap_or("the page asks not to be indexed").to_owned());
        record.relevance =
            if document.list.is_some() { self.rate() } else { self.pages.model().judge(&document.reading).relevance };
        if document.list == Some(SITEMAP_INDEX) {
            for outlink in &document.page.outlinks {
                self.admit_list(link.host, outlink.url.clone());
            }
            self.enter_links(link, node, Page::default(), Vec::new(), record);
        } else {
            self.enter_links(link, node, document.page, document.link_matches, record);
        }
    }

    fn enter_links(&mut self, link: &Link, node: NodeId, page: Page, matches: Vec<LinkMatches>, record: &mut PageRecord) {
        self.enter_source(link, node, &page, record);
        let found = self.discover(node, page, matches);
        self.pending.outlinks(record.seq, found.records);
        let mut touched = std::mem::take(&mut self.touched);
        self.graph.fetch(node, self.order.rank_input(record.relevance.get()), &found.nodes, &mut touched);
        self.touched = touched;
        let mut new_links = found.nodes;
        new_links.sort_unstable();
        self.rescore(&[node], &new_links, false);
        (record.rank, record.residual) = self.graph.state(node);
    }

    /// The crawl's rate of relevant pages so far, one half before the first.
    fn rate(&self) -> Relevance {
        Relevance::new((self.state.relevant as f64 + 1.0) / (self.state.fetched as f64 + 2.0))
    }
}

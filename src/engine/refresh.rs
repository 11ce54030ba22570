//! Looking again: the relevant pages of a crawl are asked for once more, with what their servers gave to ask again with
//! (batch refresh, systems.md 4).
//!
//! A page that is unchanged (304, or the same bytes) stays as it is. One that has changed is judged anew, takes the place of its
//! row, goes into the archive beside its earlier capture, and so do its links in theirs; new ones are queued. One that is gone
//! keeps its row.
//!
//! Promises: robots.txt and pace hold as for any other fetch; a page that is asked for again is none more of its host; nothing else is fetched meanwhile; a refresh that
//! is cut off begins anew the next time, and asks only for what it did not get.
//! Never: holds more than a few hundred pages at a time.

use std::collections::{BTreeMap, VecDeque};

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{
    Crawl, EngineError, StopReason,
    discover::LinksBefore,
    sources::group_sizes,
    visit::{Answer, Content, ReadDocument, Visit},
};
use crate::{
    fetch::{Response, Validators},
    frontier::{HostId, Priority},
    page::{Outcome, Relevance, Timestamp},
    store::{Capture, OutlinkFate, OutlinkRecord, PageRecord, StoreError},
    topical_rank::NodeId,
    url::canonicalize,
};

/// Pages under way at a time.
const AT_A_TIME: usize = 256;
/// Rows looked at for them in one go.
const ROWS: usize = 10_000;

/// What became of the pages that were asked for again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct RefreshCounts {
    pub changed: u64,
    pub unchanged: u64,
    /// Not there any more, or moved.
    pub gone: u64,
    /// No answer that says which; they are asked for the next time.
    pub failed: u64,
}

/// A refresh under way.
#[derive(Debug, Default)]
pub(super) struct Refreshing {
    /// The next row to look at; `None` when all were.
    next: Option<u64>,
    /// Rows of the pages under way.
    pages: FxHashMap<NodeId, PageRecord>,
    /// Those of them that are not being fetched, by host.
    queues: BTreeMap<HostId, VecDeque<NodeId>>,
    counts: RefreshCounts,
}

impl Crawl {
    /// Asks for the relevant pages again before anything else. The crawl goes on with the links that changed pages brought, if
    /// its limits allow, and stops otherwise.
    #[must_use]
    pub fn refreshing(mut self) -> Self {
        self.refresh = Some(Refreshing { next: Some(1), ..Refreshing::default() });
        self.links_before_refresh = self.state.discovered;
        self
    }

    /// Whether a page is under way again.
    pub(super) fn is_again(&self, node: NodeId) -> bool {
        self.refresh.as_ref().is_some_and(|refresh| refresh.pages.contains_key(&node))
    }

    /// What to ask for a page with.
    pub(super) fn validators_of(&self, node: NodeId) -> Validators {
        let page = self.refresh.as_ref().and_then(|refresh| refresh.pages.get(&node));
        page.map(|page| page.validators.clone()).unwrap_or_default()
    }

    /// Pages under way that have no waiting row.
    pub(super) fn again_len(&self) -> usize {
        self.refresh.as_ref().map_or(0, |refresh| refresh.pages.len())
    }

    /// Takes the next pages in; says why to stop when all were looked at, and the crawl is not to go on.
    pub(super) fn feed_refresh(&mut self, limit: Option<StopReason>) -> Result<Option<StopReason>, EngineError> {
        let Some(refresh) = &self.refresh else { return Ok(limit) };
        if let Some(next) = refresh.next.filter(|_| refresh.pages.len() < AT_A_TIME / 2) {
            self.next_pages(next)?;
        }
        let Some(refresh) = &self.refresh else { return Ok(limit) };
        if refresh.next.is_some() || !refresh.pages.is_empty() {
            return Ok(None);
        }
        self.refreshed = Some(refresh.counts);
        let brought_links = self.state.discovered > self.links_before_refresh;
        self.refresh = None;
        Ok(if brought_links && limit.is_none() { None } else { Some(StopReason::Refreshed) })
    }

    fn next_pages(&mut self, from: u64) -> Result<(), StoreError> {
        let (mut next, mut rows) = (None, 0);
        for page in self.journal.reader().map(|store| store.pages(from)).transpose()?.into_iter().flatten() {
            let page = page?;
            rows += 1;
            if self.again_len() >= AT_A_TIME || rows > ROWS {
                next = Some(page.seq);
                break;
            }
            if page.outcome == Outcome::Fetched && page.relevant {
                self.take_again(page);
            }
        }
        if let Some(refresh) = &mut self.refresh {
            refresh.next = next;
        }
        Ok(())
    }

    fn take_again(&mut self, page: PageRecord) {
        let Ok(url) = canonicalize(&page.url, None) else { return };
        let Some(node) = self.frontier.seen(page.fingerprint).filter(|&node| self.frontier.link(node).is_none()) else { return };
        let mut link = self.known_link(url, page.fingerprint, 0, 0);
        link.estimate = page.relevance;
        link.priority = Priority(f64::MAX);
        let host = link.host;
        self.frontier.push(node, link);
        if let Some(refresh) = &mut self.refresh {
            refresh.queues.entry(host).or_default().push_back(node);
            refresh.pages.insert(node, page);
        }
    }

    /// Starts the fetches whose hosts may be asked now; says when there will be more to do, if that is known.
    pub(super) async fn dispatch_again(&mut self, now: Timestamp) -> Option<Timestamp> {
        let hosts: Vec<HostId> = self.refresh.iter().flat_map(|refresh| refresh.queues.keys().copied()).collect();
        // Rows without a page to ask for are read on.
        let reads_on = |refresh: &Refreshing| refresh.next.is_some() && refresh.pages.is_empty();
        let mut wake = self.refresh.as_ref().is_some_and(reads_on).then_some(now);
        for host in hosts {
            if self.runner.len() >= self.plan.engine.workers {
                return None;
            }
            let first = self.refresh.as_ref().and_then(|refresh| refresh.queues.get(&host)?.front().copied());
            let Some(node) = first else { continue };
            if self.frontier.take_node(node, now) {
                self.send(node, host, now).await;
                // Where nothing came of it, the next page's turn may have come.
                wake = Some(now);
            } else {
                let at = self.frontier.ready_at(host);
                if at > now {
                    wake = Some(wake.map_or(at, |wake| wake.min(at)));
                }
            }
        }
        wake.filter(|_| self.runner.len() == 0)
    }

    /// A page's fetch is on its way.
    pub(super) fn set_out_again(&mut self, node: NodeId, host: HostId) {
        if let Some(refresh) = &mut self.refresh
            && let Some(queue) = refresh.queues.get_mut(&host)
        {
            queue.retain(|&waiting| waiting != node);
            if queue.is_empty() {
                refresh.queues.remove(&host);
            }
        }
    }

    /// Leaves a page as it is: it may not be asked for now. Whether it was one that is asked for again.
    pub(super) fn leave_as_it_is(&mut self, node: NodeId) -> bool {
        let Some(host) = self.frontier.link(node).map(|link| link.host) else { return false };
        if self.end_again(node).is_none() {
            return false;
        }
        self.set_out_again(node, host);
        self.count_again(|counts| counts.failed += 1);
        true
    }

    fn end_again(&mut self, node: NodeId) -> Option<PageRecord> {
        let page = self.refresh.as_mut()?.pages.remove(&node)?;
        self.frontier.remove(node);
        Some(page)
    }

    fn count_again(&mut self, count: impl FnOnce(&mut RefreshCounts)) {
        if let Some(refresh) = &mut self.refresh {
            count(&mut refresh.counts);
        }
    }

    /// Takes in what became of a page that was asked for again.
    pub(super) fn absorb_again(&mut self, visit: Visit, node: NodeId) {
        let Some(page) = self.end_again(node) else { return };
        let address = visit.address;
        match visit.result {
            Ok(Answer { response, .. }) if response.status == 304 => self.count_again(|counts| counts.unchanged += 1),
            Ok(Answer { response, .. }) if matches!(response.status, 404 | 410) => self.count_again(|counts| counts.gone += 1),
            Ok(Answer { content: Content::Redirect(_), .. }) => self.count_again(|counts| counts.gone += 1),
            Ok(Answer { response, content: Content::Document(document) }) if document.list.is_none() => {
                if document.digest == page.digest {
                    self.count_again(|counts| counts.unchanged += 1);
                } else {
                    self.count_again(|counts| counts.changed += 1);
                    self.renew(&page, node, *document, response, address);
                }
            }
            Ok(_) | Err(_) => self.count_again(|counts| counts.failed += 1),
        }
    }

    /// What the crawl knows of a page's links as they were before it changed.
    fn links_before(&mut self, seq: u64) -> LinksBefore {
        let Some(store) = self.journal.reader() else { return LinksBefore::default() };
        match store.outlinks_and_ordinals(seq) {
            Ok((links, ordinals)) => {
                let mut targets = FxHashMap::default();
                let admitted = |link: &OutlinkRecord| matches!(link.fate, OutlinkFate::Queued | OutlinkFate::Known);
                for link in links.into_iter().filter(admitted) {
                    targets.entry(link.target).or_insert(link.fate);
                }
                LinksBefore { targets, ordinals }
            }
            Err(error) => {
                self.shelf_error.get_or_insert(error);
                LinksBefore::default()
            }
        }
    }

    /// A page has changed: its row, and that of its links, say what it is now.
    fn renew(
        &mut self,
        before: &PageRecord,
        node: NodeId,
        document: ReadDocument,
        response: Response,
        address: Option<std::net::IpAddr>,
    ) {
        let ReadDocument { mut page, reading, digest, link_matches, .. } = document;
        let judged = self.pages.renew(before.seq, reading).relevance;
        let label = self.plan.labels.get(&before.fingerprint);
        let relevance = label.map_or(judged, |&relevant| Relevance::new(f64::from(u8::from(relevant))));
        let relevant = relevance.get() >= self.plan.threshold;
        let mut after = PageRecord {
            relevance,
            relevant,
            status: response.status,
            fetched_at: self.clock.now(),
            validators: response.validators(),
            content_type: response.header("content-type").unwrap_or_default().to_owned(),
            charset: page.charset.to_owned(),
            had_decode_errors: page.had_decode_errors,
            language: page.language,
            title: page.title.clone(),
            excerpt: page.text.chars().take(super::absorb::EXCERPT).collect(),
            terms: std::mem::take(&mut page.terms),
            digest,
            simhash: page.simhash,
            model_version: self.pages.version(),
            ..before.clone()
        };
        self.links.relabel(after.seq, relevance);
        let (title_matches, group_sizes) = (self.plan.keywords.matches(&page.title_terms), group_sizes(&page));
        self.knowledge.sources.change(node, |source| {
            source.facts.relevance = relevance.get();
            source.facts.title_matches = title_matches;
            source.facts.distance = if relevant { 0 } else { source.tunnel_depth.saturating_add(1) };
            source.relevant = relevant;
            source.group_sizes = group_sizes;
            source.outcomes = Vec::new();
        });
        let links_before = self.links_before(after.seq);
        let found = self.discover_since(links_before, node, page, link_matches);
        self.pending.outlinks(after.seq, found.records);
        let mut touched = std::mem::take(&mut self.touched);
        self.graph.renew(node, self.order.rank_input(relevance.get()), &found.nodes, &mut touched);
        self.touched = touched;
        let mut new_links = found.nodes;
        new_links.sort_unstable();
        self.rescore(&[], &new_links, false);
        (after.rank, after.residual) = self.graph.state(node);
        if !after.relevant {
            self.state.relevant = self.state.relevant.saturating_sub(1);
            let host = self.frontier.host(&after.host);
            let record = &mut self.host_state(host).record;
            record.relevant = record.relevant.saturating_sub(1);
        }
        if self.journal.wants_captures() {
            let request = canonicalize(&after.url, None).ok().map(crate::fetch::Request::get);
            self.pending.capture(Capture {
                seq: after.seq,
                url: after.url.clone(),
                fetched_at: after.fetched_at,
                address,
                status: response.status,
                headers: response.headers,
                body: response.body,
                request: request.and_then(|request| self.web.fetcher.sent(&request)),
            });
        }
        self.pending.renewed(after);
    }
}

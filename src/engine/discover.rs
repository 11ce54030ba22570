//! Outlinks of a fetched page: which are admitted, and what each adds to what is known of its target.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Crawl,
    sources::Source,
    visit::{LinkMatches, ReadDocument},
};
use crate::{
    frontier::{InLinkNote, link_depth},
    page::{LinkContext, Outlink, Page},
    store::{AddedInLink, InLink, OutlinkFate, OutlinkRecord},
    text::TermId,
    topical_rank::NodeId,
    url::{Fingerprint, Refusal, Url},
};

/// Links of one page after they were looked at.
#[derive(Debug, Default)]
pub(super) struct Discovered {
    /// Admitted targets, new or known, in page order.
    pub(super) nodes: Vec<NodeId>,
    pub(super) records: Vec<OutlinkRecord>,
    /// `nodes` once more, to look them up.
    is_new: FxHashSet<NodeId>,
    before: LinksBefore,
}

/// What an earlier version of a page has left behind; nothing of a page that is fetched for the first time.
#[derive(Debug, Default)]
pub(super) struct LinksBefore {
    /// Targets of its links that were admitted, and whether the page brought them in.
    pub(super) targets: FxHashMap<Fingerprint, OutlinkFate>,
    /// Numbers of its in-links, ascending.
    pub(super) ordinals: Vec<u16>,
}

impl LinksBefore {
    /// The `at`th number that no in-link has.
    fn free_ordinal(&self, at: usize) -> u16 {
        let free = self.ordinals.iter().fold(at, |free, &taken| if usize::from(taken) <= free { free + 1 } else { free });
        u16::try_from(free).unwrap_or(u16::MAX)
    }
}

/// A link on a page, with what is read of it.
struct Found {
    outlink: Outlink,
    matches: LinkMatches,
    heading: Box<[TermId]>,
}

impl Found {
    /// The link as an in-link of what it leads to.
    fn at(self, source: NodeId, ordinal: u16) -> InLinkNote {
        let Self { outlink, matches, heading } = self;
        InLinkNote {
            source,
            ordinal,
            anchor_matches: matches.anchor,
            around_matches: matches.around,
            heading_matches: matches.heading,
            heading,
            context: outlink.context,
            words: std::cell::Cell::default(),
        }
    }
}

impl Crawl {
    /// Admits the outlinks of a page that has just been entered into the knowledge; `matches` has the keywords on each.
    pub(super) fn discover(&mut self, node: NodeId, page: Page, matches: Vec<LinkMatches>) -> Discovered {
        self.discover_since(LinksBefore::default(), node, page, matches)
    }

    /// The same for a page that had other links before: those that it has still are no new in-links.
    pub(super) fn discover_since(
        &mut self,
        before: LinksBefore,
        node: NodeId,
        mut page: Page,
        matches: Vec<LinkMatches>,
    ) -> Discovered {
        let Some(source) = self.knowledge.sources.get(node) else { return Discovered::default() };
        let mut found = Discovered { before, ..Discovered::default() };
        let obeys = self.plan.engine.obey_nofollow;
        for (outlink, matches) in std::mem::take(&mut page.outlinks).into_iter().zip(matches) {
            let (target, url) = (outlink.fingerprint, outlink.url.as_str().to_owned());
            let anchor = String::from(&*outlink.context.anchor_text);
            let fate = if obeys && (outlink.nofollow || page.directives.nofollow) {
                OutlinkFate::NoFollow
            } else {
                let heading = ReadDocument::heading(&page, &outlink).into();
                self.consider(node, &source, Found { outlink, matches, heading }, &mut found)
            };
            self.count_refusal(fate);
            found.records.push(OutlinkRecord { target, url, anchor, fate });
        }
        let canonical = page.canonical.clone().filter(|url| Fingerprint::of(url) != source.fingerprint);
        for url in page.refresh.clone().into_iter().chain(canonical).filter(|_| !(obeys && page.directives.nofollow)) {
            let outlink = Outlink { fingerprint: Fingerprint::of(&url), url, nofollow: false, context: LinkContext::default() };
            let link = Found { outlink, matches: LinkMatches::default(), heading: Box::default() };
            let fate = self.consider(node, &source, link, &mut found);
            self.count_refusal(fate);
        }
        let fetched: Vec<(u16, NodeId)> =
            (0..).zip(found.nodes.iter().copied()).filter(|&(_, node)| self.graph.is_fetched(node)).collect();
        if !fetched.is_empty() {
            self.knowledge.sources.change(node, |source| source.outcomes = fetched);
        }
        found
    }

    fn consider(&mut self, node: NodeId, source: &Source, link: Found, found: &mut Discovered) -> OutlinkFate {
        let depth = source.depth.saturating_add(1);
        let tunnel_depth = link_depth(source.relevant, source.tunnel_depth);
        let known = self.frontier.seen(link.outlink.fingerprint);
        let target = if let Some(target) = known {
            target
        } else {
            if let Err(fate) = self.may_enter(&link.outlink.url, depth, tunnel_depth) {
                return fate;
            }
            let new = self.new_link(link.outlink.url.clone(), link.outlink.fingerprint, depth, tunnel_depth);
            self.admit(new)
        };
        if target == node || !found.is_new.insert(target) {
            return OutlinkFate::Known;
        }
        let ordinal = found.before.free_ordinal(found.nodes.len());
        found.nodes.push(target);
        if let Some(&fate) = found.before.targets.get(&link.outlink.fingerprint).filter(|_| known.is_some()) {
            return fate;
        }
        self.add_in_link(target, node, ordinal, source, link);
        if known.is_some() { OutlinkFate::Known } else { OutlinkFate::Queued }
    }

    /// Whether a URL that was never seen may be queued.
    fn may_enter(&self, url: &Url, depth: u16, tunnel_depth: u8) -> Result<(), OutlinkFate> {
        self.plan.scope.admits(url, depth).map_err(OutlinkFate::Refused)?;
        if self.steering.excludes(url) {
            return Err(OutlinkFate::Refused(Refusal::Exclude));
        }
        if !self.web.fetcher.holds(url) {
            return Err(OutlinkFate::NotRecorded);
        }
        if tunnel_depth > self.plan.tunnel_depth {
            return Err(OutlinkFate::TunnelEnd);
        }
        Ok(())
    }

    fn add_in_link(&mut self, target: NodeId, node: NodeId, ordinal: u16, source: &Source, found: Found) {
        // What is asked for again does not wait, though it has a link meanwhile.
        if self.is_again(target) {
            return;
        }
        let tunnel_depth = link_depth(source.relevant, source.tunnel_depth);
        let depth = source.depth.saturating_add(1);
        if let Some(shelved) = self.frontier.shelved(target) {
            let relevance = self.knowledge.relevance(node);
            if shelved.is_full() {
                return self.frontier.count_in_link(target, relevance, false);
            }
            // A keyword that names it may bring its turn nearer; where that cannot be told on the shelf, it is read back.
            let is_named = !found.matches.anchor.is_empty();
            if !is_named || self.order.goes_by_rank() {
                self.frontier.count_in_link(target, relevance, true);
                let alone = is_named.then(|| {
                    let outlink = &found.outlink;
                    self.known_link(outlink.url.clone(), outlink.fingerprint, depth, tunnel_depth)
                });
                let in_link = found.at(node, ordinal);
                if let Some(mut link) = alone {
                    link.add_in_link(in_link.clone(), |_| relevance);
                    self.score_on_shelf(target, &link);
                }
                let InLinkNote { context, heading, .. } = in_link;
                let in_link = InLink { source: source.seq, ordinal, context, heading };
                return self.add_on_shelf(shelved.fingerprint, AddedInLink { in_link, depth, tunnel_depth });
            }
        }
        if self.aside.len() > 0 {
            self.aside.count(target, self.knowledge.relevance(node));
        }
        self.unshelve(target);
        let knowledge = &self.knowledge;
        let Some(link) = self.frontier.link_mut(target) else { return };
        if link.in_degree == 0 {
            self.links.see(&link.facts, &found.outlink.context);
        }
        let before = (link.depth, link.tunnel_depth);
        link.depth = link.depth.min(depth);
        link.tunnel_depth = link.tunnel_depth.min(tunnel_depth);
        let is_nearer = (link.depth, link.tunnel_depth) != before;
        // How many pages link here is counted again on resume; that alone is not worth a row.
        if link.add_in_link(found.at(node, ordinal), |source| knowledge.relevance(source)) || is_nearer {
            self.pending.waiting(target);
        }
    }

    fn count_refusal(&mut self, fate: OutlinkFate) {
        let name = match fate {
            OutlinkFate::Queued | OutlinkFate::Known => return,
            OutlinkFate::Refused(refusal) => refusal.name(),
            OutlinkFate::NoFollow => "nofollow",
            OutlinkFate::TunnelEnd => "tunnel.depth",
            OutlinkFate::NotRecorded => "not-recorded",
        };
        *self.state.refused.entry(name.to_owned()).or_default() += 1;
    }
}

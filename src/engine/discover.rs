//! Outlinks of a fetched page: which are admitted, and what each adds to what is known of its target.

use super::{Crawl, sources::Source};
use crate::{
    frontier::{InLinkNote, link_depth},
    page::{LinkContext, Outlink, Page},
    store::{OutlinkFate, OutlinkRecord},
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
}

impl Crawl {
    /// Admits the outlinks of a page that has just been entered into the knowledge as `source`.
    pub(super) fn discover(&mut self, node: NodeId, page: &Page) -> Discovered {
        let Some(source) = self.knowledge.sources.get(node) else { return Discovered::default() };
        let mut found = Discovered::default();
        let obeys = self.plan.engine.obey_nofollow;
        for outlink in &page.outlinks {
            let fate = if obeys && (outlink.nofollow || page.directives.nofollow) {
                OutlinkFate::NoFollow
            } else {
                let heading = outlink.context.heading.and_then(|index| page.headings.get(usize::from(index)));
                self.consider(node, &source, outlink, heading.map_or(&[], |words| words), &mut found.nodes)
            };
            self.count_refusal(fate);
            found.records.push(OutlinkRecord {
                target: outlink.fingerprint,
                url: outlink.url.to_string(),
                anchor: outlink.context.anchor_text.to_string(),
                fate,
            });
        }
        let canonical = page.canonical.clone().filter(|url| Fingerprint::of(url) != source.fingerprint);
        for url in page.refresh.clone().into_iter().chain(canonical).filter(|_| !(obeys && page.directives.nofollow)) {
            let outlink = Outlink { fingerprint: Fingerprint::of(&url), url, nofollow: false, context: LinkContext::default() };
            let fate = self.consider(node, &source, &outlink, &[], &mut found.nodes);
            self.count_refusal(fate);
        }
        found
    }

    fn consider(
        &mut self,
        node: NodeId,
        source: &Source,
        outlink: &Outlink,
        heading: &[TermId],
        nodes: &mut Vec<NodeId>,
    ) -> OutlinkFate {
        let depth = source.depth.saturating_add(1);
        let tunnel_depth = link_depth(source.relevant, source.tunnel_depth);
        let known = self.frontier.seen(outlink.fingerprint);
        if known.is_none()
            && let Err(fate) = self.may_enter(&outlink.url, depth, tunnel_depth)
        {
            return fate;
        }
        let target = if let Some(target) = known {
            target
        } else {
            let link = self.new_link(outlink.url.clone(), outlink.fingerprint, depth, tunnel_depth);
            self.admit(link)
        };
        if target == node || nodes.contains(&target) {
            return OutlinkFate::Known;
        }
        let ordinal = u16::try_from(nodes.len()).unwrap_or(u16::MAX);
        nodes.push(target);
        self.add_in_link(target, node, ordinal, source, outlink, heading);
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

    fn add_in_link(
        &mut self,
        target: NodeId,
        node: NodeId,
        ordinal: u16,
        source: &Source,
        outlink: &Outlink,
        heading: &[TermId],
    ) {
        if self.frontier.shelved(target).is_some_and(|shelved| shelved.is_full) {
            let relevance = self.knowledge.relevance(node);
            return self.frontier.count_in_link(target, relevance);
        }
        self.unshelve(target);
        let keywords = &self.plan.keywords;
        let knowledge = &self.knowledge;
        let Some(link) = self.frontier.link_mut(target) else { return };
        self.links.see(&link.facts, &outlink.context);
        let before = (link.depth, link.tunnel_depth);
        link.depth = link.depth.min(source.depth.saturating_add(1));
        link.tunnel_depth = link.tunnel_depth.min(link_depth(source.relevant, source.tunnel_depth));
        let is_nearer = (link.depth, link.tunnel_depth) != before;
        let in_link = InLinkNote {
            source: node,
            ordinal,
            anchor_matches: keywords.matches(&outlink.context.anchor),
            around_matches: keywords.matches(&outlink.context.around),
            heading_matches: keywords.matches(heading),
            heading: heading.into(),
            context: outlink.context.clone(),
        };
        // How many pages link here is counted again on resume; that alone is not worth a row.
        if link.add_in_link(in_link, |source| knowledge.relevance(source)) || is_nearer {
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

//! Finished URLs and everything else that waits to be committed.

use std::{collections::BTreeSet, time::Instant};

use super::{Crawl, EngineError, resume::LINKS};
use crate::{
    fetch::Validators,
    frontier::Link,
    page::{Outcome, Relevance, TermBag},
    store::{Batch, Capture, Chosen, InLink, LinkRecord, OutlinkRecord, PageRecord, StoreError},
    topical_rank::NodeId,
};

/// Finished URLs between two snapshots of the link model.
const SNAPSHOT_PAGES: u64 = 500;

/// Changes since the last commit.
#[derive(Debug)]
pub(super) struct Pending {
    batch: Batch,
    /// Waiting links whose rows changed.
    waiting: BTreeSet<NodeId>,
    visits: usize,
    since: Instant,
}

impl Default for Pending {
    fn default() -> Self {
        Self { batch: Batch::default(), waiting: BTreeSet::new(), visits: 0, since: Instant::now() }
    }
}

impl Pending {
    pub(super) fn waiting(&mut self, node: NodeId) {
        self.waiting.insert(node);
    }

    pub(super) fn rejudged(&mut self, seq: u64, relevance: Relevance) {
        self.batch.relevances.push((seq, relevance));
    }

    pub(super) fn outlinks(&mut self, seq: u64, records: Vec<OutlinkRecord>) {
        self.batch.outlinks.push((seq, records));
    }

    pub(super) fn capture(&mut self, capture: Capture) {
        self.batch.captures.push(capture);
    }

    pub(super) fn model(&mut self, row: (String, Vec<u8>)) {
        self.batch.models.push(row);
    }

    pub(super) fn renewed(&mut self, record: PageRecord) {
        self.batch.renewed.push(record);
        self.visits += 1;
    }

    pub(super) fn page(&mut self, record: PageRecord) {
        self.batch.finished.push(record.fingerprint);
        self.batch.pages.push(record);
        self.visits += 1;
    }
}

impl Crawl {
    /// The record of a URL that is being finished; the caller fills in what the fetch brought.
    pub(super) fn record_of(&mut self, link: &Link, node: NodeId, outcome: Outcome, chosen: Chosen) -> PageRecord {
        self.state.pages += 1;
        let first = link.in_links.first();
        let source = first.and_then(|note| self.knowledge.sources.get(note.source));
        PageRecord {
            seq: self.state.pages,
            url: link.url.to_string(),
            fingerprint: link.fingerprint,
            outcome,
            status: 0,
            reason: None,
            relevance: Relevance::NONE,
            relevant: false,
            priority: if link.is_seed() { 0.0 } else { link.priority.0 },
            estimate: link.estimate,
            depth: link.depth,
            tunnel_depth: link.tunnel_depth,
            host: self.frontier.host_name(link.host).to_string(),
            source: source.as_ref().map(|source| source.fingerprint),
            source_url: source.map(|source| source.url.clone()),
            anchor: first.map(|note| note.context.anchor_text.to_string()).unwrap_or_default(),
            fetched_at: self.clock.now(),
            elapsed_ms: 0,
            bytes: 0,
            content_type: String::new(),
            charset: String::new(),
            language: crate::text::Language::Other,
            title: String::new(),
            excerpt: String::new(),
            model_version: self.pages.version(),
            digest: 0,
            simhash: 0,
            archive: None,
            evidence: link.evidence.0.to_vec(),
            terms: TermBag::default(),
            rank: self.graph.rank(node),
            residual: 0.0,
            chosen,
            had_decode_errors: false,
            copy_of: None,
            validators: Validators::default(),
        }
    }

    /// Commits if enough has come together, or at once if `now`.
    pub(super) fn commit(&mut self, now: bool) -> Result<(), EngineError> {
        let config = &self.plan.engine;
        let due = self.pending.visits >= config.commit_visits
            || self.pending.since.elapsed().as_millis() >= u128::from(config.commit_every_ms);
        if !(now || due) {
            return Ok(());
        }
        if let Some(error) = self.shelf_error.take() {
            return Err(error.into());
        }
        let pending = std::mem::take(&mut self.pending);
        let mut batch = pending.batch;
        self.relieve(&mut batch, |node| pending.waiting.contains(&node));
        let number = self.journal.progress().0 + 1;
        for &node in &pending.waiting {
            if let Some(link) = self.frontier.link(node) {
                batch.waiting.push((link.fingerprint, self.link_record(link)));
                self.frontier.file(node, number);
            }
        }
        batch.hosts = self.hosts.take_changed();
        self.hosts.make_room();
        self.state.waiting = (self.frontier.unfinished() + self.aside.len() - self.again_len()) as u64;
        self.state.now = self.clock.now();
        self.state.elapsed_ms = self.elapsed_before + self.clock.now().since(self.started).as_millis() as u64;
        self.state.quarantined = self.traps.quarantined();
        self.state.random_state = self.random.get_seed();
        batch.state = Some(self.state.clone());
        if now || self.state.pages >= self.snapshot_at {
            self.snapshot_at = self.state.pages + SNAPSHOT_PAGES;
            batch.models.push(self.facts_row());
            batch.models.push((LINKS.to_owned(), self.links.to_bytes(self.state.pages)));
            batch.lessons_are_kept = true;
            self.links.take_lessons();
        } else {
            let lessons = self.links.take_lessons();
            // Plain data always serialises.
            batch.lessons = (!lessons.is_empty()).then(|| postcard::to_stdvec(&lessons).unwrap_or_default());
        }
        // Last of all: what the batch says was read from there, too.
        self.check_spilled().map_err(StoreError::spilling)?;
        self.journal.commit(batch)?;
        Ok(())
    }

    pub(super) fn link_record(&self, link: &Link) -> LinkRecord {
        let in_links = link.in_links.iter().filter_map(|note| {
            let source = self.knowledge.sources.get(note.source)?.seq;
            Some(InLink { source, ordinal: note.ordinal, context: note.context.clone(), heading: note.heading.clone() })
        });
        LinkRecord {
            url: link.url.to_string(),
            discovered: link.discovered,
            depth: link.depth,
            tunnel_depth: link.tunnel_depth,
            in_links: in_links.collect(),
            in_degree: link.in_degree,
            forgotten_relevance: link.forgotten_relevance,
            tries: link.tries,
            not_before: link.not_before,
            priority: link.priority.0,
            estimate: link.estimate,
        }
    }
}

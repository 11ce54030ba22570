//! What a running crawl shows of its inside when it is asked: the head of the queue, what is held back, what its models have
//! learnt from.

use serde::Serialize;

use super::Crawl;
use crate::{
    frontier::{HeldTemplate, Link},
    page::Timestamp,
};

/// A link that waits in memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct QueuedLink {
    pub url: String,
    pub host: String,
    pub priority: f64,
    /// What the link classifier expects of it, 0..=1.
    pub estimate: f64,
    pub tunnel_depth: u8,
    /// The page that it was first found on, with the words of that link; `None` for seeds.
    pub from_url: Option<String>,
    pub anchor: String,
}

/// How much the models have learnt from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Learners {
    pub page_model_version: u32,
    /// Examples of the page classifier, those that count for the topic among them.
    pub pages_learned: u64,
    pub positives: u64,
    /// Links of which the link classifier knows what came.
    pub lessons: u64,
}

impl Crawl {
    /// The best waiting links, best first, at most `limit`: of one host, or of all with at most 64 of each.
    #[must_use]
    pub fn queue_head(&self, host: Option<&str>, limit: usize) -> Vec<QueuedLink> {
        let nodes = match host {
            Some(host) => self.frontier.head_of(host, limit),
            None => self.frontier.head(limit, 64),
        };
        nodes.into_iter().filter_map(|node| self.frontier.link(node)).map(|link| self.queued(link)).collect()
    }

    fn queued(&self, link: &Link) -> QueuedLink {
        let first = link.in_links.first();
        let source = first.and_then(|note| self.knowledge.sources.get(note.source));
        QueuedLink {
            url: link.url.to_string(),
            host: self.frontier.host_name(link.host).to_string(),
            priority: link.priority.0,
            estimate: link.estimate.get(),
            tunnel_depth: link.tunnel_depth,
            from_url: source.map(|source| source.url.clone()),
            anchor: first.map(|note| note.context.anchor_text.to_string()).unwrap_or_default(),
        }
    }

    /// The URL templates in quarantine.
    #[must_use]
    pub fn held_templates(&self) -> Vec<HeldTemplate> {
        self.traps.held_templates()
    }

    #[must_use]
    pub fn learners(&self) -> Learners {
        let (pages_learned, positives) = self.pages.learned();
        Learners { page_model_version: self.pages.version(), pages_learned, positives, lessons: self.links.learned() }
    }

    /// The crawl's own time: virtual in a replay.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

//! Queue assignment: one queue for each host, or n queues by a hash of the URL (`APHash`, as in the literature).
//!
//! Promises: a queue has one request under way at a time. The pace stays that of the host: n queues let so many requests
//! to it overlap, started no closer together than its delay.
//! Never: looks at priorities; within and across queues the best link goes first.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::Crawl;
use crate::{
    frontier::HostId,
    topical_rank::NodeId,
    url::{Url, aphash},
};

/// How URLs are assigned to queues: `host`, or `hash(n)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum QueueAssignment {
    #[default]
    Host,
    /// So many queues for each host.
    Hash(u32),
}

impl fmt::Display for QueueAssignment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            Self::Hash(n) => write!(f, "hash({n})"),
        }
    }
}

impl From<QueueAssignment> for String {
    fn from(assignment: QueueAssignment) -> Self {
        assignment.to_string()
    }
}

impl TryFrom<String> for QueueAssignment {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for QueueAssignment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_prefix("hash(").and_then(|rest| rest.strip_suffix(')')).and_then(|n| n.parse().ok());
        match number {
            _ if text == "host" => Ok(Self::Host),
            Some(n) if n > 0 => Ok(Self::Hash(n)),
            _ => Err(format!("{text:?} is no queue assignment; give \"host\" or \"hash(n)\" with n from 1")),
        }
    }
}

impl QueueAssignment {
    /// Requests to one host that may be under way at once, where `connections` are configured.
    pub(super) fn connections(self, connections: u32) -> u32 {
        match self {
            Self::Host => connections,
            Self::Hash(n) => connections.max(n),
        }
    }

    /// The number of a URL's queue on its host; `None` where its host is the queue.
    fn queue(self, url: &Url) -> Option<u32> {
        match self {
            Self::Host => None,
            Self::Hash(n) => Some(aphash(url.as_str()) % n),
        }
    }
}

impl Crawl {
    /// Takes a link's queue for its fetch. False where the queue is in use: the link is put back when it is free.
    pub(super) fn enter_queue(&mut self, node: NodeId, host: HostId, url: &Url) -> bool {
        let Some(queue) = self.plan.engine.queues.queue(url) else { return true };
        let parked = self.queues.entry((host, queue));
        let is_free = matches!(parked, std::collections::hash_map::Entry::Vacant(_));
        let parked = parked.or_default();
        if !is_free {
            parked.push(node);
        }
        is_free
    }

    /// Leaves a queue after a fetch; links that wait for it may be taken again.
    pub(super) fn leave_queue(&mut self, host: HostId, url: &Url) {
        let queue = self.plan.engine.queues.queue(url);
        let parked = queue.and_then(|queue| self.queues.remove(&(host, queue)));
        for node in parked.into_iter().flatten() {
            self.frontier.put_back(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_is_read_and_written_as_the_literature_calls_it() {
        for text in ["host", "hash(1)", "hash(50)"] {
            assert_eq!(text.parse::<QueueAssignment>().unwrap().to_string(), text);
        }
        for text in ["", "hash", "hash(0)", "hash(-1)", "hash(x)", "hosts"] {
            assert!(text.parse::<QueueAssignment>().unwrap_err().contains("hash(n)"), "{text}");
        }
    }

    #[test]
    fn queues_widen_what_a_host_may_have_at_once_and_never_narrow_it() {
        assert_eq!(QueueAssignment::Host.connections(2), 2);
        assert_eq!(QueueAssignment::Hash(50).connections(1), 50);
        assert_eq!(QueueAssignment::Hash(1).connections(2), 2);
        let url = Url::parse("http://e.com/a").unwrap();
        assert_eq!(QueueAssignment::Host.queue(&url), None);
        assert!(QueueAssignment::Hash(50).queue(&url) < Some(50));
    }
}

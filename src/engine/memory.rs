//! The memory ceiling: one number, divided over everything that would grow with the crawl.
//!
//! Each part is given its share when the crawl starts and keeps to it by construction; what does not fit lies in the
//! store (links) or in temporary files beside it (the rest), and the crawl only gets slower.

use std::{fmt, path::Path, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{Crawl, aside::Aside, copies::Copies};
use crate::{
    frontier::{FrontierRooms, Sample},
    spill::{Paged, Room},
};

/// An amount of memory, as `600MiB` or `2GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Memory(u64);

const MIB: u64 = 1 << 20;
/// Less is not enough for the program itself: dictionaries, fetches under way, the writer's queue.
const LEAST: u64 = 192 * MIB;

impl Memory {
    /// So many bytes, be it enough or not: for tests of what happens where it is not.
    #[must_use]
    pub const fn of_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    #[must_use]
    pub fn bytes(self) -> u64 {
        self.0
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self(600 * MIB)
    }
}

impl FromStr for Memory {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
        let unit = match unit.trim() {
            "MiB" | "MB" | "M" => MIB,
            "GiB" | "GB" | "G" => 1024 * MIB,
            _ => return Err(format!("`{text}` is no amount of memory; write it as 600MiB or 2GiB")),
        };
        let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
        match bytes {
            Some(bytes) if bytes >= LEAST => Ok(Self(bytes)),
            Some(_) => Err(format!("`{text}` is too little; a crawl needs {} at least", Self(LEAST))),
            None => Err(format!("`{text}` is no amount of memory; write it as 600MiB or 2GiB")),
        }
    }
}

impl TryFrom<String> for Memory {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Memory> for String {
    fn from(memory: Memory) -> Self {
        memory.to_string()
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_multiple_of(1024 * MIB) {
            write!(f, "{}GiB", self.0 / (1024 * MIB))
        } else {
            write!(f, "{}MiB", self.0 / MIB)
        }
    }
}

/// Bytes that a waiting link takes in memory, about (measured): URL, words around its in-links, evidence, places in queues.
const LINK_BYTES: u64 = 3_000;

/// How a ceiling is divided, in bytes. What is left over is the program's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    /// Pages of the database.
    pub store: usize,
    /// Waiting links.
    pub links: usize,
    /// The URL-seen test.
    pub seen: usize,
    /// `TopicalRank`: nodes and links of the graph.
    pub graph: usize,
    /// Places of links on disk.
    pub shelf: usize,
    /// Pages that links stand on.
    pub sources: usize,
    /// Lists of nodes by number.
    pub lists: usize,
    /// Hosts: paces, robots.txt, counts.
    pub hosts: usize,
    /// Names and queues of hosts.
    pub queues: usize,
    /// What pages are known again by.
    pub copies: usize,
}

impl Shares {
    #[must_use]
    pub fn of(memory: Memory) -> Self {
        // Almost a third is left for dictionaries, fetches under way and the writer's queue.
        let percent = |share: u64| usize::try_from(memory.0 / 100 * share).unwrap_or(usize::MAX);
        Self {
            store: percent(7),
            links: percent(12),
            seen: percent(14),
            graph: percent(14),
            shelf: percent(8),
            sources: percent(4),
            lists: percent(3),
            hosts: percent(2),
            queues: percent(2),
            copies: percent(2),
        }
    }

    /// The share of links as a number of them.
    #[must_use]
    pub fn number_of_links(&self) -> usize {
        self.links / LINK_BYTES as usize
    }
}

/// What of the memory is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryReport {
    /// The process at its peak, in bytes; 0 where the system does not say.
    pub peak: u64,
    /// Waiting links in memory, and those on disk.
    pub links: u64,
    pub links_on_disk: u64,
    /// Bytes of the parts that have a share.
    pub seen: u64,
    pub graph: u64,
    pub shelf: u64,
    pub sources: u64,
    pub lists: u64,
    pub hosts: u64,
    pub copies: u64,
}

impl Crawl {
    /// Gives every part its share, where the journal has a place for what does not fit.
    pub(super) fn limit_memory(&mut self) {
        let Some(folder) = self.journal.folder() else { return };
        let shares = Shares::of(self.plan.engine.memory);
        let disk = self.journal.disk();
        let room = |bytes: usize| Room { bytes, folder: folder.clone(), disk: Arc::clone(&disk) };
        let frontier = std::mem::take(&mut self.frontier);
        let rooms = FrontierRooms { seen: room(shares.seen), shelf: room(shares.shelf), hosts: room(shares.queues) };
        self.frontier = frontier.within(shares.number_of_links(), rooms);
        self.graph = std::mem::take(&mut self.graph).within(&room(shares.graph));
        self.knowledge.sources = super::sources::Sources::within(&room(shares.sources));
        self.pool = Paged::new(room(shares.lists / 3));
        self.node_of_seq = Paged::new(room(shares.lists / 3));
        self.hosts = std::mem::take(&mut self.hosts).within(&room(shares.hosts));
        self.copies = Copies::within(&room(shares.copies));
        self.traps = std::mem::take(&mut self.traps).within(room(shares.lists / 9));
        self.aside = Aside::within(shares.number_of_links() / 8, room(shares.lists / 9));
        self.shares = Some(shares);
        self.sample = self.new_sample();
        self.links.keep_lessons();
    }

    /// An empty sample for the crawl's order.
    pub(super) fn new_sample(&self) -> Sample {
        let sample = Sample::of(self.order.sample_size());
        match (self.shares, self.journal.folder()) {
            (Some(shares), Some(folder)) => sample.within(Room { bytes: shares.lists / 9, folder, disk: self.journal.disk() }),
            _ => sample,
        }
    }

    /// What is in use now.
    pub(super) fn memory_report(&self) -> MemoryReport {
        let [seen, places, queues] = self.frontier.resident_bytes();
        let held = self.traps.held_bytes() + self.aside.resident_bytes();
        let lists = self.pool.resident_bytes() + self.node_of_seq.resident_bytes() + held + self.sample.resident_bytes();
        let shelved = self.frontier.shelved_len() as u64;
        MemoryReport {
            peak: peak_memory(Path::new("/proc/self/status")),
            links: self.frontier.unfinished() as u64 - shelved,
            links_on_disk: shelved + self.aside.len() as u64,
            seen: seen as u64,
            graph: self.graph.resident_bytes() as u64,
            shelf: places as u64,
            sources: self.knowledge.sources.resident_bytes() as u64,
            lists: lists as u64,
            hosts: (self.hosts.resident_bytes() + queues) as u64,
            copies: self.copies.resident_bytes() as u64,
        }
    }

    /// The first temporary file that could not be written or read.
    pub(super) fn check_spilled(&self) -> std::io::Result<()> {
        self.frontier.check()?;
        self.graph.check()?;
        self.knowledge.sources.check()?;
        self.pool.check()?;
        self.node_of_seq.check()?;
        self.hosts.check()?;
        self.copies.check()?;
        self.traps.check()?;
        self.aside.check()?;
        self.sample.check()
    }
}

/// The most memory that this process has had, in bytes, as Linux tells it.
fn peak_memory(status: &Path) -> u64 {
    let text = std::fs::read_to_string(status).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).map_or(0, |kib| kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_they_are_written() {
        for (text, bytes) in [("600MiB", 600 * MIB), ("2GiB", 2048 * MIB), (" 300 MB ", 300 * MIB)] {
            let memory: Memory = text.parse().unwrap();
            assert_eq!((memory.bytes(), memory.to_string().parse()), (bytes, Ok(memory)));
        }
        for text in ["", "600", "much", "-1GiB", "99999999999999999GiB"] {
            assert!(text.parse::<Memory>().unwrap_err().contains("600MiB"), "{text}");
        }
        assert!("10MiB".parse::<Memory>().unwrap_err().contains("192MiB"));
    }

    #[test]
    fn the_shares_leave_three_tenths_for_the_program() {
        let memory = Memory::default();
        let Shares { store, links, seen, graph, shelf, sources, lists, hosts, queues, copies } = Shares::of(memory);
        let shared = store + links + seen + graph + shelf + sources + lists + hosts + queues + copies;
        assert!(shared as u64 <= memory.bytes() / 10 * 7);
    }
}

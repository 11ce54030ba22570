//! What a crawl's bookkeeping costs as it grows: time per fetched page, memory, and disk per known URL.
//!
//! `cargo bench --bench store -- 10000 100000 1000000`: each number is a count of known URLs at which to measure. The link
//! stream is made up, with the skew of the web; frontier, graph, URL-seen test and store are the real ones, moved as the
//! engine moves them, within the memory of `--memory` (600MiB).
#![allow(clippy::unwrap_used, reason = "a bench that cannot go on has failed")]

#[path = "store/stream.rs"]
mod stream;

use std::{
    env, fs,
    path::Path,
    time::{Duration, Instant},
};

use rustc_hash::{FxHashMap, FxHashSet};
use stream::{Stream, page_record};
use windrow::{
    engine::{Memory, Shares},
    frontier::{Filed, Frontier, FrontierConfig, FrontierRooms, HostId, InLinkNote, Link, Priority, Taken},
    link_classifier::{Evidence, TargetFacts},
    page::{Relevance, Timestamp, thread_time},
    spill::{Paged, Room},
    store::{AddedInLink, Batch, CrawlState, InLink, LinkRecord, OutlinkFate, OutlinkRecord, Stock, Store, StoreConfig, Writer},
    topical_rank::{LinkGraph, NodeId, RankConfig},
    url::{Fingerprint, Url, authority},
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Visits in a commit, as `crawl.commit_visits`.
const VISITS: usize = 64;
/// Fetched pages that a figure is taken over, the last before its count of known URLs.
const WINDOW: u64 = 400;

fn main() {
    let numbers: Vec<String> = env::args().skip(1).collect();
    let mut sizes: Vec<u64> = numbers.iter().filter_map(|size| size.parse().ok()).collect();
    let memory = numbers.iter().find_map(|text| text.strip_prefix("--memory=")?.parse::<Memory>().ok()).unwrap_or_default();
    if sizes.is_empty() {
        sizes = vec![10_000, 100_000, 1_000_000];
    }
    println!(
        "memory {memory}; processor µs per fetched page of {} links, over the last {WINDOW} pages before each size",
        stream::LINKS
    );
    println!(
        "{:>9} {:>7} | {:>6} {:>6} {:>6} {:>6} {:>8} | {:>6} {:>7} {:>7} | {:>7} {:>9} {:>8} {:>7}",
        "known",
        "pages",
        "seen",
        "push",
        "pop",
        "rank",
        "decision",
        "commit",
        "all CPU",
        "wall",
        "RSS MiB",
        "on disk",
        "file MB",
        "B/known"
    );
    let folder = tempfile::tempdir_in(env::var_os("WINDROW_BENCH_DIR").map_or_else(env::temp_dir, Into::into)).unwrap();
    let mut crawl = Crawl::new(folder.path(), memory);
    for size in sizes {
        crawl.run_to(size);
        crawl.tell();
        crawl.tell_moves();
    }
    crawl.end();
}

/// Time spent on each part.
#[derive(Default, Clone, Copy)]
struct Spent {
    seen: Duration,
    push: Duration,
    pop: Duration,
    rank: Duration,
    commit: Duration,
}

/// What was moved between memory and disk.
#[derive(Default)]
struct Moves {
    pages: usize,
    restocks: usize,
    restocked: usize,
    waiting: usize,
    in_links: usize,
    priorities: usize,
}

struct Crawl {
    folder: std::path::PathBuf,
    store: Store,
    writer: Writer,
    frontier: Frontier,
    graph: LinkGraph,
    seq_of: Paged<u32>,
    node_of_seq: Paged<u32>,
    stream: Stream,
    changed: FxHashSet<NodeId>,
    leaving: FxHashMap<HostId, FxHashMap<Fingerprint, (u64, LinkRecord)>>,
    added: FxHashMap<Fingerprint, Vec<(Option<u64>, AddedInLink)>>,
    moved: FxHashMap<HostId, FxHashMap<Fingerprint, (Option<u64>, f64)>>,
    batch: Batch,
    pages: u64,
    /// A clock that ticks once a page, and jumps where nothing is ready.
    now: u64,
    known: u64,
    spent: Spent,
    since: Instant,
    /// Time that went into the made-up web: by the clock, and of the processor.
    made: Duration,
    made_time: Duration,
    process: Duration,
    window: u64,
    moves: Moves,
}

/// Adds the processor time of this thread that something takes, so that a busy machine does not blur it.
fn timed<R>(total: &mut Duration, what: impl FnOnce() -> R) -> R {
    let start = thread_time();
    let result = what();
    *total += thread_time().saturating_sub(start);
    result
}

/// Processor time of all threads.
fn process_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

impl Crawl {
    fn new(folder: &Path, memory: Memory) -> Self {
        let shares = Shares::of(memory);
        let config = StoreConfig { cache_mib: shares.store >> 20, ..StoreConfig::default() };
        let store = Store::create_with(folder, &config).unwrap();
        let writer = store.writer(&config).unwrap();
        let room = |bytes| Room::new(bytes, folder);
        let frontier = Frontier::new(FrontierConfig::default(), 1);
        let mut crawl = Self {
            folder: folder.to_owned(),
            store,
            writer,
            frontier: frontier.within(
                shares.number_of_links(),
                FrontierRooms { seen: room(shares.seen), shelf: room(shares.shelf), hosts: room(shares.queues) },
            ),
            graph: LinkGraph::new(RankConfig::default()).within(&room(shares.graph)),
            seq_of: Paged::new(room(shares.lists / 2)),
            node_of_seq: Paged::new(room(shares.lists / 2)),
            stream: Stream::new(1),
            changed: FxHashSet::default(),
            leaving: FxHashMap::default(),
            added: FxHashMap::default(),
            moved: FxHashMap::default(),
            batch: Batch::default(),
            pages: 0,
            now: 0,
            known: 0,
            spent: Spent::default(),
            since: Instant::now(),
            made: Duration::ZERO,
            made_time: Duration::ZERO,
            process: process_time(),
            window: 0,
            moves: Moves::default(),
        };
        for seed in 0..20 {
            let (url, fingerprint) = crawl.stream.seed(seed);
            crawl.discover(url, fingerprint, 1.0);
        }
        crawl
    }

    fn run_to(&mut self, size: u64) {
        let links_of_window = WINDOW * stream::LINKS as u64 / 2;
        let mut measuring = false;
        while self.known < size {
            if !measuring && self.known + links_of_window >= size {
                measuring = true;
                (self.spent, self.window, self.made) = (Spent::default(), self.pages, Duration::ZERO);
                (self.since, self.made_time, self.process) = (Instant::now(), Duration::ZERO, process_time());
            }
            self.visit();
        }
    }

    fn visit(&mut self) {
        let mut spent = self.spent;
        let (node, link) = timed(&mut spent.pop, || self.take());
        let start = Instant::now();
        let (page, links) = timed(&mut self.made_time, || self.stream.page(&link.url));
        self.made += start.elapsed();
        self.pages += 1;
        let (seq, relevance) = (self.pages, page.relevance);
        self.seq_of.set(node.0 as usize, seq as u32);
        self.node_of_seq.set(seq as usize, node.0);
        let mut nodes = Vec::with_capacity(links.len());
        let mut outlinks = Vec::with_capacity(links.len());
        let mut found: Vec<Option<NodeId>> = Vec::with_capacity(links.len());
        let mut named = Vec::new();
        timed(&mut spent.seen, || {
            found.extend(links.iter().map(|(_, fingerprint, _)| self.frontier.seen(*fingerprint)));
        });
        for ((url, fingerprint, context), known) in links.iter().zip(&found) {
            let fate = if known.is_some() { OutlinkFate::Known } else { OutlinkFate::Queued };
            let anchor = context.anchor_text.to_string();
            outlinks.push(OutlinkRecord { target: *fingerprint, url: url.to_string(), anchor, fate });
        }
        timed(&mut spent.push, || {
            for ((url, fingerprint, context), known) in links.into_iter().zip(found) {
                // A link that is new may stand on the page twice.
                let known = known.or_else(|| self.frontier.seen(fingerprint));
                let target = known.unwrap_or_else(|| self.discover(url, fingerprint, 0.5 * relevance + 0.1));
                if target == node || nodes.contains(&target) {
                    continue;
                }
                let ordinal = nodes.len() as u16;
                nodes.push(target);
                if let Some(shelved) = self.frontier.shelved(target) {
                    let is_kept = !shelved.is_full();
                    self.frontier.count_in_link(target, relevance, is_kept);
                    if is_kept {
                        let in_link = InLink { source: seq, ordinal, context, heading: Box::default() };
                        let added = AddedInLink { in_link, depth: 1, tunnel_depth: 0 };
                        self.added.entry(fingerprint).or_default().push((None, added));
                        // As many anchors name a keyword.
                        if (seq + u64::from(ordinal)).is_multiple_of(20) {
                            named.push((target, 0.5 * relevance + 0.1));
                        }
                    }
                    continue;
                }
                if let Some(link) = self.frontier.link_mut(target) {
                    let in_link = InLinkNote { source: node, ordinal, context, ..InLinkNote::default() };
                    if link.add_in_link(in_link, |source| self.graph.relevance(source)) {
                        self.changed.insert(target);
                    }
                }
            }
        });
        let mut touched = nodes.clone();
        timed(&mut spent.rank, || {
            for (target, estimate) in named {
                if estimate > self.graph.relevance(target) {
                    self.graph.set_relevance(target, estimate, &mut touched);
                }
            }
            self.graph.fetch(node, relevance, &nodes, &mut touched);
            touched.sort_unstable();
            touched.dedup();
            for &node in &touched {
                self.requeue(node);
            }
        });
        let mut record = page_record(seq, &link, page);
        (record.rank, record.residual) = self.graph.state(node);
        self.batch.outlinks.push((seq, outlinks));
        self.batch.finished.push(link.fingerprint);
        self.batch.pages.push(record);
        if self.batch.pages.len() == VISITS {
            timed(&mut spent.commit, || self.commit());
        }
        self.spent = spent;
    }

    fn discover(&mut self, url: Url, fingerprint: Fingerprint, estimate: f64) -> NodeId {
        let host = self.frontier.host(&authority(&url));
        let node = self.graph.add(estimate, host.0);
        self.frontier.mark_seen(fingerprint, node);
        self.known += 1;
        let link = Link {
            url,
            fingerprint,
            host,
            discovered: self.known,
            depth: 1,
            tunnel_depth: 0,
            facts: TargetFacts::default(),
            in_links: Vec::new(),
            in_degree: 0,
            forgotten_relevance: 0.0,
            evidence: Evidence::default(),
            estimate: Relevance::new(estimate),
            priority: Priority(self.graph.rank(node)),
            filed: None,
            tries: 0,
            not_before: Timestamp::default(),
        };
        self.frontier.push(node, link);
        self.changed.insert(node);
        node
    }

    fn take(&mut self) -> (NodeId, Link) {
        loop {
            self.now = self.now.max(self.pages);
            match self.frontier.take(Timestamp(self.now)) {
                Taken::Link(node, host) => {
                    self.frontier.release(host, Timestamp(self.now + 20));
                    self.changed.remove(&node);
                    return (node, self.frontier.remove(node).unwrap());
                }
                Taken::Restock(host) => {
                    self.moves.restocks += 1;
                    let top = self.frontier.shelf_top(host).unwrap().0;
                    let frontier = &self.frontier;
                    let number = frontier.restock_size(host);
                    let shelved = |at| frontier.seen(at).is_some_and(|node| frontier.shelved(node).is_some());
                    let leaving = self.leaving.get(&host);
                    let on_disk = |at| !leaving.is_some_and(|leaving| leaving.contains_key(&at)) && shelved(at);
                    let store = self.writer.reader();
                    let Stock { mut rows, next } =
                        store.best_of_host(&frontier.host_name(host), Some(top), number, on_disk).unwrap();
                    let moved = self.moved.get(&host);
                    let further = |at| on_disk(at) && !rows.iter().any(|(row, _)| *row == at);
                    let mut further: Vec<_> =
                        moved.into_iter().flatten().filter(|(at, _)| further(**at)).map(|(&at, moved)| (at, moved.1)).collect();
                    further.sort_unstable_by(|(a, x), (b, y)| y.total_cmp(x).then(a.cmp(b)));
                    for &(at, _) in further.iter().take(number) {
                        rows.extend(store.waiting_one(at).unwrap().map(|row| (at, row)));
                    }
                    let under_way = leaving.into_iter().flatten().filter(|(at, _)| shelved(**at));
                    rows.extend(under_way.map(|(&fingerprint, leaving)| (fingerprint, leaving.1.clone())));
                    for (fingerprint, row) in &mut rows {
                        row.priority = moved.and_then(|moved| moved.get(fingerprint)).map_or(row.priority, |moved| moved.1);
                    }
                    rows.sort_unstable_by(|(a, x), (b, y)| y.priority.total_cmp(&x.priority).then(a.cmp(b)));
                    let left = [next, rows.get(number).map(|(_, row)| row.priority), further.get(number).map(|&(_, to)| to)];
                    let next = left.into_iter().flatten().max_by(f64::total_cmp);
                    rows.truncate(number);
                    self.moves.restocked += rows.len();
                    for (fingerprint, row) in rows {
                        self.put_back(self.frontier.seen(fingerprint).unwrap(), fingerprint, row);
                    }
                    self.frontier.restocked(host, next.map(Priority), Priority(f64::MAX));
                }
                Taken::Wait(at) => self.now = at.0,
                other => panic!("{other:?}"),
            }
        }
    }

    fn put_back(&mut self, node: NodeId, fingerprint: Fingerprint, mut row: LinkRecord) {
        for (_, AddedInLink { in_link, .. }) in self.added.get(&fingerprint).into_iter().flatten() {
            if !row.in_links.iter().any(|known| (known.source, known.ordinal) == (in_link.source, in_link.ordinal)) {
                row.in_links.push(in_link.clone());
            }
        }
        let url = Url::parse(&row.url).unwrap();
        let host = self.frontier.host(&authority(&url));
        let batch = self.leaving.get(&host).and_then(|leaving| leaving.get(&fingerprint)).map_or(0, |leaving| leaving.0);
        let has_moved = self.moved.get_mut(&host).is_some_and(|moved| moved.remove(&fingerprint).is_some());
        let in_links = row.in_links.into_iter().map(|in_link| InLinkNote {
            source: NodeId(self.node_of_seq.get(in_link.source as usize)),
            ordinal: in_link.ordinal,
            context: in_link.context,
            ..InLinkNote::default()
        });
        let link = Link {
            host,
            url,
            fingerprint,
            discovered: row.discovered,
            depth: row.depth,
            tunnel_depth: row.tunnel_depth,
            facts: TargetFacts::default(),
            in_links: in_links.collect(),
            in_degree: row.in_degree,
            forgotten_relevance: row.forgotten_relevance,
            evidence: Evidence::default(),
            estimate: row.estimate,
            priority: Priority(self.graph.rank(node)),
            filed: (!has_moved).then_some(Filed { priority: Priority(row.priority), batch }),
            tries: row.tries,
            not_before: row.not_before,
        };
        self.frontier.unshelve(node, link);
    }

    fn requeue(&mut self, node: NodeId) {
        let rank = Priority(self.graph.rank(node));
        if let Some(shelved) = self.frontier.shelved(node) {
            if rank.0 > 1.05 * shelved.priority.0 && self.frontier.would_be_kept(shelved.host, rank) {
                self.frontier.raise_on_shelf(node, rank);
                self.moved.entry(shelved.host).or_default().insert(shelved.fingerprint, (None, rank.0));
            }
        } else {
            self.frontier.reprioritise(node, rank);
        }
    }

    fn commit(&mut self) {
        let mut batch = std::mem::take(&mut self.batch);
        let (batches, visible) = self.writer.progress();
        self.leaving.retain(|_, leaving| {
            leaving.retain(|_, leaving| leaving.0 > visible);
            !leaving.is_empty()
        });
        self.added.retain(|&fingerprint, added| {
            added.retain(|(batch, _)| batch.is_none_or(|batch| batch > visible));
            for (known, added) in added.iter_mut().filter(|(batch, _)| batch.is_none()) {
                *known = Some(batches + 1);
                batch.in_links.push((fingerprint, added.clone()));
            }
            !added.is_empty()
        });
        self.moved.retain(|_, moved| {
            moved.retain(|&fingerprint, moved| {
                if moved.0.is_none() {
                    moved.0 = Some(batches + 1);
                    batch.priorities.push((fingerprint, moved.1));
                }
                moved.0 > Some(visible)
            });
            !moved.is_empty()
        });
        for (node, link) in self.frontier.overflow() {
            let filed = link.filed.filter(|filed| filed.priority == link.priority && !self.changed.contains(&node));
            let number = filed.map_or(batches + 1, |filed| filed.batch);
            if number <= visible {
                continue;
            }
            let row = row(&link, &self.seq_of);
            if filed.is_none() {
                batch.waiting.push((link.fingerprint, row.clone()));
            }
            self.leaving.entry(link.host).or_default().insert(link.fingerprint, (number, row));
        }
        self.frontier.make_room(Timestamp(self.now));
        for node in self.changed.drain() {
            if let Some(link) = self.frontier.link(node) {
                batch.waiting.push((link.fingerprint, row(link, &self.seq_of)));
                self.frontier.file(node, batches + 1);
            }
        }
        let waiting = self.frontier.unfinished() as u64;
        batch.state = Some(CrawlState { pages: self.pages, waiting, discovered: self.known, ..CrawlState::default() });
        self.moves.pages += batch.pages.len();
        self.moves.waiting += batch.waiting.len();
        self.moves.in_links += batch.in_links.len();
        self.moves.priorities += batch.priorities.len();
        self.writer.submit(batch).unwrap();
    }

    /// Prints the figures of the window.
    fn tell(&self) {
        let wall = self.since.elapsed().saturating_sub(self.made);
        let pages = (self.pages - self.window) as f64;
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / pages;
        let Spent { seen, push, pop, rank, commit } = self.spent;
        let all = process_time().saturating_sub(self.process).saturating_sub(self.made_time);
        let file = fs::metadata(self.folder.join("store.redb")).unwrap().len();
        println!(
            "{:>9} {:>7} | {:>6.1} {:>6.0} {:>6.0} {:>6.0} {:>8.0} | {:>6.0} {:>7.0} {:>7.0} | {:>7} {:>9} {:>8.0} {:>7.0}",
            self.known,
            self.pages,
            micros(seen),
            micros(push),
            micros(pop),
            micros(rank),
            micros(seen + push + pop + rank),
            micros(commit),
            micros(all),
            micros(wall),
            resident("VmRSS:") >> 10,
            self.frontier.shelved_len(),
            file as f64 / 1e6,
            file as f64 / self.known as f64,
        );
    }

    /// Prints what was moved between memory and disk since the size before, per hundred pages.
    fn tell_moves(&mut self) {
        let Moves { pages, restocks, restocked, waiting, in_links, priorities } = std::mem::take(&mut self.moves);
        let each = |number: usize| 100.0 * number as f64 / pages.max(1) as f64;
        println!(
            "{:>17}   in 100 pages since: {:.0} times links of a host read back, {:.0} in all; rows written: \
             {:.0} links, {:.0} in-links, {:.0} priorities",
            "",
            each(restocks),
            each(restocked),
            each(waiting),
            each(in_links),
            each(priorities)
        );
    }

    /// Prints what is on disk after compaction, table by table.
    fn end(self) {
        let Self { mut store, writer, frontier, graph, known, .. } = self;
        println!("peak RSS {} MiB", resident("VmHWM:") >> 10);
        let [seen, places, hosts] = frontier.resident_bytes().map(|bytes| bytes >> 20);
        let (ranks, links) = (graph.resident_bytes() >> 20, frontier.links().count());
        println!("resident MiB: seen {seen}, shelf {places}, hosts {hosts}, graph {ranks}; links in memory {links}");
        writer.finish().unwrap();
        let start = Instant::now();
        store.compact().unwrap();
        let sizes = store.sizes().unwrap();
        println!(
            "after compaction ({:.0} s): {:.0} MB, {:.0} bytes per known URL in all, {:.0} in frontier and URL-seen test",
            start.elapsed().as_secs_f64(),
            sizes.file_bytes as f64 / 1e6,
            sizes.file_bytes as f64 / known as f64,
            sizes.bytes_per_known_url()
        );
        for table in sizes.tables.iter().filter(|table| table.rows > 0) {
            let each = table.allocated_bytes as f64 / table.rows as f64;
            let per_known = table.allocated_bytes as f64 / known as f64;
            println!("{:>12} {:>9} rows {each:>8.1} B each {per_known:>8.1} B per known URL", table.name, table.rows);
        }
    }
}

fn row(link: &Link, seq_of: &Paged<u32>) -> LinkRecord {
    let in_links = link.in_links.iter().map(|note| InLink {
        source: u64::from(seq_of.get(note.source.0 as usize)),
        ordinal: note.ordinal,
        context: note.context.clone(),
        heading: note.heading.clone(),
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

/// A figure of this process in KiB, as Linux tells it.
fn resident(name: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok()).unwrap_or(0)
}

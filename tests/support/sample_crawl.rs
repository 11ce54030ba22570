//! A made-up crawl that hands out batches as the engine does, and knows what a store must hold after each.
//!
//! Promises: one seed gives one crawl; hosts and link counts are skewed as on the web.
//! Never: looks into a store to know what should be there.

use std::{
    collections::{BTreeMap, HashSet},
    fmt::Write,
};

use fastrand::Rng;
use windrow::{
    fetch::Validators,
    page::{LinkContext, Outcome, Relevance, TermBag, Timestamp},
    store::{
        AddedInLink, Batch, Capture, Chosen, CrawlState, HostRecord, InLink, Known, LinkRecord, OutlinkFate, OutlinkRecord,
        PageRecord, RobotsRecord, Store, read_capture,
    },
    text::{Language, TermId},
    url::{Fingerprint, Url, authority},
};

const START: Timestamp = Timestamp(1_795_219_200_000);

/// What a store must hold, kept in memory.
#[derive(Clone, Default)]
pub struct Expected {
    pub pages: Vec<PageRecord>,
    pub bodies: Vec<Option<Vec<u8>>>,
    pub outlinks: BTreeMap<u64, Vec<OutlinkRecord>>,
    pub waiting: BTreeMap<Fingerprint, LinkRecord>,
    pub hosts: BTreeMap<String, HostRecord>,
    pub models: BTreeMap<String, Vec<u8>>,
    pub state: Option<CrawlState>,
}

/// The crawl: its expectations, and chance.
#[derive(Clone)]
pub struct SampleCrawl {
    pub expected: Expected,
    rng: Rng,
    links_per_page: usize,
    discovered: u64,
    /// The waiting URLs, to draw from.
    pool: Vec<Fingerprint>,
    finished: HashSet<Fingerprint>,
    relevant: u64,
    fetched: u64,
    bytes: u64,
}

impl SampleCrawl {
    pub fn new(seed: u64, links_per_page: usize) -> Self {
        Self {
            expected: Expected::default(),
            rng: Rng::with_seed(seed),
            links_per_page,
            discovered: 0,
            pool: Vec::new(),
            finished: HashSet::new(),
            relevant: 0,
            fetched: 0,
            bytes: 0,
        }
    }

    /// The next batch: seeds at first, then one visit each.
    pub fn next_batch(&mut self) -> Batch {
        let mut batch = Batch::default();
        if self.expected.state.is_none() {
            for n in 0..3 {
                let url = Url::parse(&format!("http://seed{n}.org/")).unwrap();
                self.discover(&mut batch, &url, Vec::new(), 0);
            }
        } else {
            self.visit(&mut batch);
        }
        let expected = &mut self.expected;
        let state = CrawlState {
            pages: expected.pages.len() as u64,
            fetched: self.fetched,
            relevant: self.relevant,
            discovered: expected.pages.len() as u64 + expected.waiting.len() as u64,
            waiting: expected.waiting.len() as u64,
            bytes: self.bytes,
            now: Timestamp(START.0 + 1_000 * self.discovered),
            ..CrawlState::default()
        };
        expected.state = Some(state.clone());
        batch.state = Some(state);
        batch
    }

    fn visit(&mut self, batch: &mut Batch) {
        let at = self.rng.usize(..self.pool.len());
        let fingerprint = self.pool.swap_remove(at);
        let link = self.expected.waiting.remove(&fingerprint).unwrap();
        self.finished.insert(fingerprint);
        let seq = self.expected.pages.len() as u64 + 1;
        let page = self.page(seq, fingerprint, &link);
        self.judge_anew(batch);
        let fetched = page.outcome == Outcome::Fetched;
        self.fetched += u64::from(fetched);
        self.relevant += u64::from(page.relevant);
        self.bytes += page.bytes;
        let body = fetched.then(|| self.text(20 + self.rng.clone().usize(..200)).into_bytes());
        if let Some(body) = &body {
            batch.captures.push(Capture {
                seq,
                url: page.url.clone(),
                fetched_at: page.fetched_at,
                address: seq.is_multiple_of(2).then(|| "192.0.2.1".parse().unwrap()),
                status: 200,
                headers: vec![("content-type".into(), "text/html".into()), ("content-encoding".into(), "gzip".into())],
                body: body.clone(),
                request: None,
            });
        }
        self.meet_host(batch, &page);
        self.expected.bodies.push(body);
        self.expected.pages.push(page.clone());
        batch.pages.push(page);
        batch.finished.push(fingerprint);
        if fetched {
            self.follow_links(batch, seq, &link);
        }
        if seq.is_multiple_of(7) {
            let model = self.rng.u64(..).to_le_bytes().repeat(9);
            self.expected.models.insert("link".into(), model.clone());
            batch.models.push(("link".into(), model));
        }
    }

    /// Ranks and relevances of older pages change.
    fn judge_anew(&mut self, batch: &mut Batch) {
        for _ in 0..self.rng.usize(..4).min(self.expected.pages.len()) {
            let page = self.rng.choice(&mut self.expected.pages).unwrap();
            (page.rank, page.residual) = (self.rng.f64(), self.rng.f64());
            batch.ranks.push((page.seq, page.rank, page.residual));
            page.relevance = Relevance::new(self.rng.f64());
            batch.relevances.push((page.seq, page.relevance));
        }
    }

    fn follow_links(&mut self, batch: &mut Batch, seq: u64, parent: &LinkRecord) {
        let mut outlinks = Vec::new();
        let heading: Box<[TermId]> = self.terms(4);
        for position in 0..self.rng.usize(..=2 * self.links_per_page) {
            let url = self.url(parent);
            let fingerprint = Fingerprint::of(&url);
            let context = self.context(position);
            let anchor = context.anchor_text.to_string();
            let in_link = InLink { source: seq, ordinal: position as u16, context, heading: heading.clone() };
            let mut fate = OutlinkFate::Known;
            if let Some(link) = self.expected.waiting.get_mut(&fingerprint) {
                link.in_degree += 1;
                let is_new = !link.in_links.iter().any(|known| known.source == seq);
                match self.rng.u8(..4) {
                    // On disk only: its row is changed without being read.
                    0 if is_new => {
                        let added = AddedInLink { in_link: in_link.clone(), depth: parent.depth + 1, tunnel_depth: 0 };
                        (link.depth, link.tunnel_depth) = (link.depth.min(added.depth), 0);
                        link.in_links.push(in_link);
                        link.in_degree -= 1;
                        batch.in_links.push((fingerprint, added));
                    }
                    1 => {
                        link.priority = f64::from(self.rng.f32());
                        batch.priorities.retain(|(known, _)| *known != fingerprint);
                        batch.priorities.push((fingerprint, link.priority));
                        link.in_degree -= 1;
                    }
                    _ => {
                        link.priority = f64::from(self.rng.f32());
                        if link.in_links.len() < 4 {
                            link.in_links.push(in_link);
                        }
                        batch.priorities.retain(|(known, _)| *known != fingerprint);
                        batch.waiting.push((fingerprint, link.clone()));
                    }
                }
            } else if !self.finished.contains(&fingerprint) {
                fate = OutlinkFate::Queued;
                self.discover(batch, &url, vec![in_link], parent.depth + 1);
            }
            outlinks.push(OutlinkRecord { target: fingerprint, url: url.into(), anchor, fate });
        }
        self.expected.outlinks.insert(seq, outlinks.clone());
        batch.outlinks.push((seq, outlinks));
    }

    fn discover(&mut self, batch: &mut Batch, url: &Url, in_links: Vec<InLink>, depth: u16) {
        self.discovered += 1;
        let link = LinkRecord {
            url: url.to_string(),
            discovered: self.discovered,
            depth,
            tunnel_depth: 0,
            in_degree: in_links.len() as u32,
            forgotten_relevance: self.rng.f32(),
            in_links,
            tries: 0,
            not_before: Timestamp::default(),
            priority: f64::from(self.rng.f32().powi(3)),
            estimate: Relevance::new(f64::from(self.rng.f32())),
        };
        let host = authority(url);
        self.expected.hosts.entry(host.clone()).or_insert_with(|| HostRecord { name: host, ..HostRecord::default() });
        self.pool.push(Fingerprint::of(url));
        self.expected.waiting.insert(Fingerprint::of(url), link.clone());
        batch.waiting.push((Fingerprint::of(url), link));
    }

    fn meet_host(&mut self, batch: &mut Batch, page: &PageRecord) {
        let host = self.expected.hosts.entry(page.host.clone()).or_default();
        host.name.clone_from(&page.host);
        host.requests += 1;
        host.bytes += page.bytes;
        host.next_ready = Timestamp(page.fetched_at.0 + 1_000);
        if host.requests % 5 == 1 {
            let text = format!("User-agent: *\nDisallow: /{}\n", host.requests).repeat(3);
            host.robots = Some(RobotsRecord {
                status: 200,
                fetched_at: page.fetched_at,
                text,
                unreachable_since: None,
                failures: 0,
                validators: Validators::default(),
            });
        }
        batch.hosts.push(host.clone());
    }

    fn page(&mut self, seq: u64, fingerprint: Fingerprint, link: &LinkRecord) -> PageRecord {
        let outcome = if self.rng.u8(..10) == 0 { Outcome::Failed } else { Outcome::Fetched };
        let relevance = Relevance::new(self.rng.f64());
        PageRecord {
            seq,
            url: link.url.clone(),
            fingerprint,
            outcome,
            status: if outcome == Outcome::Fetched { 200 } else { 0 },
            reason: (outcome == Outcome::Failed).then(|| "timed out while connecting".into()),
            relevance,
            relevant: relevance.get() > 0.5,
            priority: link.priority,
            estimate: link.estimate,
            depth: link.depth,
            tunnel_depth: link.tunnel_depth,
            host: authority(&Url::parse(&link.url).unwrap()),
            source: None,
            source_url: None,
            anchor: link.in_links.first().map(|link| link.context.anchor_text.to_string()).unwrap_or_default(),
            fetched_at: Timestamp(START.0 + 1_000 * seq),
            elapsed_ms: self.rng.u32(20..2_000),
            bytes: self.rng.u64(2_000..60_000),
            content_type: "text/html".into(),
            charset: "utf-8".into(),
            language: Language::En,
            title: self.text(6),
            excerpt: self.text(30),
            model_version: (seq / 25) as u32,
            digest: self.rng.u64(..),
            simhash: self.rng.u64(..),
            archive: None,
            evidence: (0..24).map(|_| self.rng.f32()).collect(),
            terms: self.counted(),
            rank: self.rng.f64(),
            residual: 0.0,
            chosen: Chosen::Order,
            had_decode_errors: seq.is_multiple_of(11),
            copy_of: None,
            validators: Validators { etag: Some(format!("\"{seq}\"")), last_modified: None },
        }
    }

    fn url(&mut self, parent: &LinkRecord) -> Url {
        let parent = Url::parse(&parent.url).unwrap();
        // Two links in three stay on their host; few hosts get most of the others.
        let host = match self.rng.u8(..3) {
            0 => format!("www.site{}.com", (self.rng.f64().powi(3) * 2_000.0) as u32),
            _ => authority(&parent),
        };
        let scheme = if host.len() % 2 == 0 { "https" } else { "http" };
        let (section, page) = (self.word(), (self.rng.f64().powi(2) * 5_000.0) as u32);
        Url::parse(&format!("{scheme}://{host}/{section}/{}-{page}.html", self.word())).unwrap()
    }

    fn context(&mut self, position: usize) -> LinkContext {
        let words = self.rng.usize(1..6);
        LinkContext {
            anchor_text: self.text(words).into(),
            anchor: self.terms(words),
            around: self.terms(self.rng.clone().usize(4..=12)),
            heading: Some(0),
            tag_path: self.rng.u32(..),
            group: (position / 10) as u16,
            position: position as f32 / 100.0,
            navigation: position.is_multiple_of(3),
        }
    }

    /// Words with their counts: as the parser has them, or in any order.
    fn counted(&mut self) -> TermBag {
        let words: Vec<(String, f32)> = (0..100).map(|_| (self.word(), f32::from(self.rng.u8(1..5)))).collect();
        words.iter().map(|(word, count)| (word.as_str(), *count)).collect()
    }

    fn terms(&mut self, count: usize) -> Box<[TermId]> {
        (0..count).map(|_| TermId::of(&self.word())).collect()
    }

    fn text(&mut self, words: usize) -> String {
        (0..words).fold(String::new(), |mut text, _| {
            let _ = write!(text, "{} ", self.word());
            text
        })
    }

    /// A word out of 5,000, the first ones far more often than the last.
    fn word(&mut self) -> String {
        let mut number = (self.rng.f64().powi(4) * 5_000.0) as usize + 20;
        let mut word = String::new();
        while number > 0 {
            word.push_str(["ta", "ri", "mo", "ne", "su", "la", "ko", "pe"][number % 8]);
            number /= 8;
        }
        word
    }
}

impl Expected {
    /// Panics unless the store holds exactly this, captures included.
    pub fn assert_in(&self, store: &Store, dir: &std::path::Path) {
        assert_eq!(store.state().unwrap(), self.state);
        let mut pages: Vec<PageRecord> = store.pages(1).unwrap().collect::<Result<_, _>>().unwrap();
        for (page, body) in pages.iter_mut().zip(&self.bodies) {
            let archived = page.archive.take().map(|place| read_capture(dir, place).unwrap());
            assert_eq!(archived.map(|capture| (capture.url, capture.body)), body.clone().map(|body| (page.url.clone(), body)));
            assert_eq!(store.known(page.fingerprint).unwrap(), Some(Known::Finished(page.seq)));
        }
        assert_eq!(pages, self.pages);
        for page in &self.pages {
            assert_eq!(store.outlinks(page.seq).unwrap(), self.outlinks.get(&page.seq).cloned().unwrap_or_default());
        }
        let waiting: BTreeMap<_, _> = store.waiting().unwrap().collect::<Result<_, _>>().unwrap();
        assert_eq!(waiting, self.waiting);
        let hosts = store.hosts().unwrap().map(|host| host.map(|host| (host.name.clone(), host)));
        assert_eq!(hosts.collect::<Result<BTreeMap<_, _>, _>>().unwrap(), self.hosts);
        assert_eq!(store.models().unwrap(), self.models.keys().cloned().collect::<Vec<_>>());
        for (name, model) in &self.models {
            assert_eq!(store.model(name).unwrap().as_ref(), Some(model));
        }
    }
}

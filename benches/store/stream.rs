//! A made-up web, page by page: 70 % of links stay on their host, few hosts and few pages get most links.
//!
//! Promises: one seed gives one web, whatever is asked of it in which order; four bytes of memory for each host.

use std::collections::BTreeMap;

use fastrand::Rng;
use windrow::{
    fetch::Validators,
    frontier::Link,
    page::{LinkContext, Outcome, Relevance, TermBag, Timestamp},
    store::{Chosen, PageRecord},
    text::{Language, TermId},
    url::{Fingerprint, Url},
};

/// Links of a page.
pub const LINKS: usize = 50;
/// Share of them that leads to pages that no page has led to before.
const NEW: f64 = 0.4;
/// Share that stays on the host.
const OWN_HOST: f64 = 0.7;
/// Of the links to other hosts, the share that leads to a new one.
const NEW_HOST: f64 = 0.04;
/// Distinct words of a page that the store keeps.
const WORDS: usize = 300;

pub struct Page {
    pub relevance: f64,
    pub words: TermBag,
}

pub struct Stream {
    rng: Rng,
    /// Pages of each host that some page has led to.
    hosts: Vec<u32>,
}

impl Stream {
    pub fn new(seed: u64) -> Self {
        Self { rng: Rng::with_seed(seed), hosts: Vec::new() }
    }

    pub fn seed(&mut self, number: usize) -> (Url, Fingerprint) {
        self.hosts.push(1);
        let url = url(number, 0);
        let fingerprint = Fingerprint::of(&url);
        (url, fingerprint)
    }

    /// A page and its links.
    pub fn page(&mut self, url: &Url) -> (Page, Vec<(Url, Fingerprint, LinkContext)>) {
        let host: usize =
            url.host_str().and_then(|name| name.strip_prefix("www.site")?.strip_suffix(".com")?.parse().ok()).unwrap();
        let relevance = if host.is_multiple_of(4) { 0.6 + 0.4 * self.rng.f64() } else { 0.3 * self.rng.f64() };
        let around = words(&mut self.rng, 40);
        let links = (0..LINKS).map(|position| {
            let (host, page) = self.target(host);
            let url = self::url(host, page);
            let fingerprint = Fingerprint::of(&url);
            (url, fingerprint, self.context(position, &around))
        });
        let links = links.collect();
        // Each word once, by its id, as a page has them.
        let mut words = BTreeMap::new();
        while words.len() < WORDS {
            let word = word(&mut self.rng);
            words.entry(TermId::of(&word)).or_insert((word, 0.0)).1 += 1.0;
        }
        (Page { relevance, words: words.values().map(|(word, count)| (word.as_str(), *count)).collect() }, links)
    }

    fn target(&mut self, own: usize) -> (usize, u32) {
        let host = match self.rng.f64() {
            share if share < OWN_HOST => own,
            _ if self.rng.f64() < NEW_HOST => {
                self.hosts.push(0);
                self.hosts.len() - 1
            }
            _ => (self.hosts.len() as f64 * self.rng.f64().powi(3)) as usize,
        };
        let pages = &mut self.hosts[host];
        if *pages == 0 || self.rng.f64() < NEW {
            *pages += 1;
            return (host, *pages - 1);
        }
        // A host's first pages are in every menu.
        (host, (f64::from(*pages) * self.rng.f64().powi(4)) as u32)
    }

    fn context(&mut self, position: usize, around: &[String]) -> LinkContext {
        let anchor = words(&mut self.rng, 3);
        let start = (position * 3 / 4).min(around.len() - 12);
        LinkContext {
            anchor_text: anchor.join(" ").into(),
            anchor: anchor.iter().map(|word| TermId::of(word)).collect(),
            around: around[start..start + 12].iter().map(|word| TermId::of(word)).collect(),
            heading: Some((position / 10) as u16),
            tag_path: 0x5bd1_e995_u32.wrapping_mul(position as u32 / 10 + 1),
            group: (position / 10) as u16,
            position: position as f32 / (LINKS - 1) as f32,
            navigation: position < 10,
        }
    }
}

/// The same URL for the same numbers.
fn url(host: usize, page: u32) -> Url {
    let mut rng = Rng::with_seed((host as u64) << 32 | u64::from(page));
    let section = ["news", "products", "articles/crops", "forum", "wiki"][rng.usize(..5)];
    Url::parse(&format!("http://www.site{host}.com/{section}/{}-{}-{page}.html", word(&mut rng), word(&mut rng))).unwrap()
}

pub fn page_record(seq: u64, link: &Link, page: Page) -> PageRecord {
    PageRecord {
        seq,
        url: link.url.to_string(),
        fingerprint: link.fingerprint,
        outcome: Outcome::Fetched,
        status: 200,
        reason: None,
        relevance: Relevance::new(page.relevance),
        relevant: page.relevance > 0.5,
        priority: link.priority.0,
        estimate: link.estimate,
        depth: link.depth,
        tunnel_depth: link.tunnel_depth,
        host: windrow::url::authority(&link.url),
        source: None,
        source_url: None,
        anchor: link.in_links.first().map(|note| note.context.anchor_text.to_string()).unwrap_or_default(),
        fetched_at: Timestamp(1_795_219_200_000 + 1_000 * seq),
        elapsed_ms: 300,
        bytes: 20_000,
        content_type: "text/html".into(),
        charset: "utf-8".into(),
        language: Language::En,
        title: page.words.iter().take(6).map(|term| term.word).collect::<Vec<_>>().join(" "),
        excerpt: page.words.iter().take(40).map(|term| term.word).collect::<Vec<_>>().join(" "),
        model_version: 1,
        digest: seq.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        copy_of: None,
        had_decode_errors: false,
        validators: Validators::default(),
        simhash: seq.wrapping_mul(0xc2b2_ae3d_27d4_eb4f),
        archive: None,
        evidence: vec![0.25; 28],
        terms: page.words,
        rank: 0.0,
        residual: 0.0,
        chosen: Chosen::Order,
    }
}

fn words(rng: &mut Rng, number: usize) -> Vec<String> {
    (0..number).map(|_| word(rng)).collect()
}

/// A word out of 20,000, the first ones far more often than the last.
fn word(rng: &mut Rng) -> String {
    let mut number = (rng.f64().powi(4) * 20_000.0) as usize + 20;
    let mut word = String::new();
    while number > 0 {
        word.push_str(["ta", "ri", "mo", "ne", "su", "la", "ko", "pe"][number % 8]);
        number /= 8;
    }
    word
}

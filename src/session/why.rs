//! Why a page was judged as it was, why a link waits where it waits, which rule keeps a URL out: all of it in one value.
//!
//! Promises: fetches nothing and changes nothing.

use serde::Serialize;

use super::{
    Answers,
    rules::{Rules, fate},
};
use crate::{
    config::Config,
    engine::{EvidencePart, LinkReasons, PageReasons},
    page::Outcome,
    report::{Step, way_to},
    store::{CopyKind, HostRecord, PageRecord, Store},
    topic::Topic,
    url::{Fingerprint, Url, authority, canonicalize},
};

/// Links listed at most.
const LINKS: usize = 12;

/// All that is known of a URL.
#[derive(Debug, Serialize)]
pub struct Why {
    pub url: String,
    /// What became of it, in words.
    pub fate: String,
    pub rules: Rules,
    pub page: Option<WhyPage>,
    pub link: Option<LinkReasons>,
    pub host: Option<HostState>,
    /// Links to it on fetched pages, and what became of them; twelve at most.
    pub linked_by: Vec<Linker>,
    /// How many there are.
    pub links: usize,
    /// From the seed to the page that it was first found on.
    pub path: Vec<Step>,
    pub threshold: f64,
}

/// A finished URL.
#[derive(Debug, Serialize)]
pub struct WhyPage {
    pub seq: u64,
    pub outcome: Outcome,
    pub reason: Option<String>,
    pub status: u16,
    pub title: String,
    pub fetched_at: String,
    /// A person's word.
    pub label: Option<bool>,
    pub reasons: Option<PageReasons>,
    /// What the link classifier expected of it, and from what; weights are those of now.
    pub estimate: f64,
    pub evidence: Vec<EvidencePart>,
    pub depth: u16,
    pub tunnel_depth: u8,
    pub copy_of: Option<Original>,
    /// The keywords it holds.
    pub keywords: Vec<String>,
}

/// What a page is a copy of.
#[derive(Debug, Serialize)]
pub struct Original {
    pub url: String,
    pub kind: CopyKind,
}

/// How a host stands.
#[derive(Debug, Serialize)]
pub struct HostState {
    pub name: String,
    pub requests: u64,
    pub fetched: u64,
    pub relevant: u64,
    pub failures: u64,
    pub throttled: u64,
    pub next_ready: String,
    pub delay_ms: u64,
    pub crawl_delay_ms: Option<u64>,
    /// Doublings of the time out that are not forgiven yet.
    pub strikes: u32,
}

/// A link to the URL on a fetched page.
#[derive(Debug, Serialize)]
pub struct Linker {
    pub url: String,
    pub anchor: String,
    pub relevance: f64,
    pub fate: serde_json::Value,
}

impl Why {
    /// Puts together what the crawl `answers` and what its store holds.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of(url: &Url, answers: Answers, store: &Store, topic: &Topic, config: &Config) -> anyhow::Result<Self> {
        let fingerprint = Fingerprint::of(url);
        let Answers { page, reasons, evidence, link } = answers;
        let depth = page.as_ref().map(|page| page.depth).or(link.as_ref().map(|link| link.depth)).unwrap_or(1);
        let (linked_by, links) = linkers(fingerprint, store)?;
        let path = path(page.as_ref(), link.as_ref(), linked_by.first(), store)?;
        Ok(Self {
            url: url.to_string(),
            fate: fate(url, Some(store))?,
            rules: Rules::of(url, depth, topic, config, Some(store))?,
            page: page.map(|page| why_page(page, reasons, evidence, store, topic)).transpose()?,
            link,
            host: store.host(&authority(url))?.map(host_state),
            linked_by,
            links,
            path,
            threshold: topic.threshold.get(),
        })
    }
}

fn why_page(
    page: PageRecord,
    reasons: Option<PageReasons>,
    evidence: Vec<EvidencePart>,
    store: &Store,
    topic: &Topic,
) -> anyhow::Result<WhyPage> {
    let copy_of = match page.copy_of {
        Some(copy) => store.page(copy.seq)?.map(|original| Original { url: original.url, kind: copy.kind }),
        None => None,
    };
    let held = reasons.iter().flat_map(|reasons| &reasons.keywords);
    let keywords = held.filter_map(|&at| topic.keywords.get(at)).map(|keyword| keyword.text.clone()).collect();
    Ok(WhyPage {
        seq: page.seq,
        outcome: page.outcome,
        status: page.status,
        fetched_at: page.fetched_at.to_string(),
        label: store.labels()?.get(page.fingerprint),
        estimate: page.estimate.get(),
        evidence,
        depth: page.depth,
        tunnel_depth: page.tunnel_depth,
        reason: page.reason,
        title: page.title,
        copy_of,
        reasons,
        keywords,
    })
}

fn host_state(host: HostRecord) -> HostState {
    HostState {
        requests: host.requests,
        fetched: host.fetched,
        relevant: host.relevant,
        failures: host.failures,
        throttled: host.throttled,
        next_ready: host.next_ready.to_string(),
        delay_ms: host.delay_ms,
        crawl_delay_ms: host.crawl_delay_ms,
        strikes: host.strikes,
        name: host.name,
    }
}

/// Links to a URL on fetched pages in the order of their fetch, and how many there are.
fn linkers(target: Fingerprint, store: &Store) -> anyhow::Result<(Vec<Linker>, usize)> {
    let (mut linkers, mut number) = (Vec::new(), 0);
    for found in store.links_to(target)? {
        let (seq, link) = found?;
        number += 1;
        if linkers.len() < LINKS
            && let Some(page) = store.page(seq)?
        {
            let relevance = page.relevance.get();
            linkers.push(Linker { url: page.url, anchor: link.anchor, relevance, fate: serde_json::to_value(link.fate)? });
        }
    }
    Ok((linkers, number))
}

/// The pages from a seed to the one that the URL was first found on.
fn path(
    page: Option<&PageRecord>,
    link: Option<&LinkReasons>,
    linker: Option<&Linker>,
    store: &Store,
) -> anyhow::Result<Vec<Step>> {
    if let Some(page) = page {
        return Ok(way_to(store, page)?);
    }
    let first = link.and_then(|link| link.linked_by.first()).map(|link| &link.url).or(linker.map(|linker| &linker.url));
    let Some(first) = first else { return Ok(Vec::new()) };
    let Some(source) = store.page_by_fingerprint(Fingerprint::of(&canonicalize(first, None)?))? else { return Ok(Vec::new()) };
    let mut way = way_to(store, &source)?;
    way.push(Step { url: source.url, title: source.title, relevant: source.relevant, anchor: source.anchor });
    Ok(way)
}

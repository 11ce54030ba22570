//! `windrow why DIR URL`: why a page was judged as it was, why a link waits where it waits, which rule keeps a URL out.
//!
//! Promises: fetches nothing and changes nothing; `--json` holds all that the words say.

mod words;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Context, ensure};
use clap::Args;
use serde::Serialize;

use super::{
    explain::{Rules, fate},
    progress::Show,
};
use crate::{
    config::Config,
    engine::{Crawl, EvidencePart, LinkReasons, PageReasons},
    link_classifier::Evidence,
    models::{ModelBundle, load, search_path},
    page::Outcome,
    report::{Step, way_to},
    store::{CopyKind, HostRecord, PageRecord, Store},
    topic::Topic,
    url::{Fingerprint, Url, authority, canonicalize},
};

/// Say why a page was judged as it was, why a link waits where it waits, or which rule keeps a URL out.
#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// The crawl's folder
    dir: PathBuf,
    /// The address of a page or link
    url: String,
}

/// All that is known of a URL.
#[derive(Debug, Serialize)]
pub(super) struct Why {
    url: String,
    /// What became of it, in words.
    fate: String,
    rules: Rules,
    page: Option<WhyPage>,
    link: Option<LinkReasons>,
    host: Option<HostState>,
    /// Links to it on fetched pages, and what became of them; at most [`LINKS`].
    linked_by: Vec<Linker>,
    /// How many there are.
    links: usize,
    /// From the seed to the page that it was first found on.
    path: Vec<Step>,
    threshold: f64,
}

/// A finished URL.
#[derive(Debug, Serialize)]
struct WhyPage {
    seq: u64,
    outcome: Outcome,
    reason: Option<String>,
    status: u16,
    title: String,
    fetched_at: String,
    /// A person's word.
    label: Option<bool>,
    reasons: Option<PageReasons>,
    /// What the link classifier expected of it, and from what; weights are those of now.
    estimate: f64,
    evidence: Vec<EvidencePart>,
    depth: u16,
    tunnel_depth: u8,
    copy_of: Option<Original>,
    /// The keywords it holds.
    keywords: Vec<String>,
}

/// What a page is a copy of.
#[derive(Debug, Serialize)]
struct Original {
    url: String,
    kind: CopyKind,
}

/// How a host stands.
#[derive(Debug, Serialize)]
struct HostState {
    name: String,
    requests: u64,
    fetched: u64,
    relevant: u64,
    failures: u64,
    throttled: u64,
    next_ready: String,
    delay_ms: u64,
    crawl_delay_ms: Option<u64>,
    /// Doublings of the time out that are not forgiven yet.
    strikes: u32,
}

/// A link to the URL on a fetched page.
#[derive(Debug, Serialize)]
struct Linker {
    url: String,
    anchor: String,
    relevance: f64,
    fate: serde_json::Value,
}

/// Links listed at most.
const LINKS: usize = 12;

pub(super) fn run(args: &WhyArgs, show: Show) -> anyhow::Result<ExitCode> {
    ensure!(Store::exists(&args.dir), "{}: no crawl here", args.dir.display());
    let url = canonicalize(&args.url, None).with_context(|| format!("{:?} is no address that a crawl can hold", args.url))?;
    let store = Store::open(&args.dir)?;
    let topic_file = args.dir.join("topic.toml");
    let topic = Topic::load(&topic_file)?;
    let config = Config::load(&args.dir.join("config.toml"))?;
    let kept = args.dir.join("model");
    let model = if kept.join("card.json").is_file() {
        Some(ModelBundle::open(&kept)?)
    } else {
        topic.model.as_deref().map(|name| load(name, &search_path(Some(&topic_file)))).transpose()?
    };
    let mut plan = config.plan(&topic, model)?;
    plan.labels = store.labels()?.iter().map(|(page, _, relevant)| (page, relevant)).collect();
    let crawl = Crawl::read_back(plan, &store)?;
    let why = Why::of(&url, &crawl, &store, &topic, &config)?;
    if show.json {
        println!("{}", serde_json::to_string(&why)?);
    } else {
        print!("{}", why.in_words());
    }
    Ok(ExitCode::SUCCESS)
}

impl Why {
    fn of(url: &Url, crawl: &Crawl, store: &Store, topic: &Topic, config: &Config) -> anyhow::Result<Self> {
        let fingerprint = Fingerprint::of(url);
        let page = store.page_by_fingerprint(fingerprint)?;
        let link = crawl.why_link(fingerprint);
        let depth = page.as_ref().map(|page| page.depth).or(link.as_ref().map(|link| link.depth)).unwrap_or(1);
        let (linked_by, links) = linkers(fingerprint, store)?;
        let path = path(page.as_ref(), link.as_ref(), linked_by.first(), store)?;
        Ok(Self {
            url: url.to_string(),
            fate: fate(url, Some(store))?,
            rules: Rules::of(url, depth, topic, config, Some(store))?,
            page: page.map(|page| why_page(page, crawl, store, topic)).transpose()?,
            link,
            host: store.host(&authority(url))?.map(host_state),
            linked_by,
            links,
            path,
            threshold: topic.threshold.get(),
        })
    }
}

fn why_page(page: PageRecord, crawl: &Crawl, store: &Store, topic: &Topic) -> anyhow::Result<WhyPage> {
    let copy_of = match page.copy_of {
        Some(copy) => store.page(copy.seq)?.map(|original| Original { url: original.url, kind: copy.kind }),
        None => None,
    };
    let reasons = Some(&page).filter(|page| page.outcome == Outcome::Fetched).and_then(|page| crawl.why_page(page));
    let held = reasons.iter().flat_map(|reasons| &reasons.keywords);
    let keywords = held.filter_map(|&at| topic.keywords.get(at)).map(|keyword| keyword.text.clone()).collect();
    let evidence = Evidence::from_slice(&page.evidence).filter(|_| page.source.is_some());
    Ok(WhyPage {
        seq: page.seq,
        outcome: page.outcome,
        status: page.status,
        fetched_at: page.fetched_at.to_string(),
        label: store.labels()?.get(page.fingerprint),
        estimate: page.estimate.get(),
        evidence: evidence.map(|evidence| crawl.evidence_parts(&evidence)).unwrap_or_default(),
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
    for page in store.pages(1)? {
        let page = page?;
        for link in store.outlinks(page.seq)?.into_iter().filter(|link| link.target == target) {
            number += 1;
            if linkers.len() < LINKS {
                let (url, relevance) = (page.url.clone(), page.relevance.get());
                linkers.push(Linker { url, anchor: link.anchor, relevance, fate: serde_json::to_value(link.fate)? });
            }
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

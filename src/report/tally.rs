//! Counts a crawl row by row: the figures of the summary, and the rows that the page shows.
//!
//! Promises: one pass, bounded memory: counters, a histogram, and the best few
//! rows of each kind.
//! Never: decides anything about wording or looks.

use std::{cmp::Ordering, collections::BTreeMap};

use crate::{
    page::{Outcome, TermBag, Timestamp},
    store::{Chosen, HostRecord, OutlinkRecord, PageRecord},
};

use super::{
    copies::CopyTally,
    drift::DriftTally,
    facts::CrawlFacts,
    forecast::Forecast,
    harvest::HarvestCurve,
    link_quality::EstimateHistogram,
    links_csv::fate_name,
    reasons::Reasons,
    share::Yield,
    summary::{
        Arm, Arms, Decoding, DepthYield, Dns, Harvest, HostCounts, LinkCounts, PageCounts, SCHEMA_VERSION, Summary, Timing,
    },
    top::Top,
};

/// Best pages that are kept: more than are shown, since near-duplicates are folded.
const BEST_PAGES: usize = 120;
const DUPLICATES: usize = 8;
const HOSTS: usize = 25;

/// Rows that the page shows, best first.
#[derive(Debug)]
pub(super) struct Highlights {
    pub best_pages: Vec<PageRecord>,
    pub duplicates: Vec<PageRecord>,
    /// Hosts with most relevant pages.
    pub sites: Vec<HostRecord>,
    /// Hosts with most requests.
    pub busiest_hosts: Vec<HostRecord>,
}

/// The figures while they are being counted.
pub(super) struct Tally {
    counts: PageCounts,
    excluded: Reasons,
    failed: Reasons,
    curve: HarvestCurve,
    estimates: EstimateHistogram,
    languages: BTreeMap<&'static str, Yield>,
    depths: BTreeMap<u16, Yield>,
    tunnel: BTreeMap<u16, Yield>,
    seed: Yield,
    order: Yield,
    random: Yield,
    explored: Yield,
    fates: BTreeMap<String, u64>,
    charsets: BTreeMap<String, u64>,
    damaged: u64,
    copies: CopyTally,
    drift: DriftTally,
    answers: u64,
    answer_ms: u64,
    longest_answer_ms: u64,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
    hosts: HostCounts,
    best_pages: Top<PageRecord>,
    duplicates: Top<PageRecord>,
    sites: Top<HostRecord>,
    busiest_hosts: Top<HostRecord>,
}

impl Tally {
    pub fn new() -> Self {
        Self {
            counts: PageCounts::default(),
            excluded: Reasons::default(),
            failed: Reasons::default(),
            curve: HarvestCurve::default(),
            estimates: EstimateHistogram::default(),
            languages: BTreeMap::new(),
            depths: BTreeMap::new(),
            tunnel: BTreeMap::new(),
            seed: Yield::default(),
            order: Yield::default(),
            random: Yield::default(),
            explored: Yield::default(),
            fates: BTreeMap::new(),
            charsets: BTreeMap::new(),
            damaged: 0,
            copies: CopyTally::default(),
            drift: DriftTally::default(),
            answers: 0,
            answer_ms: 0,
            longest_answer_ms: 0,
            first: None,
            last: None,
            hosts: HostCounts::default(),
            best_pages: Top::new(BEST_PAGES, best_page_first),
            duplicates: Top::new(DUPLICATES, best_page_first),
            sites: Top::new(HOSTS, richest_first),
            busiest_hosts: Top::new(HOSTS, busiest_first),
        }
    }

    /// Counts a finished URL; pages come by ascending `seq`.
    pub fn add_page(&mut self, mut page: PageRecord) {
        self.counts.finished += 1;
        *self.counts.by_outcome.entry(page.outcome.name()).or_default() += 1;
        if page.outcome == Outcome::Excluded {
            return self.excluded.add(page.reason.as_deref());
        }
        self.add_request(&page);
        if page.outcome == Outcome::Fetched && page.relevant {
            self.drift.add(&page);
        }
        // The evidence is long and not shown.
        page.evidence = Vec::new();
        page.terms = TermBag::default();
        match page.outcome {
            Outcome::Fetched => {
                self.add_fetched(&page);
                if page.relevant {
                    self.best_pages.add(page);
                }
            }
            Outcome::Duplicate => {
                self.copies.add(&page);
                self.duplicates.add(page);
            }
            Outcome::Failed => self.failed.add(page.reason.as_deref()),
            Outcome::Excluded | Outcome::Redirected | Outcome::Gone | Outcome::LinksOnly => {}
        }
    }

    fn add_request(&mut self, page: &PageRecord) {
        self.counts.requested += 1;
        self.counts.bytes += page.bytes;
        *self.counts.by_status.entry(page.status).or_default() += 1;
        if page.status != 0 {
            self.answers += 1;
            self.answer_ms += u64::from(page.elapsed_ms);
            self.longest_answer_ms = self.longest_answer_ms.max(u64::from(page.elapsed_ms));
        }
        self.first = Some(self.first.map_or(page.fetched_at, |first| first.min(page.fetched_at)));
        self.last = self.last.max(Some(page.fetched_at));
    }

    fn add_fetched(&mut self, page: &PageRecord) {
        let relevant = page.relevant;
        self.curve.add(relevant);
        self.languages.entry(page.language.code()).or_default().add(relevant);
        self.depths.entry(page.depth).or_default().add(relevant);
        self.tunnel.entry(u16::from(page.tunnel_depth)).or_default().add(relevant);
        let arm = match page.chosen {
            Chosen::Seed => &mut self.seed,
            Chosen::Order => &mut self.order,
            Chosen::Random => &mut self.random,
            Chosen::Explored => &mut self.explored,
        };
        arm.add(relevant);
        if page.chosen != Chosen::Seed {
            self.estimates.add(page.estimate.get(), relevant);
        }
        *self.charsets.entry(page.charset.clone()).or_default() += 1;
        self.damaged += u64::from(page.had_decode_errors);
    }

    pub fn add_links(&mut self, outlinks: &[OutlinkRecord]) {
        for link in outlinks {
            let fate = fate_name(link.fate);
            match self.fates.get_mut(fate.as_ref()) {
                Some(count) => *count += 1,
                None => drop(self.fates.insert(fate.into_owned(), 1)),
            }
        }
    }

    pub fn add_host(&mut self, mut host: HostRecord) {
        self.hosts.known += 1;
        self.hosts.asked += u64::from(host.requests > 0);
        self.hosts.with_relevant += u64::from(host.relevant > 0);
        self.hosts.throttled += u64::from(host.throttled > 0);
        self.hosts.requests += host.requests;
        // A robots.txt may be half a megabyte; its status is all that is shown.
        if let Some(robots) = &mut host.robots {
            robots.text = String::new();
        }
        if host.relevant > 0 {
            self.sites.add(host.clone());
        }
        if host.requests > 0 {
            self.busiest_hosts.add(host);
        }
    }

    pub fn finish(self, facts: &CrawlFacts) -> (Summary, Highlights) {
        let arm = |pages: Yield| Arm { pages, share: pages.estimate() };
        let all = self.curve.now().map_or(Yield::default(), |now| Yield { fetched: now.fetched, relevant: now.relevant });
        let summary = Summary {
            schema_version: SCHEMA_VERSION,
            topic: facts.topic_name.clone(),
            order: facts.order.clone(),
            threshold: facts.threshold,
            stop: facts.stop.clone(),
            timing: self.timing(facts),
            harvest: self.harvest(),
            forecast: Forecast::of(&self.curve.latest(), all.fetched, facts.state.waiting),
            pages: PageCounts {
                fetched: all.fetched,
                relevant: all.relevant,
                duplicates: self.counts.by_outcome.get(Outcome::Duplicate.name()).copied().unwrap_or(0),
                excluded: self.excluded.finish(),
                failed: self.failed.finish(),
                ..self.counts
            },
            languages: self.languages,
            depths: depth_yields(self.depths),
            tunnel: depth_yields(self.tunnel),
            arms: Arms { seed: arm(self.seed), order: arm(self.order), random: arm(self.random), explored: arm(self.explored) },
            link_model: self.estimates.quality(),
            model_versions: facts.model_versions,
            links: LinkCounts {
                discovered: facts.state.discovered,
                waiting: facts.state.waiting,
                by_fate: self.fates,
                refused: facts.state.refused.clone(),
                quarantined: facts.state.quarantined.clone(),
            },
            hosts: self.hosts,
            dns: facts.dns.map(|dns| Dns {
                lookups: dns.misses,
                failures: dns.failures,
                cache_hits: dns.hits,
                mean_ms: dns.lookup_ms.checked_div(dns.misses),
            }),
            decoding: Decoding {
                charsets: self.charsets,
                damaged: self.damaged,
                damaged_rate: (all.fetched > 0).then(|| self.damaged as f64 / all.fetched as f64),
            },
            copies: self.copies.finish(),
            drift: self.drift.finish(),
        };
        let highlights = Highlights {
            best_pages: self.best_pages.finish(),
            duplicates: self.duplicates.finish(),
            sites: self.sites.finish(),
            busiest_hosts: self.busiest_hosts.finish(),
        };
        (summary, highlights)
    }

    fn timing(&self, facts: &CrawlFacts) -> Timing {
        let clock = Some(facts.state.now).filter(|now| *now > Timestamp::default());
        Timing {
            started: facts.started.or(self.first).map(|time| time.to_string()),
            finished: clock.or(self.last).map(|time| time.to_string()),
            elapsed_ms: facts.state.elapsed_ms,
            mean_answer_ms: self.answer_ms.checked_div(self.answers),
            longest_answer_ms: (self.answers > 0).then_some(self.longest_answer_ms),
            virtual_time: facts.virtual_time,
        }
    }

    fn harvest(&self) -> Harvest {
        let now = self.curve.now();
        Harvest {
            overall: now.map(|now| now.relevant as f64 / now.fetched as f64),
            last_100: now.map(|now| now.harvest_100),
            last_1000: now.map(|now| now.harvest_1000),
            series: self.curve.series(),
        }
    }
}

fn depth_yields(depths: BTreeMap<u16, Yield>) -> Vec<DepthYield> {
    depths.into_iter().map(|(depth, pages)| DepthYield { depth, pages, harvest: pages.harvest() }).collect()
}

/// By relevance in steps of 0.001 (finer differences say nothing), then by settled rank, then the earlier page.
fn best_page_first(a: &PageRecord, b: &PageRecord) -> Ordering {
    let step = |page: &PageRecord| (page.relevance.get() * 1_000.0).round() as u32;
    step(b).cmp(&step(a)).then(b.rank.total_cmp(&a.rank)).then(a.seq.cmp(&b.seq))
}

fn richest_first(a: &HostRecord, b: &HostRecord) -> Ordering {
    b.relevant.cmp(&a.relevant).then(a.fetched.cmp(&b.fetched)).then_with(|| a.name.cmp(&b.name))
}

fn busiest_first(a: &HostRecord, b: &HostRecord) -> Ordering {
    b.requests.cmp(&a.requests).then_with(|| a.name.cmp(&b.name))
}

//! What Prometheus reads at `/metrics`, in the `OpenMetrics` text format.
//!
//! Promises: every family has HELP, TYPE and, where it measures something, a unit; labels are bounded: a crawl's id for at most
//! [`CRAWLS`] crawls (those that run first, then the newest), and states and rules by name.

use std::{fmt, sync::Arc, sync::atomic::AtomicU64};

use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{counter::Counter, family::Family, gauge::Gauge, info::Info},
    registry::{Registry, Unit},
};

use super::{
    alerts::free_mib,
    app::App,
    wire::{CrawlSummary, Rule, State},
};

/// Crawls that have series of their own.
const CRAWLS: usize = 200;

/// What the answer is.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

const STATES: [(State, &str); 7] = [
    (State::Queued, "queued"),
    (State::Running, "running"),
    (State::Paused, "paused"),
    (State::Stopping, "stopping"),
    (State::Stopped, "stopped"),
    (State::Finished, "finished"),
    (State::Failed, "failed"),
];

const RULES: [(Rule, &str); 5] = [
    (Rule::Stalled, "stalled"),
    (Rule::HarvestFell, "harvest_fell"),
    (Rule::DiskLow, "disk_low"),
    (Rule::ErrorRate, "error_rate"),
    (Rule::SeedsExhausted, "seeds_exhausted"),
];

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct OfCrawl {
    crawl: String,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct InState {
    state: &'static str,
}

#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ByRule {
    rule: &'static str,
}

type Counts = Family<OfCrawl, Counter>;
type Gauges = Family<OfCrawl, Gauge<f64, AtomicU64>>;

/// All metrics as text. Reads no crawl's disk, but asks how full the disk is.
pub fn text(app: &Arc<App>) -> Result<String, fmt::Error> {
    let mut registry = Registry::with_prefix("windrow");
    registry.register("build", "The version that runs", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
    let disk = Gauge::<f64, AtomicU64>::default();
    disk.set((free_mib(&app.options.dir).unwrap_or_default() << 20) as f64);
    registry.register_with_unit("disk_free", "Free space where the crawls lie", Unit::Bytes, disk);
    let slots = app.slots();
    let mut crawls: Vec<(CrawlSummary, u64)> =
        slots.iter().map(|slot| (slot.summary(), slot.tally(|tally| tally.errors))).collect();
    let asked = Counter::<u64>::default();
    asked.inc_by(app.rebuilt.made());
    registry.register("rebuilt_crawls", "Stopped crawls that were read back to answer a question", asked);
    whole_server(&mut registry, &crawls);
    crawls.sort_by_key(|(crawl, _)| !matches!(crawl.state, State::Running | State::Paused | State::Stopping));
    crawls.truncate(CRAWLS);
    of_crawls(&mut registry, &crawls);
    let mut text = String::new();
    encode(&mut text, &registry)?;
    Ok(text)
}

fn whole_server(registry: &mut Registry, crawls: &[(CrawlSummary, u64)]) {
    let states: Family<InState, Gauge> = Family::default();
    for (state, name) in STATES {
        let number = crawls.iter().filter(|(crawl, _)| crawl.state == state).count();
        states.get_or_create(&InState { state: name }).set(i64::try_from(number).unwrap_or(i64::MAX));
    }
    registry.register("crawls", "Crawls of this server by state", states);
    let rules: Family<ByRule, Gauge> = Family::default();
    for (rule, name) in RULES {
        let number = crawls.iter().flat_map(|(crawl, _)| &crawl.alerts).filter(|alert| alert.rule == rule).count();
        rules.get_or_create(&ByRule { rule: name }).set(i64::try_from(number).unwrap_or(i64::MAX));
    }
    registry.register("alerts", "Alerts in force by rule", rules);
}

fn of_crawls(registry: &mut Registry, crawls: &[(CrawlSummary, u64)]) {
    let [pages, relevant, errors, bytes] = [(); 4].map(|()| Counts::default());
    let [waiting, hosts, harvest, rate] = [(); 4].map(|()| Gauges::default());
    for (crawl, failed) in crawls {
        let label = OfCrawl { crawl: crawl.id.clone() };
        pages.get_or_create(&label).inc_by(crawl.fetched);
        relevant.get_or_create(&label).inc_by(crawl.relevant);
        errors.get_or_create(&label).inc_by(*failed);
        bytes.get_or_create(&label).inc_by(crawl.bytes);
        waiting.get_or_create(&label).set(crawl.waiting as f64);
        hosts.get_or_create(&label).set(crawl.active_hosts as f64);
        harvest.get_or_create(&label).set(crawl.recent_harvest);
        rate.get_or_create(&label).set(crawl.pages_per_second);
    }
    registry.register("pages", "Pages fetched", pages);
    registry.register("relevant_pages", "Pages fetched that are about the topic", relevant);
    registry.register("failed_fetches", "Fetches that brought no page", errors);
    registry.register_with_unit("fetched", "Decoded bytes of pages", Unit::Bytes, bytes);
    registry.register("waiting_links", "Links that wait to be fetched", waiting);
    registry.register("active_hosts", "Hosts with waiting links", hosts);
    let help = "Share of relevant pages among the last 100, from 0 to 1";
    registry.register_with_unit("recent_harvest", help, Unit::Ratios, harvest);
    registry.register("pages_per_second", "Pages a second lately", rate);
}

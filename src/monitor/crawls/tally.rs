//! What is noticed of a crawl as its pages come in: its course, its days, its tunnels. `monitor/tally.json` in its folder.
//!
//! Promises: every finished URL is counted once, whether it came while the server watched or before; as many points are kept
//! as a chart can show, however long the crawl.
//! Never: judges; it counts what the crawl wrote.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::{
    monitor::wire::{Control, Day, Point, TunnelDepth},
    page::Outcome,
    store::{Chosen, PageRecord},
};

/// Points that are kept, at most; every second goes when there are more.
const POINTS: usize = 400;
/// Pages of which recent harvest and error rate are.
const RECENT: usize = 100;
/// Days that are kept.
const DAYS: usize = 800;

/// What a crawl shows beside its pages when they are counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen {
    /// Now, in milliseconds since 1970.
    pub at_ms: u64,
    /// Waiting links, and pages a second lately.
    pub waiting: u64,
    pub pages_per_second: f64,
    /// The crawl's own clock, and how long it had run by then.
    pub crawl_now: u64,
    pub elapsed_ms: u64,
    /// Times of a replay are those of its recording.
    pub virtual_time: bool,
}

/// Counts of one crawl.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// The last finished URL that is counted.
    pub seq: u64,
    pub fetched: u64,
    pub relevant: u64,
    pub bytes: u64,
    pub errors: u64,
    pub control: Control,
    tunnel: BTreeMap<u8, (u64, u64)>,
    recent: VecDeque<bool>,
    /// Of the last fetches, which failed.
    recent_errors: VecDeque<bool>,
    points: Vec<Kept>,
    /// A point every so many pages.
    every: u64,
    days: BTreeMap<String, Counts>,
    /// When the last page was counted, in milliseconds since 1970.
    pub last_page_ms: u64,
}

/// A point, without what follows from its neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Kept {
    pages: u64,
    elapsed_ms: u64,
    at_ms: u64,
    relevant: u64,
    recent: f32,
    control: Option<f32>,
    waiting: u64,
    rate: f32,
    errors: u64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Counts {
    fetched: u64,
    relevant: u64,
    #[serde(default)]
    changed: u64,
    #[serde(default)]
    unchanged: u64,
    #[serde(default)]
    gone: u64,
}

impl Tally {
    /// Counts a finished URL.
    pub fn add(&mut self, page: &PageRecord, seen: &Seen) {
        self.seq = self.seq.max(page.seq);
        self.last_page_ms = seen.at_ms;
        let failed = page.outcome == Outcome::Failed;
        let is_document = matches!(page.outcome, Outcome::Fetched | Outcome::Duplicate);
        self.errors += u64::from(failed);
        if page.outcome != Outcome::Excluded {
            remember(&mut self.recent_errors, failed);
        }
        if !is_document {
            return;
        }
        self.fetched += 1;
        self.relevant += u64::from(page.relevant);
        self.bytes += page.bytes;
        remember(&mut self.recent, page.relevant);
        if page.chosen == Chosen::Random {
            self.control.fetched += 1;
            self.control.relevant += u64::from(page.relevant);
        } else if page.chosen != Chosen::Seed {
            let depth = self.tunnel.entry(page.tunnel_depth).or_default();
            depth.0 += 1;
            depth.1 += u64::from(page.relevant);
        }
        let day_of = if seen.virtual_time { seen.at_ms } else { page.fetched_at.0 };
        let day = self.day(day_of);
        day.fetched += 1;
        day.relevant += u64::from(page.relevant);
        if self.fetched.is_multiple_of(self.every.max(1)) {
            self.mark(page, seen);
        }
    }

    /// Counts pages that were asked for again.
    pub fn add_refreshed(&mut self, at_ms: u64, changed: u64, unchanged: u64, gone: u64) {
        let day = self.day(at_ms);
        day.changed += changed;
        day.unchanged += unchanged;
        day.gone += gone;
    }

    fn day(&mut self, at_ms: u64) -> &mut Counts {
        let at = i64::try_from(at_ms).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok()).unwrap_or_default();
        if self.days.len() > DAYS {
            self.days.pop_first();
        }
        self.days.entry(at.strftime("%Y-%m-%d").to_string()).or_default()
    }

    fn mark(&mut self, page: &PageRecord, seen: &Seen) {
        let ago = seen.crawl_now.saturating_sub(page.fetched_at.0);
        let control = self.control;
        self.points.push(Kept {
            pages: self.fetched,
            elapsed_ms: seen.elapsed_ms.saturating_sub(ago),
            at_ms: if seen.virtual_time { seen.at_ms } else { page.fetched_at.0 },
            relevant: self.relevant,
            recent: self.recent_harvest() as f32,
            control: (control.fetched > 0).then(|| control.relevant as f32 / control.fetched as f32),
            waiting: seen.waiting,
            rate: seen.pages_per_second as f32,
            errors: self.errors,
        });
        if self.points.len() > POINTS {
            self.every = self.every.max(1) * 2;
            let every = self.every;
            self.points.retain(|point| point.pages.is_multiple_of(every));
        }
    }

    /// Share of relevant pages among the last hundred.
    pub fn recent_harvest(&self) -> f64 {
        share(&self.recent)
    }

    /// Share of failures among the last hundred fetches, and how many those are.
    pub fn recent_errors(&self) -> (f64, usize) {
        (share(&self.recent_errors), self.recent_errors.len())
    }

    pub fn tunnel(&self) -> Vec<TunnelDepth> {
        let depth = |(&depth, &(fetched, relevant)): (&u8, &(u64, u64))| TunnelDepth { depth, fetched, relevant };
        self.tunnel.iter().map(depth).collect()
    }

    /// At most `number` points, evenly over the pages, the last among them.
    pub fn points(&self, number: usize) -> Vec<Point> {
        thinned(&self.points, number).map(Kept::point).collect()
    }

    /// Recent harvest over time, at most 40 numbers.
    pub fn spark(&self) -> Vec<f64> {
        thinned(&self.points, 40).map(|point| rounded(f64::from(point.recent))).collect()
    }

    pub fn by_day(&self) -> Vec<Day> {
        let day = |(day, counts): (&String, &Counts)| {
            let Counts { fetched, relevant, changed, unchanged, gone } = *counts;
            Day { day: day.clone(), fetched, relevant, changed, unchanged, gone }
        };
        self.days.iter().map(day).collect()
    }
}

impl Kept {
    fn point(&self) -> Point {
        let at = i64::try_from(self.at_ms).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
        Point {
            pages: self.pages,
            elapsed_ms: self.elapsed_ms,
            at: crate::monitor::files::time(at.unwrap_or_default()),
            harvest: rounded(self.relevant as f64 / self.pages.max(1) as f64),
            recent_harvest: rounded(f64::from(self.recent)),
            control_harvest: self.control.map(|control| rounded(f64::from(control))),
            waiting: self.waiting,
            pages_per_second: rounded(f64::from(self.rate)),
            errors: self.errors,
        }
    }
}

/// Four digits are enough for a chart.
fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

fn thinned(points: &[Kept], number: usize) -> impl Iterator<Item = &Kept> {
    let step = points.len().div_ceil(number.max(1)).max(1);
    let last = points.len().wrapping_sub(1);
    points.iter().enumerate().filter(move |(at, _)| (last.wrapping_sub(*at)).is_multiple_of(step)).map(|(_, point)| point)
}

fn remember(window: &mut VecDeque<bool>, value: bool) {
    if window.len() == RECENT {
        window.pop_front();
    }
    window.push_back(value);
}

fn share(window: &VecDeque<bool>) -> f64 {
    if window.is_empty() { 0.0 } else { window.iter().filter(|&&hit| hit).count() as f64 / window.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fetch::Validators,
        page::{Relevance, Timestamp},
        text::Language,
        url::Fingerprint,
    };

    fn page(seq: u64, relevant: bool) -> PageRecord {
        PageRecord {
            seq,
            url: format!("http://e.com/{seq}"),
            fingerprint: Fingerprint(seq),
            outcome: Outcome::Fetched,
            status: 200,
            reason: None,
            relevance: Relevance::new(f64::from(u8::from(relevant))),
            relevant,
            priority: 0.0,
            estimate: Relevance::NONE,
            depth: 1,
            tunnel_depth: 0,
            host: "e.com".to_owned(),
            source: None,
            source_url: None,
            anchor: String::new(),
            fetched_at: Timestamp(1_795_219_200_000 + seq * 1_000),
            elapsed_ms: 0,
            bytes: 10,
            content_type: String::new(),
            charset: String::new(),
            language: Language::Other,
            title: String::new(),
            excerpt: String::new(),
            model_version: 0,
            digest: 0,
            simhash: 0,
            archive: None,
            evidence: Vec::new(),
            terms: crate::page::TermBag::default(),
            rank: 0.0,
            residual: 0.0,
            chosen: if seq.is_multiple_of(10) { Chosen::Random } else { Chosen::Order },
            had_decode_errors: false,
            copy_of: None,
            validators: Validators::default(),
        }
    }

    #[test]
    fn a_long_crawl_keeps_few_points_and_the_right_sums() {
        let mut tally = Tally::default();
        for seq in 1..=10_000 {
            tally.add(&page(seq, seq % 4 == 0), &Seen { crawl_now: 1_795_219_200_000 + seq * 1_000, ..Seen::default() });
        }
        assert_eq!((tally.fetched, tally.relevant), (10_000, 2_500));
        assert_eq!((tally.control.fetched, tally.control.relevant), (1_000, 500));
        assert!((tally.recent_harvest() - 0.25).abs() < 1e-9);
        let points = tally.points(200);
        assert!((100..=200).contains(&points.len()), "{}", points.len());
        assert!(points.windows(2).all(|pair| pair[0].pages < pair[1].pages));
        assert!(points.last().unwrap().pages > 9_900);
        assert!((points.last().unwrap().harvest - 0.25).abs() < 0.01);
        assert!(tally.spark().len() <= 40);
        assert_eq!(tally.by_day().len(), 1);
        let read: Tally = serde_json::from_slice(&serde_json::to_vec(&tally).unwrap()).unwrap();
        assert_eq!(read, tally);
    }

    #[test]
    fn days_keep_what_was_asked_for_again() {
        let mut tally = Tally::default();
        tally.add(&page(1, true), &Seen::default());
        tally.add_refreshed(1_795_219_200_000, 1, 5, 2);
        let days = tally.by_day();
        assert_eq!((days[0].fetched, days[0].changed, days[0].unchanged, days[0].gone), (1, 1, 5, 2));
        assert_eq!(days[0].day, "2026-11-21");
    }
}

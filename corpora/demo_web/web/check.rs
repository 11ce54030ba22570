//! The self-check: walks the recorded web as a polite crawler would, and measures what it promises.
//!
//! Promises: reads only what was recorded (markup, headers, robots.txt), not
//! the plan; follows redirects, frames and `<base>`; obeys robots.txt,
//! `nofollow` and status codes.
//! Never: changes the web.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
};

use scraper::{Html, Selector};
use windrow::url::{Url, authority, canonicalize, same_page_key};

use super::{Record, TARGET, Web};

/// Irrelevant pages in a row that the check tries, and one more.
const DEEPEST: usize = 4;

/// What the web turned out to be.
#[derive(Debug)]
pub struct Findings {
    pub records: usize,
    pub pages: usize,
    pub chinese: usize,
    pub hosts: usize,
    pub targets: usize,
    pub target_hosts: usize,
    /// Targets by the least number of irrelevant pages in a row on the way to them.
    pub by_run: [usize; DEEPEST + 1],
    pub unreachable: Vec<String>,
    pub bytes: usize,
}

/// Walks the web; `bytes` is the size of its archive.
pub fn examine(web: &Web, bytes: usize) -> Findings {
    let graph = Graph::of(web);
    let targets: BTreeSet<&String> = web.labels.iter().filter(|(_, label)| *label == TARGET).map(|(url, _)| url).collect();
    let mut found = BTreeSet::new();
    let mut by_run = [0; DEEPEST + 1];
    for (run, count) in by_run.iter_mut().enumerate() {
        let reached = graph.reached(web, run);
        let new: Vec<&String> =
            targets.iter().copied().filter(|url| reached.contains(url.as_str()) && !found.contains(url)).collect();
        *count = new.len();
        found.extend(new);
    }
    let hosts = |urls: &mut dyn Iterator<Item = &String>| urls.filter_map(|url| host(url)).collect::<BTreeSet<_>>().len();
    Findings {
        records: web.records.len(),
        pages: web.labels.len(),
        chinese: web.labels.keys().filter(|url| host(url).is_some_and(|host| web.chinese_hosts.contains(&host))).count(),
        hosts: hosts(&mut web.labels.keys()),
        targets: targets.len(),
        target_hosts: hosts(&mut targets.iter().copied()),
        by_run,
        unreachable: targets.into_iter().filter(|url| !found.contains(url)).cloned().collect(),
        bytes,
    }
}

fn host(url: &str) -> Option<String> {
    Url::parse(url).ok().map(|url| authority(&url))
}

impl Findings {
    /// The promises that do not hold, in words.
    pub fn broken_promises(&self) -> Vec<String> {
        let behind: usize = self.by_run[1..].iter().sum();
        let percent = |part: usize, whole: usize| part * 100 / whole.max(1);
        let promises = [
            ((1_800..=2_300).contains(&self.pages), format!("about 2,000 pages, not {}", self.pages)),
            ((38..=46).contains(&self.hosts), format!("about 40 hosts, not {}", self.hosts)),
            ((350..=450).contains(&self.targets), format!("350 to 450 targets, not {}", self.targets)),
            ((12..=18).contains(&self.target_hosts), format!("targets on 12 to 18 hosts, not {}", self.target_hosts)),
            ((60..=72).contains(&percent(self.chinese, self.pages)), format!("two thirds Chinese, not {}", self.chinese)),
            (self.unreachable.is_empty(), format!("every target reachable; these are not: {:?}", self.unreachable)),
            ((25..=38).contains(&percent(behind, self.targets)), format!("about 30 % behind irrelevant pages, not {behind}")),
            (self.by_run[1..4].iter().all(|n| *n >= 20), "at least 20 targets behind each of 1, 2 and 3 pages".to_owned()),
            (self.by_run[4] == 0, "no target behind more than 3 irrelevant pages".to_owned()),
            (self.bytes <= 5 << 20, format!("at most 5 MB, not {} bytes", self.bytes)),
        ];
        promises.into_iter().filter(|(holds, _)| !holds).map(|(_, promise)| promise).collect()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reachable: usize = self.by_run.iter().sum();
        writeln!(f, "records              {:>8}", self.records)?;
        writeln!(f, "pages (200, HTML)    {:>8}  of them Chinese {}", self.pages, self.chinese)?;
        writeln!(f, "hosts with pages     {:>8}", self.hosts)?;
        writeln!(f, "targets              {:>8}  on {} hosts", self.targets, self.target_hosts)?;
        writeln!(f, "reachable targets    {reachable:>8}")?;
        for (run, targets) in self.by_run.iter().enumerate() {
            writeln!(f, "  behind {run} irrelevant {targets:>6}")?;
        }
        write!(f, "archive, kilobytes   {:>8}", self.bytes / 1024)
    }
}

/// Who leads where, as a crawler may follow it.
struct Graph<'a> {
    /// Recorded URL → URLs that were recorded and may be fetched.
    links: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> Graph<'a> {
    fn of(web: &'a Web) -> Self {
        let index = Index::of(web);
        let mut links = BTreeMap::new();
        for record in &web.records {
            let targets = outlinks(record).into_iter().filter_map(|url| index.resolve(&url)).collect();
            links.insert(record.url.as_str(), targets);
        }
        Self { links }
    }

    /// Every URL that can be reached with at most `run` irrelevant pages in a row. Redirects do not count.
    fn reached(&self, web: &'a Web, run: usize) -> BTreeSet<&'a str> {
        let mut best: BTreeMap<&str, usize> = BTreeMap::new();
        let mut queue: VecDeque<(&str, usize)> = web.seeds.iter().map(|seed| (seed.as_str(), 0)).collect();
        while let Some((url, so_far)) = queue.pop_front() {
            let Some((url, targets)) = self.links.get_key_value(url) else { continue };
            let here = match web.labels.get(*url).map(String::as_str) {
                Some(TARGET) => 0,
                Some(_) => so_far + 1,
                None => so_far,
            };
            if here > run || best.get(url).is_some_and(|known| *known <= here) {
                continue;
            }
            best.insert(url, here);
            queue.extend(targets.iter().map(|target| (*target, here)));
        }
        best.into_keys().collect()
    }
}

/// Finds recorded URLs by any of their spellings, and knows which ones robots.txt forbids.
struct Index<'a> {
    exact: BTreeMap<String, &'a str>,
    same_page: BTreeMap<String, &'a str>,
    disallowed: BTreeMap<String, Vec<String>>,
}

impl<'a> Index<'a> {
    fn of(web: &'a Web) -> Self {
        let mut index = Self { exact: BTreeMap::new(), same_page: BTreeMap::new(), disallowed: BTreeMap::new() };
        for record in &web.records {
            let Ok(url) = canonicalize(&record.url, None) else { continue };
            index.exact.insert(url.to_string(), &record.url);
            if record.status == 200 {
                index.same_page.insert(same_page_key(&url), &record.url);
            }
            if url.path() == "/robots.txt" {
                index.disallowed.insert(authority(&url), disallowed(record));
            }
        }
        index
    }

    fn resolve(&self, url: &Url) -> Option<&'a str> {
        let rules = self.disallowed.get(&authority(url));
        if rules.is_some_and(|rules| rules.iter().any(|prefix| url.path().starts_with(prefix.as_str()))) {
            return None;
        }
        self.exact.get(url.as_str()).or_else(|| self.same_page.get(&same_page_key(url))).copied()
    }
}

/// Path prefixes that a robots.txt forbids to everyone; all of them where the server failed (RFC 9309, 2.3.1.4).
fn disallowed(robots: &Record) -> Vec<String> {
    if robots.status >= 500 {
        return vec!["/".to_owned()];
    }
    let text = String::from_utf8_lossy(&robots.body);
    let mut prefixes = Vec::new();
    let mut for_all = false;
    for line in text.lines().filter(|_| robots.status == 200) {
        if let Some(agent) = line.strip_prefix("User-agent: ") {
            for_all = agent == "*";
        } else if let Some(prefix) = line.strip_prefix("Disallow: ").filter(|_| for_all) {
            prefixes.push(prefix.to_owned());
        }
    }
    prefixes
}

fn outlinks(record: &Record) -> Vec<Url> {
    let Ok(own) = canonicalize(&record.url, None) else { return Vec::new() };
    let header = |name: &str| record.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str());
    if let Some(location) = header("Location") {
        return canonicalize(location, Some(&own)).into_iter().collect();
    }
    if record.status != 200 || !header("Content-Type").is_some_and(|kind| kind.starts_with("text/html")) {
        return Vec::new();
    }
    // Addresses are ASCII, so the encoding does not matter here.
    let html = Html::parse_document(&String::from_utf8_lossy(&record.body));
    if first(&html, "meta[name=robots]", "content").is_some_and(|content| content.contains("nofollow")) {
        return Vec::new();
    }
    let base = first(&html, "base[href]", "href").and_then(|base| canonicalize(&base, Some(&own)).ok()).unwrap_or(own);
    let followed = select(&html, "a[href]:not([rel=nofollow])", "href").into_iter().chain(select(&html, "frame[src]", "src"));
    followed.filter_map(|href| canonicalize(&href, Some(&base)).ok()).collect()
}

fn first(html: &Html, selector: &str, attribute: &str) -> Option<String> {
    select(html, selector, attribute).into_iter().next()
}

fn select(html: &Html, selector: &str, attribute: &str) -> Vec<String> {
    let Ok(selector) = Selector::parse(selector) else { return Vec::new() };
    html.select(&selector).filter_map(|element| element.attr(attribute)).map(str::to_owned).collect()
}

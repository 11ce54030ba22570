//! The report as a whole, on a made-up crawl.
//!
//! To look at the pages, set `WINDROW_REPORT_PREVIEW` to a folder: they are then written there and stay.

pub(super) mod fixture;

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    page::{Outcome, Relevance},
    report::{CrawlFacts, RowError, RowStream, Rows, strings::EN, write_report},
    store::{HostRecord, OutlinkFate, OutlinkRecord, PageRecord},
    text::Language,
    url::{Fingerprint, Refusal},
};

use fixture::{MemoryRows, crawl, facts, page};

/// A folder that lives as long as the test, and what stands in a report's file.
struct Report {
    dir: tempfile::TempDir,
}

impl Report {
    fn of(rows: &MemoryRows, facts: &CrawlFacts) -> Self {
        let dir = tempfile::tempdir().unwrap();
        write_report(rows, facts, dir.path()).unwrap();
        Self { dir }
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.dir.path().join(name)).unwrap()
    }

    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text("summary.json")).unwrap()
    }
}

fn rows(pages: Vec<PageRecord>) -> MemoryRows {
    MemoryRows { pages, ..MemoryRows::default() }
}

#[test]
fn pages_csv_has_exactly_the_promised_columns_and_quotes_as_rfc_4180_asks() {
    let mut fetched = page(2, "http://a.example/x");
    fetched.title = "Say \"bees\",\nplease".to_owned();
    fetched.relevance = Relevance::new(0.75);
    fetched.relevant = true;
    fetched.anchor = "蜂群, 越冬".to_owned();
    fetched.source_url = Some("http://a.example/".to_owned());
    let mut excluded = page(3, "http://a.example/private");
    excluded.outcome = Outcome::Excluded;
    excluded.reason = Some("robots.txt forbids it".to_owned());
    let report = Report::of(&rows(vec![page(1, "http://a.example/"), fetched, excluded]), &CrawlFacts::default());
    let pages = report.text("pages.csv");
    let lines: Vec<&str> = pages.lines().collect();
    assert_eq!(
        lines[0],
        "seq,url,outcome,status,relevance,relevant,priority,depth,tunnel_depth,host,source_url,anchor,fetched_at,bytes,\
         content_type,charset,language,title,model_version"
    );
    assert_eq!(
        lines[2],
        "2,http://a.example/x,fetched,200,0.7500,true,0.500000,0,0,a.example,http://a.example/,\"蜂群, 越冬\",\
         2026-11-21T00:00:02Z,20000,text/html,utf-8,en,\"Say \"\"bees\"\", please\",1"
    );
    assert_eq!(lines.len(), 3, "one row per requested URL, in order: {pages}");
    assert_eq!(report.text("excluded.csv"), "url,reason\nhttp://a.example/private,robots.txt forbids it\n");
}

#[test]
fn every_row_of_pages_csv_can_be_read_back() {
    let report = Report::of(&crawl(), &facts(Language::En));
    let text = report.text("pages.csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let requested = crawl().pages.iter().filter(|page| page.outcome != Outcome::Excluded).count();
    assert_eq!(rows.len(), requested);
    let seqs: Vec<u64> = rows.iter().map(|row| row[0].parse().unwrap()).collect();
    assert!(seqs.is_sorted() && rows.iter().all(|row| row.len() == 19));
}

#[test]
fn links_and_hosts_say_what_became_of_them() {
    let mut web = rows(vec![page(1, "http://a.example/")]);
    let link = |url: &str, fate| OutlinkRecord { target: Fingerprint(1), url: url.to_owned(), anchor: "go".to_owned(), fate };
    web.outlinks.insert(
        1,
        vec![
            link("http://a.example/b", OutlinkFate::Queued),
            link("http://b.example/c.zip", OutlinkFate::Refused(Refusal::Extension)),
        ],
    );
    let host = HostRecord { name: "a.example".to_owned(), requests: 2, delay_ms: 1_000, ..HostRecord::default() };
    web.hosts.push(host);
    let report = Report::of(&web, &CrawlFacts::default());
    assert_eq!(
        report.text("links.csv"),
        "source_seq,source_url,target_url,anchor,fate\n\
         1,http://a.example/,http://a.example/b,go,queued\n\
         1,http://a.example/,http://b.example/c.zip,go,refused:scope.exclude_extensions\n"
    );
    assert_eq!(
        report.text("hosts.csv"),
        "host,requests,fetched,relevant,harvest,failures,throttled,bytes,robots_status,robots_fetched_at,crawl_delay_ms,delay_ms,\
         last_elapsed_ms,shortest_pause_ms\na.example,2,0,0,,0,0,0,,,,1000,0,\n"
    );
}

#[test]
fn the_summary_agrees_with_the_rows() {
    let web = crawl();
    let json = Report::of(&web, &facts(Language::En)).json();
    let fetched: Vec<&PageRecord> = web.pages.iter().filter(|page| page.outcome == Outcome::Fetched).collect();
    let relevant = fetched.iter().filter(|page| page.relevant).count();
    assert_eq!(json["schema_version"], 1);
    assert_eq!(json["pages"]["finished"], 320);
    assert_eq!(json["pages"]["fetched"], fetched.len());
    assert_eq!(json["pages"]["relevant"], relevant);
    let overall = json["harvest"]["overall"].as_f64().unwrap();
    assert!((overall - relevant as f64 / fetched.len() as f64).abs() < 1e-9);
    let last_100 = fetched.iter().rev().take(100).filter(|page| page.relevant).count() as f64 / 100.0;
    assert!((json["harvest"]["last_100"].as_f64().unwrap() - last_100).abs() < 1e-9);
    let sum = |path: &str| json[path].as_array().unwrap().iter().map(|row| row["fetched"].as_u64().unwrap()).sum::<u64>();
    assert_eq!((sum("tunnel"), sum("depths")), (fetched.len() as u64, fetched.len() as u64));
    let arms = ["seed", "order", "random"].map(|arm| json["arms"][arm]["fetched"].as_u64().unwrap());
    assert_eq!(arms.iter().sum::<u64>(), fetched.len() as u64);
    assert_eq!(json["link_model"]["judged"], arms[1] + arms[2]);
    assert!(json["link_model"]["auc"].as_f64().unwrap() > 0.6, "the made-up estimates are informed");
    assert_eq!(json["stop"]["name"], "max-pages");
    assert_eq!(json["dns"], serde_json::json!({ "lookups": 9, "failures": 1, "cache_hits": 611, "mean_ms": 40 }));
    let outcomes = json["pages"]["by_outcome"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum::<u64>();
    assert_eq!(outcomes, 320);
}

#[test]
fn an_empty_crawl_gives_a_whole_report() {
    for language in [Language::En, Language::Zh] {
        let report = Report::of(&MemoryRows::default(), &CrawlFacts { language, ..CrawlFacts::default() });
        assert_eq!(report.text("pages.csv").lines().count(), 1);
        let html = report.text("report.html");
        assert!(html.ends_with("</html>") && !html.contains("NaN") && !html.contains("inf%"));
        assert!(report.json()["harvest"]["overall"].is_null());
        assert!(report.json()["dns"].is_null(), "a recorded web has no names to look up");
    }
}

#[test]
fn the_page_loads_nothing_and_runs_only_its_own_script() {
    for language in [Language::En, Language::Zh] {
        let html = Report::of(&crawl(), &facts(language)).text("report.html");
        for load in ["src=", "<link", "@import", "url(", "<img", "<iframe", "<object", "<base"] {
            assert!(!html.contains(load), "{load}");
        }
        assert_eq!(html.matches("<script").count(), 1);
        assert!(html.contains("default-src 'none'") && html.contains("script-src 'sha256-"));
    }
}

#[test]
fn hostile_texts_from_the_web_stay_text() {
    let attack = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\"'>";
    let mut first = page(1, "http://a.example/");
    let mut second = page(2, "http://a.example/2");
    for page in [&mut first, &mut second] {
        (page.title, page.excerpt, page.anchor) = (attack.to_owned(), attack.to_owned(), attack.to_owned());
        (page.relevant, page.relevance) = (true, Relevance::FULL);
    }
    (second.source, second.source_url) = (Some(first.fingerprint), Some(first.url.clone()));
    second.url = "javascript:alert(1)".to_owned();
    let mut duplicate = page(3, "http://a.example/3");
    (duplicate.outcome, duplicate.reason) = (Outcome::Duplicate, Some(attack.to_owned()));
    let mut failed = page(4, "http://a.example/4");
    (failed.outcome, failed.reason) = (Outcome::Failed, Some(attack.to_owned()));
    let mut web = rows(vec![first, second, duplicate, failed]);
    web.hosts.push(HostRecord { name: attack.to_owned(), requests: 1, relevant: 1, ..HostRecord::default() });
    let facts = CrawlFacts {
        topic_name: attack.to_owned(),
        keywords: vec![attack.to_owned(), "alert".to_owned()],
        seeds: vec![attack.to_owned()],
        top_terms: vec![(attack.to_owned(), 1.0)],
        ..facts(Language::En)
    };
    let html = Report::of(&web, &facts).text("report.html");
    assert_eq!(html.matches("<script").count(), 1);
    assert!(!html.contains("<img") && !html.contains("href=\"javascript"));
    assert!(html.contains("&lt;script&gt;"));
}

#[test]
fn the_page_says_in_words_what_was_found_and_how_each_page_was_reached() {
    let mut seed = page(1, "http://a.example/");
    let mut bridge = page(2, "http://a.example/links");
    let mut find = page(3, "http://b.example/hive");
    seed.title = "Start here".to_owned();
    (bridge.title, bridge.anchor) = ("Link list".to_owned(), "more links".to_owned());
    (find.title, find.anchor, find.relevant) = ("The hive".to_owned(), "hives".to_owned(), true);
    find.excerpt = "All about hives and bees.".to_owned();
    (bridge.source, bridge.source_url) = (Some(seed.fingerprint), Some(seed.url.clone()));
    (find.source, find.source_url) = (Some(bridge.fingerprint), Some(bridge.url.clone()));
    let html = Report::of(&rows(vec![seed, bridge, find]), &facts(Language::En)).text("report.html");
    assert!(html.contains("fetched <strong>3</strong> pages and judged <strong>1</strong>"));
    assert!(html.contains("Reached from the seed <bdi>a.example</bdi> in 2 links"));
    let way = html.split("class=\"way\"").nth(1).unwrap();
    let places = ["Start here", "more links", "Link list", "hives"].map(|text| way.find(text).unwrap());
    assert!(places.is_sorted());
    assert!(html.contains("All about <mark>hives</mark> and <mark>bees</mark>."));
}

#[test]
fn sources_in_a_circle_or_missing_do_not_hang() {
    let mut first = page(1, "http://a.example/1");
    let mut second = page(2, "http://a.example/2");
    let mut lost = page(3, "http://a.example/3");
    for page in [&mut first, &mut second, &mut lost] {
        page.relevant = true;
    }
    (first.source, first.source_url) = (Some(second.fingerprint), Some(second.url.clone()));
    (second.source, second.source_url) = (Some(first.fingerprint), Some(first.url.clone()));
    (lost.source, lost.source_url) = (Some(Fingerprint(9)), Some("http://gone.example/".to_owned()));
    let html = Report::of(&rows(vec![first, second, lost]), &CrawlFacts::default()).text("report.html");
    assert!(html.contains("gone.example"));
}

#[test]
fn near_duplicates_among_the_best_are_folded() {
    let pages = (0..5).map(|at| {
        let mut page = page(at + 1, &format!("http://a.example/{at}"));
        (page.relevant, page.simhash) = (true, 0xF0F0 ^ u64::from(at > 0));
        page
    });
    let html = Report::of(&rows(pages.collect()), &CrawlFacts::default()).text("report.html");
    assert_eq!(html.matches("<article>").count(), 1);
    assert!(html.contains("4 more of nearly the same text"));
}

#[test]
fn the_same_rows_give_the_same_bytes_and_replace_an_older_report() {
    let once = Report::of(&crawl(), &facts(Language::Zh));
    write_report(&crawl(), &facts(Language::En), once.dir.path()).unwrap();
    let twice = Report::of(&crawl(), &facts(Language::En));
    for name in ["pages.csv", "excluded.csv", "links.csv", "hosts.csv", "summary.json", "report.html"] {
        assert_eq!(once.text(name), twice.text(name), "{name}");
    }
    assert_eq!(fs::read_dir(once.dir.path()).unwrap().count(), 6, "no partial file is left");
}

#[test]
fn rows_that_cannot_be_read_end_the_report_with_their_name() {
    struct Broken;
    impl Rows for Broken {
        fn pages(&self) -> RowStream<'_, PageRecord> {
            Box::new(std::iter::once(Err("page 7 is cut off".into())))
        }
        fn hosts(&self) -> RowStream<'_, HostRecord> {
            Box::new(std::iter::empty())
        }
        fn outlinks(&self, _: u64) -> Result<Vec<OutlinkRecord>, RowError> {
            Ok(Vec::new())
        }
        fn page_by_fingerprint(&self, _: Fingerprint) -> Result<Option<PageRecord>, RowError> {
            Ok(None)
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let error = write_report(&Broken, &CrawlFacts::default(), dir.path()).unwrap_err().to_string();
    assert!(error.contains("pages") && error.contains("page 7 is cut off"), "{error}");
    assert!(!dir.path().join("pages.csv").exists());
}

#[test]
fn the_advice_follows_from_the_figures() {
    let advice = |relevant_every: u64, waiting: u64| {
        let pages = (1..=120).map(|seq| {
            let mut page = page(seq, &format!("http://a.example/{seq}"));
            page.relevant = seq % relevant_every == 0;
            page
        });
        let mut facts = CrawlFacts::default();
        facts.state.waiting = waiting;
        Report::of(&rows(pages.collect()), &facts).text("report.html")
    };
    let (rich, poor, done) = (advice(2, 9), advice(40, 9), advice(2, 0));
    assert!(rich.contains(EN.advice_go_on) && !rich.contains(EN.advice_few) && !rich.contains(EN.advice_frontier));
    assert!(poor.contains(EN.advice_few) && !poor.contains(EN.advice_go_on));
    assert!(done.contains(EN.advice_frontier) && !done.contains(EN.advice_go_on));
}

#[test]
fn pages_with_broken_characters_are_counted() {
    let mut broken = page(1, "http://a.example/1");
    broken.had_decode_errors = true;
    let json = Report::of(&rows(vec![broken, page(2, "http://a.example/2")]), &CrawlFacts::default()).json();
    assert_eq!(json["decoding"]["damaged"], 1);
    assert_eq!(json["decoding"]["damaged_rate"], 0.5);
}

#[test]
fn both_languages_and_an_empty_crawl_can_be_looked_at() {
    let kept = std::env::var_os("WINDROW_REPORT_PREVIEW").map(PathBuf::from);
    let passing = tempfile::tempdir().unwrap();
    let root: &Path = kept.as_deref().unwrap_or(passing.path());
    for (name, language) in [("en", Language::En), ("zh", Language::Zh)] {
        let written = write_report(&crawl(), &facts(language), &root.join(name)).unwrap();
        let html = fs::read_to_string(written.html).unwrap();
        assert!(html.len() < 200_000, "{} bytes", html.len());
        assert!(html.contains(&format!("<html lang=\"{}\"", if name == "zh" { "zh-Hans" } else { "en" })));
    }
    let empty = CrawlFacts { link_weights: Vec::new(), top_terms: Vec::new(), ..facts(Language::En) };
    write_report(&MemoryRows::default(), &empty, &root.join("empty")).unwrap();
}

//! Whole crawls of the demo web, in virtual time: the same seed gives the same crawl, a stopped crawl goes on.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use windrow::{engine::RunFacts, store::Store};

fn windrow(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_windrow")).args(arguments).output().unwrap()
}

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora")
}

/// Crawls the demo web into `out` and returns the rows of `pages.csv`.
fn crawl(out: &Path, max_pages: u32, more: &[&str]) -> Vec<csv::StringRecord> {
    let (topic, web) = (corpora().join("demo.toml"), corpora().join("demo.warc.gz"));
    let pages = max_pages.to_string();
    let mut arguments = vec!["crawl", topic.to_str().unwrap(), "--replay", web.to_str().unwrap()];
    arguments.extend(["--out", out.to_str().unwrap(), "--max-pages", &pages]);
    arguments.extend(more);
    let output = windrow(&arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    rows(out)
}

fn rows(out: &Path) -> Vec<csv::StringRecord> {
    let mut reader = csv::Reader::from_path(out.join("report/pages.csv")).unwrap();
    reader.records().map(Result::unwrap).collect()
}

fn urls(rows: &[csv::StringRecord]) -> Vec<String> {
    rows.iter().map(|row| row[1].to_owned()).collect()
}

fn fetched(rows: &[csv::StringRecord]) -> usize {
    rows.iter().filter(|row| matches!(&row[2], "fetched" | "duplicate")).count()
}

#[test]
fn a_replay_with_the_same_seed_is_the_same_crawl() {
    let folder = tempfile::tempdir().unwrap();
    let first = crawl(&folder.path().join("a"), 120, &["--seed", "5"]);
    let second = crawl(&folder.path().join("b"), 120, &["--seed", "5"]);
    assert_eq!(first, second);
    assert_eq!(fetched(&first), 120);
}

#[test]
fn a_crawl_that_reached_its_limit_goes_on_without_losing_or_doubling_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("crawl");
    let before = crawl(&out, 80, &[]);
    let after = crawl(&out, 160, &[]);
    assert_eq!(urls(&after)[..before.len()], urls(&before)[..]);
    assert_eq!(fetched(&after), 160);
    let mut unique = urls(&after);
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), after.len(), "a page was recorded twice");
}

#[test]
fn a_crawl_stopped_while_pages_are_judged_anew_has_the_model_it_had() {
    let folder = tempfile::tempdir().unwrap();
    let (out, config) = (folder.path().join("crawl"), folder.path().join("config.toml"));
    std::fs::write(&config, "[page_classifier]\nwords_at_once = 2000\n").unwrap();
    let taught = |out: &Path, pages, more: &[&str]| {
        crawl(out, pages, more);
        let facts = RunFacts::load(&Store::open(out).unwrap()).unwrap();
        (facts.model_versions, facts.top_terms)
    };
    let mut last = (0, Vec::new());
    for pages in [20, 31, 45, 80, 81, 120, 160] {
        last = taught(&out, pages, &["--config", config.to_str().unwrap()]);
        // Nothing is left to fetch: it goes on, is taught by its rows again, and stops.
        let again = taught(&out, pages, &["--config", config.to_str().unwrap()]);
        assert_eq!(again, last, "after {pages} pages");
        assert!(last.1.len() > 10, "{last:?}");
    }
    let at_once = taught(&folder.path().join("at-once"), 160, &[]);
    assert!(last.0 < at_once.0, "{} passes were spread over visits, beside {}", last.0, at_once.0);
}

#[test]
fn every_order_crawls_and_the_learned_one_finds_most() {
    let folder = tempfile::tempdir().unwrap();
    let found = |order: &str| {
        let rows = crawl(&folder.path().join(order), 250, &["--order", order]);
        let labels = std::fs::read_to_string(corpora().join("demo.labels.tsv")).unwrap();
        let targets: std::collections::HashSet<&str> = labels
            .lines()
            .filter_map(|line| line.split_once('\t'))
            .filter(|(_, label)| *label == "agriculture")
            .map(|(url, _)| url)
            .collect();
        rows.iter().filter(|row| targets.contains(&row[1])).count()
    };
    let topical = found("topical");
    for order in ["breadth-first", "depth-first", "random", "pagerank"] {
        let other = found(order);
        assert!(topical > other, "topical found {topical} targets, {order} {other}");
    }
}

#[test]
fn pages_csv_has_the_columns_that_scripts_rely_on() {
    let folder = tempfile::tempdir().unwrap();
    crawl(&folder.path().join("crawl"), 10, &[]);
    let text = std::fs::read_to_string(folder.path().join("crawl/report/pages.csv")).unwrap();
    assert_eq!(
        text.lines().next().unwrap(),
        "seq,url,outcome,status,relevance,relevant,priority,depth,tunnel_depth,host,source_url,anchor,fetched_at,bytes,\
         content_type,charset,language,title,model_version"
    );
}

#[test]
fn no_page_lies_deeper_in_a_tunnel_than_allowed() {
    let folder = tempfile::tempdir().unwrap();
    let rows = crawl(&folder.path().join("crawl"), 400, &[]);
    let deepest = rows.iter().map(|row| row[8].parse::<u8>().unwrap()).max().unwrap();
    assert!((1..=3).contains(&deepest), "tunnel depth {deepest}");
}

#[test]
fn robots_txt_holds_in_a_replay_too() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("crawl");
    let rows = crawl(&out, 2_000, &["--order", "breadth-first"]);
    assert!(rows.iter().all(|row| !row[1].starts_with("http://nongye.example/member/")));
    let excluded = std::fs::read_to_string(out.join("report/excluded.csv")).unwrap();
    assert!(excluded.contains("http://nongye.example/member/"), "{excluded}");
    assert!(excluded.contains("robots.txt"));
}

//! The demo web: the committed archive is what its generator makes, and keeps its promises.

#[path = "../corpora/demo_web/web/mod.rs"]
mod web;

use std::{collections::BTreeMap, fs, io::Read, path::PathBuf, sync::LazyLock};

use flate2::bufread::GzDecoder;

fn corpora() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpora")
}

static MADE: LazyLock<web::Web> = LazyLock::new(|| web::generate(&corpora().join("demo_web")).unwrap());
static COMMITTED: LazyLock<Vec<u8>> = LazyLock::new(|| fs::read(corpora().join("demo.warc.gz")).unwrap());

/// One record of the committed archive.
struct Recorded {
    headers: BTreeMap<String, String>,
    block: String,
}

fn recorded() -> Vec<Recorded> {
    let mut rest = COMMITTED.as_slice();
    let mut records = Vec::new();
    while !rest.is_empty() {
        // One decoder reads one member; were a member to hold two records, the second would show up in the block.
        let mut member = Vec::new();
        GzDecoder::new(&mut rest).read_to_end(&mut member).unwrap();
        let text = String::from_utf8_lossy(&member).into_owned();
        let (head, block) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("WARC/1.1\r\n"), "{head}");
        let lines = head.lines().skip(1).filter_map(|line| line.split_once(": "));
        let headers: BTreeMap<String, String> = lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        let length: usize = headers["Content-Length"].parse().unwrap();
        assert_eq!(member.len(), head.len() + 4 + length + 4, "{head}");
        records.push(Recorded { headers, block: block.to_owned() });
    }
    records
}

#[test]
fn making_the_web_again_gives_the_committed_bytes() {
    let archive = web::warc::write(&MADE).unwrap();
    assert!(archive == *COMMITTED, "corpora/demo.warc.gz is stale: run `cargo run --example demo_web` and commit the result");
    let labels = fs::read_to_string(corpora().join("demo.labels.tsv")).unwrap();
    assert!(
        MADE.labels_tsv() == labels,
        "corpora/demo.labels.tsv is stale: run `cargo run --example demo_web` and commit the result"
    );
}

#[test]
fn every_label_belongs_to_a_recorded_page_and_every_page_has_one() {
    let labels = fs::read_to_string(corpora().join("demo.labels.tsv")).unwrap();
    let labelled: Vec<&str> = labels.lines().map(|line| line.split_once('\t').unwrap().0).collect();
    let is_page = |record: &&Recorded| {
        let head = record.block.split("\r\n\r\n").next().unwrap_or_default();
        head.starts_with("HTTP/1.1 200 ") && head.contains("Content-Type: text/html")
    };
    let records = recorded();
    let mut pages: Vec<&str> = records.iter().filter(is_page).map(|record| record.headers["WARC-Target-URI"].as_str()).collect();
    pages.sort_unstable();
    assert_eq!(pages, labelled);
}

#[test]
fn slow_answers_say_how_long_they_took() {
    let records = recorded();
    let ids: Vec<&String> = records.iter().map(|record| &record.headers["WARC-Record-ID"]).collect();
    let slow: Vec<&Recorded> = records.iter().filter(|record| record.headers["WARC-Type"] == "metadata").collect();
    assert!(slow.len() >= 30, "{}", slow.len());
    for record in slow {
        assert!(ids.contains(&&record.headers["WARC-Refers-To"]));
        assert!(record.block.starts_with("fetchTimeMs: "), "{}", record.block);
    }
}

#[test]
fn the_web_keeps_what_it_promises() {
    let findings = web::check::examine(&MADE, COMMITTED.len());
    let broken = findings.broken_promises();
    assert!(broken.is_empty(), "{broken:#?}\n{findings}");
}

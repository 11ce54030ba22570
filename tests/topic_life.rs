//! The life of a topic as a user lives it, on the demo web: crawl, ask why, label, retrain, roll back, crawl again.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

fn windrow(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_windrow")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a command that must succeed, and returns what it printed.
fn said(arguments: &[&str]) -> String {
    let output = windrow(arguments);
    assert!(output.status.success(), "{arguments:?}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn json(arguments: &[&str]) -> Value {
    let printed = said(&[arguments, &["--json"]].concat());
    serde_json::from_str(printed.lines().last().unwrap()).unwrap_or_else(|error| panic!("{error}: {printed}"))
}

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora")
}

/// The demo web's pages about farming.
fn targets() -> HashSet<String> {
    let labels = fs::read_to_string(corpora().join("demo.labels.tsv")).unwrap();
    let pages = labels.lines().filter_map(|line| line.split_once('\t'));
    pages.filter(|(_, label)| *label == "agriculture").map(|(url, _)| url.to_owned()).collect()
}

/// A folder with a crawl of the demo web in it.
struct Life {
    folder: tempfile::TempDir,
}

impl Life {
    fn begin(pages: u32) -> Self {
        let life = Self { folder: tempfile::tempdir().unwrap() };
        life.crawl("first", pages, &[]);
        life
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn crawl(&self, name: &str, pages: u32, more: &[&str]) -> String {
        let (topic, web) = (corpora().join("demo.toml"), corpora().join("demo.warc.gz"));
        let (out, pages) = (self.path(name), pages.to_string());
        let start = ["crawl", topic.to_str().unwrap(), "--replay", web.to_str().unwrap(), "--out", &out, "--max-pages", &pages];
        said(&[&start, more].concat())
    }

    /// Labels the pages that windrow asks for; a page's label is `answer` of whether it is about farming.
    fn label(&self, number: u32, answer: impl Fn(bool) -> bool) -> usize {
        let targets = targets();
        let asked = json(&["label", &self.path("first"), "--list", &number.to_string()]);
        let line = |page: &Value| {
            let url = page["url"].as_str().unwrap();
            format!("{url}\t{}\n", if answer(targets.contains(url)) { "yes" } else { "no" })
        };
        let lines: Vec<String> = asked.as_array().unwrap().iter().map(line).collect();
        fs::write(self.path("answers.tsv"), lines.concat()).unwrap();
        json(&["label", &self.path("first"), "--import", &self.path("answers.tsv")]);
        lines.len()
    }

    fn retrain(&self, more: &[&str]) -> (bool, Value) {
        let (crawl, model) = (self.path("first"), self.path("models/farm"));
        let output = windrow(&[&["retrain", &crawl, "--into", &model, "--json"], more].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output.stderr)));
        (output.status.success(), answer)
    }

    fn model_files(&self) -> BTreeMap<String, Vec<u8>> {
        let files = fs::read_dir(self.path("models/farm")).unwrap().map(|entry| entry.unwrap());
        files.map(|file| (file.file_name().to_string_lossy().into_owned(), fs::read(file.path()).unwrap())).collect()
    }
}

#[test]
fn labels_make_a_model_flipped_ones_are_refused_and_rolling_back_restores_every_byte() {
    let life = Life::begin(450);
    assert_eq!(life.label(40, |relevant| relevant), 40);
    let (kept, answer) = life.retrain(&[]);
    assert!(kept && answer["is_better"] == true, "{answer}");
    let first = life.model_files();
    assert!(first.contains_key("examples.json") && first.contains_key("card.md"));
    let second = life.crawl("second", 150, &["--model", &life.path("models/farm")]);
    assert!(second.contains("can be expected to be relevant"), "{second}");

    life.label(140, |relevant| !relevant);
    let flipped = fs::read_to_string(life.path("first/labels.tsv")).unwrap();
    let all_wrong = flipped.lines().map(|line| line.split_once('\t').unwrap());
    let targets = targets();
    let wrong: Vec<String> =
        all_wrong.map(|(url, _)| format!("{url}\t{}\n", if targets.contains(url) { "no" } else { "yes" })).collect();
    fs::write(life.path("first/labels.tsv"), wrong.concat()).unwrap();
    let (kept, answer) = life.retrain(&[]);
    assert!(!kept && answer["difference"]["contradicts"] == true, "{answer}");
    assert_eq!(life.model_files(), first, "a refused model changes nothing");

    let (kept, _) = life.retrain(&["--force"]);
    assert!(kept);
    assert_ne!(life.model_files(), first);
    fs::write(life.path("models/farm/page.json"), "{").unwrap();
    let refused = windrow(&["retrain", &life.path("first"), "--into", &life.path("models/farm")]);
    let complaint = text(&refused.stderr);
    assert!(!refused.status.success() && complaint.contains("page.json") && complaint.contains("version 1 ("), "{complaint}");
    said(&["retrain", &life.path("first"), "--into", &life.path("models/farm"), "--rollback"]);
    assert_eq!(life.model_files(), first);
}

#[test]
fn a_crawl_that_goes_on_with_enough_new_labels_retrains_itself_once_and_only_to_a_better_model() {
    let life = Life::begin(450);
    let go_on = |pages: u32| {
        let (topic, web, pages) = (corpora().join("demo.toml"), corpora().join("demo.warc.gz"), pages.to_string());
        let files = [topic.to_str().unwrap(), "--replay", web.to_str().unwrap()];
        let ended =
            windrow(&[&["crawl"], &files[..], &["--out", &life.path("first"), "--max-pages", &pages, "--quiet"]].concat());
        assert!(ended.status.success(), "{}", text(&ended.stderr));
        text(&ended.stderr)
    };
    let model = Path::new(&life.path("first")).join("model/card.json");
    life.label(20, |relevant| relevant);
    assert!(!go_on(455).contains("retrained"), "20 labels are too few");
    life.label(20, |relevant| relevant);
    let said = go_on(460);
    assert!(said.contains("retrained from 40 labelled pages"), "{said}");
    assert_eq!(said.contains("was taken"), model.exists(), "{said}");
    assert!(!go_on(465).contains("retrained"), "nothing is new");
    windrow(&["verify", &life.path("first")]).status.success().then_some(()).unwrap();
}

#[test]
fn why_tells_of_a_page_a_waiting_link_and_a_url_that_was_kept_out() {
    let life = Life::begin(90);
    let crawl = life.path("first");
    let row = |outcome: &str| {
        let mut reader = csv::Reader::from_path(life.path("first/report/pages.csv")).unwrap();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        rows.into_iter().rfind(|row| &row[2] == outcome).unwrap()
    };
    let page = row("fetched")[1].to_owned();
    let why = json(&["why", &crawl, &page]);
    let reasons = &why["page"]["reasons"];
    assert!(reasons["for_it"].as_array().unwrap().len() > 2, "{why}");
    assert!(!why["path"].as_array().unwrap().is_empty() && why["page"]["evidence"].as_array().unwrap().len() == 28);
    let words = said(&["why", &crawl, &page]);
    for part in ["Relevance", "words for it", "TopicalRank", "The way to it", "robots"] {
        assert!(words.contains(part), "{part} in {words}");
    }

    let mut links = csv::Reader::from_path(life.path("first/report/links.csv")).unwrap();
    let headers = links.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap_or_else(|| panic!("{name} in {headers:?}"));
    let (target, fate) = (column("target_url"), column("fate"));
    let rows: Vec<csv::StringRecord> = links.records().map(Result::unwrap).collect();
    let waiting = rows
        .iter()
        .filter(|row| &row[fate] == "queued")
        .map(|row| json(&["why", &crawl, &row[target]]))
        .find(|why| !why["link"].is_null())
        .unwrap();
    let link = &waiting["link"];
    assert_eq!(link["evidence"].as_array().unwrap().len(), 28);
    let (rank, parts) = (&link["rank"], |name: &str| link["rank"][name].as_f64().unwrap());
    assert!((parts("from_links") + parts("own") - parts("rank")).abs() < 1e-9, "{rank}");
    assert!(link["place"].as_u64().unwrap() >= 1 && link["place"].as_u64() <= link["of"].as_u64());
    assert!(!link["linked_by"].as_array().unwrap().is_empty() && !waiting["path"].as_array().unwrap().is_empty());

    let strange = json(&["why", &crawl, "http://nowhere.example/page"]);
    assert!(strange["fate"].as_str().unwrap().starts_with("never admitted"), "{strange}");
    assert!(!windrow(&["why", &crawl, "no address"]).status.success());
}

#[test]
fn labels_are_given_by_keys_taken_back_exported_verified_and_learnt_from_when_the_crawl_goes_on() {
    let life = Life::begin(60);
    let crawl = life.path("first");
    let before = fs::read(life.path("first/store.redb")).unwrap().len();
    life.label(12, |relevant| relevant);
    let asked = json(&["label", &crawl, "--list", "3"]);
    let url = asked[0]["url"].as_str().unwrap();
    assert!(asked[0]["passage"].as_str().unwrap().chars().count() > 10);
    let keys = life.path("keys");
    fs::write(&keys, "y\nu\nn\nq\n").unwrap();
    json(&["label", &crawl, "--answers", &keys, "--number", "3"]);
    assert_eq!(json(&["why", &crawl, url])["page"]["label"], false);
    json(&["label", &crawl, "--export", &life.path("out.tsv")]);
    assert_eq!(fs::read(life.path("out.tsv")).unwrap(), fs::read(life.path("first/labels.tsv")).unwrap());
    assert!(fs::read(life.path("first/store.redb")).unwrap().len() <= before, "asking does not grow the store");
    life.crawl("first", 80, &[]);
    fs::write(life.path("first/labels.tsv"), "http://e.com/ yes\n").unwrap();
    let verified = windrow(&["verify", &crawl]);
    assert!(!verified.status.success() && text(&verified.stdout).contains("labels.tsv, line 1"), "{}", text(&verified.stdout));
}

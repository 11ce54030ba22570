//! The console: its texts agree in both languages, its sources keep the rules of its policy, and in Chromium it does its work.
//!
//! The last needs what `tests/browser/install.sh` installs; without it that test says SKIPPED, or fails where
//! `WINDROW_BROWSER=required` (as in `.ci/run`). Screenshots are left in target/browser/console.

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use regex::Regex;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every file of the console by its path in it.
fn files() -> BTreeMap<String, String> {
    let top = root().join("src/monitor/console");
    let mut found = BTreeMap::new();
    let mut folders = vec![top.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(&top).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

/// What a file is, by its name.
fn kind(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or_default()
}

type Texts = BTreeMap<String, serde_json::Value>;

fn texts(files: &BTreeMap<String, String>, language: &str) -> Texts {
    serde_json::from_str(&files[&format!("strings/{language}.json")]).unwrap()
}

/// The places that a text leaves open, in all its forms.
fn places(text: &serde_json::Value) -> BTreeSet<String> {
    let open = Regex::new(r"\{(\w+)\}").unwrap();
    let forms = match text {
        serde_json::Value::Object(forms) => forms.values().map(|form| form.as_str().unwrap()).collect(),
        text => vec![text.as_str().unwrap()],
    };
    forms.iter().flat_map(|form| open.captures_iter(form)).map(|place| place[1].to_owned()).collect()
}

#[test]
fn both_languages_have_the_same_texts_with_the_same_places() {
    let files = files();
    let (en, zh) = (texts(&files, "en"), texts(&files, "zh"));
    assert!(en.len() > 300, "{} texts", en.len());
    assert_eq!(en.keys().collect::<Vec<_>>(), zh.keys().collect::<Vec<_>>());
    let han = Regex::new(r"\p{Han}").unwrap();
    for (key, text) in &en {
        assert_eq!(places(text), places(&zh[key]), "{key}");
        assert!(!han.is_match(&text.to_string()), "{key} is Chinese in English");
    }
    let latin = zh.iter().filter(|(_, text)| !han.is_match(&text.to_string()));
    let latin: Vec<&str> = latin.map(|(key, _)| key.as_str()).collect();
    // Names that are the same everywhere, and what has no words.
    let same =
        ["frontier.anchor", "gap", "measure.f1", "models.auc", "models.ece", "of", "alert.of", "said.state", "settings.webhook"];
    assert!(latin.iter().all(|key| same.contains(key)), "not translated: {latin:?}");
}

#[test]
fn every_text_that_a_view_asks_for_is_there_and_none_is_left_over() {
    let files = files();
    let en = texts(&files, "en");
    let scripts: String = files.iter().filter(|(name, _)| kind(name) == "js").map(|(_, text)| text.as_str()).collect();
    let captured = |pattern: &str| -> BTreeSet<String> {
        Regex::new(pattern).unwrap().captures_iter(&scripts).map(|found| found[1].to_owned()).collect()
    };
    let asked = captured(r#"\bt\("([^"]+)""#);
    assert!(asked.len() > 200, "{} texts are asked for", asked.len());
    for key in &asked {
        assert!(en.contains_key(key), "no text for {key}");
    }
    // Keys that are put together (`state.${…}`, word("state", …)) and keys in lists.
    let mut stems = captured(r"\bt\(`([a-z_.]+)\$\{");
    stems.extend(captured(r#"word\("([a-z_.]+)""#).into_iter().map(|stem| stem + "."));
    let spelt = captured(r#""([a-z_]+(?:\.[a-z_]+)*)""#);
    for key in en.keys() {
        let used = spelt.contains(key) || stems.iter().any(|stem| key.starts_with(stem.as_str()));
        assert!(used, "no view asks for {key}");
    }
    for stem in &stems {
        assert!(en.keys().any(|key| key.starts_with(stem.as_str())), "no text begins with {stem}");
    }
}

#[test]
fn the_sources_keep_the_rules_that_make_hostile_titles_harmless() {
    let banned = Regex::new(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|createContextualFragment|DOMParser|setHTML",
    )
    .unwrap();
    let inline = Regex::new(r#"(?i)<style|\sstyle=|\son[a-z]+=|<script(?:\s+type="module")?\s*>|javascript:|data:"#).unwrap();
    let remote = Regex::new(r#"(?:src|href)="(?:https?:)?//|@import|url\("#).unwrap();
    let files = files();
    for (name, text) in &files {
        if let Some(found) = banned.find(text) {
            panic!("{name}: {} makes markup of text", found.as_str());
        }
        assert!(remote.find(text).is_none(), "{name} loads something from elsewhere");
        if kind(name) == "html" {
            assert!(inline.find(text).is_none(), "{name}: {:?} is forbidden by the policy", inline.find(text).unwrap().as_str());
        }
        if ["js", "css"].contains(&kind(name)) {
            assert!(text.lines().count() <= 350, "{name} is too long to read at once");
            assert!(text.starts_with("//") || text.starts_with("/*"), "{name} does not say what it is");
        }
    }
}

/// A `windrow serve` that ends with the test.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(dir: &Path, more: &[&str]) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_windrow"))
            .args(["serve", "--dir", dir.to_str().unwrap(), "--listen", "127.0.0.1:0"])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines().map_while(Result::ok);
        let (found, address) = mpsc::channel();
        // Reads to the end, so that what else it says never fills the pipe.
        thread::spawn(move || {
            let address = Regex::new(r"http://127\.0\.0\.1:\d+").unwrap();
            lines.filter_map(|line| address.find(&line).map(|at| at.as_str().to_owned())).for_each(|at| drop(found.send(at)));
        });
        let address = address.recv_timeout(Duration::from_mins(1));
        let address = address.unwrap_or_else(|_| panic!("windrow serve does not tell its address: {:?}", process.kill()));
        Self { process, address }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself; there is nothing else to do about either.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn new_token(file: &Path, role: &str) -> String {
    let arguments = ["token", "new", "--role", role, "--tokens", file.to_str().unwrap()];
    let output = Command::new(env!("CARGO_BIN_EXE_windrow")).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8(output.stdout).unwrap();
    told.split_whitespace().find(|word| word.starts_with("wr_")).unwrap_or_else(|| panic!("no token in {told:?}")).to_owned()
}

#[test]
fn a_person_can_do_their_work_in_the_console() {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let tools = target.join("browser");
    if !tools.join("installed.txt").exists() {
        assert!(env::var("WINDROW_BROWSER").as_deref() != Ok("required"), "run tests/browser/install.sh first");
        println!("SKIPPED: nobody uses the console, since the browser is missing; tests/browser/install.sh installs it");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens.json");
    let (steer, read) = (new_token(&tokens, "steer"), new_token(&tokens, "read"));
    let open = Server::start(&folder.path().join("open"), &[]);
    let locked = Server::start(&folder.path().join("locked"), &["--tokens", tokens.to_str().unwrap()]);
    let output = Command::new("node")
        .arg(root().join("tests/browser/console.mjs"))
        .args([&tools, &tools.join("console")])
        .args([&open.address, &locked.address, &steer, &read])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
}

//! What cannot be used is refused in one clear message with the way out, and nothing is left half done.

use std::{
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    time::Duration,
};

fn windrow(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_windrow")).args(arguments).output().unwrap()
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn write(folder: &Path, name: &str, text: &[u8]) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

const TOPIC: &[u8] = b"name = \"t\"\nkeywords = [\"rice\"]\nseeds = [\"http://nongye.example/\"]\n";

fn demo_web() -> String {
    format!("{}/corpora/demo.warc.gz", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn topics_that_cannot_be_used_name_file_line_and_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let cases: [(&str, &[u8], &str); 4] = [
        ("unknown.toml", b"keywrods = [\"rice\"]\nseeds = [\"http://a.example/\"]\n", "keywords"),
        ("no-seeds.toml", b"keywords = [\"rice\"]\n", "seeds"),
        ("no-keywords.toml", b"seeds = [\"http://a.example/\"]\n", "keywords"),
        ("broken.toml", b"keywords = [\"rice\"\n", "broken.toml"),
    ];
    for (name, text, expected) in cases {
        let path = write(folder.path(), name, text);
        let output = windrow(&["crawl", &path, "--out", folder.path().join("out").to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(complaint(&output).contains(expected) && complaint(&output).contains(name), "{}", complaint(&output));
        assert!(!folder.path().join("out").exists(), "{name} left a folder");
    }
    let missing = windrow(&["crawl", folder.path().join("none.toml").to_str().unwrap()]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(complaint(&missing).contains("none.toml"));
}

#[test]
fn webs_that_cannot_be_read_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let topic = write(folder.path(), "t.toml", TOPIC);
    let junk = write(folder.path(), "junk.warc.gz", b"this is no WARC");
    for web in [junk.as_str(), "absent.warc"] {
        let output = windrow(&["crawl", &topic, "--replay", web, "--out", folder.path().join("out").to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1));
        assert!(complaint(&output).contains(web), "{}", complaint(&output));
    }
}

#[test]
fn a_web_that_was_cut_off_is_read_as_far_as_it_goes_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let topic = write(folder.path(), "t.toml", TOPIC);
    let whole = fs::read(demo_web()).unwrap();
    let cut = write(folder.path(), "cut.warc.gz", &whole[..whole.len() / 2]);
    let out = folder.path().join("out");
    let output = windrow(&["crawl", &topic, "--replay", &cut, "--out", out.to_str().unwrap(), "--max-pages", "5"]);
    assert!(output.status.success(), "{}", complaint(&output));
    assert!(complaint(&output).contains("cut.warc.gz"));
}

#[test]
fn seeds_that_all_fail_end_the_crawl_with_that_reason() {
    let folder = tempfile::tempdir().unwrap();
    let topic = write(folder.path(), "t.toml", b"keywords = [\"rice\"]\nseeds = [\"http://nowhere.example/\"]\n");
    let out = folder.path().join("out");
    let output = windrow(&["crawl", &topic, "--replay", &demo_web(), "--open-web", "--out", out.to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("not one seed could be fetched"), "{output:?}");
    let summary = fs::read_to_string(out.join("report/summary.json")).unwrap();
    assert!(summary.contains("seeds-failed"));
}

#[test]
fn a_second_process_on_the_same_crawl_is_refused_and_told_why() {
    let folder = tempfile::tempdir().unwrap();
    let topic = write(folder.path(), "t.toml", b"keywords = [\"rice\"]\nseeds = [\"http://192.0.2.1/\"]\n");
    let out = folder.path().join("out");
    let arguments = ["crawl", &topic, "--out", out.to_str().unwrap()];
    let mut first = Command::new(env!("CARGO_BIN_EXE_windrow")).args(arguments).stderr(Stdio::null()).spawn().unwrap();
    while !out.join("config.toml").exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
    let second = windrow(&arguments);
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert!(complaint(&second).contains("another"), "{}", complaint(&second));
}

#[test]
fn an_unknown_order_or_configuration_key_lists_what_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let topic = write(folder.path(), "t.toml", TOPIC);
    let labels = write(folder.path(), "l.tsv", b"http://nongye.example/\tx\n");
    let output = windrow(&["replay", &topic, "--web", &demo_web(), "--labels", &labels, "--orders", "topcal"]);
    assert!(complaint(&output).contains("breadth-first"), "{}", complaint(&output));
    let config = write(folder.path(), "c.toml", b"[crawl]\nworkres = 1\n");
    let output = windrow(&["crawl", &topic, "--config", &config]);
    assert!(complaint(&output).contains("workres") && complaint(&output).contains("windrow config"), "{}", complaint(&output));
}

//! The report as a reader sees it: `tests/browser/look.mjs` opens it in Chromium, offline, in both languages.
//!
//! `tests/browser/install.sh` installs what that takes; without it this test says SKIPPED, or fails where
//! `WINDROW_BROWSER=required` (as in `.ci/run`). Screenshots are left in target/browser/shots.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

#[test]
fn the_report_reads_well_on_a_desk_and_on_a_phone_in_both_languages() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    let tools = target.join("browser");
    if !tools.join("installed.txt").exists() {
        assert!(env::var("WINDROW_BROWSER").as_deref() != Ok("required"), "run tests/browser/install.sh first");
        println!("SKIPPED: nobody looks at the report, since the browser is missing; tests/browser/install.sh installs it");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let windrow = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_windrow")).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let (topic, web) = (root.join("corpora/demo.toml"), root.join("corpora/demo.warc.gz"));
    let out = path("crawl");
    let crawl =
        ["crawl", topic.to_str().unwrap(), "--replay", web.to_str().unwrap(), "--out", &out, "--max-pages", "600", "--quiet"];
    windrow(&crawl);
    let mut reports = Vec::new();
    for language in ["en", "zh"] {
        windrow(&["report", &out, "--language", language]);
        reports.push(path(&format!("{language}.html")));
        fs::copy(path("crawl/report/report.html"), reports.last().unwrap()).unwrap();
    }
    let mut look = Command::new("node");
    look.arg(root.join("tests/browser/look.mjs")).arg(&tools).arg(tools.join("shots")).args(&reports);
    let output = look.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
}

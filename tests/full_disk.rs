//! A disk that is full: whatever does not fit, the exit code says so, and what is on disk is whole.

#![cfg(target_os = "linux")]

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::symlink,
    path::Path,
    process::{Command, Output},
};

fn windrow(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_windrow")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Makes every write to a file of a report fail as on a full disk.
fn fill(out: &Path, file: &str) {
    fs::create_dir_all(out.join("report")).unwrap();
    symlink("/dev/full", out.join("report").join(format!("{file}.partial"))).unwrap();
}

fn make_room(out: &Path, file: &str) {
    fs::remove_file(out.join("report").join(format!("{file}.partial"))).unwrap();
}

#[test]
fn a_crawl_that_ended_well_but_whose_report_does_not_fit_says_so_and_the_report_can_be_written_later() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora");
    let (topic, web) = (corpora.join("demo.toml"), corpora.join("demo.warc.gz"));
    let folder = tempfile::tempdir().unwrap();
    // A table that fails while its rows are written, one that fails when it is finished, and a document.
    for file in ["pages.csv", "hosts.csv", "report.html"] {
        let out = folder.path().join(file);
        let name = out.to_str().unwrap();
        fill(&out, file);
        let crawl = ["crawl", topic.to_str().unwrap(), "--replay", web.to_str().unwrap(), "--out", name, "--max-pages", "80"];
        let ended = windrow(&crawl);
        let (told, complaint) = (text(&ended.stdout), text(&ended.stderr));
        assert_eq!(ended.status.code(), Some(4), "{file}: {complaint}");
        assert!(told.contains("80 pages fetched") && !told.contains("Report:"), "{file}: {told}");
        assert!(complaint.contains("is whole") && complaint.contains(&format!("`windrow report {name}`")), "{file}: {complaint}");

        let still_full = windrow(&["report", name]);
        assert_eq!(still_full.status.code(), Some(4), "{file}: {}", text(&still_full.stderr));
        make_room(&out, file);
        assert_eq!(windrow(&["report", name]).status.code(), Some(0));
        assert!(out.join("report/report.html").is_file());
        assert_eq!(windrow(&["verify", name]).status.code(), Some(0));
        let to = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let export =
            Command::new(env!("CARGO_BIN_EXE_windrow")).args(["export", name, "--format", "csv", "-o", "-"]).stdout(to).status();
        assert_eq!(export.unwrap().code(), Some(4), "an export is told apart by the same code");
    }
}

#[test]
fn a_report_that_cannot_be_written_for_another_reason_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("demo");
    let demo = |mark: bool| {
        fs::create_dir_all(out.join("report")).unwrap();
        if mark {
            fill(&out, "summary.json");
        } else {
            fs::create_dir(out.join("report/summary.json.partial")).unwrap();
        }
        windrow(&["demo", "--out", out.to_str().unwrap(), "--max-pages", "30", "--quiet"]).status.code()
    };
    assert_eq!(demo(false), Some(1));
    fs::remove_dir_all(&out).unwrap();
    assert_eq!(demo(true), Some(4), "a demo that ended without its report has not shown what it is for");
}

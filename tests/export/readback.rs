//! The exports, read back by the tools that others use: warcio, cdxj-indexer, pywb, pandas, pyarrow, duckdb, py-wacz.
//!
//! `tests/export/install.sh` installs them; without them these tests say SKIPPED, or fail where
//! `WINDROW_READBACK=required` (as in `.ci/run`).

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{CRAWL, columns, crawl_with_copies, files_in, json_lines, run};

/// The Python of the tools, where they are installed.
fn python() -> Option<PathBuf> {
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"), PathBuf::from);
    let (python, stamp) = (target.join("readback/bin/python"), target.join("readback/installed.txt"));
    if python.exists() && stamp.exists() {
        return Some(python);
    }
    assert!(
        env::var("WINDROW_READBACK").as_deref() != Ok("required"),
        "{} is missing: run tests/export/install.sh",
        stamp.display()
    );
    println!("SKIPPED: nothing is read back, since the Python tools are missing; tests/export/install.sh installs them");
    None
}

/// Runs a check; `None` where the tools are missing.
fn check(arguments: &[&str]) -> Option<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/export/check.py");
    let output = Command::new(python()?).arg(script).args(arguments).output().unwrap();
    let (told, complaint) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{arguments:?}\n{told}\n{complaint}");
    Some(told.trim().to_owned())
}

fn names(paths: &[PathBuf]) -> Vec<&str> {
    paths.iter().map(|path| path.to_str().unwrap()).collect()
}

#[test]
fn warcio_finds_every_record_and_digest_of_the_archive_in_order() {
    let archive = files_in(Path::new(&CRAWL.path("crawl/archive")), ".warc.gz");
    let Some(counts) = check(&[&["warc"], names(&archive).as_slice()].concat()) else { return };
    let counts: serde_json::Value = serde_json::from_str(&counts).unwrap();
    let count = |kind: &str| counts[kind].as_u64().unwrap_or(0);
    assert!(count("response") > 300, "{counts}");
    // robots.txt files are responses of no page.
    assert!(count("metadata") > 300 && count("metadata") < count("response"), "{counts}");
}

#[test]
fn copies_are_revisits_that_lead_to_their_original_unless_that_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let dir = crawl_with_copies(folder.path());
    let archive = files_in(&Path::new(&dir).join("archive"), ".warc.gz");
    let Some(counts) = check(&[&["warc"], names(&archive).as_slice()].concat()) else { return };
    let counts: serde_json::Value = serde_json::from_str(&counts).unwrap();
    assert_eq!(counts["revisit"], 1, "{counts}");
    for (filter, responses, revisits) in [("seq > 0", 3, Some(1)), ("outcome = 'duplicate'", 1, None)] {
        let out = folder.path().join(format!("warc-{responses}"));
        run(&["export", &dir, "--format", "warc", "--out", out.to_str().unwrap(), "--where", filter]);
        let files = files_in(&out, ".warc.gz");
        let counts = check(&[&["warc"], names(&files).as_slice()].concat()).unwrap();
        let counts: serde_json::Value = serde_json::from_str(&counts).unwrap();
        let pages = counts["response"].as_u64().unwrap() - counts["robots"].as_u64().unwrap();
        assert_eq!((pages, counts["revisit"].as_u64()), (responses, revisits), "{filter}: {counts}");
        let index = files[0].with_extension("").with_extension("cdxj");
        check(&["cdxj", index.to_str().unwrap(), files[0].to_str().unwrap()]);
    }
}

#[test]
fn exported_archives_are_in_order_and_indexed_as_cdxj_indexer_does() {
    let folder = CRAWL.export("warc", "warc", &["--file-mib", "1"]);
    let files = files_in(&folder, ".warc.gz");
    assert!(files.len() > 1, "{files:?}");
    let Some(counts) = check(&[&["warc"], names(&files).as_slice()].concat()) else { return };
    let counts: serde_json::Value = serde_json::from_str(&counts).unwrap();
    assert!(counts["linkPath"].as_u64().unwrap() > 300, "{counts}");
    for file in &files {
        let index = file.with_extension("").with_extension("cdxj");
        check(&["cdxj", index.to_str().unwrap(), file.to_str().unwrap()]);
    }
}

#[test]
fn the_index_of_the_crawls_own_archive_is_that_of_cdxj_indexer_and_pywb_serves_from_it() {
    let index = CRAWL.export("cdxj", "own.cdxj", &[]);
    let archive = files_in(Path::new(&CRAWL.path("crawl/archive")), ".warc.gz");
    let index_name = index.to_str().unwrap();
    if check(&[&["cdxj", index_name], names(&archive).as_slice()].concat()).is_none() {
        return;
    }
    let folder = PathBuf::from(CRAWL.path("pywb"));
    fs::create_dir_all(&folder).unwrap();
    fs::copy(&index, folder.join("index.cdxj")).unwrap();
    for file in &archive {
        fs::copy(file, folder.join(file.file_name().unwrap())).unwrap();
    }
    let rows =
        json_lines(&CRAWL.export("jsonl", "for-pywb.jsonl", &["--where", "relevant and title != null and language = 'zh'"]));
    let row = rows.last().unwrap();
    check(&["pywb", folder.to_str().unwrap(), row["url"].as_str().unwrap(), row["title"].as_str().unwrap()]);
}

#[test]
fn pyarrow_pandas_and_duckdb_read_the_documented_types() {
    let schema = run(&["export", "--schema"]);
    for table in ["pages", "links", "hosts"] {
        let file = CRAWL.export("parquet", &format!("{table}.parquet"), &["--table", table]);
        let rows =
            json_lines(&CRAWL.export("jsonl", &format!("{table}-rows.jsonl"), &["--table", table, "--without-text"])).len();
        let types = serde_json::to_string(&columns(&schema, table)).unwrap();
        check(&["parquet", file.to_str().unwrap(), &types, &rows.to_string()]);
    }
}

#[test]
fn py_wacz_accepts_the_package_and_its_index_leads_to_every_page() {
    let package = CRAWL.export("wacz", "crawl.wacz", &["--where", "relevant", "--file-mib", "1"]);
    let rows = json_lines(&CRAWL.export("jsonl", "for-wacz.jsonl", &["--where", "relevant", "--without-text"])).len();
    let Some(pages) = check(&["wacz", package.to_str().unwrap()]) else { return };
    assert_eq!(pages, rows.to_string());
}

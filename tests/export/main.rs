//! What leaves the field: exports of a crawl of the demo web, its stream, and a crawl of its own archive.

mod readback;

use std::{
    collections::BTreeSet,
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{LazyLock, Mutex, PoisonError},
};

use serde_json::Value;
use windrow::url::{Fingerprint, Url};

/// One process may open a crawl at a time, and tests run side by side.
static TURN: Mutex<()> = Mutex::new(());

fn windrow(arguments: &[&str]) -> Output {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Command::new(env!("CARGO_BIN_EXE_windrow")).args(arguments).output().unwrap()
}

fn run(arguments: &[&str]) -> String {
    let output = windrow(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// One crawl of the demo web, streamed to a file, for all tests.
struct Crawled {
    folder: tempfile::TempDir,
}

static CRAWL: LazyLock<Crawled> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let crawled = Crawled { folder };
    let (topic, web) = (corpora("demo.toml"), corpora("demo.warc.gz"));
    let stream = crawled.path("stream.jsonl");
    let out = crawled.path("crawl");
    run(&["crawl", &topic, "--replay", &web, "--out", &out, "--max-pages", "900", "--stream", &stream, "--quiet"]);
    crawled
});

impl Crawled {
    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    /// Exports into a file of this name, and returns its path.
    fn export(&self, format: &str, name: &str, more: &[&str]) -> PathBuf {
        let (dir, out) = (self.path("crawl"), self.path(name));
        let mut arguments = vec!["export", &dir, "--format", format, "--out", &out];
        arguments.extend(more);
        run(&arguments);
        PathBuf::from(out)
    }
}

fn corpora(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora").join(name).to_str().unwrap().to_owned()
}

fn json_lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn files_in(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|path| path.to_str().unwrap().ends_with(ending)).collect();
    files.sort();
    files
}

#[test]
fn a_filter_takes_the_rows_it_names_and_no_others() {
    let all = json_lines(&CRAWL.export("jsonl", "all.jsonl", &["--without-text"]));
    let some =
        json_lines(&CRAWL.export("jsonl", "some.jsonl", &["--without-text", "--where", "relevance>0.8 and language=\"zh\""]));
    let passes = |row: &&Value| row["relevance"].as_f64().unwrap() > 0.8 && row["language"] == "zh";
    let expected: Vec<&Value> = all.iter().filter(passes).collect();
    assert!(!expected.is_empty() && expected.len() < all.len());
    assert_eq!(some.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn csv_and_json_lines_tell_the_same_rows() {
    for table in ["pages", "links", "hosts"] {
        let rows = json_lines(&CRAWL.export("jsonl", &format!("{table}.jsonl"), &["--table", table, "--without-text"]));
        let mut csv = csv::Reader::from_path(CRAWL.export("csv", &format!("{table}.csv"), &["--table", table])).unwrap();
        let header = csv.headers().unwrap().clone();
        let records: Vec<csv::StringRecord> = csv.records().map(Result::unwrap).collect();
        assert_eq!(records.len(), rows.len(), "{table}");
        for (record, row) in records.iter().zip(&rows) {
            for (name, field) in header.iter().zip(record) {
                match &row[name] {
                    Value::Null => assert_eq!(field, "", "{table}.{name}"),
                    Value::String(text) => assert_eq!(field, text.replace(char::is_control, " "), "{table}.{name}"),
                    Value::Number(number) => {
                        let (csv, json) = (field.parse::<f64>().unwrap(), number.as_f64().unwrap());
                        // The reader of JSON may miss the last bit.
                        assert!((csv - json).abs() <= 1e-12 * json.abs(), "{table}.{name}: {csv} and {json}");
                    }
                    other => assert_eq!(field, other.to_string(), "{table}.{name}"),
                }
            }
        }
    }
}

#[test]
fn json_lines_hold_the_main_text_without_the_menus() {
    let rows = json_lines(&CRAWL.export("jsonl", "texts.jsonl", &["--where", "relevant"]));
    let texts: Vec<&str> = rows.iter().map(|row| row["text"].as_str().unwrap()).collect();
    assert!(texts.len() > 50, "{}", texts.len());
    let long = texts.iter().filter(|text| text.chars().count() > 80).count();
    assert!(long * 10 > texts.len() * 7, "{long} of {} pages have some text", texts.len());
    // A line of the menu stands on many pages of a site; a line of content does not.
    let mut pages_with = std::collections::BTreeMap::<(&str, &str), usize>::new();
    for (row, text) in rows.iter().zip(&texts) {
        for line in text.lines().collect::<BTreeSet<_>>() {
            *pages_with.entry((row["host"].as_str().unwrap(), line)).or_default() += 1;
        }
    }
    let repeated: usize = pages_with.values().filter(|&&pages| pages > 20).copied().sum();
    let lines: usize = pages_with.values().copied().sum();
    assert!(repeated * 4 < lines, "{repeated} of {lines} lines are repeated on more than 20 pages of a host");
}

#[test]
fn the_stream_tells_every_finished_url_once_and_in_order() {
    let streamed = json_lines(Path::new(&{
        let crawl = &*CRAWL;
        crawl.path("stream.jsonl")
    }));
    let exported = json_lines(&CRAWL.export("jsonl", "for-stream.jsonl", &["--without-text"]));
    let key = |row: &Value| (row["seq"].as_u64().unwrap(), row["url"].as_str().unwrap().to_owned(), row["outcome"].to_string());
    assert_eq!(streamed.iter().map(key).collect::<Vec<_>>(), exported.iter().map(key).collect::<Vec<_>>());
}

#[test]
fn standard_output_takes_lines_and_nothing_else() {
    let dir = CRAWL.path("crawl");
    let lines = run(&["export", &dir, "--format", "csv", "--table", "hosts", "--out", "-"]);
    assert!(lines.starts_with("host,requests,"), "{lines}");
    for format in ["parquet", "warc", "wacz"] {
        let refused = windrow(&["export", &dir, "--format", format, "--out", "-"]);
        assert_eq!(refused.status.code(), Some(2), "{format}");
    }
}

#[test]
fn a_filter_that_cannot_be_used_is_shown_with_its_fault() {
    let dir = CRAWL.path("crawl");
    let output = windrow(&["export", &dir, "--format", "csv", "--out", "-", "--where", "relevnce > 0.5"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("character 1") && said.contains("did you mean `relevance`?"), "{said}");
}

#[test]
fn the_schema_tells_every_column_of_every_table() {
    let schema = run(&["export", "--schema"]);
    for table in ["pages", "links", "hosts"] {
        let file = CRAWL.export("csv", &format!("schema-{table}.csv"), &["--table", table]);
        let header = fs::read_to_string(file).unwrap().lines().next().unwrap().to_owned();
        let told: Vec<String> = columns(&schema, table).into_iter().map(|(name, _)| name).collect();
        assert_eq!(told.join(","), header);
    }
}

/// Names and kinds of a table's columns, as the printed schema has them.
fn columns(schema: &str, table: &str) -> Vec<(String, String)> {
    let section = schema.split("\n## ").find(|section| section.starts_with(&format!("{table}\n"))).unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")).filter(|line| line.matches('|').count() == 5);
    rows.map(|row| {
        let mut cells = row.split('|').map(|cell| cell.trim().trim_matches('`').to_owned());
        (cells.next().unwrap(), cells.next().unwrap())
    })
    .collect()
}

#[test]
fn a_crawl_of_its_own_archive_finds_the_same_pages_in_any_order() {
    let archive = files_in(Path::new(&CRAWL.path("crawl/archive")), ".warc.gz");
    let pages = |dir: &str| -> BTreeSet<Fingerprint> {
        let rows = run(&["export", dir, "--format", "jsonl", "--without-text", "--out", "-"]);
        let rows = rows.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let read = rows.filter(|row| row["outcome"] == "fetched" || row["outcome"] == "duplicate");
        // A page may be met under another spelling of its address first, such as with `index.html`.
        read.map(|row| Fingerprint::of(&Url::parse(row["url"].as_str().unwrap()).unwrap())).collect()
    };
    let first = pages(&CRAWL.path("crawl"));
    // All links are followed: which page is irrelevant, and so the end of a tunnel, depends on what was learnt before it.
    for order in ["topical", "breadth-first"] {
        let (topic, out) = (corpora("demo.toml"), CRAWL.path(order));
        let mut arguments = vec!["crawl", &topic, "--out", &out, "--max-pages", "2000", "--focus", "soft", "--quiet"];
        arguments.extend(["--order", order, "--replay"]);
        arguments.extend(archive.iter().map(|file| file.to_str().unwrap()));
        run(&arguments);
        let second = pages(&out);
        // What was not archived cannot be explored, so the order is another one; it may meet another one of two copies first,
        // and only that one's links are followed.
        let differ: Vec<_> = second.symmetric_difference(&first).collect();
        assert!(differ.len() * 100 <= first.len(), "{order}: {} pages of {} differ", differ.len(), first.len());
    }
}

#[test]
fn a_zstd_archive_is_a_frame_per_record_where_its_index_says_and_replays_as_the_gzipped_one_does() {
    let topic = corpora("demo.toml");
    let mut found = Vec::new();
    for packing in ["gzip", "zstd"] {
        let folder = CRAWL.export("warc", packing, &["--packing", packing, "--file-mib", "1", "--where", "relevant"]);
        let files = files_in(&folder, if packing == "zstd" { ".warc.zst" } else { ".warc.gz" });
        assert!(!files.is_empty());
        let out = CRAWL.path(&format!("again-{packing}"));
        let mut arguments = vec!["crawl", &topic, "--out", &out, "--quiet", "--replay"];
        arguments.extend(files.iter().map(|file| file.to_str().unwrap()));
        run(&arguments);
        found.push(run(&["export", &out, "--format", "csv", "--out", "-"]));
        for file in files.iter().filter(|_| packing == "zstd") {
            let bytes = fs::read(file).unwrap();
            let index = fs::read_to_string(file.with_extension("").with_extension("cdxj")).unwrap();
            for line in index.lines() {
                let entry: Value = serde_json::from_str(&line[line.find('{').unwrap()..]).unwrap();
                let at = |name: &str| entry[name].as_str().unwrap().parse::<usize>().unwrap();
                let record = zstd::decode_all(&bytes[at("offset")..at("offset") + at("length")]).unwrap();
                let record = String::from_utf8_lossy(&record).into_owned();
                assert!(record.starts_with("WARC/1.1\r\n") && record.contains(entry["url"].as_str().unwrap()));
            }
        }
    }
    assert!(found[0].lines().count() > 50 && found[0] == found[1]);
    let refused = windrow(&["export", &CRAWL.path("crawl"), "--format", "wacz", "--packing", "zstd", "--out", "x.wacz"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// The addresses of the robots.txt responses in WARC files.
fn robots_in(files: &[PathBuf]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let mut text = Vec::new();
        flate2::read::MultiGzDecoder::new(fs::File::open(file).unwrap()).read_to_end(&mut text).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        for record in text.split("WARC/1.1\r\n").filter(|record| record.starts_with("WARC-Type: response\r\n")) {
            let url = record.lines().find_map(|line| line.strip_prefix("WARC-Target-URI: ")).unwrap();
            if url.ends_with("/robots.txt") {
                found.push(url.to_owned());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn robots_txt_goes_along_with_the_pages_of_its_host_and_is_indexed() {
    let own = robots_in(&files_in(Path::new(&CRAWL.path("crawl/archive")), ".warc.gz"));
    assert!(own.len() > 3, "{own:?}");
    let all = CRAWL.export("warc", "warc-with-robots", &["--file-mib", "1"]);
    assert_eq!(robots_in(&files_in(&all, ".warc.gz")), own);
    let of_one =
        robots_in(&files_in(&CRAWL.export("warc", "warc-of-one-host", &["--where", "host = 'nongye.example'"]), ".warc.gz"));
    assert_eq!(of_one, ["http://nongye.example/robots.txt"]);
    let index = fs::read_to_string(CRAWL.export("cdxj", "robots.cdxj", &[])).unwrap();
    let mut indexed: Vec<String> = index
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line[line.find('{').unwrap()..]).unwrap()["url"].as_str().unwrap().to_owned())
        .filter(|url| url.ends_with("/robots.txt"))
        .collect();
    indexed.sort();
    assert_eq!(indexed, own);
    let pages = json_lines(&CRAWL.export("jsonl", "captured.jsonl", &["--without-text", "--where", "warc_file != null"]));
    assert_eq!(index.lines().count(), pages.len() + own.len());
}

/// A crawl of four pages, two of them the same byte by byte.
fn crawl_with_copies(folder: &Path) -> String {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let record = |url: &str, body: &str| {
        let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{body}");
        let head = format!("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-02T03:04:05Z\r\n");
        format!("{head}Content-Length: {}\r\n\r\n{http}\r\n\r\n", http.len())
    };
    let words = "Rice fields are flooded before the seedlings are planted. ".repeat(20);
    let article = format!(
        "<title>Rice</title><meta property=article:published_time content=2024-05-06T08:00:00Z><nav><a href=/>Home</a> menu</nav>\
         <h1>Rice</h1><p>{words}</p>"
    );
    let web = [
        record(
            "http://rice.example/",
            "<title>Farm</title><p>rice <a href=/one>first</a> <a href=/two>second</a> <a href=/three>third</a>",
        ),
        record("http://rice.example/one", &article),
        record("http://rice.example/two", &article),
        record("http://rice.example/three", "<title>Other</title><p>Nothing of the kind is told here."),
    ];
    fs::write(path("web.warc"), web.concat()).unwrap();
    let topic = "name = \"rice\"\nkeywords = [\"rice\", \"seedlings\"]\nseeds = [\"http://rice.example/\"]\n";
    fs::write(path("rice.toml"), topic).unwrap();
    run(&["crawl", &path("rice.toml"), "--replay", &path("web.warc"), "--out", &path("rice"), "--quiet"]);
    path("rice")
}

#[test]
fn a_page_tells_its_main_text_and_its_date() {
    let folder = tempfile::tempdir().unwrap();
    let dir = crawl_with_copies(folder.path());
    let line = run(&["export", &dir, "--format", "jsonl", "--out", "-", "--where", "url ~ '/one$'"]);
    let row: Value = serde_json::from_str(&line).unwrap();
    let text = row["text"].as_str().unwrap();
    assert!(text.starts_with("Rice\nRice fields are flooded") && !text.contains("menu") && !text.contains("Home"), "{text}");
    assert_eq!((&row["published"], &row["modified"], &row["title"]), (&"2024-05-06".into(), &Value::Null, &"Rice".into()));
}

#[test]
fn an_archive_of_relevant_pages_holds_these_only() {
    let config = CRAWL.path("relevant.toml");
    fs::write(&config, "[store]\narchive = \"relevant\"\n").unwrap();
    let (topic, web, out) = (corpora("demo.toml"), corpora("demo.warc.gz"), CRAWL.path("only-relevant"));
    run(&["crawl", &topic, "--replay", &web, "--out", &out, "--max-pages", "100", "--config", &config, "--quiet"]);
    let rows = run(&["export", &out, "--format", "jsonl", "--without-text", "--out", "-"]);
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(rows.iter().any(|row| row["relevant"] == true) && rows.iter().any(|row| row["relevant"] == false));
    for row in rows {
        assert_eq!(row["relevant"] == true, !row["warc_file"].is_null(), "{row}");
    }
}

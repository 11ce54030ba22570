//! The server does what its description says, and its metrics are such.
//!
//! `tests/export/install.sh` installs the Python tools; without them the checks by other programs say SKIPPED, or fail where
//! `WINDROW_READBACK=required` (as in `.ci/run`).

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::json;

use super::here::Here;

/// The Python of the tools, where they are installed.
fn tools() -> Option<PathBuf> {
    let target =
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"), PathBuf::from);
    let bin = target.join("readback/bin");
    if bin.join("schemathesis").exists() {
        return Some(bin);
    }
    assert!(
        env::var("WINDROW_READBACK").as_deref() != Ok("required"),
        "{} holds no schemathesis: run tests/export/install.sh",
        bin.display()
    );
    println!("SKIPPED: nothing is checked by others, since the Python tools are missing; tests/export/install.sh installs them");
    None
}

/// Runs a program while the server answers it.
async fn output(mut command: Command) -> Output {
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_address_is_described_with_its_errors() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let described = here.expect(reqwest::Method::GET, "/api/openapi.json", None, 200).await;
    assert!(described["openapi"].as_str().unwrap().starts_with("3.1"));
    let paths = described["paths"].as_object().unwrap();
    for path in ["/api/v1/crawls", "/api/v1/crawls/{id}/frontier", "/api/v1/events", "/api/v1/servers/{id}", "/metrics"] {
        assert!(paths.contains_key(path), "{path} is not described");
    }
    assert!(paths.len() > 30, "{}", paths.len());
    for (path, item) in paths.iter().filter(|(path, _)| path.starts_with("/api/v1/crawls/")) {
        for (method, operation) in item.as_object().unwrap() {
            assert!(!operation["summary"].as_str().unwrap_or_default().is_empty(), "{method} {path} says nothing of itself");
            assert!(operation["responses"]["4XX"].is_object(), "{method} {path} has no errors");
        }
    }
    here.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn prometheus_reads_the_metrics() {
    const CHECK: &str = "
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
families = {family.name: family for family in parse(sys.stdin.read())}
assert families['windrow_pages'].type == 'counter', families
samples = {sample.labels['crawl']: sample.value for sample in families['windrow_pages'].samples}
assert samples == {'counted': 60.0}, samples
assert families['windrow_fetched_bytes'].unit == 'bytes'
for family in families.values():
    assert family.documentation and family.type != 'unknown', family
    assert all(set(sample.labels) <= {'crawl', 'state', 'rule', 'version'} for sample in family.samples), family
print(len(families))
";
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let id = here.demo(json!({ "name": "counted" })).await;
    here.until_state(&id, "finished").await;
    let answer = here.send(reqwest::Method::GET, "/metrics", None).await;
    assert!(answer.headers()["content-type"].to_str().unwrap().starts_with("application/openmetrics-text"));
    let text = answer.text().await.unwrap();
    for line in ["# HELP windrow_pages ", "# TYPE windrow_pages counter", "windrow_pages_total{crawl=\"counted\"} 60", "# EOF"] {
        assert!(text.contains(line), "{line} is missing:\n{text}");
    }
    here.stop().await;
    let Some(bin) = tools() else { return };
    let file = folder.path().join("metrics");
    std::fs::write(&file, &text).unwrap();
    let mut python = Command::new(bin.join("python"));
    python.args(["-c", CHECK]).stdin(std::fs::File::open(file).unwrap());
    let output = output(python).await;
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_finds_no_answer_that_the_description_does_not_allow() {
    let Some(bin) = tools() else { return };
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let id = here.demo(json!({ "name": "described", "max_pages": 20 })).await;
    here.until_state(&id, "finished").await;
    // Broken requests of all kinds for crawls that are not there, then a few sound ones for one that is.
    let sound = "[parameters]\n\"path.id\" = \"described\"\n";
    for (phases, config) in [("examples,coverage", ""), ("fuzzing", sound)] {
        std::fs::write(folder.path().join("schemathesis.toml"), config).unwrap();
        let mut command = Command::new(bin.join("schemathesis"));
        command
            .args(["run", &format!("{}/api/openapi.json", here.base)])
            .args(["--header", &format!("X-CSRF-Token: {}", here.csrf)])
            .args(["--checks", "not_a_server_error,response_schema_conformance,content_type_conformance,status_code_conformance"])
            // A stream has no end to wait for, and other servers are not to be asked.
            .args(["--exclude-path", "/api/v1/events", "--exclude-path-regex", "/servers"])
            .args(["--phases", phases, "--max-examples", "3", "--seed", "1", "--no-color"])
            .args(["--request-timeout", "60", "--suppress-health-check", "all"])
            .current_dir(folder.path())
            .stdin(Stdio::null());
        let output = output(command).await;
        let told = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(here.get("/crawls/described").await["id"], "described", "the server is well");
    here.stop().await;
}

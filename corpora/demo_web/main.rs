//! Makes the demo web: `cargo run --example demo_web`.
//!
//! Writes `corpora/demo.warc.gz` and `corpora/demo.labels.tsv`, prints what
//! the web turned out to be, and fails if it breaks a promise.

mod web;

use std::{fs, path::Path, process::ExitCode};

fn main() -> Result<ExitCode, Box<dyn std::error::Error>> {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora");
    let web = web::generate(&corpora.join("demo_web"))?;
    let archive = web::warc::write(&web)?;
    let findings = web::check::examine(&web, archive.len());
    println!("{findings}");
    let broken = findings.broken_promises();
    for promise in &broken {
        eprintln!("promised: {promise}");
    }
    fs::write(corpora.join("demo.warc.gz"), archive)?;
    fs::write(corpora.join("demo.labels.tsv"), web.labels_tsv())?;
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

//! All variants of the bench, each in a process of its own, one line for each.
//!
//! Only webs that were recorded nearly whole: on the others most of a crawl is answers of 404, which the floor does not have.

use std::{path::Path, process::Command};

use windrow::engine::Summary;

use super::{Cost, Watched, per_page};

/// Where a child puts its line.
const MARK: &str = "line:";

const WIKI: &[&str] = &["--keywords", "bird,species,feather,nest,wing", "--seeds", "http://en.wikipedia.org/wiki/Bird"];
const W3SCHOOL: &[&str] =
    &["--keywords", "SQL,数据库,查询,表", "--seeds", "http://www.w3school.com.cn/index.html,http://www.w3cschool.cc/index.html"];
/// Name, web, topic, the rest.
type Variant = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

const VARIANTS: &[Variant] = &[
    ("English", "wikispeedia", WIKI, &["--pages", "4000"]),
    ("Chinese", "w3school", W3SCHOOL, &["--pages", "4000"]),
    ("English, gzip", "wikispeedia", WIKI, &["--pages", "4000", "--gzip"]),
    ("Chinese, gzip", "w3school", W3SCHOOL, &["--pages", "4000", "--gzip"]),
    ("English, TLS", "wikispeedia", WIKI, &["--pages", "4000", "--tls"]),
    ("English, 1 core", "wikispeedia", WIKI, &["--pages", "2000", "--cores", "1"]),
    ("Chinese, 1 core", "w3school", W3SCHOOL, &["--pages", "2000", "--cores", "1"]),
    ("200 connections", "wikispeedia", WIKI, &["--pages", "4000", "--workers", "200"]),
    ("10,000 hosts", "", &["--keywords", "crop,soil,irrigation"], &["--hosts", "10000", "--pages", "20000", "--workers", "500"]),
];

/// Runs them all over the webs of a folder.
pub fn run(corpora: &Path) {
    println!(
        "{:<16} {:>8} {:>8} {:>5} {:>5} | {:>6} {:>6} | {:>8} {:>7} | {:>8} | MiB RSS by quarters",
        "", "floor/s", "whole/s", "c/b", "b'/b", "CPU b", "CPU c", "deciding", "longest", "1st page"
    );
    for (name, web, topic, more) in VARIANTS {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(*topic).args(*more);
        if !web.is_empty() {
            let file = corpora.join(format!("{web}.warc.gz"));
            if !file.exists() {
                println!("{name:<16} {} is not there", file.display());
                continue;
            }
            command.arg(file);
        }
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        match text.lines().find_map(|line| line.strip_prefix(MARK)) {
            Some(line) => println!("{name:<16} {line}"),
            None => println!("{name:<16} failed: {}", String::from_utf8_lossy(&output.stderr).trim()),
        }
    }
}

/// Prints the line of one variant, for the parent.
pub fn tell([floor, least, whole]: [&Cost; 3], summary: &Summary, watched: &Watched) {
    let longest = windrow::engine::Stage::ALL.map(|stage| summary.stages.longest(stage)).into_iter().max().unwrap_or_default();
    println!(
        "{MARK}{:>8.0} {:>8.0} {:>5.2} {:>5.2} | {:>6.0} {:>6.0} | {:>8.1} {:>7.2} | {:>8.0} | {:?}",
        floor.pages_per_second(),
        whole.pages_per_second(),
        whole.pages_per_second() / floor.pages_per_second(),
        least.pages_per_second() / floor.pages_per_second(),
        floor.micros_per_page(),
        whole.micros_per_page(),
        per_page(summary.stages.total(), whole),
        longest.as_secs_f64() * 1e3,
        watched.first_page.as_secs_f64() * 1e3,
        watched.resident_mib,
    );
}

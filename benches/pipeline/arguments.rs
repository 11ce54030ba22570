//! What a run of the bench is asked to do.

use std::path::{Path, PathBuf};

use windrow::engine::Memory;

/// One run: a web, and how it is crawled and served.
#[derive(Debug, Clone)]
pub struct Arguments {
    /// Empty for a made-up web.
    pub web: Vec<PathBuf>,
    pub pages: u64,
    pub workers: usize,
    /// Processors of the crawling process; all where 0.
    pub cores: usize,
    pub memory: Memory,
    pub keywords: String,
    pub seeds: String,
    /// Hosts of the made-up web.
    pub hosts: u32,
    pub serving: Serving,
}

/// How pages are served.
#[derive(Debug, Clone, Copy, Default)]
pub struct Serving {
    pub tls: bool,
    /// Packed with gzip, as most of the web is.
    pub gzip: bool,
}

impl Serving {
    /// As arguments of the serving child.
    pub fn flags(self) -> impl Iterator<Item = &'static str> {
        [(self.tls, "--tls"), (self.gzip, "--gzip")].into_iter().filter_map(|(on, flag)| on.then_some(flag))
    }
}

impl Default for Arguments {
    fn default() -> Self {
        Self {
            web: vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/demo.warc.gz")],
            pages: 1_000,
            workers: 32,
            cores: 0,
            memory: Memory::default(),
            keywords: "水稻,小麦,病虫害,施肥,crop,soil,irrigation".to_owned(),
            seeds: "http://nongye.example/,http://www.wanxiang.example/".to_owned(),
            hosts: 10_000,
            serving: Serving::default(),
        }
    }
}

impl Arguments {
    /// From the command line.
    pub fn of(mut given: impl Iterator<Item = String>) -> Self {
        let mut arguments = Self::default();
        let mut webs = Vec::new();
        while let Some(argument) = given.next() {
            let mut number = || given.next().and_then(|n| n.parse().ok()).unwrap_or_else(|| panic!("{argument} N"));
            match argument.as_str() {
                "--pages" => arguments.pages = number(),
                "--workers" => arguments.workers = number() as usize,
                "--cores" => arguments.cores = number() as usize,
                "--hosts" => {
                    arguments.hosts = number() as u32;
                    (arguments.web, arguments.seeds) = (Vec::new(), super::wide::SEEDS.to_owned());
                }
                "--memory" => arguments.memory = given.next().and_then(|size| size.parse().ok()).expect("--memory 300MiB"),
                "--keywords" => arguments.keywords = given.next().expect("--keywords A,B"),
                "--seeds" => arguments.seeds = given.next().expect("--seeds URL,URL"),
                "--tls" => arguments.serving.tls = true,
                "--gzip" => arguments.serving.gzip = true,
                "--bench" => {}
                flag if flag.starts_with("--") => panic!("{flag} is no argument; see the top of benches/pipeline.rs"),
                web => webs.push(PathBuf::from(web)),
            }
        }
        if !webs.is_empty() {
            arguments.web = webs;
        }
        if arguments.serving.tls {
            arguments.seeds = arguments.seeds.replace("http://", "https://");
        }
        arguments
    }
}

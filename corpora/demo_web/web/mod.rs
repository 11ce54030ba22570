//! The demo web: a small web of our own making, with the troubles of the real one.
//!
//! Promises: [`generate`] returns the same records, byte for byte, on every
//! run and every machine.
//! Never: touches the network, reads a clock, or copies anyone's text.

mod answers;
mod catalogue;
mod charset;
mod document;
mod grammar;
mod html;
mod pages;
mod plan;
mod site;
mod traps;

pub mod check;
pub mod warc;

use std::{collections::BTreeMap, io, path::Path};

use serde::Deserialize;

use self::{catalogue::Catalogue, grammar::Grammar, plan::Plan};

/// Why the web cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path}: {message}")]
    Read { path: String, message: String },
    #[error("the plan does not work: {0}")]
    Plan(String),
    #[error("writing the archive: {0}")]
    Write(#[from] io::Error),
}

impl Error {
    fn read(path: &Path, error: &io::Error) -> Self {
        Self::Read { path: path.display().to_string(), message: error.to_string() }
    }
}

/// Language of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Language {
    #[serde(rename = "zh")]
    Chinese,
    #[serde(rename = "en")]
    English,
}

impl Language {
    fn between_sentences(self) -> &'static str {
        match self {
            Self::Chinese => "",
            Self::English => " ",
        }
    }
}

/// One recorded answer.
#[derive(Debug, Clone)]
pub struct Record {
    pub url: String,
    pub status: u16,
    /// Beyond the date and the length, which the archive adds.
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// What the answer took, where it was slow.
    pub fetch_time_ms: Option<u32>,
}

/// The whole recorded web.
#[derive(Debug, Default)]
pub struct Web {
    pub seeds: Vec<String>,
    pub records: Vec<Record>,
    /// Class of every page that answers 200 with HTML.
    pub labels: BTreeMap<String, String>,
    /// Hosts whose pages are Chinese.
    pub chinese_hosts: Vec<String>,
}

impl Web {
    /// The labels as a table: `url<TAB>label`, in order of URLs.
    pub fn labels_tsv(&self) -> String {
        let lines: Vec<String> = self.labels.iter().map(|(url, label)| format!("{url}\t{label}\n")).collect();
        lines.concat()
    }
}

/// The label of the pages that a crawl on the demo topic should find.
pub const TARGET: &str = "agriculture";

/// Builds the web from the plan and the word lists in `folder`.
///
/// # Errors
/// Files of the plan that cannot be read, or that ask for what is not there.
pub fn generate(folder: &Path) -> Result<Web, Error> {
    let plan = Plan::load(&folder.join("hosts.toml"))?;
    let words = folder.join("words");
    let grammars = Grammars {
        chinese: Grammar::load(&words.join("zh"), Language::Chinese)?,
        english: Grammar::load(&words.join("en"), Language::English)?,
    };
    let encoder = charset::Encoder::load(&words.join("traditional.txt"))?;
    let catalogue = Catalogue::draw(&plan, &grammars)?;
    let mut web = Web { seeds: plan.seeds.clone(), ..Web::default() };
    for (at, host) in plan.hosts.iter().enumerate() {
        let mut press = site::Press::new(at, &plan, &catalogue, &grammars, &encoder);
        press.print(&mut web)?;
        traps::calendar(&mut press, &mut web);
        answers::of_host(host, &catalogue, at, &mut web);
    }
    traps::mirrors(&plan, &catalogue, &mut web);
    answers::of_plan(&plan, &mut web);
    web.chinese_hosts =
        plan.hosts.iter().filter(|host| host.language == Language::Chinese).map(|host| host.name.clone()).collect();
    Ok(web)
}

/// The word lists of both languages.
pub struct Grammars {
    chinese: Grammar,
    english: Grammar,
}

impl Grammars {
    fn of(&self, language: Language) -> &Grammar {
        match language {
            Language::Chinese => &self.chinese,
            Language::English => &self.english,
        }
    }
}

//! Proves a store consistent, and mends what can be mended.
//!
//! Promises: without `repair` nothing is changed but what the database itself
//! mends on opening after a crash; with it, what can be derived anew is, and
//! the result is checked again before a finding is called repaired.
//! Never: invents data. What is lost is named and left out.

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;

use super::{Store, StoreError, check::Check, repair::repair};

/// Reads a model snapshot, given by name, and says what is wrong with it.
pub type CheckModel<'a> = &'a dyn Fn(&str, &[u8]) -> Result<(), String>;

/// How [`verify`] goes about it.
pub struct VerifyOptions<'a> {
    /// Mend what can be mended.
    pub repair: bool,
    /// Says whether a model snapshot, given by name, can be read; the store cannot know.
    pub check_model: CheckModel<'a>,
    /// Told after every page how many of how many are checked.
    pub progress: &'a mut dyn FnMut(u64, u64),
}

/// What [`verify`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verification {
    pub pages: u64,
    pub waiting: u64,
    pub hosts: u64,
    /// Captures that were read back and fit their digests.
    pub captures: u64,
    /// Committed bytes in all archive files.
    pub archive_bytes: u64,
    /// What is wrong, by kind.
    pub findings: Vec<Finding>,
}

/// Everything of one kind that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub problem: Problem,
    pub severity: Severity,
    /// How often it occurs.
    pub count: u64,
    /// The first few places where it does.
    pub examples: Vec<String>,
    /// It was there, and is no more.
    pub repaired: bool,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A crash leaves this behind; the next opening clears it away.
    Note,
    /// This must not be.
    Fault,
}

/// What can be wrong with a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Problem {
    PageUnreadable,
    PageMissing,
    PageIndex,
    Standing,
    WaitsThoughFinished,
    LinkUnreadable,
    Queue,
    Outlinks,
    Hosts,
    Robots,
    Counters,
    StateUnreadable,
    ModelUnreadable,
    CaptureUnreadable,
    ArchiveShort,
    ArchiveTail,
    Labels,
}

impl Problem {
    /// What it means, and what `--repair` does about it (`None`: nothing can be done).
    #[must_use]
    pub fn explanation(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::PageUnreadable => ("a finished page cannot be read", None),
            Self::PageMissing => ("page numbers have a gap", None),
            Self::PageIndex => ("the index of finished URLs does not agree with the pages", Some("the index is built anew")),
            Self::Standing => (
                "a page's rank is missing, or belongs to no page",
                Some("it is set back to what it was when the page was fetched"),
            ),
            Self::WaitsThoughFinished => ("a URL is finished and still waits", Some("it waits no longer")),
            Self::LinkUnreadable => ("a waiting URL cannot be read", Some("it is forgotten until a page links to it again")),
            Self::Queue => ("the queue does not agree with the waiting URLs", Some("the queue is built anew")),
            Self::Outlinks => ("outlinks cannot be read, or belong to no page", Some("they are removed; reports lack them")),
            Self::Hosts => ("host names and host numbers do not agree", Some("the names are listed anew")),
            Self::Robots => {
                ("a robots.txt cannot be read, or belongs to no host", Some("it is removed, and fetched again when needed"))
            }
            Self::Counters => ("the crawl's counters do not agree with its rows", Some("they are counted anew")),
            Self::StateUnreadable => {
                ("the crawl's counters are missing or cannot be read", Some("they are counted anew; clock and chance start over"))
            }
            Self::Labels => ("the labels of pages (labels.tsv) cannot be read; correct the line by hand", None),
            Self::ModelUnreadable => ("a model cannot be read; roll it back or retrain it", None),
            Self::CaptureUnreadable => ("a capture in the archive cannot be read", Some("its page is kept without a capture")),
            Self::ArchiveShort => {
                ("the archive is shorter than what was committed", Some("it ends after its last whole capture"))
            }
            Self::ArchiveTail => ("the archive goes on after the last commit, as after a crash", Some("the rest is cut off")),
        }
    }

    fn severity(self) -> Severity {
        if self == Self::ArchiveTail { Severity::Note } else { Severity::Fault }
    }
}

impl Verification {
    /// Nothing is wrong, or nothing is any more.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.findings.iter().all(|finding| finding.repaired || finding.severity == Severity::Note)
    }
}

/// Checks the store in `dir` from its first byte to its last.
///
/// # Errors
/// As for [`Store::open`]; [`StoreError::BeyondRepair`] where the database itself cannot be read.
pub fn verify(dir: &Path, options: VerifyOptions<'_>) -> Result<Verification, StoreError> {
    let VerifyOptions { repair: mend, check_model, progress } = options;
    let store = Store::open_to_verify(dir)?;
    let check = Check::run(&store.shared, check_model, progress)?;
    let mut verification = check.verification();
    if mend && check.findings.keys().any(|problem| problem.explanation().1.is_some()) {
        repair(&store.shared, &check)?;
        let after = Check::run(&store.shared, check_model, progress)?;
        verification = Verification { findings: verification.findings, ..after.verification() };
        for finding in &mut verification.findings {
            finding.repaired = !after.findings.contains(finding.problem);
        }
    }
    Ok(verification)
}

/// Findings while they are gathered: count and examples by kind.
#[derive(Default)]
pub(super) struct Findings(BTreeMap<Problem, (u64, Vec<String>)>);

/// Examples that are kept of each kind.
const EXAMPLES: usize = 5;

impl Findings {
    pub fn add(&mut self, problem: Problem, example: impl FnOnce() -> String) {
        let (count, examples) = self.0.entry(problem).or_default();
        *count += 1;
        if examples.len() < EXAMPLES {
            examples.push(example());
        }
    }

    pub fn contains(&self, problem: Problem) -> bool {
        self.0.contains_key(&problem)
    }

    pub fn keys(&self) -> impl Iterator<Item = Problem> {
        self.0.keys().copied()
    }

    pub fn to_list(&self) -> Vec<Finding> {
        let finding = |(&problem, (count, examples)): (&Problem, &(u64, Vec<String>))| Finding {
            problem,
            severity: problem.severity(),
            count: *count,
            examples: examples.clone(),
            repaired: false,
        };
        self.0.iter().map(finding).collect()
    }
}

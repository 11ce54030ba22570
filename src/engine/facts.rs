//! What a report tells of a crawl beyond its rows: order, clock, and what the models have learnt.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{Crawl, MemoryReport};
use crate::{
    fetch::DnsCounts,
    link_classifier::{Feature, Lesson, LinkLearner},
    page::{Term, Timestamp},
    store::{Store, StoreError},
    text::TermId,
};

/// Name of the row that holds it.
const ROW: &str = "run";
/// Name under which a batch of lessons is checked.
const LESSONS: &str = "lessons";
/// Words listed.
const WORDS: usize = 60;

/// Facts of a crawl's run, renewed with every session.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    pub order: String,
    pub started: Timestamp,
    pub virtual_time: bool,
    pub model_versions: u32,
    /// The page model's weightiest words, with their weights (log ratios).
    pub top_terms: Vec<(String, f64)>,
    /// Name, prior and present weight of each piece of link evidence.
    pub link_weights: Vec<(String, f64, f64)>,
    /// Memory in use at the last snapshot.
    #[serde(default)]
    pub memory: MemoryReport,
    /// Names looked up in all sessions; `None` for a recorded web.
    #[serde(default)]
    pub dns: Option<DnsCounts>,
}

impl RunFacts {
    /// Reads what the last session left; defaults where there is none.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn load(store: &Store) -> Result<Self, StoreError> {
        let bytes = store.model(ROW)?;
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default())
    }
}

/// Words of relevant pages, to name what the page model's hashed columns stand for.
#[derive(Debug, Default)]
pub(super) struct Lexicon {
    /// Each with the number of pages that hold it.
    words: FxHashMap<TermId, (Box<str>, u32)>,
}

impl Lexicon {
    /// As many words are counted; rare ones make room.
    const CAPACITY: usize = 50_000;

    pub(super) fn add<'a>(&mut self, words: impl Iterator<Item = Term<'a>>) {
        for Term { id, word, .. } in words {
            self.words.entry(id).or_insert_with(|| (word.into(), 0)).1 += 1;
        }
        let mut rare = 1;
        while self.words.len() > Self::CAPACITY {
            self.words.retain(|_, (_, pages)| *pages > rare);
            rare *= 2;
        }
    }

    /// The words that weigh most among those of three relevant pages or more.
    fn weightiest(&self, weight: impl Fn(TermId) -> f64) -> Vec<(String, f64)> {
        let known = self.words.iter().filter(|&(_, &(_, pages))| pages >= 3);
        let weighed = known.map(|(&id, (word, _))| (String::from(&**word), weight(id)));
        let mut words: Vec<(String, f64)> = weighed.filter(|&(_, weight)| weight > 0.0).collect();
        words.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        words.truncate(WORDS);
        words
    }
}

impl Crawl {
    /// The facts row as of now.
    pub(super) fn facts_row(&self) -> (String, Vec<u8>) {
        let model = self.pages.model();
        let now = self.links.weights();
        let facts = RunFacts {
            order: self.plan.engine.order.name().to_owned(),
            started: self.first_started,
            virtual_time: self.web.fetcher.recorded_at().is_some(),
            model_versions: self.pages.version(),
            top_terms: self.lexicon.weightiest(|word| model.word_weight(word)),
            link_weights: Feature::ALL
                .into_iter()
                .map(|feature| (feature.name().to_owned(), feature.prior_weight(), now[feature as usize]))
                .collect(),
            memory: self.memory_report(),
            dns: self.web.fetcher.dns().map(|now| self.dns_before.plus(now)),
        };
        // Plain numbers and strings always serialise.
        (ROW.to_owned(), serde_json::to_vec(&facts).unwrap_or_default())
    }
}

/// Whether a snapshot row of the store can be read by this version; for `windrow verify`.
///
/// # Errors
/// What is wrong with it, in words.
pub fn check_snapshot(name: &str, bytes: &[u8]) -> Result<(), String> {
    match name {
        ROW => serde_json::from_slice::<RunFacts>(bytes).map(drop).map_err(|error| error.to_string()),
        super::resume::LINKS => {
            LinkLearner::from_bytes(bytes).map(drop).ok_or_else(|| "not a link model of this version".to_owned())
        }
        super::steering::ROW => super::steering::check(bytes),
        LESSONS => postcard::from_bytes::<Vec<Lesson>>(bytes).map(drop).map_err(|error| error.to_string()),
        _ => Err("no such snapshot is known to this version".to_owned()),
    }
}

//! A model as a folder: written whole or not at all, checked before it is believed.

mod files;
mod versions;

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

pub(super) use files::sha256;
use files::{FORMAT, damaged, lines, page_file, pretty, read_card};
use serde::{Deserialize, Serialize};
pub use versions::roll_back;
use versions::{put_away, remove, sibling};

use super::{Card, ModelError, WordCounts, guard::HandedOn};
use crate::{
    link_classifier::TrainedLinkModel,
    page::TermBag,
    page_classifier::{Meaning, Reading, TrainedPageModel},
    topic::KeywordSet,
};

/// A file larger than this is no model.
const MAX_BYTES: u64 = 64 << 20;

const CARD: &str = "card.json";
const PAGE: &str = "page.json";
const LINK: &str = "link.json";
const EXAMPLES: &str = "examples.json";

/// A page model, a link model if there is one, and their card.
#[derive(Debug, Clone)]
pub struct ModelBundle {
    pub page: Arc<TrainedPageModel>,
    /// What the page model is made of; retraining adds to it.
    pub words: WordCounts,
    pub link: Option<TrainedLinkModel>,
    /// Labelled pages that it was trained on; a crawl that starts from it takes them as examples.
    pub examples: Vec<LabelledExample>,
    pub card: Card,
}

/// A labelled page as a model keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LabelledExample {
    pub url: String,
    pub relevant: bool,
    /// What this model would add to the page's log-odds if it had not been trained on it.
    pub evidence: f64,
    /// Words with weighted counts.
    pub terms: TermBag,
}

impl LabelledExample {
    /// As a crawl with these keywords takes it.
    pub(super) fn read(&self, keywords: &KeywordSet) -> HandedOn {
        (Reading::of(&self.terms, &[], keywords), self.relevant, self.evidence)
    }
}

/// `page.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PageFile {
    meaning: Meaning,
    counts: WordCounts,
}

impl ModelBundle {
    /// Puts a model together; format, id, size and checksums of the card are filled in.
    ///
    /// # Errors
    /// Counts that no model can be made of.
    pub fn new(words: WordCounts, meaning: Meaning, link: Option<TrainedLinkModel>, card: Card) -> Result<Self, ModelError> {
        let page = Arc::new(words.model(meaning).map_err(ModelError::Fit)?);
        let mut bundle = Self { page, words, link, examples: Vec::new(), card };
        bundle.seal();
        bundle.card.format = FORMAT;
        bundle.card.words = bundle.words.len();
        bundle.card.version = bundle.card.version.max(1);
        env!("CARGO_PKG_VERSION").clone_into(&mut bundle.card.windrow);
        Ok(bundle)
    }

    /// The same model with labelled pages to hand on.
    #[must_use]
    pub fn with_examples(mut self, examples: Vec<LabelledExample>) -> Self {
        self.examples = examples;
        self.seal();
        self
    }

    /// Writes the checksums of all files, and the id that follows from them, into the card.
    fn seal(&mut self) {
        let files = self.files();
        let all: Vec<u8> = files.values().flat_map(|bytes| bytes.iter().copied()).collect();
        sha256(&all)[..12].clone_into(&mut self.card.id);
        self.card.files = files.iter().map(|(name, bytes)| ((*name).to_owned(), sha256(bytes))).collect();
    }

    /// The files that the card vouches for.
    fn files(&self) -> BTreeMap<&'static str, Vec<u8>> {
        let mut files = BTreeMap::from([(PAGE, page_file(self.page.meaning(), &self.words).into_bytes())]);
        if let Some(link) = &self.link {
            files.insert(LINK, pretty(link));
        }
        if !self.examples.is_empty() {
            files.insert(EXAMPLES, lines(&self.examples));
        }
        files
    }

    /// Writes the model to the folder `into`; what was there before is kept as `NAME.previous`, and what was that before
    /// in `NAME.versions`.
    ///
    /// # Errors
    /// A folder that cannot be written. The old model is then still in one of the two places.
    pub fn save(&self, into: &Path) -> Result<(), ModelError> {
        let fresh = sibling(into, ".new");
        remove(&fresh)?;
        fs::create_dir_all(&fresh).map_err(ModelError::io(&fresh))?;
        let mut files = self.files();
        files.insert(CARD, pretty(&self.card));
        files.insert("card.md", self.card.to_markdown().into_bytes());
        for (name, bytes) in files {
            let path = fresh.join(name);
            fs::write(&path, bytes).map_err(ModelError::io(&path))?;
        }
        if into.exists() {
            let previous = sibling(into, ".previous");
            put_away(&previous, into)?;
            fs::rename(into, &previous).map_err(ModelError::io(into))?;
        }
        fs::rename(&fresh, into).map_err(ModelError::io(into))
    }

    /// Reads a model from its folder.
    ///
    /// # Errors
    /// A file that is missing or damaged, or of another format; each is named, with what to do, and with the version before
    /// where that one is whole.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        Self::open_alone(folder).map_err(|error| {
            let previous = sibling(folder, ".previous");
            match Self::open_alone(&previous) {
                Ok(works) => ModelError::EarlierWorks {
                    error: Box::new(error),
                    version: works.card.version,
                    id: works.card.id,
                    folder: previous,
                },
                Err(_) => error,
            }
        })
    }

    fn open_alone(folder: &Path) -> Result<Self, ModelError> {
        Self::read(&folder.display().to_string(), |file| {
            let path = folder.join(file);
            let bytes = fs::metadata(&path).map_err(ModelError::io(&path))?.len();
            if bytes > MAX_BYTES {
                return Err(damaged(&folder.display(), file, format!("{bytes} bytes are too many")));
            }
            fs::read(&path).map_err(ModelError::io(&path))
        })
    }

    /// Reads a model whose files `file` gives by name; `model` is what errors call it.
    pub(super) fn read(model: &str, file: impl Fn(&str) -> Result<Vec<u8>, ModelError>) -> Result<Self, ModelError> {
        let card = read_card(model, &file(CARD)?)?;
        let checked = |name: &str| {
            let expected = card.files.get(name).ok_or_else(|| damaged(&model, CARD, format!("no checksum of {name}")))?;
            let bytes = file(name)?;
            let found = sha256(&bytes);
            if &found == expected {
                Ok(bytes)
            } else {
                Err(damaged(&model, name, format!("its SHA-256 is {found}, not {expected}")))
            }
        };
        let parse = |name: &str, error: serde_json::Error| damaged(&model, name, error.to_string());
        let page: PageFile = serde_json::from_slice(&checked(PAGE)?).map_err(|error| parse(PAGE, error))?;
        if let Some(flaw) = page.counts.flaw() {
            return Err(damaged(&model, PAGE, flaw));
        }
        let link: Option<TrainedLinkModel> = if card.files.contains_key(LINK) {
            Some(serde_json::from_slice(&checked(LINK)?).map_err(|error| parse(LINK, error))?)
        } else {
            None
        };
        if link.as_ref().is_some_and(|link| !link.is_sound()) {
            return Err(damaged(&model, LINK, "a weight that cannot be".to_owned()));
        }
        let examples = if card.files.contains_key(EXAMPLES) {
            serde_json::from_slice(&checked(EXAMPLES)?).map_err(|error| parse(EXAMPLES, error))?
        } else {
            Vec::new()
        };
        let words = page.counts;
        Ok(Self { page: Arc::new(words.model(page.meaning).map_err(ModelError::Fit)?), words, link, examples, card })
    }
}

#[cfg(test)]
mod tests;

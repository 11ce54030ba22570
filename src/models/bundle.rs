//! A model as a folder: written whole or not at all, checked before it is believed.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Card, ModelError, WordCounts, guard::HandedOn};
use crate::{
    link_classifier::TrainedLinkModel,
    page::TermBag,
    page_classifier::{Meaning, Reading, TrainedPageModel},
    topic::KeywordSet,
};

/// The format of the files that this windrow writes and reads.
const FORMAT: u32 = 1;
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

/// Puts the version before back, and returns its card; what was in force becomes the earlier one, so that twice is not at
/// all.
///
/// # Errors
/// There is no earlier version, it is damaged, or a folder cannot be renamed.
pub fn roll_back(folder: &Path) -> Result<Card, ModelError> {
    let (previous, between) = (sibling(folder, ".previous"), sibling(folder, ".new"));
    if !previous.join(CARD).is_file() {
        return Err(ModelError::NoEarlier(folder.to_owned()));
    }
    let card = ModelBundle::open_alone(&previous)?.card;
    remove(&between)?;
    let rename = |from: &Path, to: &Path| fs::rename(from, to).map_err(ModelError::io(from));
    // A save that was cut short may have left no model in force.
    let was_in_force = folder.exists();
    if was_in_force {
        rename(folder, &between)?;
    }
    rename(&previous, folder)?;
    if was_in_force {
        rename(&between, &previous)?;
    }
    Ok(card)
}

/// Moves the folder of a version that is two steps back to `NAME.versions/VERSION-ID`.
fn put_away(previous: &Path, folder: &Path) -> Result<(), ModelError> {
    if !previous.exists() {
        return Ok(());
    }
    let name = fs::read(previous.join(CARD))
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Card>(&bytes).ok())
        .map_or_else(|| "damaged".to_owned(), |card| format!("{:04}-{}", card.version, card.id));
    let versions = sibling(folder, ".versions");
    fs::create_dir_all(&versions).map_err(ModelError::io(&versions))?;
    let place = versions.join(name);
    remove(&place)?;
    fs::rename(previous, &place).map_err(ModelError::io(previous))
}

/// The card, if its format is one that can be read.
fn read_card(model: &str, bytes: &[u8]) -> Result<Card, ModelError> {
    /// What every format must say first.
    #[derive(Deserialize)]
    struct Head {
        format: u32,
    }
    let parse = |error: serde_json::Error| damaged(&model, CARD, error.to_string());
    let Head { format } = serde_json::from_slice(bytes).map_err(parse)?;
    if format != FORMAT {
        return Err(ModelError::Format { model: model.to_owned(), found: format, expected: FORMAT });
    }
    serde_json::from_slice(bytes).map_err(parse)
}

/// `page.json` with one word a line, so that versions can be compared line by line.
fn page_file(meaning: Meaning, words: &WordCounts) -> String {
    let (relevant, irrelevant) = words.documents;
    let mut text = format!(
        "{{\"meaning\":{},\n\"counts\":{{\"documents\":[{relevant},{irrelevant}],\"smoothing\":{},\"words\":{{",
        serde_json::json!(meaning),
        words.smoothing
    );
    for (at, (word, relevant, irrelevant)) in words.iter().enumerate() {
        let comma = if at == 0 { "" } else { "," };
        _ = write!(text, "{comma}\n{}:[{relevant},{irrelevant}]", serde_json::json!(word));
    }
    text.push_str("\n}}}\n");
    text
}

/// A list with one element a line.
fn lines(values: &[impl Serialize]) -> Vec<u8> {
    let lines: Vec<String> = values.iter().map(|value| serde_json::to_string(value).unwrap_or_default()).collect();
    format!("[\n{}\n]\n", lines.join(",\n")).into_bytes()
}

fn pretty(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

fn damaged(model: &impl ToString, file: &str, what: String) -> ModelError {
    ModelError::Damaged { model: model.to_string(), file: file.to_owned(), what }
}

/// SHA-256 in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The folder of the same name with an ending, beside `folder`.
fn sibling(folder: &Path, ending: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    folder.with_file_name(name)
}

fn remove(folder: &Path) -> Result<(), ModelError> {
    if folder.exists() { fs::remove_dir_all(folder).map_err(ModelError::io(folder)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bundle(rice: f64) -> ModelBundle {
        let mut words = WordCounts::new((3.0, 4.5), 10.0);
        words.add("rice", rice, 0.0);
        words.add("goal \"quoted\"", 0.125, 7.0);
        let card = Card { name: "farm".to_owned(), ..Card::default() };
        ModelBundle::new(words, Meaning { base_rate: 0.25, ..Meaning::default() }, Some(TrainedLinkModel::default()), card)
            .unwrap()
    }

    fn saved() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("models/farm");
        bundle(12.5).save(&path).unwrap();
        (folder, path)
    }

    fn refusal(path: &Path) -> String {
        ModelBundle::open(path).unwrap_err().to_string()
    }

    #[test]
    fn a_model_comes_back_as_it_was_written() {
        let (_folder, path) = saved();
        let (written, read) = (bundle(12.5), ModelBundle::open(&path).unwrap());
        assert_eq!((&read.words, &read.link, &read.card), (&written.words, &written.link, &written.card));
        assert_eq!(read.page, written.page);
        assert!(fs::read_to_string(path.join("card.md")).unwrap().starts_with("# farm, version 1"));
        assert_eq!(fs::read_to_string(path.join(PAGE)).unwrap().lines().count(), 5, "one word a line");
    }

    #[test]
    fn every_file_cut_short_or_changed_is_refused_by_name() {
        for file in [PAGE, LINK, CARD] {
            let (_folder, path) = saved();
            let whole = fs::read(path.join(file)).unwrap();
            for length in [0, 1, whole.len() / 2, whole.len() - 2] {
                fs::write(path.join(file), &whole[..length]).unwrap();
                let said = refusal(&path);
                assert!(said.contains(file) && said.contains("train it again"), "{file} {length}: {said}");
            }
            fs::remove_file(path.join(file)).unwrap();
            assert!(refusal(&path).contains(file));
        }
        let (_folder, path) = saved();
        let changed = fs::read_to_string(path.join(PAGE)).unwrap().replace("12.5", "92.5");
        fs::write(path.join(PAGE), changed).unwrap();
        assert!(refusal(&path).contains("page.json of model"));
    }

    #[test]
    fn a_model_of_another_format_is_refused_clearly() {
        let (_folder, path) = saved();
        let card = fs::read_to_string(path.join(CARD)).unwrap();
        fs::write(path.join(CARD), card.replace("\"format\": 1", "\"format\": 7")).unwrap();
        assert!(refusal(&path).contains("is of format 7, this windrow reads format 1"));
    }

    #[test]
    fn counts_that_no_model_can_have_are_refused_even_with_a_right_checksum() {
        let (_folder, path) = saved();
        let page = fs::read_to_string(path.join(PAGE)).unwrap().replace("[12.5,", "[-12.5,");
        let card = fs::read_to_string(path.join(CARD)).unwrap().replace(&bundle(12.5).card.files[PAGE], &sha256(page.as_bytes()));
        fs::write(path.join(PAGE), page).unwrap();
        fs::write(path.join(CARD), card).unwrap();
        assert!(refusal(&path).contains("the counts of \"rice\" are -12.5 and 0"));
    }

    fn bytes_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
        files.map(|file| (file.file_name().to_string_lossy().into_owned(), fs::read(file.path()).unwrap())).collect()
    }

    #[test]
    fn rolling_back_restores_byte_identical_files_and_every_version_is_kept() {
        let (_folder, path) = saved();
        let first = bytes_of(&path);
        bundle(2.0).save(&path).unwrap();
        let second = bytes_of(&path);
        assert_ne!(first, second);
        assert_eq!(roll_back(&path).unwrap().id, bundle(12.5).card.id);
        assert_eq!(bytes_of(&path), first);
        bundle(3.0).save(&path).unwrap();
        let kept: Vec<_> = fs::read_dir(sibling(&path, ".versions")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(kept.len(), 1, "{kept:?}");
        assert_eq!(bytes_of(&kept[0]), second);
    }

    #[test]
    fn a_damaged_model_names_its_file_and_the_version_that_still_works() {
        let (_folder, path) = saved();
        bundle(2.0).save(&path).unwrap();
        fs::write(path.join(PAGE), "{").unwrap();
        let said = refusal(&path);
        let works = format!("version 1 ({}) in {}", bundle(12.5).card.id, sibling(&path, ".previous").display());
        assert!(said.contains("page.json of model") && said.contains(&works) && said.contains("--rollback"), "{said}");
        roll_back(&path).unwrap();
        assert!(ModelBundle::open(&path).is_ok());
        assert!(roll_back(&path).is_err(), "the damaged one is not put back");
        assert!(ModelBundle::open(&path).is_ok());
    }

    #[test]
    fn examples_travel_with_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("farm");
        let example = |url: &str| LabelledExample {
            url: url.to_owned(),
            relevant: true,
            evidence: 0.25,
            terms: [("稻 \"q\"", 2.5)].into_iter().collect(),
        };
        let examples = vec![example("http://e.com/1"), example("http://e.com/2")];
        bundle(1.0).with_examples(examples.clone()).save(&path).unwrap();
        assert_eq!(ModelBundle::open(&path).unwrap().examples, examples);
        fs::write(path.join(EXAMPLES), "[]").unwrap();
        assert!(refusal(&path).contains("examples.json of model"));
    }

    #[test]
    fn the_model_before_is_kept_and_can_be_put_back() {
        let (_folder, path) = saved();
        assert!(roll_back(&path).unwrap_err().to_string().contains("no earlier version"));
        bundle(99.0).save(&path).unwrap();
        let rice = || ModelBundle::open(&path).unwrap().words.iter().find(|word| word.0 == "rice").unwrap().1;
        assert!((rice() - 99.0).abs() < 1e-9);
        roll_back(&path).unwrap();
        assert!((rice() - 12.5).abs() < 1e-9);
        roll_back(&path).unwrap();
        assert!((rice() - 99.0).abs() < 1e-9, "rolling back twice is not rolling back");
        bundle(1.0).save(&path).unwrap();
        fs::remove_dir_all(&path).unwrap();
        roll_back(&path).unwrap();
        assert!((rice() - 99.0).abs() < 1e-9, "after a save that was cut short");
    }
}

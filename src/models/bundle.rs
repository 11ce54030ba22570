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

use super::{Card, ModelError, WordCounts};
use crate::{
    link_classifier::TrainedLinkModel,
    page_classifier::{Meaning, TrainedPageModel},
};

/// The format of the files that this windrow writes and reads.
const FORMAT: u32 = 1;
/// A file larger than this is no model.
const MAX_BYTES: u64 = 64 << 20;

const CARD: &str = "card.json";
const PAGE: &str = "page.json";
const LINK: &str = "link.json";

/// A page model, a link model if there is one, and their card.
#[derive(Debug, Clone)]
pub struct ModelBundle {
    pub page: Arc<TrainedPageModel>,
    /// What the page model is made of; retraining adds to it.
    pub words: WordCounts,
    pub link: Option<TrainedLinkModel>,
    pub card: Card,
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
        let mut bundle = Self { page, words, link, card };
        let files = bundle.files();
        let all: Vec<u8> = files.values().flat_map(|bytes| bytes.iter().copied()).collect();
        sha256(&all)[..12].clone_into(&mut bundle.card.id);
        bundle.card.files = files.iter().map(|(name, bytes)| ((*name).to_owned(), sha256(bytes))).collect();
        bundle.card.format = FORMAT;
        bundle.card.words = bundle.words.len();
        bundle.card.version = bundle.card.version.max(1);
        env!("CARGO_PKG_VERSION").clone_into(&mut bundle.card.windrow);
        Ok(bundle)
    }

    /// The files that the card vouches for.
    fn files(&self) -> BTreeMap<&'static str, Vec<u8>> {
        let mut files = BTreeMap::from([(PAGE, page_file(self.page.meaning(), &self.words).into_bytes())]);
        if let Some(link) = &self.link {
            files.insert(LINK, pretty(link));
        }
        files
    }

    /// Writes the model to the folder `into`; what was there before is kept as `NAME.previous`.
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
            remove(&previous)?;
            fs::rename(into, &previous).map_err(ModelError::io(into))?;
        }
        fs::rename(&fresh, into).map_err(ModelError::io(into))
    }

    /// Reads a model from its folder.
    ///
    /// # Errors
    /// A file that is missing or damaged, or of another format; each is named, with what to do.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
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
        let words = page.counts;
        Ok(Self { page: Arc::new(words.model(page.meaning).map_err(ModelError::Fit)?), words, link, card })
    }
}

/// Puts the version before back; what was in force becomes the earlier one, so that twice is not at all.
///
/// # Errors
/// There is no earlier version, or a folder cannot be renamed.
pub fn roll_back(folder: &Path) -> Result<(), ModelError> {
    let (previous, between) = (sibling(folder, ".previous"), sibling(folder, ".new"));
    if !previous.join(CARD).is_file() {
        return Err(ModelError::NoEarlier(folder.to_owned()));
    }
    remove(&between)?;
    let rename = |from: &Path, to: &Path| fs::rename(from, to).map_err(ModelError::io(from));
    // A save that was cut short may have left no model in force.
    let was_in_force = folder.exists();
    if was_in_force {
        rename(folder, &between)?;
    }
    rename(&previous, folder)?;
    if was_in_force { rename(&between, &previous) } else { Ok(()) }
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

//! The manifest of a model: which texts, which labels count as relevant, which term lists; and training by it.
//!
//! Paths of texts are relative to a folder of corpora that is given, all others to the manifest.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::Deserialize;

use super::{
    Card, DataSource, Document, Measured, Metrics, ModelBundle, ModelError, PageTrainer, Scored, TrainedPages, TrainingSet,
    bundle::sha256, jsonl::for_each_text, term_list::TermList, transfer,
};
use crate::{
    page::{TermBag, TermBagBuilder},
    page_classifier::{PageClassifierConfig, PageLearner},
    text::Segmenter,
    topic::{KeywordSet, Topic},
};

/// What a model is trained from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub name: String,
    pub description: String,
    /// Seed of made-up documents.
    #[serde(default)]
    pub seed: u64,
    /// Share of each source that is never trained on, in 0..1.
    pub held_out: f64,
    pub min_documents: u32,
    pub max_words: usize,
    pub smoothing: f64,
    /// The topic file whose keywords speak beside the model when it is measured as a crawl uses it.
    pub topic: Option<PathBuf>,
    #[serde(default)]
    pub notes: Vec<String>,
    #[serde(rename = "source")]
    sources: Vec<SourceEntry>,
    #[serde(rename = "terms", default)]
    terms: Vec<TermsEntry>,
}

/// A file of labelled texts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceEntry {
    name: String,
    file: PathBuf,
    /// Labels of relevant texts.
    positive: Vec<String>,
    /// Labels of irrelevant texts; all others where empty.
    #[serde(default)]
    negative: Vec<String>,
    /// Texts of neither kind: too near to be wrong.
    #[serde(default)]
    ignore: Vec<String>,
    /// Texts taken of each class at most, the first of the file.
    #[serde(default)]
    limit: Option<usize>,
}

/// Term lists that documents are made up from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct TermsEntry {
    name: String,
    positive: PathBuf,
    negative: PathBuf,
    /// Documents made up of each class.
    documents: usize,
}

/// Trains the model that a manifest describes, on the texts below `corpora`; `today` goes into the card.
///
/// # Errors
/// A manifest, text file or term list that cannot be used, with the place; or too little data.
pub fn train_from_manifest(path: &Path, corpora: &Path, today: &str) -> Result<ModelBundle, ModelError> {
    let manifest = Manifest::open(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let (keywords, segmenter) = manifest.topic(folder)?;
    let mut set = TrainingSet::new(keywords);
    let mut data = Vec::new();
    for source in &manifest.sources {
        data.push(source.read(corpora, &segmenter, &mut set)?);
    }
    for terms in &manifest.terms {
        data.extend(terms.make_up(folder, manifest.seed, &segmenter, &mut set)?);
    }
    let (train, held_out) = set.split(manifest.held_out);
    for source in &mut data {
        source.count(&set, &train, &held_out);
    }
    let trainer = PageTrainer {
        min_documents: manifest.min_documents,
        max_words: manifest.max_words,
        smoothing: manifest.smoothing,
        ..PageTrainer::default()
    };
    let model = trainer.train(&set, &train)?;
    let card = Card {
        name: manifest.name.clone(),
        description: manifest.description.clone(),
        version: 1,
        trained: today.to_owned(),
        measured: measured(&model, &set, &held_out),
        transfer: transfer::measure(&trainer, &set, &train, &held_out)?,
        notes: manifest.notes.clone(),
        data,
        ..Card::default()
    };
    ModelBundle::new(model.words, model.model.meaning(), None, card)
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// A file that cannot be read, an unknown or missing key, or a number out of range.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let text = fs::read_to_string(path).map_err(ModelError::io(path))?;
        let refuse = |problem: String| ModelError::Manifest { place: path.display().to_string(), problem };
        let manifest: Self = toml::from_str(&text).map_err(|error| refuse(error.to_string()))?;
        if !(manifest.held_out > 0.0 && manifest.held_out < 1.0) {
            return Err(refuse(format!("held_out is {}: give a share between 0 and 1, such as 0.2", manifest.held_out)));
        }
        if !(manifest.smoothing.is_finite() && manifest.smoothing > 0.0) {
            return Err(refuse(format!("smoothing is {}: give a number above 0", manifest.smoothing)));
        }
        Ok(manifest)
    }

    /// The keywords that pages are judged with beside the model, and the segmenter that knows them.
    fn topic(&self, folder: &Path) -> Result<(KeywordSet, Arc<Segmenter>), ModelError> {
        let Some(file) = &self.topic else { return Ok((KeywordSet::default(), Segmenter::shared())) };
        let path = folder.join(file);
        let topic = Topic::load(&path)
            .map_err(|error| ModelError::Manifest { place: path.display().to_string(), problem: error.to_string() })?;
        let keywords = KeywordSet::new(topic.keywords.iter().map(|keyword| keyword.terms.clone()));
        Ok((keywords, topic.segmenter()))
    }
}

impl SourceEntry {
    fn class(&self, label: &str) -> Option<bool> {
        let among = |labels: &[String]| labels.iter().any(|known| known == label);
        if among(&self.positive) {
            Some(true)
        } else if among(&self.ignore) || !(self.negative.is_empty() || among(&self.negative)) {
            None
        } else {
            Some(false)
        }
    }

    fn read(&self, corpora: &Path, segmenter: &Segmenter, set: &mut TrainingSet) -> Result<DataSource, ModelError> {
        let path = corpora.join(&self.file);
        let mut taken = [0, 0];
        for_each_text(&path, |text| {
            let Some(relevant) = self.class(&text.label) else { return };
            let taken = &mut taken[usize::from(relevant)];
            if self.limit.is_some_and(|limit| *taken >= limit) {
                return;
            }
            *taken += 1;
            set.add(&Document {
                source: &self.name,
                key: &text.id,
                terms: &bag(&text.text, segmenter),
                url_words: &[],
                relevance: f64::from(u8::from(relevant)),
                weight: 1.0,
                known: true,
            });
        })?;
        if taken.contains(&0) {
            let problem =
                format!("source {:?} has {} positive and {} negative texts: check its labels", self.name, taken[1], taken[0]);
            return Err(ModelError::Manifest { place: path.display().to_string(), problem });
        }
        Ok(DataSource { labels: self.positive.join(", "), ..data_source(&self.name, &path)? })
    }
}

impl TermsEntry {
    fn make_up(
        &self,
        folder: &Path,
        seed: u64,
        segmenter: &Segmenter,
        set: &mut TrainingSet,
    ) -> Result<Vec<DataSource>, ModelError> {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut data = Vec::new();
        for (file, relevance) in [(&self.positive, 1.0), (&self.negative, 0.0)] {
            let path = folder.join(file);
            let list = TermList::open(&path)?;
            for number in 0..self.documents {
                set.add(&Document {
                    source: &self.name,
                    key: &format!("{relevance} {number}"),
                    terms: &bag(&list.make_up(&mut random), segmenter),
                    url_words: &[],
                    relevance,
                    weight: 1.0,
                    known: false,
                });
            }
            let made_up = if relevance > 0.5 { (self.documents, 0) } else { (0, self.documents) };
            data.push(DataSource {
                relevant: made_up.0,
                irrelevant: made_up.1,
                labels: format!("made up from {} terms", list.terms()),
                ..data_source(&self.name, &path)?
            });
        }
        Ok(data)
    }
}

impl DataSource {
    /// Fills in how many documents of it there are, where that is not known yet.
    fn count(&mut self, set: &TrainingSet, train: &[usize], held_out: &[usize]) {
        if self.relevant + self.irrelevant > 0 {
            return;
        }
        let Some(number) = set.sources().iter().position(|name| *name == self.name) else { return };
        let count = |members: &[usize], wanted: &dyn Fn(f64) -> bool| {
            let of_source = members.iter().map(|&at| &set.examples()[at]).filter(|example| example.source == number);
            of_source.filter(|example| wanted(example.relevance)).count()
        };
        self.relevant = count(train, &|relevance| relevance >= 0.5);
        self.irrelevant = count(train, &|relevance| relevance < 0.5);
        self.held_out = count(held_out, &|_| true);
    }
}

fn data_source(name: &str, path: &Path) -> Result<DataSource, ModelError> {
    let bytes = fs::read(path).map_err(ModelError::io(path))?;
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(DataSource { name: name.to_owned(), file, sha256: sha256(&bytes), ..DataSource::default() })
}

fn bag(text: &str, segmenter: &Segmenter) -> TermBag {
    let mut builder = TermBagBuilder::default();
    segmenter.for_each_word(text, |word| _ = builder.add(word, 1.0));
    builder.finish()
}

/// On all held-out documents, on those of each source, and as a crawl's first page would be judged.
fn measured(trained: &TrainedPages, set: &TrainingSet, held_out: &[usize]) -> Vec<Measured> {
    let mut rows = vec![Measured { on: "all held-out documents".to_owned(), metrics: trained.measure(set, held_out) }];
    for (number, name) in set.sources().iter().enumerate() {
        let members: Vec<usize> = held_out.iter().copied().filter(|&at| set.examples()[at].source == number).collect();
        if !members.is_empty() {
            rows.push(Measured { on: name.clone(), metrics: trained.measure(set, &members) });
        }
    }
    if set.keywords().is_empty() {
        return rows;
    }
    for (on, model) in
        [("all, by the topic's keywords alone", None), ("all, as a crawl judges: model and keywords", Some(&trained.model))]
    {
        let judge = PageLearner::new(&PageClassifierConfig::default(), set.keywords().len(), model).model();
        let examples = held_out.iter().map(|&at| &set.examples()[at]);
        let scored: Vec<Scored> = examples
            .map(|example| Scored {
                probability: judge.judge(&example.reading).relevance.get(),
                relevant: example.relevance >= 0.5,
            })
            .collect();
        rows.push(Measured { on: on.to_owned(), metrics: Metrics::of(&scored) });
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = r#"
name = "farm"
description = "Farms."
held_out = 0.25
min_documents = 2
max_words = 1000
smoothing = 50.0
topic = "topic.toml"

[[source]]
name = "news"
file = "news.jsonl"
positive = ["farm"]
ignore = ["garden"]

[[source]]
name = "papers"
file = "papers.jsonl"
positive = ["farm"]
negative = ["sport"]
limit = 40

[[terms]]
name = "terms"
positive = "farm.txt"
negative = "other.txt"
documents = 20
"#;

    fn write(folder: &Path, manifest: &str) -> PathBuf {
        for file in ["news", "papers"] {
            let lines: Vec<String> = (0..200)
                .map(|n| {
                    let (label, text) = match n % 4 {
                        0 => ("farm", "水稻 播种 施肥 rice harvest"),
                        1 => ("garden", "rose"),
                        2 => ("sport", "足球 比赛 goal match"),
                        _ => ("stage", "电影 导演 film actor"),
                    };
                    format!("{{\"id\": \"{n}\", \"label\": \"{label}\", \"text\": \"{text} {file}{}\"}}", n % 7)
                })
                .collect();
            fs::write(folder.join(format!("{file}.jsonl")), lines.join("\n")).unwrap();
        }
        fs::write(folder.join("farm.txt"), "水稻, 稻谷\nrice, paddy\n").unwrap();
        fs::write(folder.join("other.txt"), "足球\nfootball\n").unwrap();
        fs::write(folder.join("topic.toml"), "keywords = [\"rice\"]\nseeds = [\"http://e.com/rice\"]\n").unwrap();
        let path = folder.join("manifest.toml");
        fs::write(&path, manifest).unwrap();
        path
    }

    #[test]
    fn a_manifest_makes_a_model_with_its_card() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), MANIFEST);
        let bundle = train_from_manifest(&path, folder.path(), "2026-11-21").unwrap();
        let card = &bundle.card;
        assert_eq!((card.name.as_str(), card.trained.as_str(), card.version), ("farm", "2026-11-21", 1));
        let seen: Vec<usize> = card.data.iter().map(|data| data.relevant + data.irrelevant + data.held_out).collect();
        assert_eq!(seen, [150, 80, 20, 20], "ignored labels are left out, limits kept, made-up documents counted");
        assert!(card.measured[0].metrics.auc.unwrap() > 0.99 && card.measured.len() == 5);
        assert_eq!(card.transfer.len(), 3 * 2 + 2);
        assert!(bundle.words.iter().any(|(word, relevant, irrelevant)| word == "paddy" && relevant > 0.0 && irrelevant == 0.0));
        let again = train_from_manifest(&path, folder.path(), "2026-11-22").unwrap();
        assert_eq!(again.card.id, card.id, "the same data make the same model");
    }

    #[test]
    fn a_manifest_that_cannot_be_used_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let said = |from: &str, to: &str| {
            let path = write(folder.path(), &MANIFEST.replace(from, to));
            train_from_manifest(&path, folder.path(), "2026-11-21").unwrap_err().to_string()
        };
        assert!(said("held_out = 0.25", "held_out = 1.0").contains("give a share between 0 and 1"));
        assert!(said("smoothing = 50.0", "smoothing = 0.0").contains("give a number above 0"));
        assert!(said("limit = 40", "limits = 40").contains("limits"));
        assert!(said("news.jsonl", "olds.jsonl").contains("olds.jsonl"));
        assert!(
            said("positive = [\"farm\"]\nignore", "positive = [\"farms\"]\nignore").contains("0 positive and 150 negative texts")
        );
    }
}

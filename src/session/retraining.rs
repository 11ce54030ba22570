//! A better model from what a crawl found and from labels; kept only if it is better.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::Context;

use super::{
    changes::replace,
    failure::told,
    folder::{MODEL, TOPIC},
};
use crate::{
    models::{Candidate, LabelledPage, ModelBundle, RetrainSettings, load, retrain, search_path},
    page::Outcome,
    store::Store,
    text::{Segmenter, url_words},
    topic::{KeywordSet, Topic},
    url::{Fingerprint, canonicalize},
};

/// What came of training.
pub struct Retraining {
    pub candidate: Candidate,
    /// Whether it is better; `None` where there are too few labels to tell.
    pub verdict: Option<bool>,
    /// It is in force now.
    pub kept: bool,
}

impl Retraining {
    /// What came of it, in one sentence.
    #[must_use]
    pub fn in_words(&self) -> String {
        let Candidate { difference, labelled, .. } = &self.candidate;
        let auc = |auc: Option<f64>| auc.map_or_else(|| "unknown".to_owned(), |auc| format!("{auc:.2}"));
        let said = match (self.kept, difference.contradicts, self.verdict) {
            (true, ..) => "is better and was taken",
            (_, true, _) => "was not taken: the labels say the opposite of what the crawl judged (are yes and no exchanged?)",
            (_, _, Some(_)) => "was not taken: it is not better",
            (_, _, None) => "was not taken: there are too few labels to tell whether it is better",
        };
        let (before, after) = (auc(difference.before.auc), auc(difference.after.auc));
        format!("A model retrained from {labelled} labelled pages {said} (AUC {before} before, {after} after).")
    }
}

/// Trains a model from the crawl in `dir`, its labels and `more` of them, and keeps it in `into` if it is better, if there was
/// none, or if `force` says so.
///
/// # Errors
/// Too few labels, a store or model that cannot be read, a folder that cannot be written.
pub fn retrain_from(
    store: &Store,
    dir: &Path,
    topic: &Topic,
    into: &Path,
    more: BTreeMap<Fingerprint, bool>,
    force: bool,
) -> anyhow::Result<Retraining> {
    let current = current_model(into, topic, &dir.join(TOPIC))?;
    let mut labels: BTreeMap<Fingerprint, bool> = store.labels()?.iter().map(|(page, _, relevant)| (page, relevant)).collect();
    labels.extend(more);
    let pages = pages(store, &labels, &topic.segmenter())?;
    let keywords = KeywordSet::new(topic.keywords.iter().map(|keyword| keyword.terms.clone()));
    let (name, crawl) = (into.file_name().unwrap_or_default().to_string_lossy(), dir.display().to_string());
    let today = jiff::Zoned::now().date().to_string();
    let description = format!("{}: {}", topic.name, keyword_list(topic));
    let threshold = topic.threshold.get();
    let settings =
        RetrainSettings { name: &name, description: &description, crawl: &crawl, today: &today, keywords: &keywords, threshold };
    let candidate = retrain(pages, current.as_ref(), &settings)?;
    let verdict = candidate.difference.is_better();
    let kept = force || verdict.unwrap_or(current.is_none());
    if kept {
        candidate.bundle.save(into)?;
    }
    Ok(Retraining { candidate, verdict, kept })
}

/// How many labels there were when a crawl last tried to retrain by itself; in its folder.
const TRIED: &str = "labels.tried";

/// Retrains the model of the crawl in `dir` if `after` labels or more (0 is never) have come since that was last tried. Labels
/// that no model can be trained from are no error: the crawl goes on with the model it has.
///
/// # Errors
/// A store or folder that cannot be read or written.
pub(super) fn retrain_if_due(store: &Store, dir: &Path, topic: &Topic, after: usize) -> anyhow::Result<Option<Retraining>> {
    let (labels, note) = (store.labels()?.len(), dir.join(TRIED));
    let tried = fs::read_to_string(&note).ok().and_then(|number| number.trim().parse().ok()).unwrap_or(0_usize);
    // Labels may have been taken back since.
    if after == 0 || labels < tried.min(labels) + after {
        return Ok(None);
    }
    replace(&note, &format!("{labels}\n")).with_context(|| format!("{} cannot be written", note.display()))?;
    match retrain_from(store, dir, topic, &dir.join(MODEL), BTreeMap::new(), false) {
        Ok(retraining) => Ok(Some(retraining)),
        Err(error) => {
            tracing::warn!("the model was not retrained: {}", told(&error));
            Ok(None)
        }
    }
}

/// The model that is to be improved: the one at the place, or the one the crawl started from.
///
/// # Errors
/// It is not there, or damaged.
pub fn current_model(into: &Path, topic: &Topic, topic_file: &Path) -> anyhow::Result<Option<ModelBundle>> {
    if into.join("card.json").exists() {
        return Ok(Some(ModelBundle::open(into)?));
    }
    let kept = topic_file.with_file_name(MODEL);
    if kept.join("card.json").exists() {
        return Ok(Some(ModelBundle::open(&kept)?));
    }
    Ok(topic.model.as_deref().map(|name| load(name, &search_path(Some(topic_file)))).transpose()?)
}

fn pages(store: &Store, labels: &BTreeMap<Fingerprint, bool>, segmenter: &Segmenter) -> anyhow::Result<Vec<LabelledPage>> {
    let mut pages = Vec::new();
    for page in store.pages(1)? {
        let page = page?;
        let Ok(url) = canonicalize(&page.url, None) else { continue };
        if page.outcome == Outcome::Fetched {
            pages.push(LabelledPage {
                seq: page.seq,
                url_words: url_words(&url, segmenter).directory,
                url: page.url,
                terms: page.terms,
                relevance: page.relevance.get(),
                label: labels.get(&page.fingerprint).copied(),
                evidence: if page.source.is_some() { page.evidence } else { Vec::new() },
            });
        }
    }
    Ok(pages)
}

fn keyword_list(topic: &Topic) -> String {
    topic.keywords.iter().map(|keyword| keyword.text.as_str()).collect::<Vec<_>>().join(", ")
}

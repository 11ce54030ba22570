//! `windrow retrain`: a better model from what a crawl found and from labels, kept only if it is better.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{bail, ensure};
use clap::Args;

use super::progress::Show;
use crate::{
    evaluation::Labels,
    models::{Candidate, LabelledPage, ModelBundle, RetrainSettings, load, retrain, search_path},
    page::Outcome,
    store::Store,
    text::{Segmenter, url_words},
    topic::{KeywordSet, Topic},
    url::{Fingerprint, canonicalize},
};

/// Train page and link models from a crawl; a model that is not better is not kept.
#[derive(Debug, Args)]
pub(super) struct RetrainArgs {
    /// The crawl's folder
    dir: PathBuf,
    /// Labels of its pages: lines of `url<TAB>label`
    #[arg(long, value_name = "TSV")]
    labels: Option<PathBuf>,
    /// The label that means "about the topic" [default: the topic's name, or relevant/yes/1]
    #[arg(long, requires = "labels")]
    label: Option<String>,
    /// Where to keep the model [default: models/ and the topic's name]; the one before stays as NAME.previous
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    /// Keep the model even if it is not better
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &RetrainArgs, show: Show) -> anyhow::Result<ExitCode> {
    ensure!(Store::exists(&args.dir), "{}: no crawl here", args.dir.display());
    let store = Store::open(&args.dir)?;
    let topic_file = args.dir.join("topic.toml");
    let topic = Topic::load(&topic_file)?;
    let into = args.into.clone().unwrap_or_else(|| Path::new("models").join(&topic.name));
    let current = current_model(&into, &topic, &topic_file)?;
    let labels = labels(args, &topic)?;
    let pages = pages(&store, &labels, &topic.segmenter())?;
    let keywords = KeywordSet::new(topic.keywords.iter().map(|keyword| keyword.terms.clone()));
    let (name, crawl) = (into.file_name().unwrap_or_default().to_string_lossy(), args.dir.display().to_string());
    let today = jiff::Zoned::now().date().to_string();
    let description = format!("{}: {}", topic.name, keyword_list(&topic));
    let settings = RetrainSettings { name: &name, description: &description, crawl: &crawl, today: &today, keywords: &keywords };
    let candidate = retrain(pages, current.as_ref(), &settings)?;
    let verdict = candidate.difference.is_better();
    let keep = args.force || verdict.unwrap_or(current.is_none());
    if keep {
        candidate.bundle.save(&into)?;
    }
    if show.json {
        println!("{}", as_json(&candidate, keep, &into));
    } else {
        tell(&candidate, verdict, keep, &into);
    }
    Ok(if keep { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The model that is to be improved: the one at the place, or the one the crawl started from.
fn current_model(into: &Path, topic: &Topic, topic_file: &Path) -> anyhow::Result<Option<ModelBundle>> {
    if into.join("card.json").exists() {
        return Ok(Some(ModelBundle::open(into)?));
    }
    Ok(topic.model.as_deref().map(|name| load(name, &search_path(Some(topic_file)))).transpose()?)
}

fn labels(args: &RetrainArgs, topic: &Topic) -> anyhow::Result<BTreeMap<Fingerprint, bool>> {
    let Some(path) = &args.labels else { return Ok(BTreeMap::new()) };
    let labels = Labels::load(path)?;
    let names = [args.label.as_deref().unwrap_or(&topic.name), "relevant", "yes", "1"];
    let names = if args.label.is_some() { &names[..1] } else { &names[..] };
    let judged = labels.judged(|label| names.contains(&label));
    if !judged.values().any(|&relevant| relevant) {
        bail!("{}: no page is labelled {}; name the label with --label", path.display(), names.join(" or "));
    }
    Ok(judged)
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

fn as_json(candidate: &Candidate, kept: bool, into: &Path) -> serde_json::Value {
    serde_json::json!({
        "kept": kept, "model": into, "is_better": candidate.difference.is_better(), "difference": candidate.difference,
        "links": candidate.links, "labelled": candidate.labelled, "believed": candidate.believed, "held_out": candidate.held_out,
    })
}

fn tell(candidate: &Candidate, verdict: Option<bool>, kept: bool, into: &Path) {
    println!(
        "Trained on {} labelled pages and {} that the crawl was sure of; measured on {} labelled pages held out.",
        candidate.labelled, candidate.believed, candidate.held_out
    );
    let (before, after) = (&candidate.difference.before, &candidate.difference.after);
    println!("{:<24} {:>8} {:>8}", "page model", "before", "after");
    let rows = [
        ("AUC", before.auc, after.auc),
        ("precision at 0.5", Some(before.precision), Some(after.precision)),
        ("recall at 0.5", Some(before.recall), Some(after.recall)),
        ("calibration error", Some(before.ece), Some(after.ece)),
        ("log loss", Some(before.log_loss), Some(after.log_loss)),
    ];
    let number = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
    for (name, before, after) in rows {
        println!("{name:<24} {:>8} {:>8}", number(before), number(after));
    }
    if let Some(links) = &candidate.links {
        println!("{:<24} {:>8} {:>8}", "link model, AUC", number(links.before.auc), number(links.after.auc));
    }
    let terms: Vec<String> = candidate
        .difference
        .terms
        .iter()
        .take(20)
        .map(|term| format!("{} {:+.1}", term.term, term.after - term.before))
        .collect();
    println!("Terms that changed most: {}", terms.join(", "));
    println!("Pages that change sides: {}", candidate.difference.flipped.len());
    let said = match (verdict, kept) {
        (Some(true), _) => "It is better, and was kept",
        (Some(false), true) => "It is not better; kept because of --force",
        (None, true) => "There are too few labelled pages to tell; it was kept",
        (Some(false), false) => "It is not better and was not kept (--force keeps it)",
        (None, false) => {
            "There are too few labelled pages to tell, so the model before stays (--labels adds some, --force keeps it)"
        }
    };
    println!("{said}: {}", into.display());
}

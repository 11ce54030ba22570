//! `windrow retrain`: a better model from what a crawl found and from labels, kept only if it is better.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::ensure;
use clap::Args;

use super::{columns, label::judged, progress::Show, shortened};
use crate::{
    models::{Candidate, roll_back},
    session::{Retraining, retrain_from},
    store::Store,
    topic::Topic,
};

/// Train page and link models from a crawl and its labels; a model that is not better is not kept.
#[derive(Debug, Args)]
pub(super) struct RetrainArgs {
    /// The crawl's folder
    dir: PathBuf,
    /// More labels of its pages, besides those of `windrow label`: lines of `url<TAB>label`
    #[arg(long, value_name = "TSV")]
    labels: Option<PathBuf>,
    /// The label that means "about the topic" [default: the topic's name, or relevant/yes/1]
    #[arg(long, requires = "labels")]
    label: Option<String>,
    /// Where to keep the model [default: models/ and the topic's name]; the one before stays as NAME.previous, those before
    /// that in NAME.versions
    #[arg(long, value_name = "FOLDER")]
    into: Option<PathBuf>,
    /// Keep the model even if it is not better
    #[arg(long)]
    force: bool,
    /// Train nothing, and put the version before back
    #[arg(long, conflicts_with_all = ["labels", "force"])]
    rollback: bool,
}

pub(super) fn run(args: &RetrainArgs, show: Show) -> anyhow::Result<ExitCode> {
    ensure!(Store::exists(&args.dir), "{}: no crawl here", args.dir.display());
    let topic_file = args.dir.join("topic.toml");
    let topic = Topic::load(&topic_file)?;
    let into = args.into.clone().unwrap_or_else(|| Path::new("models").join(&topic.name));
    if args.rollback {
        let card = roll_back(&into)?;
        if show.json {
            println!("{}", serde_json::json!({ "model": into, "version": card.version, "id": card.id }));
        } else {
            println!("Version {} ({}) is in force again: {}", card.version, card.id, into.display());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let store = Store::open(&args.dir)?;
    let more = args.labels.as_deref().map(|path| judged(path, args.label.as_deref(), &topic)).transpose()?.unwrap_or_default();
    let Retraining { candidate, verdict, kept: keep } = retrain_from(&store, &args.dir, &topic, &into, more, args.force)?;
    if show.json {
        println!("{}", as_json(&candidate, keep, &into));
    } else {
        tell(&candidate, verdict, keep, &into);
    }
    Ok(if keep { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn as_json(candidate: &Candidate, kept: bool, into: &Path) -> serde_json::Value {
    serde_json::json!({
        "kept": kept, "model": into, "is_better": candidate.difference.is_better(), "difference": candidate.difference,
        "links": candidate.links, "labelled": candidate.labelled, "believed": candidate.believed, "held_out": candidate.held_out,
    })
}

fn tell(candidate: &Candidate, verdict: Option<bool>, kept: bool, into: &Path) {
    println!(
        "Trained on {} labelled pages and {} that the crawl was sure of; measured on {} labelled pages that the model which judges \
         them has not learnt from.",
        candidate.labelled, candidate.believed, candidate.held_out
    );
    let number = |value: f64| format!("{value:.3}");
    let maybe = |value: Option<f64>| value.map_or("–".to_owned(), number);
    let (before, after) = (&candidate.difference.before, &candidate.difference.after);
    let mut rows = vec![
        ["page model".to_owned(), "before".to_owned(), "after".to_owned()],
        ["AUC".to_owned(), maybe(before.auc), maybe(after.auc)],
        ["precision at the threshold".to_owned(), number(before.precision), number(after.precision)],
        ["recall at the threshold".to_owned(), number(before.recall), number(after.recall)],
        ["calibration error (ECE)".to_owned(), number(before.ece), number(after.ece)],
        ["log loss".to_owned(), number(before.log_loss), number(after.log_loss)],
    ];
    if let Some(links) = &candidate.links {
        rows.push(["link model, AUC".to_owned(), maybe(links.before.auc), maybe(links.after.auc)]);
    }
    print!("{}", columns(&rows));
    let change = |before: f64, after: f64| [format!("{before:+.2}"), format!("{after:+.2}")];
    let changes = |name: &str, before: f64, after: f64| {
        let [before, after] = change(before, after);
        [shortened(name, 40), before, after]
    };
    let terms = candidate.difference.terms.iter().map(|term| changes(&term.term, term.before, term.after));
    let features = candidate
        .links
        .iter()
        .flat_map(|links| &links.features)
        .map(|feature| changes(feature.feature, feature.before, feature.after));
    for (what, rows) in [("Terms", terms.collect::<Vec<_>>()), ("Link evidence", features.collect())] {
        if !rows.is_empty() {
            println!("\n{what} that changed most (weight before, after):\n{}", columns(&rows[..rows.len().min(20)]).trim_end());
        }
    }
    flipped(candidate);
    let said = match (candidate.difference.contradicts, verdict, kept) {
        (true, _, false) => {
            "The labels say the opposite of what the crawl judged: are yes and no exchanged? It was not kept (--force keeps it)"
        }
        (_, Some(true), _) => "It is better, and was kept",
        (_, Some(false), true) => "It is not better; kept because of --force",
        (_, None, true) => "There are too few labelled pages to tell; it was kept",
        (_, Some(false), false) => "It is not better and was not kept (--force keeps it)",
        (_, None, false) => {
            "There are too few new labels to tell, so the model before stays (`windrow label` adds some, --force keeps it)"
        }
    };
    println!("\n{said}: {}", into.display());
}

fn flipped(candidate: &Candidate) {
    let flipped = &candidate.difference.flipped;
    println!("\nPages that change sides: {}", flipped.len());
    let rows: Vec<[String; 4]> = flipped
        .iter()
        .take(20)
        .map(|page| {
            let truth = if page.relevant { "is relevant" } else { "is not" };
            [format!("{:.2}", page.before), format!("{:.2}", page.after), truth.to_owned(), page.url.clone()]
        })
        .collect();
    print!("{}", columns(&rows));
}

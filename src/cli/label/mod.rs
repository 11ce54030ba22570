//! `windrow label`: what a person says of pages that the crawl is unsure of; kept in the crawl's `labels.tsv`.
//!
//! Promises: every answer is on disk before the next page is shown; all of it works without a terminal.

mod ask;

use std::{
    collections::BTreeMap,
    fs,
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail, ensure};
use clap::Args;

use self::ask::{Tally, ask, keys_of_file, keys_of_terminal};
use super::progress::Show;
use crate::{
    evaluation::Labels,
    session::{Question, to_ask},
    store::{PageLabels, Store},
    topic::Topic,
    url::Fingerprint,
};

/// Pages asked for where the user does not say.
const PAGES: usize = 30;

/// Say which pages are about the topic: the ones whose label helps most come first.
#[derive(Debug, Args)]
pub(super) struct LabelArgs {
    /// The crawl's folder
    dir: PathBuf,
    /// Pages to ask for
    #[arg(long, short, value_name = "N", default_value_t = PAGES)]
    number: usize,
    /// Print the pages that would be asked for, and ask nothing
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "30")]
    list: Option<usize>,
    /// Take labels from a file: lines of `url<TAB>label`
    #[arg(long, value_name = "TSV")]
    import: Option<PathBuf>,
    /// The label that means "about the topic" in the imported file [default: the topic's name, or relevant/yes/1]
    #[arg(long, requires = "import")]
    label: Option<String>,
    /// Write all labels of the crawl to a file
    #[arg(long, value_name = "TSV")]
    export: Option<PathBuf>,
    /// Answers from a file instead of the keyboard: lines of y, n, s(kip), u(ndo), q(uit)
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
}

pub(super) fn run(args: &LabelArgs, show: Show) -> anyhow::Result<ExitCode> {
    ensure!(Store::exists(&args.dir), "{}: no crawl here", args.dir.display());
    let store = Store::open(&args.dir)?;
    let topic = Topic::load(&args.dir.join("topic.toml"))?;
    let mut labels = store.labels()?;
    if let Some(path) = &args.import {
        return import(path, args.label.as_deref(), &topic, &store, labels, show);
    }
    if let Some(path) = &args.export {
        fs::write(path, labels.to_tsv()).with_context(|| format!("{} cannot be written", path.display()))?;
        say(show, &serde_json::json!({ "exported": labels.len(), "file": path }), || {
            format!("{} labels written to {}", labels.len(), path.display())
        });
        return Ok(ExitCode::SUCCESS);
    }
    let number = args.list.unwrap_or(args.number);
    let questions = to_ask(&store, &args.dir, &topic, &labels, number)?;
    if args.list.is_some() {
        list(&questions, show)?;
        return Ok(ExitCode::SUCCESS);
    }
    let tally = if let Some(path) = &args.answers {
        ask(&questions, &mut labels, &mut keys_of_file(path)?, &mut io::sink())?
    } else if io::stdin().is_terminal() && io::stderr().is_terminal() {
        ask(&questions, &mut labels, &mut keys_of_terminal(), &mut io::stderr())?
    } else {
        bail!("there is no terminal to ask at: use --answers FILE, or --list N and --import TSV")
    };
    tell(tally, &labels, args, show);
    Ok(ExitCode::SUCCESS)
}

fn say(show: Show, json: &serde_json::Value, words: impl FnOnce() -> String) {
    println!("{}", if show.json { json.to_string() } else { words() });
}

fn tell(tally: Tally, labels: &PageLabels, args: &LabelArgs, show: Show) {
    let (all, relevant) = (labels.len(), labels.relevant());
    let json = serde_json::json!({
        "yes": tally.yes, "no": tally.no, "skipped": tally.skipped, "labels": all, "relevant": relevant,
    });
    say(show, &json, || {
        let dir = args.dir.display();
        format!(
            "{} yes, {} no, {} skipped; the crawl has {all} labels, {relevant} of them yes.\nNext: windrow retrain {dir}",
            tally.yes, tally.no, tally.skipped
        )
    });
}

/// What a label file says of each page.
pub(super) fn judged(path: &Path, label: Option<&str>, topic: &Topic) -> anyhow::Result<BTreeMap<Fingerprint, bool>> {
    let labels = Labels::load(path)?;
    let names = [label.unwrap_or(&topic.name), "relevant", "yes", "1"];
    let names = if label.is_some() { &names[..1] } else { &names[..] };
    let judged = labels.judged(|label| names.contains(&label));
    if !judged.values().any(|&relevant| relevant) {
        bail!("{}: no page is labelled {}; name the label with --label", path.display(), names.join(" or "));
    }
    Ok(judged)
}

fn import(
    path: &Path,
    label: Option<&str>,
    topic: &Topic,
    store: &Store,
    mut labels: PageLabels,
    show: Show,
) -> anyhow::Result<ExitCode> {
    let (mut taken, mut unknown) = (0_u64, 0_u64);
    for (page, relevant) in judged(path, label, topic)? {
        match store.page_by_fingerprint(page)? {
            Some(page) => {
                labels.set(&page.url, relevant).map_err(anyhow::Error::msg)?;
                taken += 1;
            }
            None => unknown += 1,
        }
    }
    labels.save()?;
    let (all, relevant) = (labels.len(), labels.relevant());
    let json = serde_json::json!({ "imported": taken, "not_in_crawl": unknown, "labels": all, "relevant": relevant });
    say(show, &json, || {
        format!(
            "{taken} labels taken ({unknown} are of pages that this crawl has not fetched); it has {all} now, {relevant} of them yes."
        )
    });
    Ok(ExitCode::SUCCESS)
}

fn list(questions: &[Question], show: Show) -> anyhow::Result<()> {
    if show.json {
        println!("{}", serde_json::to_string(questions)?);
        return Ok(());
    }
    let rows: Vec<[String; 4]> = questions
        .iter()
        .map(|question| {
            let why = serde_json::to_value(question.why).ok().and_then(|why| why.as_str().map(str::to_owned)).unwrap_or_default();
            [format!("{:.2}", question.relevance), why, super::shortened(&question.title, 40), question.url.clone()]
        })
        .collect();
    print!("{}", super::columns(&rows));
    Ok(())
}

//! `windrow train`: make a model from labelled texts and term lists, as a manifest says.
//!
//! Promises: a model that is replaced is kept as `NAME.previous`.
//! Exit codes: 0 all well; anything else that a user must hear is an error.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::Args;

use crate::models::{Card, train_from_manifest};

/// Make a model from labelled texts and term lists
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// The manifest: which texts, which labels, which term lists
    manifest: PathBuf,
    /// The folder that the manifest's texts lie in
    #[arg(long, value_name = "DIR")]
    corpora: PathBuf,
    /// Where to write the model; its name comes from the manifest [default: models/NAME]
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
}

/// Runs the command; `json` prints the model's card for machines.
///
/// # Errors
/// A manifest, text or term list that cannot be used, or a model that cannot be written.
pub fn run(args: &TrainArgs, json: bool) -> anyhow::Result<ExitCode> {
    execute(args, json, &mut io::stdout().lock(), &mut io::stderr().lock())?;
    Ok(ExitCode::SUCCESS)
}

fn execute(args: &TrainArgs, json: bool, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<()> {
    writeln!(err, "training by {} on texts in {}", args.manifest.display(), args.corpora.display())?;
    let today = jiff::Zoned::now().date().to_string();
    let bundle = train_from_manifest(&args.manifest, &args.corpora, &today)?;
    let into = args.into.clone().unwrap_or_else(|| PathBuf::from("models").join(&bundle.card.name));
    bundle.save(&into)?;
    if json {
        serde_json::to_writer_pretty(&mut *out, &bundle.card)?;
        writeln!(out)?;
    } else {
        print_card(&bundle.card, out)?;
        writeln!(out, "wrote {}: {} words; the card is {}", into.display(), bundle.card.words, into.join("card.md").display())?;
    }
    Ok(())
}

fn print_card(card: &Card, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{:<58} {:>9} {:>7} {:>9} {:>7} {:>7}", "", "documents", "AUC", "precision", "recall", "ECE")?;
    let measured = card.measured.iter().map(|row| (row.on.clone(), row.metrics));
    let transfer = card.transfer.iter().map(|row| (format!("{} → {}", row.trained_on, row.tested_on), row.metrics));
    for (on, metrics) in measured.chain(transfer) {
        let auc = metrics.auc.map_or("–".to_owned(), |auc| format!("{auc:.3}"));
        writeln!(
            out,
            "{on:<58} {:>9} {auc:>7} {:>9.3} {:>7.3} {:>7.3}",
            metrics.documents, metrics.precision, metrics.recall, metrics.ece
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        train: TrainArgs,
    }

    #[test]
    fn a_model_is_written_where_it_was_asked_for_and_its_figures_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let texts: Vec<String> = (0..80)
            .map(|n| {
                let (label, text) = if n % 2 == 0 { ("farm", "rice paddy harvest") } else { ("sport", "goal team match") };
                format!("{{\"id\": \"{n}\", \"label\": \"{label}\", \"text\": \"{text}\"}}")
            })
            .collect();
        std::fs::write(path("texts.jsonl"), texts.join("\n")).unwrap();
        let manifest = "name = \"farm\"\ndescription = \"Farms.\"\nheld_out = 0.2\nmin_documents = 3\nmax_words = 100\n\
             smoothing = 10.0\n[[source]]\nname = \"texts\"\nfile = \"texts.jsonl\"\npositive = [\"farm\"]\n";
        std::fs::write(path("farm.toml"), manifest).unwrap();
        let into = path("models/farm");
        let line = ["train", &path("farm.toml"), "--corpora", &path(""), "--into", &into];
        let args = CommandLine::try_parse_from(line).unwrap().train;
        let run = |json: bool| {
            let mut out = Vec::new();
            execute(&args, json, &mut out, &mut Vec::new()).unwrap();
            String::from_utf8(out).unwrap()
        };
        let said = run(false);
        assert!(said.contains("all held-out documents") && said.contains("texts → texts") && said.contains("wrote "), "{said}");
        let card: Card = serde_json::from_str(&run(true)).unwrap();
        assert_eq!(card.name, "farm");
        assert!(std::path::Path::new(&format!("{into}.previous/card.json")).is_file());
    }
}

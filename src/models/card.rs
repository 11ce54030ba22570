//! A model's card: what it was made of, how good it is, and how to tell that its files are whole.

use std::{collections::BTreeMap, fmt::Write as _};

use serde::{Deserialize, Serialize};

use super::{Metrics, Transfer};

/// What `card.json` holds; `card.md` says the same for people.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Card {
    /// Of the files; windrow reads one format only.
    pub format: u32,
    pub name: String,
    /// What it is for, in one sentence.
    pub description: String,
    /// 1 for a new model, one more than its parent's for a retrained one.
    pub version: u32,
    /// Start of the SHA-256 of all files: equal models have equal ids.
    pub id: String,
    /// The id of the model that this one was made from.
    pub parent: Option<String>,
    /// The day it was trained on, `YYYY-MM-DD`.
    pub trained: String,
    /// The windrow that trained it.
    pub windrow: String,
    /// Words of the page model.
    pub words: usize,
    pub data: Vec<DataSource>,
    /// Measured on documents that it was not trained on.
    pub measured: Vec<Measured>,
    /// Trained on some sources, tested on another.
    pub transfer: Vec<Transfer>,
    /// What a user should know beside the figures.
    pub notes: Vec<String>,
    /// SHA-256 of the files beside the card, by name.
    pub files: BTreeMap<String, String>,
}

/// Data that a model was trained on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DataSource {
    pub name: String,
    /// The file, without its folder, and its SHA-256.
    pub file: String,
    pub sha256: String,
    /// Documents trained on.
    pub relevant: usize,
    pub irrelevant: usize,
    /// Documents held out to measure with.
    pub held_out: usize,
    /// What counts as relevant.
    pub labels: String,
}

/// Metrics of one set of documents.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Measured {
    pub on: String,
    pub metrics: Metrics,
}

impl Card {
    /// The card for people, in Markdown.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let mut text = format!("# {}, version {}\n\n{}\n\n", self.name, self.version, self.description);
        let parent = self.parent.as_deref().unwrap_or("none");
        for (key, value) in [
            ("Id", self.id.as_str()),
            ("Parent", parent),
            ("Trained", &self.trained),
            ("By", &format!("windrow {}", self.windrow)),
            ("Words", &self.words.to_string()),
        ] {
            _ = writeln!(text, "- {key}: {value}");
        }
        self.data_in_words(&mut text);
        text.push_str("\n## How good it is\n\nOn documents that it was not trained on; relevant is what reaches 0.5.\n\n");
        metrics_table(&mut text, &["measured on"], self.measured.iter().map(|row| (vec![row.on.as_str()], &row.metrics)));
        if !self.transfer.is_empty() {
            text.push_str(
                "\n## From one source to another\n\nTrained on some sources only, tested on held-out documents of one.\n\n",
            );
            let rows = self.transfer.iter().map(|row| (vec![row.trained_on.as_str(), row.tested_on.as_str()], &row.metrics));
            metrics_table(&mut text, &["trained on", "tested on"], rows);
        }
        if !self.notes.is_empty() {
            text.push_str("\n## To know\n\n");
            self.notes.iter().for_each(|note| _ = writeln!(text, "- {note}"));
        }
        text.push_str("\n## Files\n\n");
        for (file, sha256) in &self.files {
            _ = writeln!(text, "- `{file}` sha256 `{sha256}`");
        }
        text
    }

    fn data_in_words(&self, text: &mut String) {
        text.push_str("\n## Data\n\n| source | relevant | irrelevant | held out | relevant are | file | sha256 |\n");
        text.push_str("|---|---|---|---|---|---|---|\n");
        for data in &self.data {
            let hash = data.sha256.get(..12).unwrap_or(&data.sha256);
            let DataSource { name, file, relevant, irrelevant, held_out, labels, .. } = data;
            _ = writeln!(text, "| {name} | {relevant} | {irrelevant} | {held_out} | {labels} | {file} | {hash} |");
        }
    }
}

fn metrics_table<'a>(text: &mut String, keys: &[&str], rows: impl Iterator<Item = (Vec<&'a str>, &'a Metrics)>) {
    _ = writeln!(text, "| {} | documents | relevant | AUC | precision | recall | F1 | ECE | log-loss |", keys.join(" | "));
    _ = writeln!(text, "|{}", "---|".repeat(keys.len() + 8));
    for (names, m) in rows {
        let auc = m.auc.map_or("–".to_owned(), |auc| format!("{auc:.3}"));
        _ = writeln!(
            text,
            "| {} | {} | {} | {auc} | {:.3} | {:.3} | {:.3} | {:.3} | {:.3} |",
            names.join(" | "),
            m.documents,
            m.relevant,
            m.precision,
            m.recall,
            m.f1,
            m.ece,
            m.log_loss
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_card_for_people_shows_data_figures_and_transfer() {
        let metrics = Metrics { documents: 10, relevant: 4, auc: Some(0.9), precision: 0.8, ..Metrics::default() };
        let card = Card {
            name: "rice".to_owned(),
            version: 2,
            parent: Some("abc".to_owned()),
            data: vec![DataSource { name: "news".to_owned(), sha256: "0123456789abcdef".to_owned(), ..DataSource::default() }],
            measured: vec![Measured { on: "all".to_owned(), metrics }],
            transfer: vec![Transfer { trained_on: "a".to_owned(), tested_on: "b".to_owned(), metrics: Metrics::default() }],
            notes: vec!["Short texts are hard.".to_owned()],
            ..Card::default()
        };
        let text = card.to_markdown();
        for said in
            ["# rice, version 2", "- Parent: abc", "| news | 0 | 0 |", "0123456789ab |", "| all | 10 | 4 | 0.900 | 0.800 |"]
        {
            assert!(text.contains(said), "{said} in {text}");
        }
        assert!(text.contains("| a | b | 0 | 0 | – |") && text.contains("- Short texts are hard."), "{text}");
    }
}

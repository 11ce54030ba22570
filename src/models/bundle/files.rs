//! How a model's files are written, and read back with doubt.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::CARD;
use crate::{
    models::{Card, ModelError, WordCounts},
    page_classifier::Meaning,
};

/// The format of the files that this windrow writes and reads.
pub(super) const FORMAT: u32 = 1;

/// The card, if its format is one that can be read.
pub(super) fn read_card(model: &str, bytes: &[u8]) -> Result<Card, ModelError> {
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
pub(super) fn page_file(meaning: Meaning, words: &WordCounts) -> String {
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
pub(super) fn lines(values: &[impl Serialize]) -> Vec<u8> {
    let lines: Vec<String> = values.iter().map(|value| serde_json::to_string(value).unwrap_or_default()).collect();
    format!("[\n{}\n]\n", lines.join(",\n")).into_bytes()
}

pub(super) fn pretty(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).unwrap_or_default();
    bytes.push(b'\n');
    bytes
}

pub(super) fn damaged(model: &impl ToString, file: &str, what: String) -> ModelError {
    ModelError::Damaged { model: model.to_string(), file: file.to_owned(), what }
}

/// SHA-256 in hexadecimal.
pub(in crate::models) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        _ = write!(hex, "{byte:02x}");
        hex
    })
}

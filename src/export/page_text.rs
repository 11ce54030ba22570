//! What corpora builders need beside the row: the main text, and the dates that a page states.
//!
//! Promises: the text is that of the archived bytes, navigation left out; null where the page is not in the archive or
//! cannot be read.
//! Never: guesses a date.

use std::{path::Path, sync::Arc};

use serde_json::{Map, Value};

use super::ExportError;
use crate::{
    parse::{Document, ParseConfig, parse},
    store::{PageRecord, read_capture},
    text::Segmenter,
    url::Url,
};

/// Names of the fields that JSON lines have on top of the table's, with what they mean.
pub(super) const FIELDS: [(&str, &str); 3] = [
    ("text", "main text, navigation left out, one line per block; null where the page is not in the archive"),
    ("published", "the date that the page states (article:published_time and its like, or <time>), YYYY-MM-DD"),
    ("modified", "the Last-Modified header, YYYY-MM-DD"),
];

/// Reads archived pages again.
pub(super) struct Texts {
    segmenter: Arc<Segmenter>,
    config: ParseConfig,
}

impl Texts {
    pub fn new() -> Self {
        Self { segmenter: Segmenter::shared(), config: ParseConfig::default() }
    }

    /// The fields of [`FIELDS`] for one page of the crawl in `dir`.
    ///
    /// # Errors
    /// A capture that is damaged.
    pub fn of(&self, dir: &Path, page: &PageRecord) -> Result<Map<String, Value>, ExportError> {
        let mut fields: Map<String, Value> = FIELDS.iter().map(|(name, _)| ((*name).to_owned(), Value::Null)).collect();
        let (Some(place), Ok(url)) = (page.archive, Url::parse(&page.url)) else { return Ok(fields) };
        let capture = read_capture(dir, place)?;
        if !capture.has_body || capture.status != 200 {
            return Ok(fields);
        }
        let header = |name: &str| {
            capture.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
        };
        let document = Document { url: &url, content_type: header("content-type"), body: &capture.body };
        if let Ok(read) = parse(&document, &self.segmenter, &self.config) {
            fields.insert("text".to_owned(), read.main_text().into());
            fields.insert("published".to_owned(), read.published.map_or(Value::Null, Into::into));
        }
        let modified = header("last-modified").and_then(|date| jiff::fmt::rfc2822::parse(date).ok());
        let modified = modified.map(|date| date.with_time_zone(jiff::tz::TimeZone::UTC).date().to_string());
        fields.insert("modified".to_owned(), modified.map_or(Value::Null, Into::into));
        Ok(fields)
    }
}

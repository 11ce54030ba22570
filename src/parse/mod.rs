//! Bytes → [`Page`]: charset, one parse, one walk.
//!
//! Promises: any bytes give a page or a [`ParseError`], within the configured
//! time and size; text is segmented once; the work is linear in the document.
//! Never: fetches, follows or judges.

mod blocks;
mod charset;
mod element;
mod frame;
mod head;
mod headings;
mod html;
mod links;
mod prescan;
mod simhash;
mod sitemap;
mod sniff;
mod text_buffer;
mod tree;
mod words;

use std::time::Duration;

use serde::{Deserialize, Serialize};
pub use sitemap::{XmlKind, XmlLink, XmlLinks, links_of_xml};

use crate::{
    page::Page,
    text::{Language, Segmenter},
    url::Url,
};

/// Limits of parsing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ParseConfig {
    /// Outlinks kept of a page.
    pub max_links: usize,
    /// Time for building one document's tree; what came until then is read. `deadline_ms` in a file.
    #[serde(rename = "deadline_ms", with = "milliseconds")]
    pub deadline: Duration,
    /// Bytes of decoded text that are read of a document.
    pub max_bytes: usize,
}

impl Default for ParseConfig {
    fn default() -> Self {
        Self { max_links: 2_000, deadline: Duration::from_millis(500), max_bytes: 4 * 1024 * 1024 }
    }
}

/// Durations as whole milliseconds.
mod milliseconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_millis)
    }
}

/// A document as it was fetched.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// Where it came from; relative links start here.
    pub url: &'a Url,
    /// The `Content-Type` header as sent.
    pub content_type: Option<&'a str>,
    /// Transfer and content encodings undone.
    pub body: &'a [u8],
}

/// Why a document cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Neither HTML nor plain text; holds the type as served or as the bytes show.
    #[error("cannot read {0}: only HTML and plain text are read")]
    UnsupportedType(String),
    /// Asked for the links of an XML list, but the root element, which it holds, is of another kind.
    #[error("neither a sitemap nor a feed: the root element is {0}")]
    NotAList(String),
}

impl ParseError {
    /// Whether [`links_of_xml`] may make something of a document that is no page.
    #[must_use]
    pub fn may_be_list(&self) -> bool {
        matches!(self, Self::UnsupportedType(name) if sniff::may_be_list(name))
    }
}

/// Reads a document.
///
/// # Errors
/// [`ParseError::UnsupportedType`]; broken documents are read as far as they can be.
pub fn parse(document: &Document<'_>, segmenter: &Segmenter, config: &ParseConfig) -> Result<Page, ParseError> {
    let kind = sniff::kind(document.content_type, document.body)?;
    // No encoding takes more than two bytes for what is one byte in UTF-8.
    let body = &document.body[..document.body.len().min(config.max_bytes.saturating_mul(2))];
    let decoded = charset::decode(body, document.content_type, document.url);
    let text = &decoded.text[..decoded.text.floor_char_boundary(config.max_bytes)];
    let (mut page, stopped) = match kind {
        sniff::Kind::Html => {
            let (tree, stopped) = tree::build(text, config.deadline);
            (html::read(&tree, document.url, decoded.encoding, segmenter, config.max_links), stopped)
        }
        sniff::Kind::Text => (read_text(text, segmenter), false),
    };
    page.charset = charset::name_of(decoded.encoding);
    page.had_decode_errors = decoded.had_errors;
    page.truncated = stopped || text.len() < decoded.text.len() || body.len() < document.body.len();
    Ok(page)
}

/// A page of plain text: words, no links.
fn read_text(source: &str, segmenter: &Segmenter) -> Page {
    let mut buffer = text_buffer::TextBuffer::default();
    for line in source.lines() {
        buffer.push(line);
        buffer.break_line();
    }
    let text = buffer.into_string();
    let mut words = words::Words::new(segmenter);
    words.add_run(&text, words::Place::Content, false);
    let (terms, simhash) = words.finish();
    Page { language: Language::of(&text), text, terms, simhash, ..Page::default() }
}

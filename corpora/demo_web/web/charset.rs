//! From text to the bytes that a host sends, and what it says about them.
//!
//! Promises: every page decodes to its text with the encoding given in
//! `../README.md`, declared or not.
//! Never: decides which host uses which encoding; the plan does.

use std::{collections::BTreeMap, fs, path::Path};

use encoding_rs::{BIG5, GBK, UTF_8};

use super::{Error, plan::Charset};

/// Encodes pages; knows the traditional characters for the Big5 host.
pub struct Encoder {
    traditional: BTreeMap<char, char>,
}

impl Encoder {
    /// Reads pairs of one simplified and one traditional character.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|e| Error::read(path, &e))?;
        let pairs = text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
        let traditional = pairs.filter_map(|pair| {
            let mut chars = pair.chars();
            Some((chars.next()?, chars.next()?))
        });
        Ok(Self { traditional: traditional.collect() })
    }

    /// The bytes of a page.
    pub fn encode(&self, html: &str, charset: Charset) -> Vec<u8> {
        let (text, encoding) = match charset {
            Charset::Utf8 => (html.to_owned(), UTF_8),
            Charset::GbkInMeta | Charset::GbkUndeclared | Charset::GbkLate => (html.to_owned(), GBK),
            Charset::Big5 => (self.traditional(html), BIG5),
        };
        encoding.encode(&text).0.into_owned()
    }

    fn traditional(&self, text: &str) -> String {
        text.chars().map(|c| self.traditional.get(&c).copied().unwrap_or(c)).collect()
    }
}

impl Charset {
    /// The Content-Type header of a page.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Utf8 => "text/html; charset=utf-8",
            _ => "text/html",
        }
    }

    /// What the page itself declares.
    pub fn declared(self) -> Option<&'static str> {
        match self {
            Self::Utf8 => Some("utf-8"),
            Self::GbkInMeta => Some("gb2312"),
            Self::GbkUndeclared => None,
            Self::GbkLate => Some("gbk"),
            Self::Big5 => Some("big5"),
        }
    }
}

//! A page before it has a look: what stands on it and where its links lead.
//!
//! Promises: plain data that every house style can render.
//! Never: holds markup.

use super::Language;

/// A link as it will be written.
#[derive(Debug, Clone)]
pub struct Link {
    pub href: String,
    pub text: String,
    pub nofollow: bool,
}

impl Link {
    pub fn new(href: impl Into<String>, text: impl Into<String>) -> Self {
        Self { href: href.into(), text: text.into(), nofollow: false }
    }
}

/// A piece of running text.
#[derive(Debug, Clone)]
pub enum Inline {
    Text(String),
    Link(Link),
}

/// One entry of a listing.
#[derive(Debug, Clone)]
pub struct Teaser {
    pub link: Link,
    pub summary: String,
    pub date: String,
}

/// One part of a page's main column, top to bottom.
#[derive(Debug, Clone)]
pub enum Block {
    Heading(String),
    Byline(String),
    Text(Vec<Inline>),
    Teasers(Vec<Teaser>),
    Links { heading: String, links: Vec<Link> },
    Pager(Vec<Link>),
    Post { author: String, text: String },
}

/// A whole page.
#[derive(Debug, Clone)]
pub struct Document {
    pub language: Language,
    pub site: String,
    pub title: String,
    /// `<base href>`, where the host writes its links against one.
    pub base: Option<String>,
    /// What `<meta>` says about the encoding, if anything.
    pub charset: Option<&'static str>,
    /// The declaration comes only after the first kilobyte.
    pub charset_is_late: bool,
    /// The content of `<meta name=robots>`.
    pub robots: Option<String>,
    /// A feed, for `<link rel=alternate>`.
    pub feed: Option<String>,
    pub menu: Vec<Link>,
    pub crumbs: Vec<Link>,
    pub blocks: Vec<Block>,
    pub side: Vec<(String, Vec<Link>)>,
    pub footer: String,
    pub footer_links: Vec<Link>,
    /// The words for "read more" and "you are here".
    pub more: Vec<String>,
    pub here: String,
}

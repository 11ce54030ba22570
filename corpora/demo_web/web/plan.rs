//! The plan of the web, as `hosts.toml` gives it: hosts, sections, hubs, and how each host behaves.
//!
//! Promises: unknown keys are errors, so a typing slip cannot silently change the web.
//! Never: draws random numbers; what is planned here is the same for every seed.

use std::{fs, path::Path};

use serde::Deserialize;

use super::{Error, Language};

/// Everything in `hosts.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    pub seeds: Vec<String>,
    #[serde(rename = "host")]
    pub hosts: Vec<Host>,
    /// Answers that are no pages: redirects and small files.
    #[serde(rename = "redirect")]
    pub redirects: Vec<Redirect>,
    #[serde(rename = "file")]
    pub files: Vec<File>,
}

/// How a host's pages look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Style {
    Tables,
    Lists,
    Cards,
    Definitions,
    Article,
    Forum,
}

/// How a host writes the links to its own pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spelling {
    Absolute,
    Root,
    Relative,
    Base,
}

/// What a host's article addresses look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Addresses {
    /// `/2024/03/15/1023.html`
    Dated,
    /// `/section/1023.htm`
    Numbered,
    /// `/show.asp?id=1023`
    Query,
    /// `/section/words-of-the-title/`
    Slug,
    /// `/%E6%B0%B4%E7%A8%BB/1023.html`
    Coded,
}

/// Encoding of a host's pages, and where it is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Charset {
    #[default]
    Utf8,
    GbkInMeta,
    GbkUndeclared,
    GbkLate,
    Big5,
}

/// One host.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    pub name: String,
    pub title: String,
    pub language: Language,
    pub style: Style,
    pub links: Spelling,
    pub urls: Addresses,
    /// Class of the home page.
    pub label: String,
    /// Topic that the home page's own text speaks of.
    pub topic: String,
    #[serde(default)]
    pub https: bool,
    #[serde(default)]
    pub charset: Charset,
    /// Further entries of the menu on every page.
    #[serde(default)]
    pub menu: Vec<PlannedLink>,
    /// Links at the foot of the home page.
    #[serde(default)]
    pub friends: Vec<PlannedLink>,
    /// Hosts whose articles this host's articles mention in running text.
    #[serde(default)]
    pub cites: Vec<String>,
    /// Tags; each has a page that lists articles of all sections.
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub behaviour: Behaviour,
    #[serde(default, rename = "section")]
    pub sections: Vec<Section>,
    #[serde(default, rename = "hub")]
    pub hubs: Vec<Hub>,
}

/// What a crawler has to put up with on a host.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Behaviour {
    pub robots: Option<String>,
    pub robots_status: Option<u16>,
    /// Milliseconds that every answer took.
    pub slow_ms: Option<u32>,
    /// Share of articles that answer 503, in percent.
    pub failing_percent: u8,
    /// Articles that answer 429.
    pub limited: usize,
    /// Linked articles that are 404.
    pub missing: usize,
    /// Linked articles that say so with status 200.
    pub soft_missing: usize,
    /// Articles with a print version.
    pub print: usize,
    /// A frameset in front of the home page.
    pub frames: bool,
    pub sitemap: bool,
    pub feed: bool,
    /// Name of a parameter that every internal link carries with a new value.
    pub session: Option<String>,
    /// Articles that are recorded under several values of `session`.
    pub session_copies: usize,
    /// Host that mirrors the first articles of this one.
    pub mirror: Option<String>,
    pub mirrored: usize,
    /// Days of an endless calendar that are recorded.
    pub calendar_days: u16,
}

/// One section of a host: a paginated listing and its articles.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Section {
    pub path: String,
    pub title: String,
    /// Topics its articles take turns in.
    pub topics: Vec<String>,
    pub pages: usize,
    /// Not in the menu: only hubs link to its listing.
    #[serde(default)]
    pub hidden: bool,
    /// A second topic that its articles keep coming back to.
    pub blend: Option<String>,
    /// Class of its articles, where it is not the topic's.
    pub label: Option<String>,
    /// Class of its listing, where it is not the articles'.
    pub index_label: Option<String>,
}

/// A page of links.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hub {
    pub path: String,
    pub title: String,
    pub label: String,
    pub topic: String,
    /// Listed in the host's menu.
    #[serde(default)]
    pub in_menu: bool,
    #[serde(default)]
    pub links: Vec<PlannedLink>,
    /// Sections, as `host/section`, of which it shows some articles.
    #[serde(default)]
    pub shows: Vec<String>,
    /// The content of `<meta name=robots>`.
    pub robots: Option<String>,
}

/// A link that the plan asks for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedLink {
    pub text: String,
    pub to: String,
    #[serde(default)]
    pub nofollow: bool,
}

/// A redirect from one address to another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redirect {
    pub from: String,
    pub to: String,
    pub status: u16,
}

/// A small file that is no HTML.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    pub url: String,
    pub content_type: String,
    pub text: String,
}

impl Plan {
    /// Reads `hosts.toml`.
    ///
    /// # Errors
    /// A file that cannot be read, or that does not have this shape.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(|e| Error::read(path, &e))?;
        toml::from_str(&text).map_err(|e| Error::Plan(format!("{}: {e}", path.display())))
    }
}

impl Host {
    /// `http://name`, without a slash.
    pub fn root(&self) -> String {
        format!("{}://{}", if self.https { "https" } else { "http" }, self.name)
    }

    /// The list that this host's headlines come from: articles have titles, forums have threads.
    pub fn titles(&self) -> &'static str {
        if self.style == Style::Forum { "thread" } else { "title" }
    }
}

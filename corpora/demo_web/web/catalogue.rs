//! The catalogue: every article with its address, title and fate, before any page is written.
//!
//! Promises: addresses are unique; a title drawn here is the one that the
//! page's own speaker will say first, so listings and pages agree.
//! Never: renders anything.

use std::collections::BTreeSet;

use super::{
    Error, Grammars,
    grammar::Speaker,
    plan::{Addresses, Host, Plan, Section},
};

/// What a request for an article gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    Page,
    Unavailable,
    Limited,
}

/// One article to be.
#[derive(Debug)]
pub struct Article {
    pub section: usize,
    pub url: String,
    pub title: String,
    pub topic: String,
    pub label: String,
    pub seed: u64,
    pub date: String,
    pub fate: Fate,
}

/// All articles, by host.
pub struct Catalogue {
    pub hosts: Vec<Vec<Article>>,
}

/// One number decides the whole web.
const SEED: u64 = 20_261_121;

/// How often a title is drawn again because the host has it already.
const TITLE_DRAWS: usize = 500;

impl Catalogue {
    /// Draws all articles of the plan.
    ///
    /// # Errors
    /// A section whose topic has no word list.
    pub fn draw(plan: &Plan, grammars: &Grammars) -> Result<Self, Error> {
        let mut rng = fastrand::Rng::with_seed(SEED);
        let mut hosts = Vec::new();
        for host in &plan.hosts {
            hosts.push(draw_host(host, grammars, &mut rng.fork())?);
        }
        Ok(Self { hosts })
    }

    /// The articles of a section named `host/path`.
    ///
    /// # Errors
    /// A name that no section has.
    pub fn section(&self, plan: &Plan, name: &str) -> Result<Vec<&Article>, Error> {
        let unknown = || Error::Plan(format!("no section is named `{name}`"));
        let (host, path) = name.split_once('/').ok_or_else(unknown)?;
        let at = plan.hosts.iter().position(|known| known.name == host).ok_or_else(unknown)?;
        let section = plan.hosts[at].sections.iter().position(|section| section.path == path).ok_or_else(unknown)?;
        Ok(self.hosts[at].iter().filter(|article| article.section == section).collect())
    }
}

fn draw_host(host: &Host, grammars: &Grammars, rng: &mut fastrand::Rng) -> Result<Vec<Article>, Error> {
    let grammar = grammars.of(host.language);
    let mut articles = Vec::new();
    let mut titles = BTreeSet::new();
    let mut number = rng.u32(101..1800);
    for (at, section) in host.sections.iter().enumerate() {
        for page in 0..section.pages {
            let topic = &section.topics[page % section.topics.len()];
            let label = section.label.clone().unwrap_or(grammar.label(topic)?.to_owned());
            let drawn =
                (0..TITLE_DRAWS).map(|_| rng.u64(..)).map(|seed| (seed, Speaker::new(grammar, topic, seed).title(host.titles())));
            let fresh = drawn.into_iter().find(|(_, title)| !titles.contains(title));
            let (seed, title) =
                fresh.ok_or_else(|| Error::Plan(format!("{} needs more titles than `{topic}` has", host.name)))?;
            titles.insert(title.clone());
            number += rng.u32(1..9);
            let date = (rng.u32(2016..=2026), rng.u32(1..=8), rng.u32(1..=28));
            let url = address(host, section, number, date, &title);
            let fate = if rng.u8(..100) < host.behaviour.failing_percent { Fate::Unavailable } else { Fate::Page };
            let date = format!("{}-{:02}-{:02}", date.0, date.1, date.2);
            articles.push(Article { section: at, url, title, topic: topic.clone(), label, seed, date, fate });
        }
    }
    let mut left = host.behaviour.limited;
    for article in articles.iter_mut().rev().filter(|article| article.label != super::TARGET).step_by(5) {
        if left > 0 {
            article.fate = Fate::Limited;
            left -= 1;
        }
    }
    Ok(articles)
}

fn address(host: &Host, section: &Section, number: u32, (year, month, day): (u32, u32, u32), title: &str) -> String {
    let root = host.root();
    match host.urls {
        Addresses::Dated => format!("{root}/{year}/{month:02}/{day:02}/{number}.html"),
        Addresses::Numbered => format!("{root}/{}/{number}.htm", section.path),
        Addresses::Query => format!("{root}/show.asp?id={number}"),
        Addresses::Slug => format!("{root}/{}/{}-{number}/", section.path, slug(title)),
        Addresses::Coded => format!("{root}/{}/{number}.html", percent(&section.title)),
    }
}

/// The address of a section's listing; pages count from 1.
pub fn listing(host: &Host, section: usize, page: usize) -> String {
    let (root, path) = (host.root(), &host.sections[section].path);
    match (host.urls, page) {
        (Addresses::Query, 1) => format!("{root}/list.asp?class={}", section + 1),
        (Addresses::Query, _) => format!("{root}/list.asp?class={}&page={page}", section + 1),
        (_, 1) => format!("{root}/{path}/"),
        (Addresses::Slug, _) => format!("{root}/{path}/page/{page}/"),
        _ => format!("{root}/{path}/index_{page}.html"),
    }
}

fn slug(title: &str) -> String {
    let words: Vec<String> = title
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .take(7)
        .collect();
    words.join("-")
}

/// Percent-encodes every byte outside letters and digits.
pub fn percent(text: &str) -> String {
    text.bytes().map(|b| if b.is_ascii_alphanumeric() { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
}

/// The address of the n-th page that is linked and gone.
pub fn missing(host: &Host, n: usize) -> String {
    format!("{}/archive/{}.html", host.root(), 9_000 + 13 * n)
}

/// The address of the n-th page that is gone and says 200.
pub fn soft_missing(host: &Host, n: usize) -> String {
    format!("{}/show.asp?id={}", host.root(), 90_000 + 17 * n)
}

//! `report.html`: the relevance report for a reader, one file that needs nothing else.
//!
//! maud builds it: sections are plain functions with typed arguments that are
//! tested one by one, charts are the same type as text, and every value is
//! escaped unless a function of this crate made it, so that titles and anchors
//! from the web cannot become markup.
//!
//! Promises: no request to anywhere (a content security policy holds it), whole
//! without JavaScript, small for large crawls: the best rows, with pointers to
//! the tables.
//! Never: counts anything (that is `tally`).

mod curve;
mod find;
mod learn;
mod limits;
mod pages;
mod parts;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use crate::text::Language;

use super::{
    best::BestPage,
    facts::CrawlFacts,
    strings::{EN, Strings, ZH},
    summary::Summary,
    tally::Highlights,
};

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// All that the page tells.
pub(super) struct View<'a> {
    pub strings: &'static Strings,
    pub facts: &'a CrawlFacts,
    pub summary: &'a Summary,
    pub highlights: &'a Highlights,
    pub best: &'a [BestPage],
}

/// The texts in the language of the report.
pub(super) fn strings_in(language: Language) -> &'static Strings {
    if language == Language::Zh { &ZH } else { &EN }
}

/// The whole document.
pub(super) fn document(view: &View) -> String {
    let strings = view.strings;
    let sections = sections(view);
    let page = html! {
        (DOCTYPE)
        html lang=(strings.lang) {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content="windrow";
                title { (view.facts.topic_name) " · " (strings.kicker) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a class="skip" href="#found" { (strings.skip) }
                header { (find::header(view)) }
                div class="columns" {
                    nav aria-label=(strings.contents) {
                        ol { @for (id, heading, _) in &sections { li { a href={ "#" (id) } { (heading) } } } }
                    }
                    main {
                        @for (id, heading, body) in &sections {
                            section id=(id) aria-labelledby={ (id) "-heading" } {
                                h2 id={ (id) "-heading" } { (heading) }
                                (body)
                            }
                        }
                    }
                }
                footer { p { (strings.made_by) } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// The sections in reading order: id, heading, body.
fn sections(view: &View) -> Vec<(&'static str, &'static str, Markup)> {
    let strings = view.strings;
    vec![
        ("asked", strings.asked, find::asked(view)),
        ("found", strings.found, find::found(view)),
        ("harvest", strings.curve, curve::harvest(view)),
        ("best", strings.best, pages::best_pages(view)),
        ("hosts", strings.hosts, find::hosts(view)),
        ("words", strings.words, learn::words(view)),
        ("tunnel", strings.tunnel, learn::tunnel(view)),
        ("evidence", strings.evidence, learn::evidence(view)),
        ("duplicates", strings.duplicates, limits::duplicates(view)),
        ("refused", strings.refused, limits::refused(view)),
        ("politeness", strings.politeness, limits::politeness(view)),
        ("next", strings.next, limits::next(view)),
        ("files", strings.files, limits::files(view)),
    ]
}

/// Nothing may be loaded; of scripts only this page's own may run, whatever a title says.
fn policy() -> String {
    let hash = STANDARD.encode(Sha256::digest(SCRIPT));
    format!("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{hash}'; base-uri 'none'; form-action 'none'")
}

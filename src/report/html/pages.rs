//! The best pages: title, address, the passage that tells of the topic, and the way from a seed.

use maud::{Markup, html};

use crate::{
    report::{
        best::{BestPage, Step},
        format,
        marks::{Marker, Passage, opening},
    },
    text::Language,
};

use super::{
    View,
    parts::{address, file, foreign, sentence, strong, web_link},
};

pub(super) fn best_pages(view: &View) -> Markup {
    let strings = view.strings;
    if view.best.is_empty() {
        return html! { p { (strings.no_best) } };
    }
    let weighted = view.facts.top_terms.iter().map(|(word, _)| word.as_str());
    let marker = Marker::new(view.facts.keywords.iter().map(String::as_str).chain(weighted));
    let intro = [
        ("shown", strong(format::count(view.best.len() as u64))),
        ("relevant", strong(format::count(view.summary.pages.relevant))),
        ("file", file("pages.csv")),
    ];
    html! {
        p { (sentence(strings.best_intro, &intro)) }
        ol class="pages" { @for best in view.best { li { (best_page(view, best, &marker)) } } }
    }
}

fn best_page(view: &View, best: &BestPage, marker: &Marker) -> Markup {
    let (strings, page) = (view.strings, &best.page);
    let title = if page.title.trim().is_empty() {
        html! { (strings.untitled) }
    } else {
        foreign(&page.title, page.language)
    };
    let excerpt = opening(&page.excerpt);
    let language = (page.language != Language::Other).then(|| page.language.code());
    html! {
        article {
            h3 { (web_link(&page.url, &title)) }
            p class="score" title=(strings.relevance) { span class="visually-hidden" { (strings.relevance) " " } (format!("{:.2}", page.relevance.get())) }
            p class="address" { (address(&page.url)) }
            @if !excerpt.is_empty() {
                p class="excerpt" lang=[language] {
                    (passage(&marker.passage(&excerpt)))
                }
            }
            (way(view, best))
            @if best.similar > 0 { p class="small" { (format::fill(strings.similar, &[("count", &best.similar.to_string())])) } }
        }
    }
}

fn passage(passage: &Passage) -> Markup {
    html! {
        bdi {
            @if passage.cut_before { "…\u{a0}" }
            @for piece in &passage.pieces { @if piece.marked { mark { (piece.text) } } @else { (piece.text) } }
            @if passage.cut_after { "\u{a0}…" }
        }
    }
}

/// How the page was found: the links from a seed to it.
fn way(view: &View, best: &BestPage) -> Markup {
    let strings = view.strings;
    let Some(seed) = best.way.first() else { return html! { p class="small" { (strings.is_seed) } } };
    let links = match best.way.len() {
        1 => strings.way_link.to_owned(),
        more => format::fill(strings.way_links, &[("count", &more.to_string())]),
    };
    let host = seed.url.split('/').nth(2).unwrap_or(&seed.url);
    let through = |anchor: &str| match anchor.trim() {
        "" => html! { (strings.way_bare) },
        anchor => sentence(strings.way_anchor, &[("anchor", html! { bdi { (anchor) } })]),
    };
    html! {
        details class="way" {
            summary { (sentence(strings.way, &[("links", html! { (links) }), ("seed", html! { bdi { (host) } })])) }
            ol {
                @for (at, step) in best.way.iter().enumerate() {
                    li {
                        @if at == 0 { span class="small" { (strings.way_seed) ": " } } @else { span class="small" { (through(&step.anchor)) ": " } }
                        (step_link(step))
                        @if !step.relevant { span class="small" { " (" (strings.way_irrelevant) ")" } }
                    }
                }
                li { span class="small" { (through(&best.page.anchor)) ": " } (strings.this_page) }
            }
        }
    }
}

fn step_link(step: &Step) -> Markup {
    let text = if step.title.trim().is_empty() {
        address(&step.url)
    } else {
        html! { bdi { (step.title) } }
    };
    web_link(&step.url, &text)
}

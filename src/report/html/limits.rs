//! What the crawl left out, how it treated servers, how it ended, and where the tables are.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::{
    page::Outcome,
    report::{advice::advice, format, reasons::by_count, summary::Copies},
    store::HostRecord,
};

use super::{
    View,
    parts::{Column, address, count, file, number, sentence, strong, table, web_link},
};

/// Reasons shown of each kind.
const REASONS_SHOWN: usize = 12;

pub(super) fn duplicates(view: &View) -> Markup {
    let (strings, pages) = (view.strings, &view.summary.pages);
    if pages.duplicates == 0 {
        return html! { p { (strings.no_duplicates) } };
    }
    let share = pages.duplicates as f64 / pages.requested.max(1) as f64;
    let intro = [("count", strong(format::count(pages.duplicates))), ("share", strong(format::percent(Some(share))))];
    let rows = html! {
        @for page in &view.highlights.duplicates {
            tr {
                th scope="row" class="long" { (web_link(&page.url, &address(&page.url))) }
                td class="long" { bdi { (page.reason.as_deref().unwrap_or_default()) } }
            }
        }
    };
    html! {
        p { (sentence(strings.duplicates_intro, &intro)) }
        p { (sentence(strings.clusters, &clusters(&view.summary.copies))) }
        (table(strings.duplicates, &[Column::Text(strings.duplicate), Column::Text(strings.duplicate_of)], &rows))
    }
}

fn clusters(copies: &Copies) -> [(&'static str, Markup); 4] {
    let Copies { exact, near, canonical, clusters, .. } = copies;
    [("clusters", clusters), ("exact", exact), ("near", near), ("canonical", canonical)]
        .map(|(name, n)| (name, strong(format::count(*n))))
}

/// URL templates whose links are held back.
fn quarantined(view: &View) -> Markup {
    let (strings, held) = (view.strings, &view.summary.links.quarantined);
    let intro = [("links", strong(format::count(held.values().sum()))), ("count", strong(format::count(held.len() as u64)))];
    let rows = html! {
        @for (pattern, n) in by_count(held).into_iter().take(REASONS_SHOWN) {
            tr { th scope="row" class="long" { bdi { (pattern) } } (count(n)) }
        }
    };
    html! {
        @if !held.is_empty() {
            h3 { (strings.quarantined) }
            p { (sentence(strings.quarantined_intro, &intro)) }
            (table(strings.quarantined, &[Column::Text(strings.pattern), Column::Number(strings.count)], &rows))
        }
    }
}

pub(super) fn refused(view: &View) -> Markup {
    let (strings, pages, links) = (view.strings, &view.summary.pages, &view.summary.links);
    let mut not_followed = links.refused.clone();
    for fate in ["nofollow", "tunnel-end"] {
        not_followed.extend(links.by_fate.get(fate).map(|count| (fate.to_owned(), *count)));
    }
    let mut failed = pages.failed.clone();
    failed.extend(pages.by_outcome.get(Outcome::Gone.name()).map(|count| (strings.gone.to_owned(), *count)));
    if not_followed.is_empty() && pages.excluded.is_empty() && failed.is_empty() && links.quarantined.is_empty() {
        return html! { p { (strings.refused_none) } };
    }
    html! {
        p { (strings.refused_intro) }
        (reasons(view, strings.refused_links, strings.rule, &not_followed))
        (reasons(view, strings.refused_excluded, strings.reason, &pages.excluded))
        (reasons(view, strings.refused_failed, strings.reason, &failed))
        (quarantined(view))
    }
}

fn reasons(view: &View, heading: &str, column: &'static str, counts: &BTreeMap<String, u64>) -> Markup {
    let strings = view.strings;
    let rows = html! {
        @for (reason, n) in by_count(counts).into_iter().take(REASONS_SHOWN) {
            tr {
                th scope="row" {
                    @match strings.rule(reason) {
                        Some(meaning) => { (meaning) " " code { (reason) } },
                        None if reason.is_empty() => (strings.no_reason),
                        None => bdi { (reason) },
                    }
                }
                (count(n))
            }
        }
    };
    html! {
        @if !counts.is_empty() {
            h3 { (heading) }
            (table(heading, &[Column::Text(column), Column::Number(strings.count)], &rows))
        }
    }
}

pub(super) fn politeness(view: &View) -> Markup {
    let (strings, hosts) = (view.strings, &view.highlights.busiest_hosts);
    if hosts.is_empty() {
        return html! { p { (strings.no_hosts) } };
    }
    let intro = [
        ("shown", strong(format::count(hosts.len() as u64))),
        ("count", strong(format::count(view.summary.hosts.asked))),
        ("file", file("hosts.csv")),
    ];
    let columns = [
        Column::Text(strings.host),
        Column::Number(strings.requests),
        Column::Number(strings.delay),
        Column::Number(strings.delay_asked),
        Column::Text(strings.robots),
        Column::Number(strings.throttled),
        Column::Number(strings.failures),
    ];
    let delay = |ms: u64| number(format::duration(ms, view.facts.language), ms as f64);
    let rows = html! {
        @for host in hosts {
            tr {
                th scope="row" { bdi { (host.name) } }
                (count(host.requests))
                (delay(host.delay_ms))
                @match host.crawl_delay_ms { Some(ms) => (delay(ms)), None => (number("–", -1.0)) }
                td { (robots(view, host)) }
                (count(host.throttled))
                (count(host.failures))
            }
        }
    };
    html! {
        p { (sentence(strings.politeness_intro, &intro)) }
        @if let Some(dns) = view.summary.dns {
            @let count = |number: u64| html! { (format::count(number)) };
            p {
                (sentence(strings.dns, &[
                    ("lookups", strong(format::count(dns.lookups))),
                    ("failures", count(dns.failures)),
                    ("mean", count(dns.mean_ms.unwrap_or_default())),
                    ("hits", count(dns.cache_hits)),
                ]))
            }
        }
        (table(strings.politeness, &columns, &rows))
    }
}

fn robots(view: &View, host: &HostRecord) -> String {
    let strings = view.strings;
    let Some(robots) = &host.robots else { return strings.robots_none.to_owned() };
    let template = match robots.status {
        200..300 => strings.robots_found,
        400..500 => strings.robots_absent,
        _ => strings.robots_error,
    };
    format::fill(template, &[("status", &robots.status.to_string())])
}

pub(super) fn next(view: &View) -> Markup {
    let (strings, links) = (view.strings, &view.summary.links);
    let waiting = [("waiting", strong(format::count(links.waiting))), ("discovered", strong(format::count(links.discovered)))];
    html! {
        p {
            @match &view.facts.stop {
                Some(stop) => (sentence(strings.stopped, &[("words", html! { strong { (stop.words) } })])),
                None => (strings.running),
            }
        }
        p { (sentence(strings.waiting, &waiting)) }
        @if let Some(next) = view.summary.forecast {
            @let number = |number: f64| html! { (format::count(number.round() as u64)) };
            p {
                (sentence(strings.forecast, &[
                    ("relevant", html! { strong { (number(next.relevant)) } }),
                    ("pages", html! { (format::count(next.pages)) }),
                    ("low", number(next.low)),
                    ("high", number(next.high)),
                ]))
            }
        }
        ul class="advice" {
            @for advice in advice(view.summary) {
                @let (words, command) = strings.advice(advice);
                li { (words) @if let Some(command) = command { pre { code { (command) } } } }
            }
        }
        p class="small" { (strings.place) }
    }
}

pub(super) fn files(view: &View) -> Markup {
    let strings = view.strings;
    let files = [
        ("pages.csv", strings.file_pages),
        ("excluded.csv", strings.file_excluded),
        ("links.csv", strings.file_links),
        ("hosts.csv", strings.file_hosts),
        ("summary.json", strings.file_summary),
    ];
    html! { dl class="files" { @for (name, meaning) in files { dt { (file(name)) } dd { (meaning) } } } }
}

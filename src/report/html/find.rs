//! What was asked and what was found: header, figures, harvest, best pages, hosts.

use maud::{Markup, html};

use crate::{
    report::{
        best::{BestPage, Step},
        charts::{self, FRAMES, Words},
        format,
        marks::{Marker, Passage, opening},
    },
    text::Language,
};

use super::{
    View,
    parts::{Column, address, count, file, foreign, number, percent, sentence, strong, table, web_link},
};

/// Seeds that are listed before the rest is folded.
const SEEDS_SHOWN: usize = 5;
const SEEDS_FOLDED: usize = 200;
/// Rows of the table beside the curve.
const CURVE_ROWS: usize = 10;

pub(super) fn header(view: &View) -> Markup {
    let (strings, timing) = (view.strings, &view.summary.timing);
    let day = |time: &Option<String>| time.as_deref().map(|time| time.chars().take(10).collect::<String>());
    html! {
        p class="kicker" { "windrow · " (strings.kicker) }
        h1 { bdi { (view.facts.topic_name) } }
        @if let Some(days) = day(&timing.started).zip(day(&timing.finished)) {
            p class="dates" {
                time datetime=(days.0) { (days.0) }
                @if days.0 != days.1 { " – " time datetime=(days.1) { (days.1) } }
            }
        }
    }
}

pub(super) fn asked(view: &View) -> Markup {
    let (strings, facts, timing) = (view.strings, view.facts, &view.summary.timing);
    let seeds = |from: usize, to: usize| {
        let list = facts.seeds.iter().skip(from).take(to - from);
        html! { ul class="plain" { @for seed in list { li { (web_link(seed, &address(seed))) } } } }
    };
    let more = facts.seeds.len().saturating_sub(SEEDS_SHOWN);
    html! {
        dl class="asked" {
            dt { (strings.keywords) }
            dd { ul class="chips" { @for keyword in &facts.keywords { li { bdi { (keyword) } } } } }
            dt { (strings.seeds) }
            dd {
                (seeds(0, SEEDS_SHOWN))
                @if more > 0 {
                    details {
                        summary { (format::fill(strings.more_seeds, &[("count", &format::count(more as u64))])) }
                        (seeds(SEEDS_SHOWN, SEEDS_SHOWN + SEEDS_FOLDED))
                    }
                }
            }
            dt { (strings.threshold) }
            dd { (format!("{:.2}", facts.threshold)) }
            dt { (strings.order) }
            dd { (facts.order) }
            @if let Some((from, to)) = timing.started.as_ref().zip(timing.finished.as_ref()) {
                dt { (strings.period) }
                dd { time datetime=(from) { (format::minute(from)) } " – " time datetime=(to) { (format::minute(to)) } " UTC" }
            }
        }
        @if facts.virtual_time { p class="note" { (strings.virtual_time) } }
    }
}

pub(super) fn found(view: &View) -> Markup {
    let (strings, pages) = (view.strings, &view.summary.pages);
    let topic = html! { bdi { (view.facts.topic_name) } };
    if pages.fetched == 0 {
        return html! { p class="headline" { (sentence(strings.headline_empty, &[("topic", topic)])) } };
    }
    let headline = sentence(
        strings.headline,
        &[
            ("fetched", strong(format::count(pages.fetched))),
            ("relevant", strong(format::count(pages.relevant))),
            ("topic", topic),
            ("harvest", strong(format::percent(view.summary.harvest.overall))),
        ],
    );
    html! {
        p class="headline" { (headline) }
        (tiles(view))
        (findings(view))
        p class="note" { (strings.judged_by_model) }
    }
}

/// The figures that matter most.
fn tiles(view: &View) -> Markup {
    let (strings, summary) = (view.strings, view.summary);
    let (pages, hosts, elapsed) = (&summary.pages, &summary.hosts, summary.timing.elapsed_ms);
    let note = |template, name, value: String| format::fill(template, &[(name, value.as_str())]);
    let rate = pages.fetched as f64 / (elapsed.max(1) as f64 / 60_000.0);
    let rate = if rate < 10.0 { format!("{rate:.1}") } else { format::count(rate.round() as u64) };
    let tiles = [
        (strings.tile_relevant, format::count(pages.relevant), String::new()),
        (strings.tile_harvest, format::percent(summary.harvest.overall), strings.tile_harvest_note.to_owned()),
        (
            strings.tile_hosts,
            format::count(hosts.with_relevant),
            note(strings.tile_hosts_note, "count", format::count(hosts.asked)),
        ),
        (
            strings.tile_requests,
            format::count(pages.requested),
            note(strings.tile_requests_note, "count", format::count(pages.requested - pages.fetched)),
        ),
        (strings.tile_bytes, format::bytes(pages.bytes), String::new()),
        (strings.tile_time, format::duration(elapsed, view.facts.language), note(strings.tile_time_note, "rate", rate)),
    ];
    html! {
        dl class="tiles" {
            @for (name, figure, note) in tiles {
                div { dt { (name) } dd { (figure) } @if !note.is_empty() { dd class="small" { (note) } } }
            }
        }
    }
}

/// What else the figures say, in sentences.
fn findings(view: &View) -> Markup {
    let (strings, summary) = (view.strings, view.summary);
    let share = |share| strong(format::percent(Some(share)));
    let recent = summary.harvest.last_100.filter(|_| summary.pages.fetched > 100);
    let (order, random) = (summary.arms.order, summary.arms.random);
    let times = order.share.zip(random.share).filter(|(_, random)| random.harvest > 0.0).map(|(o, r)| o.harvest / r.harvest);
    html! {
        ul class="findings" {
            @if let Some(recent) = recent {
                li { (sentence(strings.recent, &[("count", html! { "100" }), ("share", share(recent))])) }
            }
            @if let Some(control) = random.share {
                li {
                    (sentence(strings.control, &[
                        ("fetched", html! { (format::count(random.pages.fetched)) }),
                        ("share", share(control.harvest)),
                        ("low", html! { (format::percent(Some(control.low))) }),
                        ("high", html! { (format::percent(Some(control.high))) }),
                    ]))
                    @if let Some(times) = times {
                        (strings.gap()) (sentence(strings.control_times, &[("times", strong(format!("{times:.1}")))]))
                    }
                }
            }
            @if summary.pages.relevant > 0 { li { (sentence(strings.languages, &[("list", languages(view))])) } }
        }
    }
}

fn languages(view: &View) -> Markup {
    let strings = view.strings;
    let name = |code| match code {
        "zh" => strings.language_zh,
        "en" => strings.language_en,
        _ => strings.language_und,
    };
    let mut known: Vec<_> = view.summary.languages.iter().filter(|(_, pages)| pages.relevant > 0).collect();
    known.sort_by_key(|(_, pages)| std::cmp::Reverse(pages.relevant));
    html! {
        @for (at, (code, pages)) in known.into_iter().enumerate() {
            @if at > 0 { (strings.list_comma) }
            (name(*code)) " " (strong(format::count(pages.relevant)))
        }
    }
}

pub(super) fn harvest(view: &View) -> Markup {
    let (strings, harvest) = (view.strings, &view.summary.harvest);
    let Some(last) = harvest.series.last() else { return html! { p { (strings.no_curve) } } };
    let random = view.summary.arms.random.share;
    let half = harvest.series.iter().rev().find(|point| point.fetched * 2 <= last.fetched).map_or(0, |point| point.relevant);
    let desc = format::fill(
        strings.curve_desc,
        &[("fetched", &format::count(last.fetched)), ("relevant", &format::count(last.relevant)), ("half", &format::count(half))],
    );
    let words = Words { id: "curve", title: strings.curve_title, desc: &desc, x_axis: strings.axis_fetched, y_axis: "" };
    html! {
        p { (strings.curve_intro) }
        figure {
            figcaption {
                strong { (strings.curve_title) }
                (key(&[("found", strings.key_found), ("ideal", strings.key_all)]))
                @if random.is_some() { (key(&[("random", strings.key_random)])) }
            }
            @for frame in FRAMES {
                (charts::harvest_curve(frame, &harvest.series, random.map(|share| share.harvest), &words))
            }
        }
        (window_figure(view))
        (curve_table(view))
    }
}

/// The chart of the windowed harvest: over 100 pages, over 1,000 in crawls that are long enough.
fn window_figure(view: &View) -> Markup {
    let (strings, harvest) = (view.strings, &view.summary.harvest);
    let long = view.summary.pages.fetched >= 5_000;
    let window = format::count(if long { 1_000 } else { 100 });
    // A share of a handful of pages jumps; the curve begins where there are some.
    let begin = view.summary.pages.fetched.min(if long { 1_000 } else { 20 });
    let points: Vec<(u64, f64)> = (harvest.series.iter())
        .filter(|point| point.fetched >= begin)
        .map(|point| (point.fetched, if long { point.harvest_1000 } else { point.harvest_100 }))
        .collect();
    let shares = points.iter().map(|(_, share)| *share);
    let (low, high) = shares.fold((1.0_f64, 0.0_f64), |(low, high), share| (low.min(share), high.max(share)));
    let last = points.last().map(|(_, share)| *share);
    let desc = format::fill(
        strings.window_desc,
        &[
            ("window", &window),
            ("low", &format::percent(Some(low))),
            ("high", &format::percent(Some(high))),
            ("last", &format::percent(last)),
        ],
    );
    let named = |template| format::fill(template, &[("window", &window)]);
    let (title, label) = (named(strings.window_title), named(strings.key_window));
    let words = Words { id: "window", title: &title, desc: &desc, x_axis: strings.axis_fetched, y_axis: "" };
    let random = view.summary.arms.random.share;
    let overall = harvest.overall.unwrap_or(0.0);
    html! {
        figure {
            figcaption {
                strong { (title) }
                (key(&[("window", &label), ("overall", strings.key_overall)]))
                @if random.is_some() { (key(&[("random", strings.key_random)])) }
            }
            @for frame in FRAMES { (charts::window_curve(frame, &points, overall, random, &words)) }
        }
    }
}

fn curve_table(view: &View) -> Markup {
    let (strings, series) = (view.strings, &view.summary.harvest.series);
    let columns =
        [Column::Number(strings.col_fetched), Column::Number(strings.col_relevant), Column::Number(strings.col_harvest)];
    let step = series.len().div_ceil(CURVE_ROWS).max(1);
    let rows = series.iter().rev().step_by(step).collect::<Vec<_>>().into_iter().rev();
    let rows = html! {
        @for point in rows {
            tr {
                th scope="row" class="num" data-value=(point.fetched) { (format::count(point.fetched)) }
                (count(point.relevant))
                (percent(Some(point.relevant as f64 / point.fetched as f64)))
            }
        }
    };
    html! { details { summary { (strings.as_table) } (table(strings.curve_title, &columns, &rows)) } }
}

/// The key of a chart: what its lines mean.
fn key(lines: &[(&str, &str)]) -> Markup {
    html! { @for (class, label) in lines { span class="key" { span class={ "swatch " (class) } aria-hidden="true" {} (label) } } }
}

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

pub(super) fn hosts(view: &View) -> Markup {
    let (strings, hosts) = (view.strings, &view.highlights.sites);
    if hosts.is_empty() {
        return html! { p { (strings.no_yield) } };
    }
    let intro = [
        ("shown", strong(format::count(hosts.len() as u64))),
        ("count", strong(format::count(view.summary.hosts.with_relevant))),
        ("file", file("hosts.csv")),
    ];
    let columns = [
        Column::Text(strings.host),
        Column::Number(strings.col_relevant),
        Column::Drawing,
        Column::Number(strings.col_fetched),
        Column::Number(strings.col_harvest),
        Column::Number(strings.col_bytes),
    ];
    let most = hosts.iter().map(|host| host.relevant).max().unwrap_or(1).max(1) as f64;
    let rows = html! {
        @for host in hosts {
            tr {
                th scope="row" { bdi { (host.name) } }
                (count(host.relevant))
                td class="drawing" { (charts::bar(host.relevant as f64 / most)) }
                (count(host.fetched))
                (percent((host.fetched > 0).then(|| host.relevant as f64 / host.fetched as f64)))
                (number(format::bytes(host.bytes), host.bytes as f64))
            }
        }
    };
    html! { p { (sentence(strings.hosts_intro, &intro)) } (table(strings.hosts, &columns, &rows)) }
}

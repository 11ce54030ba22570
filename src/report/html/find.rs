//! What was asked and what was found: header, figures in words, hosts.

use maud::{Markup, html};

use crate::report::{charts, format};

use super::{
    View,
    parts::{Column, address, count, file, number, percent, sentence, strong, table, web_link},
};

/// Seeds that are listed before the rest is folded.
const SEEDS_SHOWN: usize = 5;
const SEEDS_FOLDED: usize = 200;

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

//! How the harvest developed: two charts, and their figures as a table.

use maud::{Markup, html};

use crate::report::{
    charts::{self, FRAMES, Words},
    format,
};

use super::{
    View,
    parts::{Column, count, percent, table},
};

/// Rows of the table beside the curve.
const CURVE_ROWS: usize = 10;

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

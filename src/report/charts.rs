//! Charts as inline SVG, drawn by hand so that the page needs nothing else.
//!
//! Promises: every chart has a title and a description in words; no figure of
//! a crawl, an empty one included, leads to a division by zero; colours come
//! from the style sheet, so that charts follow light, dark and print.
//! Never: reads rows or words anything.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::{format, harvest::HarvestPoint, link_quality::EstimateGroup, share::ShareEstimate};

/// The size of a chart; text keeps its size, so that phones get a frame of their own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pub class: &'static str,
    width: f64,
    height: f64,
    /// Ticks on the x axis at most.
    ticks: u64,
}

/// The frames of a chart that fills the column; the style sheet shows one of them.
pub(super) const FRAMES: [Frame; 2] = [
    Frame { class: "wide", width: 720.0, height: 300.0, ticks: 8 },
    Frame { class: "narrow", width: 360.0, height: 260.0, ticks: 4 },
];
const SQUARE: Frame = Frame { class: "square", width: 320.0, height: 300.0, ticks: 5 };

const LEFT: f64 = 50.0;
const RIGHT: f64 = 22.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 42.0;

/// What a chart says in words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Words<'a> {
    /// Unique in the document.
    pub id: &'a str,
    pub title: &'a str,
    pub desc: &'a str,
    pub x_axis: &'a str,
    /// Empty where the title says it.
    pub y_axis: &'a str,
}

/// A frame with scales.
struct Plot {
    frame: Frame,
    x_max: f64,
    y_max: f64,
}

impl Plot {
    fn new(frame: Frame, x_max: f64, y_max: f64) -> Self {
        Self { frame, x_max: x_max.max(f64::MIN_POSITIVE), y_max: y_max.max(f64::MIN_POSITIVE) }
    }

    fn x(&self, value: f64) -> f64 {
        LEFT + value / self.x_max * (self.frame.width - LEFT - RIGHT)
    }

    fn y(&self, value: f64) -> f64 {
        self.frame.height - BOTTOM - value / self.y_max * (self.frame.height - TOP - BOTTOM)
    }

    /// A line through points in the units of the scales.
    fn path(&self, points: impl Iterator<Item = (f64, f64)>) -> String {
        points.enumerate().fold(String::new(), |mut path, (at, (x, y))| {
            let command = if at == 0 { 'M' } else { 'L' };
            // Writing to a string does not fail.
            let _ = write!(path, "{command}{:.1} {:.1}", self.x(x), self.y(y));
            path
        })
    }

    /// The whole chart: words, grid and axes, and what is drawn on them.
    fn draw(&self, words: &Words, x_ticks: &[(f64, String)], y_ticks: &[(f64, String)], drawing: &Markup) -> Markup {
        let Frame { class, width, height, .. } = self.frame;
        let (title, desc) = (format!("{}-{class}-title", words.id), format!("{}-{class}-desc", words.id));
        let base = height - BOTTOM;
        html! {
            svg class={ "chart " (class) } viewBox={ "0 0 " (width) " " (height) } role="img" aria-labelledby=(title) aria-describedby=(desc) {
                title id=(title) { (words.title) }
                desc id=(desc) { (words.desc) }
                @for (value, label) in y_ticks {
                    line class="grid" x1=(LEFT) x2=(width - RIGHT) y1=(px(self.y(*value))) y2=(px(self.y(*value))) {}
                    text class="tick" x=(LEFT - 8.0) y=(px(self.y(*value) + 4.0)) text-anchor="end" { (label) }
                }
                @for (value, label) in x_ticks {
                    line class="axis" x1=(px(self.x(*value))) x2=(px(self.x(*value))) y1=(base) y2=(base + 4.0) {}
                    text class="tick" x=(px(self.x(*value))) y=(base + 18.0) text-anchor="middle" { (label) }
                }
                line class="axis" x1=(LEFT) x2=(width - RIGHT) y1=(base) y2=(base) {}
                text class="label" x=(width - RIGHT) y=(height - 6.0) text-anchor="end" { (words.x_axis) }
                @if !words.y_axis.is_empty() { text class="label" x=(LEFT) y=(TOP - 5.0) { (words.y_axis) } }
                (drawing)
            }
        }
    }
}

/// Relevant pages over fetched pages; `random` is the harvest of the control arm.
pub(super) fn harvest_curve(frame: Frame, points: &[HarvestPoint], random: Option<f64>, words: &Words) -> Markup {
    let (fetched, relevant) = points.last().map_or((0, 0), |last| (last.fetched, last.relevant));
    let y_ticks = count_ticks(relevant.max(1), 5);
    let y_max = y_ticks.last().map_or(1.0, |(value, _)| value.max(relevant as f64 * 1.1));
    let plot = Plot::new(frame, fetched as f64, y_max);
    let curve = plot.path([(0.0, 0.0)].into_iter().chain(points.iter().map(|p| (p.fetched as f64, p.relevant as f64))));
    let end = plot.x_max.min(plot.y_max);
    let (end_x, end_y) = (plot.x(fetched as f64), plot.y(relevant as f64));
    let drawing = html! {
        path class="line ideal" d=(plot.path([(0.0, 0.0), (end, end)].into_iter())) {}
        path class="area" d={ (curve) "L" (px(end_x)) " " (px(plot.y(0.0))) "L" (px(plot.x(0.0))) " " (px(plot.y(0.0))) "Z" } {}
        @if let Some(random) = random {
            path class="line random" d=(plot.path([(0.0, 0.0), (plot.x_max, plot.x_max * random)].into_iter())) {}
        }
        path class="line found" d=(curve) {}
        @if fetched > 0 { (end_mark(end_x, end_y, Side::Above, &format::count(relevant))) }
    };
    plot.draw(words, &count_ticks(fetched, frame.ticks), &y_ticks, &drawing)
}

/// Harvest of the last pages over fetched pages, with that of the whole crawl and of the control arm.
pub(super) fn window_curve(
    frame: Frame,
    points: &[(u64, f64)],
    overall: f64,
    random: Option<ShareEstimate>,
    words: &Words,
) -> Markup {
    let fetched = points.last().map_or(0, |(fetched, _)| *fetched);
    let plot = Plot::new(frame, fetched as f64, 1.0);
    // The value stands where the line does not come from.
    let before = points.iter().rev().nth(points.len() / 12).map_or(0.0, |(_, share)| *share);
    let level = |share: f64| plot.path([(0.0, share), (plot.x_max, share)].into_iter());
    let drawing = html! {
        @if let Some(random) = random {
            rect class="band" x=(px(plot.x(0.0))) width=(px(plot.x(plot.x_max) - plot.x(0.0)))
                y=(px(plot.y(random.high))) height=(px(plot.y(random.low) - plot.y(random.high))) {}
            path class="line random" d=(level(random.harvest)) {}
        }
        path class="line overall" d=(level(overall)) {}
        path class="line window" d=(plot.path(points.iter().map(|(fetched, share)| (*fetched as f64, *share)))) {}
        @if let Some((fetched, share)) = points.last() {
            @let side = if before > *share { Side::Below } else { Side::Above };
            (end_mark(plot.x(*fetched as f64), plot.y(*share), side, &format::percent(Some(*share))))
        }
    };
    plot.draw(words, &count_ticks(fetched, frame.ticks), &share_ticks(), &drawing)
}

/// Estimated against true shares of relevant pages.
pub(super) fn reliability(groups: &[EstimateGroup], words: &Words) -> Markup {
    let plot = Plot::new(SQUARE, 1.0, 1.0);
    let drawing = html! {
        path class="line ideal" d=(plot.path([(0.0, 0.0), (1.0, 1.0)].into_iter())) {}
        @for group in groups {
            circle class="dot" cx=(px(plot.x(group.estimate))) cy=(px(plot.y(group.relevant))) r="4.5" {}
        }
    };
    plot.draw(words, &share_ticks(), &share_ticks(), &drawing)
}

/// Where a value stands beside the end of its line.
#[derive(Debug, Clone, Copy)]
enum Side {
    Above,
    Below,
}

/// The end of a line, and its value.
fn end_mark(x: f64, y: f64, side: Side, value: &str) -> Markup {
    let text_y = match side {
        Side::Above => y - 9.0,
        Side::Below => y + 19.0,
    };
    html! {
        circle class="dot" cx=(px(x)) cy=(px(y)) r="4" {}
        text class="value" x=(px(x + 4.0)) y=(px(text_y)) text-anchor="end" { (value) }
    }
}

/// A bar in a table cell: `share` of its width, 0 to 1.
pub(super) fn bar(share: f64) -> Markup {
    let width = px(share.clamp(0.0, 1.0) * 100.0);
    html! {
        svg class="bar" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
            rect class="bar-room" width="100" height="10" {}
            rect class="bar-fill" width=(width) height="10" {}
        }
    }
}

/// A weight that leans to one side of zero, with a mark where it began; `extent` is the largest weight shown.
pub(super) fn lean(prior: f64, now: f64, extent: f64) -> Markup {
    let place = |weight: f64| (weight / extent.max(f64::MIN_POSITIVE)).clamp(-1.0, 1.0) * 100.0;
    let (prior, now) = (place(prior), place(now));
    html! {
        svg class="lean" viewBox="-102 0 204 16" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
            rect class="bar-room" x="-102" y="3" width="204" height="10" {}
            rect class=(if now < 0.0 { "against" } else { "bar-fill" }) x=(px(now.min(0.0))) y="3" width=(px(now.abs())) height="10" {}
            line class="zero" x1="0" x2="0" y1="0" y2="16" {}
            line class="prior" x1=(px(prior)) x2=(px(prior)) y1="0" y2="16" {}
        }
    }
}

/// A length with one decimal at most.
fn px(length: f64) -> f64 {
    (length * 10.0).round() / 10.0
}

/// Round numbers from 0 to `max`, or just above it for the last, at most `ticks` steps.
fn count_ticks(max: u64, ticks: u64) -> Vec<(f64, String)> {
    let step = nice_step(max.div_ceil(ticks.max(1)).max(1));
    let tick = |value: u64| (value as f64, format::count(value));
    (0..=max / step).map(|at| tick(at * step)).collect()
}

/// The smallest of 1, 2, 5, 10, 20, 50, … that is at least `least`.
fn nice_step(least: u64) -> u64 {
    let mut power: u64 = 1;
    loop {
        if let Some(step) = [1, 2, 5].into_iter().map(|digit| power.saturating_mul(digit)).find(|step| *step >= least) {
            return step;
        }
        power = power.saturating_mul(10);
    }
}

fn share_ticks() -> Vec<(f64, String)> {
    [0.0, 0.25, 0.5, 0.75, 1.0].map(|share| (share, format!("{:.0}%", share * 100.0))).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: Words = Words { id: "c", title: "T <b>", desc: "D", x_axis: "x", y_axis: "" };

    #[test]
    fn charts_of_an_empty_crawl_hold_only_numbers() {
        let share = ShareEstimate { harvest: 0.0, low: 0.0, high: 0.0 };
        for frame in FRAMES {
            for chart in [
                harvest_curve(frame, &[], Some(0.0), &WORDS),
                window_curve(frame, &[], 0.0, Some(share), &WORDS),
                reliability(&[], &WORDS),
                lean(0.0, 0.0, 0.0),
                bar(0.0),
            ] {
                let svg = chart.into_string();
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
        }
    }

    #[test]
    fn charts_tell_their_content_in_words_and_escape_them() {
        let svg = reliability(&[], &WORDS).into_string();
        assert!(svg.contains(r#"role="img""#) && svg.contains("<desc") && svg.contains("T &lt;b&gt;"), "{svg}");
    }

    #[test]
    fn ticks_are_round_and_few() {
        let labels = |max, ticks| count_ticks(max, ticks).into_iter().map(|(_, label)| label).collect::<Vec<_>>();
        assert_eq!(labels(287, 5), ["0", "100", "200"]);
        assert_eq!(labels(3, 5), ["0", "1", "2", "3"]);
        assert_eq!(labels(0, 5), ["0"]);
        assert_eq!(labels(2_000_000, 4), ["0", "500,000", "1,000,000", "1,500,000", "2,000,000"]);
        assert_eq!(nice_step(u64::MAX), u64::MAX);
    }

    #[test]
    fn a_curve_stays_within_its_frame() {
        let point = |fetched, relevant| HarvestPoint { fetched, relevant, harvest_100: 0.0, harvest_1000: 0.0 };
        let plot = Plot::new(FRAMES[0], 1_000.0, 990.0);
        assert!(plot.x(1_000.0) <= FRAMES[0].width && plot.y(990.0) >= 0.0 && plot.y(0.0) <= FRAMES[0].height);
        let svg = harvest_curve(FRAMES[1], &[point(1, 1), point(1_000, 990)], None, &WORDS).into_string();
        assert!(svg.contains(r#"class="narrow"#) || svg.contains("chart narrow"));
    }
}

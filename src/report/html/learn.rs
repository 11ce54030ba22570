//! What the crawler learnt: the topic's words, whether tunnelling paid, what speaks for a link.

use maud::{Markup, html};

use crate::report::{
    DriftWord,
    charts::{self, Words},
    format,
};

use super::{
    View,
    parts::{Column, count, number, percent, sentence, strong, table},
};

const WORDS_SHOWN: usize = 40;
const EVIDENCE_SHOWN: usize = 30;

pub(super) fn words(view: &View) -> Markup {
    let strings = view.strings;
    let mut words: Vec<&(String, f64)> = view.facts.top_terms.iter().filter(|(_, weight)| *weight > 0.0).collect();
    words.sort_by(|a, b| b.1.total_cmp(&a.1));
    words.truncate(WORDS_SHOWN);
    let Some(heaviest) = words.first().map(|(_, weight)| *weight) else { return html! { p { (strings.no_words) } } };
    html! {
        p { (strings.words_intro) }
        // Two tables side by side where there is room; a reader goes down the first, then the second.
        div class="pair" {
            @for half in words.chunks(words.len().div_ceil(2)) {
                (table(strings.words, &[Column::Text(strings.word), Column::Drawing, Column::Number(strings.weight)], &html! {
                    @for (word, weight) in half {
                        tr {
                            th scope="row" { bdi { (word) } }
                            td class="drawing" { (charts::bar(weight / heaviest)) }
                            (number(format!("{weight:.2}"), *weight))
                        }
                    }
                }))
            }
        }
        (drift(view))
    }
}

/// Which words relevant pages came to hold, and which they lost.
fn drift(view: &View) -> Markup {
    let (strings, drift) = (view.strings, &view.summary.drift);
    let columns = |heading| [Column::Text(heading), Column::Number(strings.drift_early), Column::Number(strings.drift_late)];
    let side = |heading: &'static str, words: &[DriftWord]| {
        let rows = html! {
            @for word in words {
                tr { th scope="row" { bdi { (word.word) } } (percent(Some(word.early))) (percent(Some(word.late))) }
            }
        };
        html! { @if !words.is_empty() { (table(heading, &columns(heading), &rows)) } }
    };
    let pages = || html! { (format::count(drift.pages)) };
    html! {
        h3 { (strings.drift) }
        @if drift.pages == 0 {
            p { (strings.drift_few) }
        } @else if drift.rising.is_empty() && drift.fading.is_empty() {
            p { (strings.drift_none) }
        } @else {
            p { (sentence(strings.drift_intro, &[("pages", pages())])) }
            div class="pair drift" {
                (side(strings.drift_rising, &drift.rising))
                (side(strings.drift_fading, &drift.fading))
            }
        }
    }
}

pub(super) fn tunnel(view: &View) -> Markup {
    let strings = view.strings;
    let columns = [
        Column::Number(strings.tunnel_depth),
        Column::Number(strings.col_fetched),
        Column::Number(strings.col_relevant),
        Column::Drawing,
        Column::Number(strings.col_harvest),
    ];
    let rows = html! {
        @for step in &view.summary.tunnel {
            tr {
                th scope="row" class="num" { (step.depth) }
                (count(step.pages.fetched))
                (count(step.pages.relevant))
                td class="drawing" { (charts::bar(step.harvest.unwrap_or(0.0))) }
                (percent(step.harvest))
            }
        }
    };
    html! {
        p { (strings.tunnel_intro) }
        @if !view.summary.tunnel.is_empty() { (table(strings.tunnel, &columns, &rows)) }
    }
}

pub(super) fn evidence(view: &View) -> Markup {
    let (strings, quality) = (view.strings, &view.summary.link_model);
    if view.facts.link_weights.is_empty() {
        return html! { p { (strings.no_evidence) } };
    }
    html! {
        p { (strings.evidence_intro) }
        (weights(view))
        @if let Some(auc) = quality.auc {
            p {
                (sentence(strings.auc, &[("auc", strong(format::percent(Some(auc)))), ("count", html! { (format::count(quality.judged)) })]))
                @if let Some(ece) = quality.ece { (strings.gap()) (sentence(strings.ece, &[("ece", strong(format::percent(Some(ece))))])) }
            }
            (reliability(view))
        }
    }
}

fn weights(view: &View) -> Markup {
    let strings = view.strings;
    let mut weights: Vec<_> = view.facts.link_weights.iter().collect();
    weights.sort_by(|a, b| b.now.abs().total_cmp(&a.now.abs()));
    weights.truncate(EVIDENCE_SHOWN);
    let extent = weights.iter().map(|weight| weight.now.abs().max(weight.prior.abs())).fold(0.0, f64::max);
    let columns = [
        Column::Text(strings.evidence_name),
        Column::Drawing,
        Column::Number(strings.evidence_prior),
        Column::Number(strings.evidence_now),
    ];
    let rows = html! {
        @for weight in weights {
            tr {
                th scope="row" { (weight.name) }
                td class="drawing" { (charts::lean(weight.prior, weight.now, extent)) }
                (number(format::weight(weight.prior), weight.prior))
                (number(format::weight(weight.now), weight.now))
            }
        }
    };
    table(strings.evidence, &columns, &rows)
}

fn reliability(view: &View) -> Markup {
    let (strings, groups) = (view.strings, &view.summary.link_model.groups);
    let desc = format::fill(strings.reliability_desc, &[("count", &groups.len().to_string())]);
    let words = Words {
        id: "reliability",
        title: strings.reliability_title,
        desc: &desc,
        x_axis: strings.axis_estimate,
        y_axis: strings.axis_truth,
    };
    html! { figure { figcaption { strong { (strings.reliability_title) } } (charts::reliability(groups, &words)) } }
}

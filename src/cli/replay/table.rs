//! The figures of a comparison: a row for each crawl, means over tasks, paired differences.

use std::fmt::Write as _;

use super::race::Outcome;
use crate::engine::Stage;
use crate::evaluation::{Contestant, Score, Trial, compare};

/// Parts of the budget that windowed harvest is told for.
const WINDOWS: usize = 10;

/// Given seeds and draws are means of their own.
fn trials(outcomes: &[Outcome], contestant: Contestant, drawn: bool) -> impl Iterator<Item = &Trial> {
    let of = move |outcome: &&Outcome| outcome.trial.contestant == contestant && (outcome.draw > 0) == drawn;
    outcomes.iter().filter(of).map(|outcome| &outcome.trial)
}

pub(super) fn table(outcomes: &[Outcome], contestants: &[Contestant]) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{:<14} {:>5} {:<14} {:>7} {:>6} {:>6} {:>7} {:>8} {:>9} {:>9}",
        "task", "draw", "order", "harvest", "AUC", "recall", "budget", "targets", "µs/page", "deciding"
    );
    for Outcome { task, draw, trial, .. } in outcomes {
        let score = trial.score();
        let _ = writeln!(
            text,
            "{task:<14} {draw:>5} {:<14} {:>7.3} {:>6.3} {:>6.3} {:>7} {:>8} {:>9.0} {:>9.0}",
            trial.contestant.name(),
            score.harvest,
            score.auc,
            score.recall,
            trial.budget,
            trial.reachable_targets,
            trial.micros_per_page,
            trial.deciding_micros()
        );
    }
    for (drawn, title) in [(false, "mean, given seeds"), (true, "mean, drawn seeds")] {
        if outcomes.iter().any(|outcome| (outcome.draw > 0) == drawn) {
            let _ = writeln!(text, "\n{title}");
            for &contestant in contestants {
                write_mean(&mut text, outcomes, contestants, contestant, drawn);
            }
        }
    }
    text
}

fn write_mean(text: &mut String, outcomes: &[Outcome], contestants: &[Contestant], contestant: Contestant, drawn: bool) {
    let scores: Vec<Score> = trials(outcomes, contestant, drawn).map(Trial::score).collect();
    let mean = Score::mean(&scores);
    let _ = writeln!(
        text,
        "  {:<14} {:.3} / {:.3}  recall {:.3}{}",
        contestant.name(),
        mean.harvest,
        mean.auc,
        mean.recall,
        versus(outcomes, contestants, contestant, drawn)
    );
    let windows: Vec<Vec<f64>> =
        trials(outcomes, contestant, drawn).map(|trial| Score::windowed(&trial.hits, trial.budget, WINDOWS)).collect();
    let tenths: Vec<String> =
        (0..WINDOWS).map(|window| format!("{:.2}", mean_of(windows.iter().map(|trial| trial[window])).unwrap_or(0.0))).collect();
    let _ = writeln!(text, "  {:<14} harvest by tenths of the budget: {}", "", tenths.join(" "));
    if contestant.learns() {
        let foresight: Vec<_> = trials(outcomes, contestant, drawn).map(Trial::foresight).collect();
        let auc = mean_of(foresight.iter().filter_map(|metrics| metrics.auc));
        let ece = mean_of(foresight.iter().map(|metrics| metrics.ece));
        let _ = writeln!(
            text,
            "  {:<14} link estimates against the labels, each before its fetch: AUC {:.3}, calibration error {:.3}",
            "",
            auc.unwrap_or(0.5),
            ece.unwrap_or(0.0)
        );
        let _ = writeln!(text, "{}", adaptation(outcomes, contestants, contestant, drawn));
    }
}

/// After how many fetches a learning order is ahead of each fixed one for good.
fn adaptation(outcomes: &[Outcome], contestants: &[Contestant], contestant: Contestant, drawn: bool) -> String {
    let mut parts = Vec::new();
    for &fixed in contestants.iter().filter(|fixed| fixed.is_fixed()) {
        let pairs = trials(outcomes, contestant, drawn).zip(trials(outcomes, fixed, drawn));
        let mut from: Vec<Option<usize>> =
            pairs.map(|(mine, theirs)| Score::ahead_from(&mine.hits, &theirs.hits, mine.budget)).collect();
        // Crawls that end behind sort last.
        from.sort_by_key(|from| from.unwrap_or(usize::MAX));
        let ahead = from.iter().flatten().count();
        let median = from.get(from.len() / 2).copied().flatten();
        let median = median.map_or("more than the budget".to_owned(), |fetches| fetches.to_string());
        parts.push(format!("{} on {ahead} of {} after {median}", fixed.name(), from.len()));
    }
    if parts.is_empty() {
        return String::new();
    }
    format!("  {:<14} ahead for good of (crawls, median fetches): {}", "", parts.join("; "))
}

fn mean_of(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, number) = values.fold((0.0, 0_u32), |(sum, number), value| (sum + value, number + 1));
    (number > 0).then(|| sum / f64::from(number))
}

/// The paired difference of AUC to the first order, with its 95 % interval.
fn versus(outcomes: &[Outcome], contestants: &[Contestant], contestant: Contestant, drawn: bool) -> String {
    let aucs = |contestant| -> Vec<f64> { trials(outcomes, contestant, drawn).map(|trial| trial.score().auc).collect() };
    let Some(&first) = contestants.first().filter(|&&first| first != contestant) else { return String::new() };
    compare(&aucs(first), &aucs(contestant)).map_or(String::new(), |c| {
        format!("  ({} {:+.3} AUC, 95 % {:+.3} … {:+.3}, behind on {})", first.name(), c.difference, c.low, c.high, c.losses)
    })
}

/// Processor time per page by stage, in microseconds.
fn stages(trial: &Trial) -> serde_json::Map<String, serde_json::Value> {
    let per_page = |stage| trial.stages.of(stage).as_secs_f64() * 1e6 / trial.pages.max(1) as f64;
    Stage::ALL.into_iter().map(|stage| (stage.name().to_owned(), per_page(stage).into())).collect()
}

pub(super) fn as_json(outcomes: &[Outcome]) -> serde_json::Value {
    let rows = outcomes.iter().map(|Outcome { task, web, draw, trial }| {
        let score = trial.score();
        let foresight = trial.foresight();
        serde_json::json!({
            "task": task, "web": web, "draw": draw, "order": trial.contestant.name(), "harvest": score.harvest,
            "auc": score.auc, "recall": score.recall, "budget": trial.budget, "reachable_targets": trial.reachable_targets,
            "windowed_harvest": Score::windowed(&trial.hits, trial.budget, WINDOWS),
            "link_auc": foresight.auc, "link_ece": foresight.ece,
            "deciding_by_stage": stages(trial),
            "micros_per_page": trial.micros_per_page, "deciding_micros_per_page": trial.deciding_micros(),
        })
    });
    rows.collect()
}

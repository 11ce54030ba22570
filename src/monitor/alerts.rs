//! What a person should look at: rules over each crawl, told in the console and to a webhook.
//!
//! Promises: an alert is told once when it begins and stays in the list until its cause is gone; a webhook that fails stops
//! nothing, and its address, which may hold a secret, is never logged.

use std::{sync::Arc, time::Duration};

use super::{
    app::{App, Event, blocking},
    crawls::{Phase, Slot, Tally},
    files,
    wire::{Alert, AlertRules, Rule, State},
};
use crate::engine::StopReason;

/// Pages of a crawl before its harvest can fall, and fetches before errors are many.
const ENOUGH_PAGES: u64 = 200;
const ENOUGH_FETCHES: usize = 20;
/// How long a webhook may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Looks at all crawls, and tells what is new.
pub async fn check(app: &Arc<App>) {
    let rules = app.kept().alerts;
    let looked = Arc::clone(app);
    let free = blocking(move || Ok(free_mib(&looked.options.dir))).await.ok().flatten();
    let now_ms = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default();
    for slot in app.slots() {
        let before = slot.alerts();
        let found = found(&slot, rules, free, now_ms);
        let now: Vec<Alert> = found
            .into_iter()
            .map(|(rule, message)| {
                let known = before.iter().find(|alert| alert.rule == rule);
                let since = known.map_or_else(files::now, |alert| alert.since.clone());
                Alert { crawl: slot.id.clone(), rule, since, message }
            })
            .collect();
        let is_new = |alert: &&Alert| before.iter().all(|known| known.rule != alert.rule);
        let new: Vec<Alert> = now.iter().filter(is_new).cloned().collect();
        let changed = !new.is_empty() || now.len() != before.len();
        slot.set_alerts(now);
        for alert in new {
            slot.log.add(super::crawls::Level::Warn, alert.message.clone());
            post(app, &alert);
            app.tell(Event::Alert(alert));
        }
        if changed {
            app.tell_crawl(&slot);
        }
    }
}

/// What is wrong with a crawl now.
fn found(slot: &Slot, rules: AlertRules, free_mib: Option<u64>, now_ms: u64) -> Vec<(Rule, String)> {
    let (state, job) = (slot.state(), slot.job());
    let reason = job.runs.last().and_then(|run| run.stop_reason.as_deref()).and_then(StopReason::from_name);
    let mut found = Vec::new();
    if state == State::Running {
        let started = job.runs.last().and_then(|run| run.started.parse::<jiff::Timestamp>().ok());
        let started = started.and_then(|at| u64::try_from(at.as_millisecond()).ok()).unwrap_or(now_ms);
        found.extend(slot.tally(|tally| while_running(tally, rules, started, now_ms)));
        if let Some(free) = free_mib.filter(|&free| free < rules.disk_low_mib) {
            found.push((Rule::DiskLow, format!("{free} MiB are left on the disk; the crawl stops when it is full")));
        }
    }
    if state == State::Stopped && reason == Some(StopReason::DiskFull) {
        found.push((Rule::DiskLow, StopReason::DiskFull.in_words().to_owned()));
    }
    if let Some(reason @ (StopReason::SeedsFailed | StopReason::FrontierEmpty)) = reason
        && slot.phase(|phase| matches!(phase, Phase::Idle))
    {
        found.push((Rule::SeedsExhausted, reason.in_words().to_owned()));
    }
    found
}

fn while_running(tally: &Tally, rules: AlertRules, started: u64, now_ms: u64) -> Vec<(Rule, String)> {
    let mut found = Vec::new();
    let quiet = now_ms.saturating_sub(tally.last_page_ms.max(started)) / 60_000;
    if quiet >= u64::from(rules.stalled_minutes) {
        found.push((Rule::Stalled, format!("no page has come for {quiet} minutes")));
    }
    let (recent, overall) = (tally.recent_harvest(), tally.relevant as f64 / tally.fetched.max(1) as f64);
    if tally.fetched >= ENOUGH_PAGES && recent < rules.harvest_fell_ratio * overall {
        let message =
            format!("{:.0} % of the last 100 pages were relevant; of the whole crawl {:.0} %", 100.0 * recent, 100.0 * overall);
        found.push((Rule::HarvestFell, message));
    }
    let (errors, of) = tally.recent_errors();
    if of >= ENOUGH_FETCHES && errors > rules.error_rate {
        found.push((Rule::ErrorRate, format!("{:.0} % of the last {of} fetches failed", 100.0 * errors)));
    }
    found
}

/// Free space where the crawls lie.
pub fn free_mib(dir: &std::path::Path) -> Option<u64> {
    crate::disk::free_bytes(dir).map(|bytes| bytes >> 20)
}

/// Sends an alert to the webhook, if there is one.
fn post(app: &App, alert: &Alert) {
    let Some(url) = app.kept().webhook else { return };
    let request = app.client.post(url).timeout(PATIENCE).header("content-type", "application/json");
    let request = request.body(serde_json::to_vec(alert).unwrap_or_default());
    let (crawl, rule) = (alert.crawl.clone(), alert.rule);
    tokio::spawn(async move {
        match request.send().await.map(reqwest::Response::error_for_status) {
            Ok(Ok(_)) => {}
            Ok(Err(error)) | Err(error) => {
                tracing::warn!("{crawl}: the webhook was not told of {rule:?}: {}", error.without_url());
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(set: impl FnOnce(&mut Tally)) -> Tally {
        let mut tally = Tally::default();
        set(&mut tally);
        tally
    }

    fn rules_met(tally: &Tally, minutes: u64) -> Vec<Rule> {
        while_running(tally, AlertRules::default(), 0, minutes * 60_000).into_iter().map(|(rule, _)| rule).collect()
    }

    #[test]
    fn a_crawl_without_pages_stalls_after_a_while_and_not_before() {
        assert_eq!(rules_met(&Tally::default(), 14), []);
        assert_eq!(rules_met(&Tally::default(), 15), [Rule::Stalled]);
        let recent = tally(|tally| tally.last_page_ms = 10 * 60_000);
        assert_eq!(rules_met(&recent, 20), []);
    }

    #[test]
    fn a_harvest_falls_only_when_there_was_one() {
        // None of the last pages counts as relevant where none is remembered.
        let fell = tally(|tally| (tally.fetched, tally.relevant) = (400, 200));
        assert_eq!(rules_met(&fell, 0), [Rule::HarvestFell]);
        let young = tally(|tally| (tally.fetched, tally.relevant) = (100, 50));
        assert_eq!(rules_met(&young, 0), []);
        let never = tally(|tally| tally.fetched = 400);
        assert_eq!(rules_met(&never, 0), []);
    }
}

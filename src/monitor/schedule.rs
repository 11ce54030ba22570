//! When crawls run again: cron expressions and intervals, in a time zone.
//!
//! Promises: a run that came due while the server was down or the crawl still ran is made up for once; a time that daylight
//! saving skips or repeats is met once.

use std::{str::FromStr, sync::Arc};

use croner::Cron;
use jiff::{Timestamp, ToSpan, Zoned, tz::TimeZone};

use super::{
    app::{App, blocking},
    files,
    problem::Problem,
    wire::Schedule,
};

/// A schedule that can be kept, with its next time.
pub fn checked(schedule: Schedule, field: &str) -> Result<Schedule, Problem> {
    let next = next_after(&schedule, Timestamp::now()).map_err(|message| Problem::field(field, message))?;
    Ok(Schedule { next: schedule.enabled.then(|| files::time(next)), ..schedule })
}

/// When it is due the next time after `now`.
fn next_after(schedule: &Schedule, now: Timestamp) -> Result<Timestamp, String> {
    let zone = TimeZone::get(&schedule.time_zone)
        .map_err(|_| format!("time_zone: {:?} is not known; give one such as Asia/Shanghai", schedule.time_zone))?;
    match (&schedule.cron, schedule.every_minutes) {
        (Some(_), Some(_)) | (None, None) => Err("give cron or every_minutes".to_owned()),
        (None, Some(minutes)) if (1..=5_256_000).contains(&minutes) => {
            now.checked_add(i64::from(minutes).minutes()).map_err(|error| format!("every_minutes: {error}"))
        }
        (None, Some(_)) => Err("every_minutes: must be 1 to 5256000".to_owned()),
        (Some(cron), None) => {
            if cron.len() > 200 || cron.split_whitespace().count() != 5 {
                return Err("cron: give five fields: minute, hour, day, month, day of the week".to_owned());
            }
            let cron = Cron::from_str(cron).map_err(|error| format!("cron: {error}"))?;
            let from: Zoned = now.to_zoned(zone);
            let next = cron.find_next_occurrence(&from, false).map_err(|error| format!("cron: {error}"))?;
            Ok(next.timestamp())
        }
    }
}

/// Starts the runs that are due, and notes when the next ones are.
pub async fn run_due(app: &Arc<App>) {
    let now = Timestamp::now();
    for slot in app.slots() {
        let Some(schedule) = slot.job().schedule.filter(|schedule| schedule.enabled) else { continue };
        let due = schedule.next.as_deref().and_then(|next| next.parse::<Timestamp>().ok());
        if due.is_some_and(|due| due > now) || !slot.is_idle() {
            continue;
        }
        let (app, recrawl) = (Arc::clone(app), schedule.recrawl);
        let started = blocking(move || {
            let next = checked(schedule, "schedule")?;
            let was_due = due.is_some();
            slot.change(|job| job.schedule = Some(next))?;
            if was_due { app.start_on_schedule(&slot, recrawl) } else { Ok(()) }
        });
        if let Err(problem) = started.await {
            tracing::warn!("a scheduled run: {}", problem.detail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::wire::Recrawl;

    fn schedule(cron: Option<&str>, every_minutes: Option<u32>, zone: &str) -> Schedule {
        Schedule {
            cron: cron.map(str::to_owned),
            every_minutes,
            time_zone: zone.to_owned(),
            recrawl: Recrawl::Refresh,
            enabled: true,
            next: None,
        }
    }

    fn next(cron: &str, zone: &str, now: &str) -> String {
        next_after(&schedule(Some(cron), None, zone), now.parse().unwrap()).unwrap().to_string()
    }

    #[test]
    fn cron_means_the_clock_of_its_time_zone() {
        assert_eq!(next("0 3 * * *", "UTC", "2026-11-22T01:00:00Z"), "2026-11-22T03:00:00Z");
        assert_eq!(next("0 3 * * *", "Asia/Shanghai", "2026-11-22T01:00:00Z"), "2026-11-22T19:00:00Z");
        // Sunday is 0 and 7.
        assert_eq!(next("0 3 * * 0", "UTC", "2026-11-22T04:00:00Z"), "2026-11-29T03:00:00Z");
        assert_eq!(next("0 3 * * 7", "UTC", "2026-11-22T04:00:00Z"), "2026-11-29T03:00:00Z");
    }

    #[test]
    fn an_hour_that_the_clock_skips_or_repeats_is_met_once() {
        // Clocks go from 2 to 3 on 2026-03-29 in Berlin, and from 3 to 2 on 2026-10-25.
        let skipped = next("30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z");
        assert!(skipped.starts_with("2026-03-29T0") || skipped.starts_with("2026-03-30T0"), "{skipped}");
        let first = next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z");
        let second = next("30 2 * * *", "Europe/Berlin", &first);
        assert!(first.starts_with("2026-10-25T0") && second.starts_with("2026-10-26T0"), "{first} {second}");
    }

    #[test]
    fn what_cannot_be_kept_is_refused_in_words() {
        for (bad, said) in [
            (schedule(None, None, "UTC"), "give cron or every_minutes"),
            (schedule(Some("0 3 * * *"), Some(1), "UTC"), "give cron or every_minutes"),
            (schedule(Some("0 3 * *"), None, "UTC"), "five fields"),
            (schedule(Some("0 61 * * *"), None, "UTC"), "cron:"),
            (schedule(None, Some(0), "UTC"), "every_minutes"),
            (schedule(None, Some(5), "Mars/Phobos"), "time_zone"),
        ] {
            let problem = checked(bad, "schedule").unwrap_err();
            assert!(problem.detail.contains(said), "{}", problem.detail);
            assert_eq!(problem.status, 400);
        }
        let disabled = Schedule { enabled: false, ..schedule(None, Some(5), "UTC") };
        assert_eq!(checked(disabled, "schedule").unwrap().next, None);
    }
}

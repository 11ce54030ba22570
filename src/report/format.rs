//! Figures for readers: counts, shares, sizes, times; and sentences with places to fill.
//!
//! Promises: one look for one kind of figure throughout the page.

use crate::text::Language;

/// `12,345`.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share of 0 to 1 as `49.8%`; a dash where there is none.
pub(super) fn percent(share: Option<f64>) -> String {
    match share {
        None => "–".to_owned(),
        Some(share) if share <= 0.0 => "0%".to_owned(),
        Some(share) if share >= 1.0 => "100%".to_owned(),
        Some(share) => format!("{:.1}%", share * 100.0),
    }
}

/// `980 B`, `12 kB`, `3.4 MB` (powers of 1,000).
pub(super) fn bytes(n: u64) -> String {
    let mut size = n as f64;
    for unit in ["B", "kB", "MB", "GB"] {
        if size < 999.5 {
            let digits = usize::from(unit != "B" && size < 9.95);
            return format!("{size:.digits$} {unit}");
        }
        size /= 1_000.0;
    }
    format!("{size:.1} TB")
}

/// `0.8 s`, `12 min`, `2 h 5 min`, `3 d 4 h`; in Chinese `0.8 秒`, `12 分钟`, …
pub(super) fn duration(ms: u64, language: Language) -> String {
    let [day, hour, minute, second] =
        if language == Language::Zh { ["天", "小时", "分钟", "秒"] } else { ["d", "h", "min", "s"] };
    let seconds = ms / 1_000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match seconds {
        0..10 => format!("{:.1} {second}", ms as f64 / 1_000.0),
        10..120 => format!("{seconds} {second}"),
        120..3_600 => format!("{minutes} {minute}"),
        3_600..86_400 => format!("{hours} {hour} {} {minute}", minutes % 60),
        _ => format!("{days} {day} {} {hour}", hours % 24),
    }
}

/// A weight with its sign, `+1.25` or `−0.40`.
pub(super) fn weight(value: f64) -> String {
    format!("{value:+.2}").replace('-', "−")
}

/// An RFC 3339 time to the minute: `2026-11-21 00:07`.
pub(super) fn minute(time: &str) -> String {
    time.chars().take(16).map(|c| if c == 'T' { ' ' } else { c }).collect()
}

/// Splits a sentence into texts (`Ok`) and names of places to fill (`Err`).
pub(super) fn places(sentence: &str) -> impl Iterator<Item = Result<&str, &str>> {
    sentence.split('{').enumerate().flat_map(|(at, part)| {
        let (name, text) = if at == 0 { (None, part) } else { part.split_once('}').map_or((None, part), |(n, t)| (Some(n), t)) };
        name.map(Err).into_iter().chain((!text.is_empty()).then_some(Ok(text)))
    })
}

/// A sentence with its places filled; places without a value stay empty.
pub(super) fn fill(sentence: &str, values: &[(&str, &str)]) -> String {
    places(sentence).map(|place| place.unwrap_or_else(|name| value_of(name, values))).collect()
}

/// The value of a place.
pub(super) fn value_of<'a>(name: &str, values: &[(&str, &'a str)]) -> &'a str {
    values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_readable() {
        assert_eq!([count(0), count(999), count(1_000), count(1_234_567)], ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([percent(None), percent(Some(0.0)), percent(Some(0.4976)), percent(Some(1.0))], ["–", "0%", "49.8%", "100%"]);
        assert_eq!(
            [bytes(980), bytes(9_949), bytes(12_345), bytes(999_999), bytes(3_400_000)],
            ["980 B", "9.9 kB", "12 kB", "1.0 MB", "3.4 MB"]
        );
        assert_eq!(bytes(5_000_000_000_000), "5.0 TB");
    }

    #[test]
    fn durations_name_their_two_largest_units() {
        let all = [800, 59_000, 180_000, 7_500_000, 273_600_000].map(|ms| duration(ms, Language::En));
        assert_eq!(all, ["0.8 s", "59 s", "3 min", "2 h 5 min", "3 d 4 h"]);
        assert_eq!(duration(7_500_000, Language::Zh), "2 小时 5 分钟");
    }

    #[test]
    fn weights_show_their_sign_and_times_their_minute() {
        assert_eq!([weight(1.25), weight(-0.4)], ["+1.25", "−0.40"]);
        assert_eq!(minute("2026-11-21T00:07:40Z"), "2026-11-21 00:07");
    }

    #[test]
    fn places_are_filled_and_braces_in_values_stay() {
        assert_eq!(fill("{a} of {b}.", &[("a", "{b}"), ("b", "2")]), "{b} of 2.");
        assert_eq!(fill("plain", &[]), "plain");
    }
}

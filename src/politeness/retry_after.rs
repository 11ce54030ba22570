//! The `Retry-After` header (RFC 9110, 10.2.3).

use std::time::Duration;

use jiff::{Timestamp as Moment, civil::DateTime, fmt::rfc2822, tz::TimeZone};

use crate::page::Timestamp;

/// How long a server asks to be left alone: seconds, or a date that is compared with `now`.
///
/// A date that has passed asks for nothing: zero. `None` where it is neither.
#[must_use]
pub fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit say what the largest number says: for ever.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::from(u32::MAX))));
    }
    let date = http_date(value)?;
    let date = u64::try_from(date.as_millisecond()).unwrap_or(0);
    Some(Timestamp(date).since(now))
}

/// The three forms that RFC 9110 (5.6.7) asks recipients to read.
fn http_date(value: &str) -> Option<Moment> {
    if let Ok(date) = rfc2822::parse(value) {
        return Some(date.timestamp());
    }
    let forms = ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];
    let date = forms.iter().find_map(|form| DateTime::strptime(form, value).ok())?;
    date.to_zoned(TimeZone::UTC).ok().map(|date| date.timestamp())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn seconds_and_all_three_kinds_of_dates_are_read() {
        // 1994-11-06T08:49:00Z.
        let now = Timestamp(784_111_740_000);
        let asked = |value: &str| retry_after(value, now).map(|wait| wait.as_secs());
        assert_eq!(asked(" 120 "), Some(120));
        assert_eq!(asked("0"), Some(0));
        assert_eq!(asked("99999999999999999999999"), Some(u64::from(u32::MAX)));
        for date in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
            assert_eq!(asked(date), Some(37), "{date}");
        }
        assert_eq!(asked("Sun, 06 Nov 1994 08:00:00 GMT"), Some(0));
        for odd in ["", "soon", "-5", "1.5", "Sun, 99 Nov 1994 08:49:37 GMT"] {
            assert_eq!(asked(odd), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn no_value_is_too_odd(value in "\\PC{0,60}", now in any::<u64>()) {
            let _ = retry_after(&value, Timestamp(now));
        }
    }
}

//! The `X-Robots-Tag` header: what `<meta name=robots>` says, said by the server.

use crate::page::Directives;

/// What the values of all `X-Robots-Tag` headers of an answer ask of `agent`, a product token.
///
/// `noindex`, `nofollow` and `none` are read; a value that starts with another crawler's name (`otherbot: noindex`) is
/// for that one only.
#[must_use]
pub fn x_robots_tag<'a>(values: impl IntoIterator<Item = &'a str>, agent: &str) -> Directives {
    let mut asked = Directives::default();
    for value in values {
        // A name holds for what follows it, up to the next name or the end of the value.
        let mut is_meant = true;
        for part in value.split(',') {
            let directive = match part.split_once(':') {
                Some((key, _)) if is_directive_with_value(key) => continue,
                Some((name, directive)) => {
                    is_meant = name.trim().eq_ignore_ascii_case(agent) || name.trim() == "*";
                    directive
                }
                None => part,
            };
            let is = |word: &str| is_meant && directive.trim().eq_ignore_ascii_case(word);
            asked.noindex |= is("noindex") || is("none");
            asked.nofollow |= is("nofollow") || is("none");
        }
    }
    asked
}

fn is_directive_with_value(key: &str) -> bool {
    ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"]
        .iter()
        .any(|known| key.trim().eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_read_and_those_for_others_are_not() {
        let asked = |values: &[&str]| {
            let Directives { noindex, nofollow } = x_robots_tag(values.iter().copied(), "windrow");
            (noindex, nofollow)
        };
        assert_eq!(asked(&[]), (false, false));
        assert_eq!(asked(&["noindex"]), (true, false));
        assert_eq!(asked(&["noarchive, NoFollow"]), (false, true));
        assert_eq!(asked(&["noarchive", "none"]), (true, true));
        assert_eq!(asked(&["otherbot: noindex, nofollow"]), (false, false));
        assert_eq!(asked(&["Windrow: nofollow", "otherbot: none"]), (false, true));
        assert_eq!(asked(&["otherbot: noindex, windrow: nofollow"]), (false, true));
        assert_eq!(asked(&["unavailable_after: 25 Jun 2030 15:00:00 PST, noindex"]), (true, false));
        assert_eq!(asked(&["max-snippet: 5, nofollow", ": ,,:"]), (false, true));
    }
}

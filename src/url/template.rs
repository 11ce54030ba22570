//! The template a URL was made from, as far as its spelling shows it: what calendars, session ids and
//! permuted queries have in common.
//!
//! Promises: pages that one script or one directory makes share a template, whatever numbers, names and ids their
//! URLs carry; there are few templates on a host.
//! Never: says whether a template is a trap (`frontier` counts what each one pays).

use super::{Url, host::authority};

/// Longest value of a query parameter that may name a kind of page (`view=list`) and not one page.
const MAX_KIND: usize = 12;

/// Segments and parameters that are told apart; what follows is written `…`.
const MAX_PARTS: usize = 8;

/// Longest directory or script that is kept by its name.
const MAX_NAME: usize = 40;

/// The templates of a URL, the narrow one first: `e.com/calendar/#/a?view=month` and `e.com/calendar/**`.
///
/// The wide one holds all that lies in the host's first directory, or comes of one script, with a query or without.
#[must_use]
pub fn templates(url: &Url) -> [String; 2] {
    let host = authority(url);
    [narrow(url, &host), wide(url, &host)]
}

fn narrow(url: &Url, host: &str) -> String {
    let segments: Vec<&str> = url.path().split('/').skip(1).collect();
    let last = segments.len().saturating_sub(1);
    let mut template = host.to_owned();
    for (at, segment) in segments.iter().enumerate().take(MAX_PARTS) {
        template.push('/');
        let is_named = if at == last { url.query().is_some() } else { at == 0 };
        template.push_str(&if is_named { name(segment) } else { class(segment) });
    }
    if segments.len() > MAX_PARTS {
        template.push_str("/…");
    }
    if let Some(query) = url.query() {
        let mut parameters: Vec<String> = query.split('&').take(MAX_PARTS).map(parameter).collect();
        parameters.sort_unstable();
        parameters.dedup();
        template.push('?');
        template.push_str(&parameters.join("&"));
    }
    template
}

fn wide(url: &Url, host: &str) -> String {
    let mut segments = url.path().split('/').skip(1);
    let first = segments.next().unwrap_or_default();
    let is_directory = segments.next().is_some();
    match (is_directory, url.query()) {
        (true, None) => format!("{host}/{}/**", name(first)),
        (true, Some(_)) => format!("{host}/{}/**?", name(first)),
        (false, None) => format!("{host}/*"),
        (false, Some(_)) => format!("{host}/{}?", name(first)),
    }
}

/// A directory or script by its name, unless it is numbered.
fn name(segment: &str) -> String {
    if has_digit(segment) || segment.len() > MAX_NAME { class(segment) } else { segment.to_ascii_lowercase() }
}

/// `#` for what has digits (numbers, dates, ids), `a` for other names; the ending of a file is kept.
fn class(segment: &str) -> String {
    let (stem, ending) = match segment.rsplit_once('.') {
        Some((stem, ending)) if ending.len() <= 5 && !has_digit(ending) => (stem, Some(ending)),
        _ => (segment, None),
    };
    let class = match stem {
        "" => "",
        stem if has_digit(stem) => "#",
        _ => "a",
    };
    ending.map_or_else(|| class.to_owned(), |ending| format!("{class}.{}", ending.to_ascii_lowercase()))
}

/// A parameter's name, and its value where that may be the name of a kind of page.
fn parameter(pair: &str) -> String {
    let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
    let is_kind = !value.is_empty() && value.len() <= MAX_KIND && value.bytes().all(|byte| byte.is_ascii_alphabetic());
    if is_kind { format!("{name}={value}") } else { name.to_owned() }
}

/// Escaped letters (`%E7%A8%BB`) are letters, whatever digits they are written with.
fn has_digit(segment: &str) -> bool {
    !segment.contains('%') && segment.bytes().any(|byte| byte.is_ascii_digit())
}

/// How often the path segment occurs that occurs most: links that a server resolves against the wrong folder repeat theirs.
#[must_use]
pub fn most_repeats(url: &Url) -> usize {
    let mut segments: Vec<&str> = url.path().split('/').filter(|segment| !segment.is_empty()).collect();
    segments.sort_unstable();
    segments.chunk_by(|a, b| a == b).map(<[&str]>::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(url: &str) -> [String; 2] {
        templates(&Url::parse(url).unwrap())
    }

    #[test]
    fn what_one_script_makes_has_one_template() {
        assert_eq!(of("http://e.com/calendar/2025/jan/"), ["e.com/calendar/#/a/", "e.com/calendar/**"]);
        assert_eq!(of("http://e.com/calendar/2025/jan/"), of("http://e.com/calendar/1999/dec/"));
        assert_eq!(of("http://e.com/s/4f3ab9/news.html"), of("http://e.com/s/99ab01/sport.html"));
        assert_eq!(of("http://e.com/List.php?page=3&sort=asc"), ["e.com/list.php?page&sort=asc", "e.com/list.php?"]);
        assert_eq!(of("http://e.com/list.php?a=1&b=22"), of("http://e.com/list.php?b=3&a=%20"));
        assert_eq!(of("http://e.com/wiki/%E6%B0%B4%E7%A8%BB"), of("http://e.com/wiki/Rice"));
    }

    #[test]
    fn sections_and_scripts_of_a_site_are_told_apart() {
        let all = ["http://e.com/", "http://e.com/a.html", "http://e.com/news/1", "http://e.com/wiki/1", "http://e.com/x?id=1"];
        let mut narrow: Vec<String> = all.iter().map(|url| of(url)[0].clone()).collect();
        narrow.sort_unstable();
        narrow.dedup();
        assert_eq!(narrow.len(), all.len(), "{narrow:?}");
        assert_ne!(of("http://e.com/i.php?module=news&id=1")[0], of("http://e.com/i.php?module=calendar&id=1")[0]);
        assert_eq!(of("http://e.com/a/b/c/d/e/f/g/h/i/j")[0], "e.com/a/a/a/a/a/a/a/a/…");
    }

    #[test]
    fn repeated_segments_are_counted_wherever_they_stand() {
        for (url, repeats) in
            [("http://e.com/", 0), ("http://e.com/a/b", 1), ("http://e.com/a/b/a/b/a", 3), ("http://e.com/x/x/x/x/y", 4)]
        {
            assert_eq!(most_repeats(&Url::parse(url).unwrap()), repeats, "{url}");
        }
    }
}

//! What a page says about itself: robots directives, canonical address, refresh, language.
//!
//! Promises: accepts the spellings found on the web; what cannot be read counts as not said.
//! Never: obeys (that is the engine's part).

use html5ever::local_name;
use scraper::node::Element;

use super::{element::attribute, links::Links};
use crate::{page::Directives, text::Language, url::Url};

/// A refresh after more seconds than this is for readers who stay, not a redirect.
const MAX_REFRESH_SECONDS: f32 = 5.0;

/// Names that `<meta name=…>` directives are addressed to.
const ADDRESSED: [&str; 2] = ["robots", "windrow"];

/// Gathered from `<meta>`, `<link>` and `<html lang>`.
#[derive(Default)]
pub(super) struct Head {
    pub(super) directives: Directives,
    pub(super) canonical: Option<Url>,
    pub(super) refresh: Option<Url>,
    pub(super) language: Option<Language>,
    /// The day of publication, `YYYY-MM-DD`.
    pub(super) published: Option<String>,
}

/// Names of `<meta>` that hold the day of publication, in lower case.
const PUBLISHED: [&str; 9] = [
    "article:published_time",
    "datepublished",
    "pubdate",
    "publishdate",
    "publish_date",
    "dc.date",
    "dc.date.issued",
    "dcterms.date",
    "date",
];

impl Head {
    pub(super) fn root(&mut self, element: &Element) {
        if let Some(lang) = attribute(element, &local_name!("lang")) {
            let primary = lang.split(['-', '_']).next().unwrap_or_default().trim().to_ascii_lowercase();
            self.language = self.language.or(Some(Language::from_code(&primary)));
        }
    }

    pub(super) fn meta(&mut self, element: &Element, links: &Links<'_>) {
        let Some(content) = attribute(element, &local_name!("content")) else { return };
        let name = attribute(element, &local_name!("name")).unwrap_or_default().trim();
        let http_equiv = attribute(element, &local_name!("http-equiv")).unwrap_or_default().trim();
        if ADDRESSED.iter().any(|addressed| name.eq_ignore_ascii_case(addressed)) {
            self.obey(content);
        }
        let property = element.attr("property").or_else(|| element.attr("itemprop")).unwrap_or(name);
        if self.published.is_none() && PUBLISHED.iter().any(|known| property.trim().eq_ignore_ascii_case(known)) {
            self.published = day(content);
        }
        if http_equiv.eq_ignore_ascii_case("refresh") && self.refresh.is_none() {
            self.refresh = refresh_target(content).and_then(|href| links.resolve_other(href));
        }
    }

    /// `<time datetime>`, where it is the day of publication: it says so, or is the first of the content.
    pub(super) fn time(&mut self, element: &Element, is_content: bool) {
        let says_so = element.attr("pubdate").is_some()
            || element.attr("itemprop").is_some_and(|name| name.eq_ignore_ascii_case("datePublished"));
        if self.published.is_none() && (says_so || is_content) {
            self.published = element.attr("datetime").and_then(day);
        }
    }

    /// `<link rel=canonical>`.
    pub(super) fn canonical(&mut self, href: &str, links: &Links<'_>) {
        if self.canonical.is_none() {
            self.canonical = links.resolve(href).ok();
        }
    }

    fn obey(&mut self, content: &str) {
        for word in content.split(|c: char| c == ',' || c.is_whitespace()) {
            let is = |known: &str| word.eq_ignore_ascii_case(known);
            self.directives.noindex |= is("noindex") || is("none");
            self.directives.nofollow |= is("nofollow") || is("none");
        }
    }
}

/// The day at the start of a date as pages write it: `2024-05-06T07:08:09Z`, `2024/05/06`, `Mon, 6 May 2024 07:08:09 GMT`.
fn day(date: &str) -> Option<String> {
    let date = date.trim();
    let start: String = date.chars().take(10).map(|c| if c == '/' { '-' } else { c }).collect();
    let day = start.parse::<jiff::civil::Date>().ok();
    day.or_else(|| jiff::fmt::rfc2822::parse(date).ok().map(|zoned| zoned.date())).map(|day| day.to_string())
}

/// Whether a `rel` attribute holds one of the words.
pub(super) fn rel_has(element: &Element, words: &[&str]) -> bool {
    attribute(element, &local_name!("rel"))
        .is_some_and(|rel| rel.split_ascii_whitespace().any(|word| words.iter().any(|known| word.eq_ignore_ascii_case(known))))
}

/// The address in `5; url='…'`, where the delay is short enough.
fn refresh_target(content: &str) -> Option<&str> {
    let content = content.trim_start();
    let (delay, rest) = content.split_at(content.find([';', ','])?);
    if delay.trim().parse::<f32>().ok()? > MAX_REFRESH_SECONDS {
        return None;
    }
    let rest = rest[1..].trim_start();
    let rest = match rest.get(..3) {
        Some(url) if url.eq_ignore_ascii_case("url") => rest[3..].trim_start().strip_prefix('=')?.trim_start(),
        _ => rest,
    };
    let target = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split(quote).next()?,
        _ => rest,
    };
    Some(target.trim()).filter(|target| !target.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_in_the_spellings_of_the_web() {
        for date in ["2024-05-06", " 2024-05-06T07:08:09+08:00", "2024/05/06 07:08", "Mon, 6 May 2024 07:08:09 GMT"] {
            assert_eq!(day(date).as_deref(), Some("2024-05-06"), "{date}");
        }
        for date in ["", "yesterday", "2024-13-01", "06.05.2024", "2024年5月6日"] {
            assert_eq!(day(date), None, "{date}");
        }
    }

    #[test]
    fn refresh_targets_are_read_in_the_spellings_of_the_web() {
        for content in ["0;url=/a", "0; URL='/a'", "5 ; url = \"/a\" ", "0,/a", "0.5;/a"] {
            assert_eq!(refresh_target(content), Some("/a"), "{content}");
        }
        for content in ["30;url=/a", "5", "", ";", "x;url=/a", "0;url="] {
            assert_eq!(refresh_target(content), None, "{content}");
        }
    }
}

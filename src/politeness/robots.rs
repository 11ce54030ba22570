//! What a host's robots.txt allows (RFC 9309).
//!
//! Promises: reads any bytes as robots.txt, leniently where site owners err
//! (after Google's published parser), strictly where it protects them; 4xx
//! allows all, 5xx and no answer disallow all.
//! Never: fetches, reads a clock, or looks at a host's name: who asks about a
//! URL brings the rules of its host.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::pattern::{Pattern, normalized};
use crate::{
    page::Timestamp,
    url::{Url, escape_bytes},
};

/// Bytes of a robots.txt that are read; RFC 9309 (2.5) asks for at least this much.
pub const MAX_ROBOTS_BYTES: usize = 500 * 1024;

/// Bytes of a line that are read, as in Google's parser.
const MAX_LINE_BYTES: usize = 2_083 * 8;

/// Sitemaps kept of one file.
const MAX_SITEMAPS: usize = 1_000;

/// How long a copy holds (RFC 9309, 2.4).
const FRESH: Duration = Duration::from_hours(24);

/// When to ask again for one that could not be reached; twice as long each time, up to [`FRESH`].
const RETRY: Duration = Duration::from_mins(10);

/// For how long an unreachable robots.txt disallows all (RFC 9309, 2.3.1.4).
const GRACE: Duration = Duration::from_hours(30 * 24);

/// The rules that one robots.txt has for one crawler.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Robots {
    standing: Standing,
    /// The longest first; of two equally long the one that allows.
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    sitemaps: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Standing {
    Rules,
    /// There is none; all is allowed.
    None,
    /// The status, 0 where no answer came; nothing is allowed.
    Unreachable(u16),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Rule {
    allows: bool,
    pattern: Pattern,
    /// As it was written, for explanations.
    text: Box<str>,
}

/// Whether a URL may be fetched, and which rule says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub allowed: bool,
    /// `Disallow: /private/`, as written; `None` where no rule applies.
    pub rule: Option<String>,
}

impl Robots {
    /// Reads what a request for `/robots.txt` brought, redirects followed.
    ///
    /// `status` is 0 where no answer came. `agent` is the crawler's product token (letters, `-`, `_`). 2xx: the rules of
    /// the groups that name the agent, or else of those for `*`. 3xx (too many redirects) and 4xx: all is allowed, but
    /// 429 and 5xx and 0: nothing is.
    #[must_use]
    pub fn parse(status: u16, text: &[u8], agent: &str) -> Self {
        let standing = match status {
            200..300 => Standing::Rules,
            429 | 0..200 | 500.. => Standing::Unreachable(status),
            300..500 => Standing::None,
        };
        let empty = Self { standing, rules: Vec::new(), crawl_delay: None, sitemaps: Vec::new() };
        if standing == Standing::Rules { empty.read(within_limit(text), agent) } else { empty }
    }

    /// Whether a URL of this host may be fetched. `/robots.txt` always may.
    #[must_use]
    pub fn allows(&self, url: &Url) -> Verdict {
        let asked = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        if asked == "/robots.txt" {
            return Verdict { allowed: true, rule: None };
        }
        if let Standing::Unreachable(status) = self.standing {
            let why = if status == 0 { "no answer".to_owned() } else { format!("status {status}") };
            return Verdict { allowed: false, rule: Some(format!("robots.txt cannot be reached ({why})")) };
        }
        let path = normalized(asked.as_bytes());
        let deciding = self.rules.iter().find(|rule| rule.pattern.matches(&path));
        let rule = deciding.map(|rule| format!("{}: {}", if rule.allows { "Allow" } else { "Disallow" }, rule.text));
        Verdict { allowed: deciding.is_none_or(|rule| rule.allows), rule }
    }

    /// Whether it disallows all for want of an answer.
    pub fn is_unreachable(&self) -> bool {
        matches!(self.standing, Standing::Unreachable(_))
    }

    /// When to fetch it again: after a day, or sooner where it could not be reached `failures` times in a row.
    #[must_use]
    pub fn expires(&self, fetched_at: Timestamp, failures: u32) -> Timestamp {
        if !self.is_unreachable() {
            return fetched_at + FRESH;
        }
        fetched_at + RETRY.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(FRESH)
    }

    /// After 30 days out of reach it counts as missing, and all is allowed.
    #[must_use]
    pub fn forgiven(self, unreachable_since: Timestamp, now: Timestamp) -> Self {
        let is_over = self.is_unreachable() && now.since(unreachable_since) >= GRACE;
        if is_over { Self { standing: Standing::None, ..self } } else { self }
    }

    /// The delay asked for between two requests; not capped here.
    pub fn crawl_delay(&self) -> Option<Duration> {
        self.crawl_delay
    }

    /// Addresses of sitemaps as written, in their order, whichever group they stand in.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    fn read(mut self, text: &[u8], agent: &str) -> Self {
        let (mut own, mut others) = (Group::default(), Group::default());
        let mut is_named = false;
        // Agents may be named in a row; the first rule ends the row.
        let mut in_rules = false;
        for (key, value) in lines(text).filter_map(key_and_value) {
            match key {
                Key::UserAgent => {
                    if std::mem::take(&mut in_rules) {
                        (own.is_open, others.is_open) = (false, false);
                    }
                    let is_own = !agent.is_empty() && product_token(value).eq_ignore_ascii_case(agent.as_bytes());
                    (is_named, own.is_open) = (is_named || is_own, own.is_open || is_own);
                    others.is_open |= is_star(value);
                }
                Key::Allow | Key::Disallow => {
                    in_rules = true;
                    own.add(key == Key::Allow, value);
                    others.add(key == Key::Allow, value);
                }
                Key::CrawlDelay => {
                    own.delay(value);
                    others.delay(value);
                }
                Key::Sitemap if self.sitemaps.len() < MAX_SITEMAPS => {
                    self.sitemaps.push(String::from_utf8_lossy(value).into_owned());
                }
                Key::Sitemap => {}
            }
        }
        let Group { mut rules, crawl_delay, .. } = if is_named { own } else { others };
        rules.sort_by_key(|rule| (std::cmp::Reverse(rule.pattern.length()), !rule.allows));
        Self { rules, crawl_delay, ..self }
    }
}

/// The merged groups for one kind of agent.
#[derive(Default)]
struct Group {
    /// The lines being read are for this kind.
    is_open: bool,
    rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
}

impl Group {
    fn add(&mut self, allows: bool, value: &[u8]) {
        if !self.is_open {
            return;
        }
        let mut push = |pattern: &[u8]| {
            let text = String::from_utf8_lossy(value).into();
            self.rules.extend(Pattern::new(pattern).map(|pattern| Rule { allows, pattern, text }));
        };
        push(value);
        // Who allows a directory's index file means the directory, too (Google's parser).
        let slash = value.iter().rposition(|&byte| byte == b'/');
        if let Some(slash) = slash.filter(|&slash| allows && value[slash..].starts_with(b"/index.htm")) {
            push(&[&value[..=slash], b"$"].concat());
        }
    }

    /// Of several delays the longest holds.
    fn delay(&mut self, value: &[u8]) {
        let seconds = std::str::from_utf8(value).ok().and_then(|value| value.parse::<f64>().ok());
        let delay = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        if self.is_open {
            self.crawl_delay = self.crawl_delay.max(delay);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

/// The lines that end within the limit: half a rule could allow more than the whole one.
/// A robots.txt as text that says the same: what is read of it.
#[must_use]
pub fn robots_text(body: &[u8]) -> String {
    escape_bytes(within_limit(body))
}

fn within_limit(text: &[u8]) -> &[u8] {
    let Some(start) = text.get(..=MAX_ROBOTS_BYTES) else { return text };
    let end = start.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
    &text[..end.unwrap_or(0)]
}

/// Lines without their ends (LF, CR or both), without a byte order mark, cut at the longest length.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mark = [0xef, 0xbb, 0xbf].iter().zip(text).take_while(|(wanted, found)| wanted == found).count();
    text[mark..].split(|byte| matches!(byte, b'\n' | b'\r')).map(|line| &line[..line.len().min(MAX_LINE_BYTES)])
}

/// What a line says. A colon that was forgotten is taken as read where only two words stand on the line.
fn key_and_value(line: &[u8]) -> Option<(Key, &[u8])> {
    let line = line.split(|&byte| byte == b'#').next()?.trim_ascii();
    let (key, value) = if let Some(colon) = line.iter().position(|&byte| byte == b':') {
        (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii())
    } else {
        let space = line.iter().position(u8::is_ascii_whitespace)?;
        let value = line[space..].trim_ascii();
        (&line[..space], (!value.iter().any(u8::is_ascii_whitespace)).then_some(value)?)
    };
    let key = match key.to_ascii_lowercase().as_slice() {
        b"user-agent" | b"useragent" | b"user agent" => Key::UserAgent,
        b"allow" => Key::Allow,
        b"disallow" | b"dissallow" | b"dissalow" | b"disalow" | b"diasllow" | b"disallaw" => Key::Disallow,
        b"crawl-delay" | b"crawldelay" | b"crawl delay" => Key::CrawlDelay,
        b"sitemap" | b"site-map" => Key::Sitemap,
        _ => return None,
    };
    Some((key, value))
}

/// The name that a user-agent line starts with; versions and what else stands behind it do not count (RFC 9309, 2.2.1).
fn product_token(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|&byte| !byte.is_ascii_alphabetic() && byte != b'-' && byte != b'_');
    &value[..end.unwrap_or(value.len())]
}

fn is_star(value: &[u8]) -> bool {
    matches!(value, [b'*'] | [b'*', b' ' | b'\t', ..])
}

#[cfg(test)]
mod tests;

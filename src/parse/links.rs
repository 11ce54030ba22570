//! The links of a page: addresses resolved and made one, contexts put together.
//!
//! Promises: one [`Outlink`] per address, at most as many as configured, none to
//! the page itself; work and memory per link are bounded whatever the page.
//! Never: judges a link.

use std::{borrow::Cow, fmt::Write, mem};

use encoding_rs::{Encoding, UTF_8};
use rustc_hash::FxHashMap;

use super::{
    blocks::{Blocks, Spans},
    words::{Place, Span, Word, Words},
};
use crate::{
    page::{LinkContext, Outlink},
    text::TermId,
    url::{Fingerprint, Url, UrlError, canonicalize},
};

/// Characters of anchor text that are kept.
const MAX_ANCHOR_CHARS: usize = 120;

/// Words kept of an anchor, and of a heading.
const MAX_WORDS: usize = 16;

/// Words kept of the text on each side of an anchor.
const MAX_AROUND: usize = 12;

/// Words looked at on each side to find them.
const MAX_LOOKED_AT: usize = 60;

/// Fewer words than this are no surroundings: the next larger block is asked.
const FEW_AROUND: usize = 4;

/// One link as the walk met it.
pub(super) struct Seen<'t> {
    pub(super) href: &'t str,
    pub(super) nofollow: bool,
    /// Place of the anchor text in the page's text, in bytes.
    pub(super) text: Span,
    pub(super) words: Span,
    /// What stands for the text where there is none: an image's `alt`, or `title`.
    pub(super) label: Option<&'t str>,
    pub(super) block: u32,
    pub(super) heading: Option<Span>,
    pub(super) tag_path: u32,
    pub(super) navigation: bool,
}

struct Found<'t> {
    url: Url,
    fingerprint: Fingerprint,
    /// Number among all links met, kept or not.
    occurrence: u32,
    seen: Seen<'t>,
    /// Words of later links to the same address that the first has not.
    more: Vec<TermId>,
}

impl Seen<'_> {
    fn says_something(&self) -> bool {
        !self.words.is_empty() || self.label.is_some()
    }
}

/// Collects links.
pub(super) struct Links<'t> {
    base: Url,
    has_base: bool,
    own: Fingerprint,
    encoding: &'static Encoding,
    max: usize,
    found: Vec<Found<'t>>,
    places: FxHashMap<Fingerprint, u32>,
    occurrences: u32,
    dropped: u32,
}

impl<'t> Links<'t> {
    pub(super) fn new(page: &Url, encoding: &'static Encoding, max: usize) -> Self {
        Self {
            base: page.clone(),
            has_base: false,
            own: Fingerprint::of(page),
            encoding,
            max,
            found: Vec::new(),
            places: FxHashMap::default(),
            occurrences: 0,
            dropped: 0,
        }
    }

    /// Takes the first `<base href>` as the address that relative links start from.
    pub(super) fn set_base(&mut self, href: &str) {
        if let Ok(base) = self.base.join(href.trim())
            && matches!(base.scheme(), "http" | "https")
            && !self.has_base
        {
            self.base = base;
            self.has_base = true;
        }
    }

    /// The address a link leads to.
    pub(super) fn resolve(&self, href: &str) -> Result<Url, UrlError> {
        canonicalize(&with_encoded_query(href, self.encoding), Some(&self.base))
    }

    /// An address other than the page's own.
    pub(super) fn resolve_other(&self, href: &str) -> Option<Url> {
        self.resolve(href).ok().filter(|url| Fingerprint::of(url) != self.own)
    }

    /// Number of links met so far.
    pub(super) fn occurrences(&self) -> u32 {
        self.occurrences
    }

    /// Takes a link in.
    pub(super) fn add(&mut self, seen: Seen<'t>, words: &Words<'_>) {
        let occurrence = self.occurrences;
        self.occurrences = self.occurrences.saturating_add(1);
        if leads_nowhere(seen.href) {
            return;
        }
        if self.found.len() >= self.max {
            self.dropped = self.dropped.saturating_add(1);
            return;
        }
        let url = match self.resolve(seen.href) {
            Ok(url) => url,
            Err(UrlError::Scheme) => return,
            Err(UrlError::Malformed | UrlError::NoHost | UrlError::TooLong) => {
                self.dropped = self.dropped.saturating_add(1);
                return;
            }
        };
        let fingerprint = Fingerprint::of(&url);
        if fingerprint == self.own {
            return;
        }
        if let Some(&at) = self.places.get(&fingerprint) {
            merge(&mut self.found[at as usize], seen, occurrence, words);
        } else {
            self.places.insert(fingerprint, self.found.len() as u32);
            self.found.push(Found { url, fingerprint, occurrence, seen, more: Vec::new() });
        }
    }

    /// Puts the contexts together: the outlinks, the headings they refer to, and the number of links left out.
    pub(super) fn finish(
        self,
        text: &str,
        words: &Words<'_>,
        blocks: &Blocks,
        dense: &Spans,
    ) -> (Vec<Outlink>, Vec<Box<[TermId]>>, u32) {
        let mut headings = HeadingList::default();
        let mut groups: FxHashMap<(u32, u32), u16> = FxHashMap::default();
        let last = self.found.len().saturating_sub(1).max(1) as f32;
        let outlinks = self.found.into_iter().enumerate().map(|(at, found)| {
            let seen = &found.seen;
            let number = u16::try_from(groups.len()).unwrap_or(u16::MAX);
            let context = LinkContext {
                anchor_text: anchor_text(seen, text),
                anchor: anchor_words(&found, words),
                around: around(seen, words, blocks),
                heading: seen.heading.as_ref().map(|span| headings.number(words.slice(span))),
                tag_path: seen.tag_path,
                group: *groups.entry((blocks.container(seen.block), seen.tag_path)).or_insert(number),
                position: at as f32 / last,
                navigation: seen.navigation || dense.contains(found.occurrence),
            };
            Outlink { url: found.url, fingerprint: found.fingerprint, nofollow: found.seen.nofollow, context }
        });
        let outlinks = outlinks.collect();
        (outlinks, headings.list, self.dropped)
    }
}

/// Hrefs that cannot lead to another page, told without parsing them.
fn leads_nowhere(href: &str) -> bool {
    let href = href.trim_start();
    let starts = |scheme: &str| href.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    href.is_empty() || href.starts_with('#') || starts("javascript:") || starts("mailto:") || starts("tel:") || starts("data:")
}

/// Writes the query in the page's encoding, as browsers do (WHATWG URL, "encoding-parse"): old
/// Chinese sites read `?q=` as GBK. Paths are UTF-8 always.
fn with_encoded_query<'h>(href: &'h str, encoding: &'static Encoding) -> Cow<'h, str> {
    if encoding == UTF_8 || encoding.output_encoding() == UTF_8 || href.is_ascii() {
        return Cow::Borrowed(href);
    }
    let (before, fragment) = href.split_once('#').map_or((href, None), |(before, fragment)| (before, Some(fragment)));
    let Some((path, query)) = before.split_once('?') else { return Cow::Borrowed(href) };
    let (bytes, _, _) = encoding.encode(query);
    let mut out = format!("{path}?");
    for &byte in bytes.iter() {
        // A character that the encoding lacks comes as `&#…;`.
        if byte.is_ascii() && byte != b'#' {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    if let Some(fragment) = fragment {
        out.push('#');
        out.push_str(fragment);
    }
    Cow::Owned(out)
}

/// Joins a later link to the same address to the first. The first that says something gives the
/// context, in the text rather than in a menu; the other's new words are added to its own.
fn merge<'t>(first: &mut Found<'t>, mut seen: Seen<'t>, occurrence: u32, words: &Words<'_>) {
    let nofollow = first.seen.nofollow && seen.nofollow;
    let is_better = !first.seen.says_something() || (first.seen.navigation && !seen.navigation);
    if is_better && seen.says_something() {
        mem::swap(&mut first.seen, &mut seen);
        first.occurrence = occurrence;
    }
    first.seen.nofollow = nofollow;
    let known = words.slice(&first.seen.words);
    for word in words.slice(&seen.words).iter().take(MAX_WORDS) {
        let is_new = known.iter().take(MAX_WORDS).all(|known| known.id != word.id) && !first.more.contains(&word.id);
        if is_new && known.len() + first.more.len() < MAX_WORDS {
            first.more.push(word.id);
        }
    }
}

fn anchor_text(seen: &Seen<'_>, text: &str) -> Box<str> {
    let own = text[seen.text.start as usize..seen.text.end as usize].trim();
    let source = if own.is_empty() { seen.label.unwrap_or_default() } else { own };
    let mut out = String::with_capacity(source.len().min(MAX_ANCHOR_CHARS));
    let mut left = MAX_ANCHOR_CHARS;
    for word in source.split_whitespace() {
        if !out.is_empty() && left > 0 {
            out.push(' ');
            left -= 1;
        }
        let end = word.char_indices().nth(left).map_or(word.len(), |(at, _)| at);
        out.push_str(&word[..end]);
        left -= word[..end].chars().count();
        if left == 0 {
            break;
        }
    }
    out.truncate(out.trim_end().len());
    out.into_boxed_str()
}

fn anchor_words(found: &Found<'_>, words: &Words<'_>) -> Box<[TermId]> {
    let own = words.slice(&found.seen.words);
    if let (true, Some(label)) = (own.is_empty(), found.seen.label) {
        let end = label.char_indices().nth(MAX_ANCHOR_CHARS).map_or(label.len(), |(at, _)| at);
        let label = words.of_label(&label[..end]);
        return label.into_iter().chain(found.more.iter().copied()).take(MAX_WORDS).collect();
    }
    own.iter().map(|word| word.id).chain(found.more.iter().copied()).take(MAX_WORDS).collect()
}

/// The words around an anchor, nearest first: those of its block, or of the block around that
/// where its own holds next to nothing; other links' words only where there are no others.
fn around(seen: &Seen<'_>, words: &Words<'_>, blocks: &Blocks) -> Box<[TermId]> {
    let mut best = Vec::new();
    for block in [seen.block, blocks.parent(seen.block)] {
        let span = blocks.span(block);
        let before = words.slice(&(span.start..seen.words.start.max(span.start)));
        let after = words.slice(&(seen.words.end.min(span.end)..span.end));
        for accept in [|word: &Word| word.place != Place::Anchor, |_: &Word| true] {
            let near = nearest_first(before, after, accept);
            if near.len() >= FEW_AROUND {
                return near.into_boxed_slice();
            }
            if near.len() > best.len() {
                best = near;
            }
        }
    }
    best.into_boxed_slice()
}

fn nearest_first(before: &[Word], after: &[Word], accept: fn(&Word) -> bool) -> Vec<TermId> {
    let ids = |word: &Word| word.id;
    let mut left = before.iter().rev().take(MAX_LOOKED_AT).filter(|word| accept(word)).take(MAX_AROUND).map(ids);
    let mut right = after.iter().take(MAX_LOOKED_AT).filter(|word| accept(word)).take(MAX_AROUND).map(ids);
    let mut near = Vec::with_capacity(2 * MAX_AROUND);
    loop {
        let (l, r) = (left.next(), right.next());
        near.extend(l);
        near.extend(r);
        if l.is_none() && r.is_none() {
            return near;
        }
    }
}

/// The headings that links refer to, each once.
#[derive(Default)]
struct HeadingList {
    list: Vec<Box<[TermId]>>,
    numbers: FxHashMap<Box<[TermId]>, u16>,
}

impl HeadingList {
    fn number(&mut self, words: &[Word]) -> u16 {
        let ids: Box<[TermId]> = words.iter().take(MAX_WORDS).map(|word| word.id).collect();
        if let Some(&number) = self.numbers.get(&ids) {
            return number;
        }
        // The last stands for those past it; as many headings need as many links.
        let number = u16::try_from(self.list.len()).unwrap_or(u16::MAX);
        if self.list.len() == usize::from(number) {
            self.list.push(ids.clone());
        }
        self.numbers.insert(ids, number);
        number
    }
}

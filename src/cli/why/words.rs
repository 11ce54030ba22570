//! The answer of `windrow why` in words.

use std::fmt::Write as _;

use crate::{
    cli::{columns, shortened},
    engine::{EvidencePart, LinkReasons, PageReasons, RankParts, TermPart},
    page::Timestamp,
    session::{Why, WhyPage},
};

/// Pieces of evidence told in words; `--json` holds all.
const PIECES: usize = 10;
const WIDTH: usize = 60;

/// All of it, for a reader.
pub(super) fn in_words(why: &Why) -> String {
    let mut text = format!("{}\n{}\n", why.url, why.fate);
    if let Some(page) = &why.page {
        page_in_words(why, page, &mut text);
    }
    if let Some(link) = &why.link {
        link_in_words(link, &mut text);
    }
    text.push_str("\nRules\n");
    why.rules.in_words().iter().for_each(|line| _ = writeln!(text, "  {line}"));
    host_in_words(why, &mut text);
    links_in_words(why, &mut text);
    path_in_words(why, &mut text);
    text
}

fn page_in_words(why: &Why, page: &WhyPage, text: &mut String) {
    if !page.title.is_empty() {
        _ = writeln!(text, "\u{201c}{}\u{201d}, fetched {}, status {}", page.title, page.fetched_at, page.status);
    }
    if let Some(copy) = &page.copy_of {
        _ = writeln!(text, "It is a copy ({:?}) of {}", copy.kind, copy.url);
    }
    if let Some(label) = page.label {
        _ = writeln!(text, "A person said that it is {}about the topic.", if label { "" } else { "not " });
    }
    if let Some(reasons) = &page.reasons {
        judgement_in_words(why, page, reasons, text);
    }
    if !page.evidence.is_empty() {
        _ = writeln!(text, "\nBefore it was fetched, {:.2} was expected of it, by what weighs now:", page.estimate);
        text.push_str(&evidence(&page.evidence));
    }
    _ = writeln!(text, "  {} links from a seed, {} irrelevant pages in a row above it", page.depth, page.tunnel_depth);
}

fn judgement_in_words(why: &Why, page: &WhyPage, reasons: &PageReasons, text: &mut String) {
    let verdict = if reasons.relevance >= why.threshold { "relevant" } else { "not relevant" };
    _ = writeln!(
        text,
        "\nRelevance {:.2}, {verdict} (from {:.2} on); the model of now says {:.2}",
        reasons.relevance, why.threshold, reasons.judged_now
    );
    let keywords = if page.keywords.is_empty() { "none".to_owned() } else { page.keywords.join(", ") };
    _ = writeln!(text, "  keywords: {keywords} (score {:.2})", reasons.keyword_score);
    for (side, parts) in [("for it", &reasons.for_it), ("against it", &reasons.against_it)] {
        let words: Vec<String> = parts.iter().map(|TermPart { word, part, .. }| format!("{word} {part:+.3}")).collect();
        _ = writeln!(text, "  words {side}: {}", if words.is_empty() { "none".to_owned() } else { words.join(", ") });
    }
    _ = writeln!(text, "  {}", rank(reasons.rank));
}

fn host_in_words(why: &Why, text: &mut String) {
    let Some(host) = &why.host else { return };
    _ = writeln!(text, "\nHost {}", host.name);
    _ = writeln!(
        text,
        "  {} requests, {} pages, {} of them relevant, {} failures, asked to slow down {} times",
        host.requests, host.fetched, host.relevant, host.failures, host.throttled
    );
    let asked = host.crawl_delay_ms.map(|delay| format!(" (its robots.txt asks for {delay} ms)")).unwrap_or_default();
    let strikes = if host.strikes > 0 { format!(", backs off {} doublings", host.strikes) } else { String::new() };
    _ = writeln!(text, "  a request every {} ms{asked}; may be asked again from {}{strikes}", host.delay_ms, host.next_ready);
}

fn links_in_words(why: &Why, text: &mut String) {
    if why.linked_by.is_empty() {
        text.push_str("\nNo fetched page links to it.\n");
        return;
    }
    let more = if why.links > why.linked_by.len() { format!("; the first {}", why.linked_by.len()) } else { String::new() };
    _ = writeln!(text, "\nLinks to it: {}{more}", why.links);
    let rows: Vec<[String; 4]> = why
        .linked_by
        .iter()
        .map(|link| {
            let fate = link.fate.as_str().map_or_else(|| link.fate.to_string(), str::to_owned);
            [format!("{:.2}", link.relevance), shortened(&link.anchor, WIDTH / 2), fate, link.url.clone()]
        })
        .collect();
    text.push_str(&columns(&rows));
}

fn path_in_words(why: &Why, text: &mut String) {
    if why.path.is_empty() {
        return;
    }
    text.push_str("\nThe way to it\n");
    let rows: Vec<[String; 3]> = why
        .path
        .iter()
        .map(|step| {
            let mark = if step.relevant { "relevant" } else { "not" };
            [mark.to_owned(), shortened(&step.title, WIDTH / 2), step.url.clone()]
        })
        .collect();
    text.push_str(&columns(&rows));
}

fn link_in_words(link: &LinkReasons, text: &mut String) {
    _ = writeln!(
        text,
        "\nPlace {} of {} in the queue, {} of {} on its host (priority {:.4})",
        link.place, link.of, link.place_on_host, link.of_host, link.priority
    );
    _ = writeln!(text, "  {}", rank(link.rank));
    _ = writeln!(
        text,
        "  expected relevance {:.2}, counted {:.2} times for its host and tunnel depth",
        link.estimate, link.allowance
    );
    _ = writeln!(text, "  {} links from a seed, {} irrelevant pages in a row above it", link.depth, link.tunnel_depth);
    if link.tries > 0 || link.not_before > Timestamp::default() {
        _ = writeln!(text, "  tried {} times; not before {}", link.tries, link.not_before);
    }
    text.push_str(&evidence(&link.evidence));
}

fn rank(parts: RankParts) -> String {
    format!("TopicalRank {:.4} = {:.4} from links (α) + {:.4} of its own (β)", parts.rank, parts.from_links, parts.own)
}

fn evidence(parts: &[EvidencePart]) -> String {
    let heading = ["evidence".to_owned(), "value".to_owned(), "weight".to_owned(), "log-odds".to_owned()];
    let row = |part: &EvidencePart| {
        [part.name.to_owned(), format!("{:.2}", part.value), format!("{:+.2}", part.weight), format!("{:+.2}", part.part)]
    };
    let rows: Vec<[String; 4]> = std::iter::once(heading).chain(parts.iter().take(PIECES).map(row)).collect();
    columns(&rows)
}

//! The tables `pages`, `links` and `hosts`, column by column.
//!
//! Promises: the order and meaning of columns hold within one [`SCHEMA_VERSION`](super::SCHEMA_VERSION).

use std::rc::Rc;

use super::column::{Column, Kind, Table, Value};
use crate::{
    page::Outcome,
    store::{Chosen, CopyKind, HostRecord, OutlinkFate, OutlinkRecord, PageRecord},
};

/// A link with the page it stands on.
pub(super) struct LinkRow {
    pub source: Rc<PageRecord>,
    pub link: OutlinkRecord,
}

macro_rules! column {
    ($name:literal, $kind:ident, $meaning:literal, $value:expr) => {
        Column { name: $name, kind: Kind::$kind, nullable: false, meaning: $meaning, value: $value }
    };
    ($name:literal, $kind:ident?, $meaning:literal, $value:expr) => {
        Column { name: $name, kind: Kind::$kind, nullable: true, meaning: $meaning, value: $value }
    };
}

fn some_text(text: &str) -> Value<'_> {
    if text.is_empty() { Value::Null } else { Value::text(text) }
}

/// Documents came: their language, charset and so on are known.
fn was_read(page: &PageRecord) -> bool {
    matches!(page.outcome, Outcome::Fetched | Outcome::Duplicate)
}

pub(super) const PAGES: Table<PageRecord> = Table {
    name: "pages",
    meaning: "every finished URL, in the order of the crawl",
    columns: &[
        column!("seq", Integer, "number of the URL in the order it was finished, from 1", |p| Value::Integer(p.seq)),
        column!("url", Text, "its address", |p| Value::text(&p.url)),
        column!("outcome", Text, "fetched, redirected, excluded (a rule forbade it), duplicate, failed, gone, links-only", |p| {
            Value::text(p.outcome.name())
        }),
        column!("status", Integer?, "HTTP status", |p| Value::maybe((p.status > 0).then_some(p.status), |s| Value::Integer(
            s.into()
        ))),
        column!("reason", Text?, "why it failed or was excluded, where it redirects, what it repeats", |p| Value::maybe(
            p.reason.as_deref(),
            Value::text
        )),
        column!("relevance", Number, "0 to 1, by the newest model that judged it", |p| Value::Number(p.relevance.get())),
        column!("relevant", Flag, "relevance reached the topic's threshold when the page was fetched", |p| Value::Flag(
            p.relevant
        )),
        column!("priority", Number, "the frontier's priority when it was taken", |p| Value::Number(p.priority)),
        column!("estimate", Number, "the link classifier's estimate of its relevance when it was taken", |p| Value::Number(
            p.estimate.get()
        )),
        column!("chosen", Text, "why it was taken: seed, order, random (the control), explored", |p| Value::text(
            match p.chosen {
                Chosen::Seed => "seed",
                Chosen::Order => "order",
                Chosen::Random => "random",
                Chosen::Explored => "explored",
            }
        )),
        column!("rank", Number, "TopicalRank", |p| Value::Number(p.rank)),
        column!("depth", Integer, "links from a seed", |p| Value::Integer(p.depth.into())),
        column!("tunnel_depth", Integer, "irrelevant pages in a row above it", |p| Value::Integer(p.tunnel_depth.into())),
        column!("host", Text, "host, and port where it is not the scheme's own", |p| Value::text(&p.host)),
        column!("source_url", Text?, "the page it was first found on; null for seeds", |p| Value::maybe(
            p.source_url.as_deref(),
            Value::text
        )),
        column!("anchor", Text?, "text of the link that led to it", |p| some_text(&p.anchor)),
        column!("fetched_at", Time, "when it was finished", |p| Value::Time(p.fetched_at)),
        column!("elapsed_ms", Integer, "how long the answer took, in milliseconds", |p| Value::Integer(p.elapsed_ms.into())),
        column!("bytes", Integer, "size of the decoded body", |p| Value::Integer(p.bytes)),
        column!("content_type", Text?, "as the server sent it", |p| some_text(&p.content_type)),
        column!("charset", Text?, "encoding the body was read with", |p| some_text(&p.charset)),
        column!("language", Text?, "zh, en, or und for others", |p| Value::maybe(
            was_read(p).then(|| p.language.code()),
            Value::text
        )),
        column!("title", Text?, "title", |p| some_text(&p.title)),
        column!("excerpt", Text?, "the first 300 characters of its text", |p| some_text(&p.excerpt)),
        column!("model_version", Integer, "version of the page model that judged it when it was fetched", |p| Value::Integer(
            p.model_version.into()
        )),
        column!("copy_of", Integer?, "seq of the page it repeats", |p| Value::maybe(p.copy_of, |copy| Value::Integer(copy.seq))),
        column!("copy_kind", Text?, "exact, near or canonical", |p| Value::maybe(p.copy_of, |copy| Value::text(
            match copy.kind {
                CopyKind::Exact => "exact",
                CopyKind::Near => "near",
                CopyKind::Canonical => "canonical",
            }
        ))),
        column!("warc_file", Integer?, "number of the file in archive/ that holds it: 00001.warc.gz is 1", |p| Value::maybe(
            p.archive,
            |place| Value::Integer(place.file.into())
        )),
        column!("warc_offset", Integer?, "where its record begins in that file, in bytes", |p| Value::maybe(
            p.archive,
            |place| { Value::Integer(place.offset) }
        )),
    ],
};

pub(super) const LINKS: Table<LinkRow> = Table {
    name: "links",
    meaning: "every outlink of every page that was read, and what became of it",
    columns: &[
        column!("source_seq", Integer, "seq of the page it stands on", |l| Value::Integer(l.source.seq)),
        column!("source_url", Text, "address of that page", |l| Value::text(&l.source.url)),
        column!("source_relevance", Number, "relevance of that page", |l| Value::Number(l.source.relevance.get())),
        column!("target_url", Text, "where it leads", |l| Value::text(&l.link.url)),
        column!("anchor", Text?, "its text", |l| some_text(&l.link.anchor)),
        column!("fate", Text, "queued, known, nofollow, tunnel-end, not-recorded, or refused: with the name of the rule", |l| {
            match l.link.fate {
                OutlinkFate::Queued => Value::text("queued"),
                OutlinkFate::Known => Value::text("known"),
                OutlinkFate::Refused(rule) => Value::Text(format!("refused:{}", rule.name()).into()),
                OutlinkFate::NoFollow => Value::text("nofollow"),
                OutlinkFate::TunnelEnd => Value::text("tunnel-end"),
                OutlinkFate::NotRecorded => Value::text("not-recorded"),
            }
        }),
    ],
};

pub(super) const HOSTS: Table<HostRecord> = Table {
    name: "hosts",
    meaning: "every host that was met, its yield and how it was treated",
    columns: &[
        column!("host", Text, "its name", |h| Value::text(&h.name)),
        column!("requests", Integer, "requests sent, robots.txt included", |h| Value::Integer(h.requests)),
        column!("fetched", Integer, "documents that came", |h| Value::Integer(h.fetched)),
        column!("relevant", Integer, "relevant ones among them", |h| Value::Integer(h.relevant)),
        column!("harvest", Number?, "relevant per fetched page", |h| Value::maybe((h.fetched > 0).then_some(h), |h| {
            Value::Number(h.relevant as f64 / h.fetched as f64)
        })),
        column!("failures", Integer, "requests without a usable answer", |h| Value::Integer(h.failures)),
        column!("throttled", Integer, "times it asked to slow down", |h| Value::Integer(h.throttled)),
        column!("bytes", Integer, "decoded bytes it sent", |h| Value::Integer(h.bytes)),
        column!("robots_status", Integer?, "HTTP status of its robots.txt", |h| Value::maybe(h.robots.as_ref(), |robots| {
            Value::Integer(robots.status.into())
        })),
        column!("robots_fetched_at", Time?, "when its robots.txt was fetched", |h| Value::maybe(h.robots.as_ref(), |robots| {
            Value::Time(robots.fetched_at)
        })),
        column!("crawl_delay_ms", Integer?, "delay its robots.txt asks for", |h| Value::maybe(h.crawl_delay_ms, Value::Integer)),
        column!("delay_ms", Integer, "delay in force", |h| Value::Integer(h.delay_ms)),
        column!("shortest_pause_ms", Integer?, "shortest time left between two requests", |h| Value::maybe(
            h.shortest_pause_ms,
            Value::Integer
        )),
    ],
};

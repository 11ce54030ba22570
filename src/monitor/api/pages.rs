//! A crawl's pages, in parts.
//!
//! Promises: a request reads at most [`SCANNED`] rows in the order of time, and holds as many as it answers.

use std::{cmp::Reverse, collections::BinaryHeap, sync::Arc};

use axum::{Json, extract::State};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::{
    export::PageFilter,
    monitor::{
        app::{App, blocking},
        extract::{At, Params},
        problem::Problem,
        wire::{List, PageItem},
    },
    store::{PageLabels, PageRecord, Store},
};

/// Rows that a request looks at while it looks for those that pass a filter.
const SCANNED: usize = 20_000;
/// Characters of a page's text.
const SNIPPET: usize = 200;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// A filter in the language of `windrow export --where`, such as `relevance > 0.8 and language = "zh"`.
    #[serde(rename = "where")]
    #[param(rename = "where")]
    filter: Option<String>,
    sort: Option<PageSort>,
    /// `next` of the part before.
    cursor: Option<String>,
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PageSort {
    Newest,
    Relevance,
}

/// A crawl's pages and other finished URLs.
#[utoipa::path(
    get, path = "/crawls/{id}/pages", tag = "rows", params(("id" = String, Path), Wanted),
    responses(
        (status = 200, body = List<PageItem>),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn list(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Params(wanted): Params<Wanted>,
) -> Result<Json<List<PageItem>>, Problem> {
    let slot = app.slot(&id)?;
    let limit = usize::from(wanted.limit.unwrap_or(50)).clamp(1, 500);
    let filter = wanted.filter.as_deref().filter(|text| !text.trim().is_empty()).map(filter_of).transpose()?;
    blocking(move || {
        let Some(store) = slot.reader()? else { return Ok(Json(List::whole(Vec::new()))) };
        let labels = store.labels()?;
        let list = match wanted.sort.unwrap_or(PageSort::Newest) {
            PageSort::Newest => newest(&store, filter.as_ref(), wanted.cursor.as_deref(), limit)?,
            PageSort::Relevance => by_relevance(&store, filter.as_ref(), wanted.cursor.as_deref(), limit)?,
        };
        let items = list.items.iter().map(|page| page_item(page, Some(&labels))).collect();
        Ok(Json(List { items, next: list.next }))
    })
    .await
}

/// A filter, refused with the place of its fault.
pub fn filter_of(text: &str) -> Result<PageFilter, Problem> {
    if text.len() > 4_000 {
        return Err(Problem::field("where", "has more than 4000 bytes"));
    }
    PageFilter::parse(text).map_err(|error| Problem::field("where", format!("character {}: {}", error.position, error.message)))
}

fn bad_cursor() -> Problem {
    Problem::field("cursor", "is none that this list gave")
}

fn newest(store: &Store, filter: Option<&PageFilter>, cursor: Option<&str>, limit: usize) -> Result<List<PageRecord>, Problem> {
    let before = cursor.map_or(Ok(u64::MAX), str::parse).map_err(|_| bad_cursor())?;
    let (mut items, mut last) = (Vec::new(), None);
    for page in store.pages_before(before)?.take(SCANNED) {
        let page = page?;
        last = Some(page.seq);
        if filter.is_none_or(|filter| filter.admits(&page)) {
            items.push(page);
            if items.len() == limit {
                break;
            }
        }
    }
    Ok(List { items, next: last.filter(|&seq| seq > 1).map(|seq| seq.to_string()) })
}

/// The place of a page among those sorted by relevance: the greatest is the first.
type Place = (u32, Reverse<u64>);

fn by_relevance(
    store: &Store,
    filter: Option<&PageFilter>,
    cursor: Option<&str>,
    limit: usize,
) -> Result<List<PageRecord>, Problem> {
    let after: Option<Place> = match cursor {
        None => None,
        Some(cursor) => {
            let (relevance, seq) = cursor.split_once('-').ok_or_else(bad_cursor)?;
            let parsed = (relevance.parse().map_err(|_| bad_cursor())?, Reverse(seq.parse().map_err(|_| bad_cursor())?));
            Some(parsed)
        }
    };
    // The least of the best on top.
    let mut best: BinaryHeap<Reverse<Place>> = BinaryHeap::new();
    let mut more = false;
    for page in store.pages(1)? {
        let page = page?;
        let place = ((page.relevance.get() * 1e9) as u32, Reverse(page.seq));
        let is_after = after.is_none_or(|after| place < after);
        if !is_after || !filter.is_none_or(|filter| filter.admits(&page)) {
            continue;
        }
        best.push(Reverse(place));
        if best.len() > limit {
            best.pop();
            more = true;
        }
    }
    let places: Vec<Place> = best.into_sorted_vec().into_iter().map(|Reverse(place)| place).collect();
    let next = places.last().filter(|_| more).map(|(relevance, Reverse(seq))| format!("{relevance}-{seq}"));
    let mut items = Vec::with_capacity(places.len());
    for (_, Reverse(seq)) in places {
        items.extend(store.page(seq)?);
    }
    Ok(List { items, next })
}

/// A page in the form of the interface.
pub fn page_item(page: &PageRecord, labels: Option<&PageLabels>) -> PageItem {
    let name = |value: serde_json::Result<serde_json::Value>| {
        value.ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
    };
    let at = i64::try_from(page.fetched_at.0).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    PageItem {
        seq: page.seq,
        url: page.url.clone(),
        title: page.title.clone(),
        host: page.host.clone(),
        status: page.status,
        outcome: page.outcome.to_string(),
        relevance: (page.relevance.get() * 10_000.0).round() / 10_000.0,
        relevant: page.relevant,
        language: page.language.code().to_owned(),
        depth: page.depth,
        tunnel: page.tunnel_depth,
        chosen: name(serde_json::to_value(page.chosen)),
        fetched: crate::monitor::files::time(at.unwrap_or_default()),
        label: labels.and_then(|labels| labels.get(page.fingerprint)),
        snippet: page.excerpt.chars().take(SNIPPET).collect(),
    }
}

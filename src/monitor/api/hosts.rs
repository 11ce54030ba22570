//! A crawl's hosts, in parts.

use std::{cmp::Reverse, sync::Arc};

use axum::{Json, extract::State};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::{
    monitor::{
        app::{App, blocking},
        extract::{At, Params},
        files,
        problem::Problem,
        wire::{HostItem, List},
    },
    page::Timestamp,
    store::{HostRecord, Store},
};

/// Waiting links of a host that are counted.
const COUNTED: usize = 100_000;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    sort: Option<HostSort>,
    /// `next` of the part before.
    cursor: Option<String>,
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum HostSort {
    /// Those with the most relevant pages first.
    Yield,
    Pages,
    /// Those that are to be left alone the longest first.
    Backoff,
}

/// A host's place in a list: the greatest is the first.
type Place = (u64, Reverse<String>);

/// The hosts that a crawl met.
#[utoipa::path(
    get, path = "/crawls/{id}/hosts", tag = "rows", params(("id" = String, Path), Wanted),
    responses(
        (status = 200, body = List<HostItem>),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn list(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Params(wanted): Params<Wanted>,
) -> Result<Json<List<HostItem>>, Problem> {
    let slot = app.slot(&id)?;
    let limit = usize::from(wanted.limit.unwrap_or(50)).clamp(1, 500);
    let after = wanted.cursor.as_deref().map(place_of).transpose()?;
    blocking(move || {
        let Some(store) = slot.reader()? else { return Ok(Json(List::whole(Vec::new()))) };
        part(&store, wanted.sort.unwrap_or(HostSort::Yield), after.as_ref(), limit).map(Json)
    })
    .await
}

fn place_of(cursor: &str) -> Result<Place, Problem> {
    let parsed = cursor.split_once('-').and_then(|(key, name)| Some((key.parse().ok()?, Reverse(name.to_owned()))));
    parsed.ok_or_else(|| Problem::field("cursor", "is none that this list gave"))
}

/// The next hosts after a place: one pass over all rows, as many in memory as are answered.
fn part(store: &Store, sort: HostSort, after: Option<&Place>, limit: usize) -> Result<List<HostItem>, Problem> {
    let now = store.state()?.unwrap_or_default().now;
    let mut best: std::collections::BTreeMap<Reverse<Place>, HostRecord> = std::collections::BTreeMap::new();
    let mut more = false;
    for host in store.hosts()? {
        let mut host = host?;
        let key = match sort {
            HostSort::Yield => host.relevant,
            HostSort::Pages => host.fetched,
            HostSort::Backoff => host.trouble_until.since(now).as_millis() as u64,
        };
        let place = (key, Reverse(host.name.clone()));
        if after.is_some_and(|after| place >= *after) {
            continue;
        }
        if let Some(robots) = &mut host.robots {
            robots.text.clear();
        }
        best.insert(Reverse(place), host);
        if best.len() > limit {
            best.pop_last();
            more = true;
        }
    }
    let next = best.last_key_value().filter(|_| more).map(|(Reverse((key, Reverse(name))), _)| format!("{key}-{name}"));
    let items = best.into_values().map(|host| item(host, store, now)).collect::<Result<Vec<_>, _>>()?;
    Ok(List { items, next })
}

fn item(host: HostRecord, store: &Store, now: Timestamp) -> Result<HostItem, Problem> {
    let until = (host.trouble_until > now).then(|| i64::try_from(host.trouble_until.0).ok());
    let until = until.flatten().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    let robots = match &host.robots {
        None => "not asked for yet".to_owned(),
        Some(robots) => match robots.status {
            200..=299 => "obeyed".to_owned(),
            0 | 500..=599 => "out of reach: the host is left alone".to_owned(),
            status => format!("none (status {status})"),
        },
    };
    Ok(HostItem {
        waiting: store.waiting_on(&host.name, COUNTED)?,
        fetched: host.fetched,
        relevant: host.relevant,
        delay_ms: host.delay_ms,
        backoff_until: until.map(files::time),
        requests: host.requests,
        refused_429: host.throttled,
        robots,
        bytes: host.bytes,
        host: host.name,
    })
}

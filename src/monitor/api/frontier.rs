//! What a crawl will fetch next, and changes to it.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use axum::{Json, extract::State};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::{
    engine::{QueuedLink, Steer, SteerError, Which},
    monitor::{
        app::{App, blocking},
        crawls::{Level, Slot},
        extract::{At, Body, Params},
        problem::Problem,
        wire::{Action, Changed, List, Steering, WaitingItem},
    },
    store::{LinkRecord, Store},
    url::canonicalize,
};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// Only links of this host.
    host: Option<String>,
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u16>,
}

/// The best waiting links, best first: at most 64 of each host where no host is named.
#[utoipa::path(
    get, path = "/crawls/{id}/frontier", tag = "frontier", params(("id" = String, Path), Wanted),
    responses(
        (status = 200, body = List<WaitingItem>),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn list(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Params(Wanted { host, limit }): Params<Wanted>,
) -> Result<Json<List<WaitingItem>>, Problem> {
    let slot = app.slot(&id)?;
    let limit = usize::from(limit.unwrap_or(50)).clamp(1, 500);
    if let Some(line) = slot.remote() {
        let name = host.clone();
        if let Ok(links) = line.ask(move |crawl| crawl.queue_head(name.as_deref(), limit)).await {
            return Ok(Json(List::whole(links.into_iter().map(WaitingItem::from).collect())));
        }
    }
    blocking(move || {
        let Some(store) = slot.reader()? else { return Ok(Json(List::whole(Vec::new()))) };
        on_disk(&store, host.as_deref(), limit).map(|items| Json(List::whole(items)))
    })
    .await
}

impl From<QueuedLink> for WaitingItem {
    fn from(link: QueuedLink) -> Self {
        Self {
            url: link.url,
            host: link.host,
            priority: finite(link.priority),
            estimate: link.estimate,
            tunnel_depth: link.tunnel_depth,
            from_url: link.from_url,
            anchor: link.anchor,
        }
    }
}

/// JSON knows no infinity.
fn finite(priority: f64) -> f64 {
    if priority.is_finite() { priority } else { f64::MAX.copysign(priority) }
}

/// The best links of a crawl that does not run.
fn on_disk(store: &Store, host: Option<&str>, limit: usize) -> Result<Vec<WaitingItem>, Problem> {
    const OF_EACH: usize = 64;
    let mut best: BTreeMap<(Reverse<OrderedPriority>, u64), (String, LinkRecord)> = BTreeMap::new();
    let mut add = |name: &str, of_each: usize| -> Result<(), Problem> {
        for (_, link) in store.best_of_host(name, None, of_each, |_| true)?.rows {
            best.insert((Reverse(OrderedPriority(link.priority)), link.discovered), (name.to_owned(), link));
            if best.len() > limit {
                best.pop_last();
            }
        }
        Ok(())
    };
    match host {
        Some(host) => add(host, limit)?,
        None => {
            for host in store.hosts()? {
                add(&host?.name, OF_EACH.min(limit))?;
            }
        }
    }
    let mut items = Vec::new();
    for (host, link) in best.into_values() {
        let first = link.in_links.first();
        let from = first.map(|first| store.page(first.source)).transpose()?.flatten();
        items.push(WaitingItem {
            host,
            priority: finite(link.priority),
            estimate: link.estimate.get(),
            tunnel_depth: link.tunnel_depth,
            from_url: from.map(|page| page.url),
            anchor: first.map(|first| first.context.anchor_text.to_string()).unwrap_or_default(),
            url: link.url,
        });
    }
    Ok(items)
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct OrderedPriority(f64);

impl Eq for OrderedPriority {}

impl PartialOrd for OrderedPriority {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedPriority {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Moves waiting links to the front, or takes them out for good. The crawl must be running or paused.
#[utoipa::path(
    post, path = "/crawls/{id}/frontier", tag = "frontier", params(("id" = String, Path)), request_body = Steering,
    responses(
        (status = 200, body = Changed),
        (status = 409, description = "It does not run", body = Problem, content_type = "application/problem+json"),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn change(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Body(Steering { action, url, pattern }): Body<Steering>,
) -> Result<Json<Changed>, Problem> {
    let slot = app.slot(&id)?;
    let which = match (url, pattern) {
        (Some(url), None) => {
            let parsed = canonicalize(&url, None);
            Which::Url(parsed.map_err(|error| Problem::field("url", format!("is no address that a crawl can hold: {error}")))?)
        }
        (None, Some(pattern)) => Which::Matching(pattern),
        _ => return Err(Problem::bad_request("give url or pattern")),
    };
    let (what, steer) = match action {
        Action::Boost => ("first", Steer::Boost(which.clone())),
        Action::Exclude => ("excluded", Steer::Exclude(which.clone())),
    };
    let changed = steered(&slot, steer).await?;
    let which = match which {
        Which::Url(url) => url.to_string(),
        Which::Matching(pattern) => format!("/{pattern}/"),
    };
    slot.log.add(Level::Info, format!("{what} by hand: {which} ({changed} links)"));
    Ok(Json(Changed { changed }))
}

/// Tells a running crawl.
pub async fn steered(slot: &Slot, steer: Steer) -> Result<u64, Problem> {
    let gone = || Problem::conflict(format!("{} does not run; start it first", slot.id));
    let line = slot.remote().ok_or_else(gone)?;
    match line.steer(steer).await.map_err(|_| gone())? {
        Ok(changed) => Ok(changed),
        Err(error @ SteerError::Pattern(_)) => Err(Problem::field("pattern", error.to_string())),
        Err(error @ SteerError::NoSuchTemplate(_)) => Err(Problem::not_found(error.to_string())),
        Err(error @ SteerError::TooMany) => Err(Problem::conflict(error.to_string())),
    }
}

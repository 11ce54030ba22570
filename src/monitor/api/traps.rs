//! URL templates in quarantine.

use std::sync::Arc;

use axum::{Json, extract::State};

use super::frontier::steered;
use crate::{
    engine::Steer,
    frontier::HeldTemplate,
    monitor::{
        app::{App, blocking},
        crawls::Level,
        extract::{At, Body},
        problem::Problem,
        wire::{List, Release, Released, TrapItem},
    },
};

/// What is held back.
#[utoipa::path(
    get, path = "/crawls/{id}/traps", tag = "frontier", params(("id" = String, Path)),
    responses(
        (status = 200, body = List<TrapItem>),
        (status = "4XX", description = "There is none", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn list(State(app): State<Arc<App>>, At(id): At<String>) -> Result<Json<List<TrapItem>>, Problem> {
    let slot = app.slot(&id)?;
    if let Some(line) = slot.remote()
        && let Ok(held) = line.ask(crate::engine::Crawl::held_templates).await
    {
        return Ok(Json(List::whole(held.into_iter().map(TrapItem::from).collect())));
    }
    blocking(move || {
        let Some(store) = slot.reader()? else { return Ok(Json(List::whole(Vec::new()))) };
        let held = store.state()?.unwrap_or_default().quarantined.into_iter();
        let item = |(template, held)| TrapItem { template, state: "held".to_owned(), fetched: None, yielded: None, held };
        Ok(Json(List::whole(held.map(item).collect())))
    })
    .await
}

impl From<HeldTemplate> for TrapItem {
    fn from(held: HeldTemplate) -> Self {
        Self {
            template: held.template,
            state: if held.is_dry { "dry" } else { "stale" }.to_owned(),
            fetched: Some(held.fetched),
            yielded: Some(held.paid as f64 / held.fetched.max(1) as f64),
            held: held.held,
        }
    }
}

/// Lets a template out of quarantine. The crawl must be running or paused.
#[utoipa::path(
    post, path = "/crawls/{id}/traps/release", tag = "frontier", params(("id" = String, Path)), request_body = Release,
    responses(
        (status = 200, body = Released),
        (status = 409, description = "It does not run", body = Problem, content_type = "application/problem+json"),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn release(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Body(Release { template }): Body<Release>,
) -> Result<Json<Released>, Problem> {
    let slot = app.slot(&id)?;
    let released = steered(&slot, Steer::Release(template.clone())).await?;
    slot.log.add(Level::Info, format!("let out of quarantine by hand: {template} ({released} links)"));
    Ok(Json(Released { released }))
}

//! Starting, pausing and stopping crawls; their schedules.

use std::sync::Arc;

use axum::{Json, extract::State};

use super::crawls::whole;
use crate::monitor::{
    app::{App, blocking},
    crawls::Slot,
    extract::{At, Body},
    problem::Problem,
    schedule::checked,
    wire::{Crawl, Schedule},
};

/// How the crawl stands now, told to all who listen.
async fn told(app: &App, slot: Arc<Slot>) -> Result<Json<Crawl>, Problem> {
    app.tell_crawl(&slot);
    blocking(move || whole(&slot)).await.map(Json)
}

/// Starts a crawl, or goes on with one that has stopped.
#[utoipa::path(
    post, path = "/crawls/{id}/start", tag = "control", params(("id" = String, Path)),
    responses(
        (status = 200, body = Crawl),
        (status = 409, description = "It runs already", body = Problem, content_type = "application/problem+json"),
        (status = "4XX", description = "There is none", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn start(State(app): State<Arc<App>>, At(id): At<String>) -> Result<Json<Crawl>, Problem> {
    let slot = app.slot(&id)?;
    let (starting, started) = (Arc::clone(&app), Arc::clone(&slot));
    blocking(move || starting.start_crawl(&started)).await?;
    told(&app, slot).await
}

/// Starts no more fetches until it is resumed.
#[utoipa::path(
    post, path = "/crawls/{id}/pause", tag = "control", params(("id" = String, Path)),
    responses(
        (status = 200, body = Crawl),
        (status = 409, description = "It does not run", body = Problem, content_type = "application/problem+json"),
        (status = "4XX", description = "There is none", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn pause(State(app): State<Arc<App>>, At(id): At<String>) -> Result<Json<Crawl>, Problem> {
    let slot = app.slot(&id)?;
    app.pause_crawl(&slot).await?;
    told(&app, slot).await
}

/// Goes on after a pause.
#[utoipa::path(
    post, path = "/crawls/{id}/resume", tag = "control", params(("id" = String, Path)),
    responses(
        (status = 200, body = Crawl),
        (status = 409, description = "It does not pause", body = Problem, content_type = "application/problem+json"),
        (status = "4XX", description = "There is none", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn resume(State(app): State<Arc<App>>, At(id): At<String>) -> Result<Json<Crawl>, Problem> {
    let slot = app.slot(&id)?;
    app.resume_crawl(&slot).await?;
    told(&app, slot).await
}

/// Stops a crawl; it can be started again.
#[utoipa::path(
    post, path = "/crawls/{id}/stop", tag = "control", params(("id" = String, Path)),
    responses(
        (status = 200, body = Crawl),
        (status = 409, description = "It does not run", body = Problem, content_type = "application/problem+json"),
        (status = "4XX", description = "There is none", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn stop(State(app): State<Arc<App>>, At(id): At<String>) -> Result<Json<Crawl>, Problem> {
    let slot = app.slot(&id)?;
    let (stopping, stopped) = (Arc::clone(&app), Arc::clone(&slot));
    blocking(move || stopping.stop_crawl(&stopped)).await?;
    told(&app, slot).await
}

/// Says when a crawl runs again by itself; `null`: never.
#[utoipa::path(
    put, path = "/crawls/{id}/schedule", tag = "control", params(("id" = String, Path)), request_body = Option<Schedule>,
    responses(
        (status = 200, body = Crawl),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn schedule(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Body(schedule): Body<Option<Schedule>>,
) -> Result<Json<Crawl>, Problem> {
    let slot = app.slot(&id)?;
    app.may_run()?;
    let schedule = schedule.map(|schedule| checked(schedule, "schedule")).transpose()?;
    let changed = Arc::clone(&slot);
    blocking(move || Ok(changed.change(|job| job.schedule = schedule)?)).await?;
    told(&app, slot).await
}

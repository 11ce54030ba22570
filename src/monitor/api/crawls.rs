//! Crawls: listed, made, shown, deleted; their course and their log.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use utoipa::IntoParams;

use super::servers::crawls_of_others;
use crate::{
    engine::RunFacts,
    monitor::{
        app::{App, blocking},
        crawls::Slot,
        extract::{At, Body, Params},
        problem::Problem,
        uploads::{Upload, digest},
        wire::{Crawl, CrawlSummary, CreateCrawl, List, LogLine, MemoryUse, Metrics, State as CrawlState},
    },
    page::Timestamp,
};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// Only crawls in this state.
    state: Option<CrawlState>,
    /// Only crawls whose name, id or topic holds these words.
    q: Option<String>,
}

/// All crawls, the newest first; those of other servers after those of this one.
#[utoipa::path(
    get, path = "/crawls", tag = "crawls", params(Wanted),
    responses(
        (status = 200, body = List<CrawlSummary>),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn list(State(app): State<Arc<App>>, Params(wanted): Params<Wanted>) -> Json<List<CrawlSummary>> {
    let mut items: Vec<CrawlSummary> = app.slots().iter().map(|slot| slot.summary()).collect();
    items.extend(crawls_of_others(&app).await);
    let words = wanted.q.as_deref().unwrap_or_default().trim().to_lowercase();
    items.retain(|crawl| {
        let texts = [&crawl.name, &crawl.id, &crawl.topic_name];
        wanted.state.is_none_or(|state| crawl.state == state)
            && (words.is_empty() || texts.iter().any(|text| text.to_lowercase().contains(&words)))
    });
    Json(List::whole(items))
}

/// Makes a crawl. With the header `Idempotency-Key` the same request makes it once.
#[utoipa::path(
    post, path = "/crawls", tag = "crawls", request_body = CreateCrawl,
    params(("Idempotency-Key" = Option<String>, Header, description = "The same key with the same body gives the same crawl")),
    responses(
        (status = 201, description = "Made", body = Crawl),
        (status = 200, description = "Made before, with the same key", body = Crawl),
        (status = 409, description = "The key was used for another request", body = Problem, content_type = "application/problem+json"),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn create(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Body(request): Body<CreateCrawl>,
) -> Result<Response, Problem> {
    let key = headers.get("idempotency-key").map(|key| String::from_utf8_lossy(key.as_bytes()).into_owned());
    if key.as_ref().is_some_and(|key| key.is_empty() || key.len() > 200) {
        return Err(Problem::field("Idempotency-Key", "must have 1 to 200 characters"));
    }
    let making = Arc::clone(&app);
    let (slot, is_new) = blocking(move || {
        // One at a time: of two requests with one key, the second finds the crawl of the first.
        let _one = making.making();
        if let Some(key) = &key
            && let Some((slot, body)) = made_before(&making, key)
        {
            let same = body == digest(&request);
            let other = || Problem::conflict("this Idempotency-Key was used for another request");
            return if same { Ok((slot, false)) } else { Err(other()) };
        }
        let starts = request.start;
        let upload = Upload::check(request, key, &making.options)?;
        Ok((making.add_crawl(upload, starts)?, true))
    })
    .await?;
    let status = if is_new { StatusCode::CREATED } else { StatusCode::OK };
    let crawl = blocking(move || whole(&slot)).await?;
    Ok((status, [("location", format!("/api/v1/crawls/{}", crawl.summary.id))], Json(crawl)).into_response())
}

fn made_before(app: &App, key: &str) -> Option<(Arc<Slot>, String)> {
    app.slots().into_iter().find_map(|slot| {
        let (known, body) = slot.job().made_by?;
        (known == key).then_some((slot, body))
    })
}

/// A crawl.
#[utoipa::path(
    get, path = "/crawls/{id}", tag = "crawls", params(("id" = String, Path)),
    responses(
        (status = 200, body = Crawl),
        (status = "4XX", description = "There is none", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn show(State(app): State<Arc<App>>, At(id): At<String>) -> Result<Json<Crawl>, Problem> {
    let slot = app.slot(&id)?;
    blocking(move || whole(&slot)).await.map(Json)
}

/// All of a crawl. Blocking.
pub fn whole(slot: &Slot) -> Result<Crawl, Problem> {
    let folder = slot.folder()?;
    let (job, mut summary) = (slot.job(), slot.summary());
    let store = slot.reader()?;
    let (mut backing_off, mut facts) = (0, RunFacts::default());
    if let Some(store) = &store {
        let state = store.state()?.unwrap_or_default();
        facts = RunFacts::load(store)?;
        for host in store.hosts()? {
            backing_off += u64::from(host?.trouble_until > Timestamp(state.now.0));
        }
        if slot.is_idle() {
            (summary.waiting, summary.elapsed_ms) = (state.waiting, state.elapsed_ms);
        }
    }
    let memory = slot.memory().filter(|memory| memory.peak > 0).unwrap_or(facts.memory);
    Ok(Crawl {
        topic_toml: folder.topic.to_toml().map_err(anyhow::Error::from)?,
        keywords: folder.topic.keywords.iter().map(|keyword| keyword.text.clone()).collect(),
        seeds: folder.topic.seeds.iter().map(ToString::to_string).collect(),
        source: job.source,
        model: job.model.or(folder.topic.model.clone()),
        order: folder.config.crawl.order.name().to_owned(),
        schedule: job.schedule,
        runs: job.runs,
        folder: slot.dir.display().to_string(),
        hosts_in_backoff: backing_off,
        model_version: slot.live_model_version().unwrap_or(facts.model_versions),
        memory: MemoryUse { peak_bytes: memory.peak, ceiling_bytes: folder.config.crawl.memory.bytes() },
        tunnel: slot.tally(|tally| tally.tunnel()),
        control: slot.tally(|tally| Some(tally.control).filter(|control| control.fetched > 0)),
        summary,
    })
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Deletion {
    /// The crawl's id once more: all that it found is deleted.
    confirm: Option<String>,
}

/// Deletes a crawl that does not run, with all that it found.
#[utoipa::path(
    delete, path = "/crawls/{id}", tag = "crawls", params(("id" = String, Path), Deletion),
    responses(
        (status = 204),
        (status = 400, description = "Not confirmed", body = Problem, content_type = "application/problem+json"),
        (status = 409, description = "It runs", body = Problem, content_type = "application/problem+json"),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn delete(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Params(Deletion { confirm }): Params<Deletion>,
) -> Result<StatusCode, Problem> {
    let slot = app.slot(&id)?;
    if confirm.as_deref() != Some(&id) {
        return Err(Problem::field("confirm", format!("give ?confirm={id}: all that the crawl found is deleted")));
    }
    blocking(move || app.delete_crawl(&slot)).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Resolution {
    /// Points, at most.
    #[param(minimum = 1, maximum = 1000)]
    points: Option<u16>,
}

/// The course of a crawl.
#[utoipa::path(
    get, path = "/crawls/{id}/metrics", tag = "crawls", params(("id" = String, Path), Resolution),
    responses(
        (status = 200, body = Metrics),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn metrics(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Params(Resolution { points }): Params<Resolution>,
) -> Result<Json<Metrics>, Problem> {
    let number = usize::from(points.unwrap_or(200)).clamp(1, 1_000);
    let slot = app.slot(&id)?;
    Ok(Json(slot.tally(|tally| Metrics { points: tally.points(number), by_day: tally.by_day() })))
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Lines {
    /// Lines, at most.
    #[param(minimum = 1, maximum = 1000)]
    limit: Option<u16>,
}

/// What the server did with a crawl, the newest first.
#[utoipa::path(
    get, path = "/crawls/{id}/log", tag = "crawls", params(("id" = String, Path), Lines),
    responses(
        (status = 200, body = List<LogLine>),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn log(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Params(Lines { limit }): Params<Lines>,
) -> Result<Json<List<LogLine>>, Problem> {
    let slot = app.slot(&id)?;
    let limit = usize::from(limit.unwrap_or(100)).clamp(1, 1_000);
    blocking(move || Ok(Json(List::whole(slot.log.tail(limit))))).await
}

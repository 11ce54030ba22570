//! Why a page was judged as it was, and why a link waits where it waits.

use std::sync::Arc;

use axum::{Json, extract::State, http::HeaderMap};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::session::language;
use crate::{
    monitor::{
        app::{App, blocking},
        extract::{At, Params},
        problem::Problem,
    },
    session::{Answers, Why, sentences},
    url::{Fingerprint, canonicalize},
};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Which {
    /// The address of a page or link.
    url: String,
}

/// All that is known of a URL, as `windrow why --json` tells it, and the same in words.
#[derive(Debug, Serialize, ToSchema)]
pub struct Answer {
    #[serde(flatten)]
    #[schema(value_type = Object)]
    why: Why,
    /// Plain sentences, in the language of `Accept-Language` (`en` or `zh`).
    words: Vec<String>,
}

/// Why a URL was treated as it was.
#[utoipa::path(
    get, path = "/crawls/{id}/why", tag = "rows", params(("id" = String, Path), Which),
    responses(
        (status = 200, body = Answer),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn why(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Params(Which { url }): Params<Which>,
    headers: HeaderMap,
) -> Result<Json<Answer>, Problem> {
    let slot = app.slot(&id)?;
    let url = canonicalize(&url, None);
    let url = url.map_err(|error| Problem::field("url", format!("is no address that a crawl can hold: {error}")))?;
    let (reading, address) = (Arc::clone(&slot), url.clone());
    let known = blocking(move || {
        let store = reading.reader()?.ok_or_else(|| Problem::not_found("the crawl has not begun: it knows no URL yet"))?;
        Ok((store.page_by_fingerprint(Fingerprint::of(&address))?, store))
    });
    let (page, store) = known.await?;
    let (about, row) = (url.clone(), page.clone());
    let asked = match slot.remote() {
        Some(line) => line.ask(move |crawl| Answers::of(&about, row, crawl)).await.ok(),
        None => None,
    };
    let one = Arc::clone(&slot);
    let _one_at_a_time = one.heavy.lock().await;
    let chinese = language(&headers) == "zh";
    blocking(move || {
        let folder = slot.folder()?;
        let answers = match asked {
            Some(answers) => answers,
            None => app.rebuilt.ask(&slot.id, &folder, &store, |crawl| Answers::of(&url, page, crawl))?,
        };
        let why = Why::of(&url, answers, &store, &folder.topic, &folder.config)?;
        Ok(Json(Answer { words: sentences(&why, chinese), why }))
    })
    .await
}

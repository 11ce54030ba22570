//! What people say of pages.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::{
    monitor::{
        app::{App, blocking},
        extract::{At, Body, Params},
        problem::Problem,
        wire::{Label, LabelCounts, List, MarkedPassage, ToLabelItem},
    },
    session::{Question, to_ask},
    store::PageLabels,
    url::{Fingerprint, canonicalize},
};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Number {
    /// Pages, at most.
    #[param(minimum = 1, maximum = 100)]
    limit: Option<u8>,
}

/// The pages whose label helps most.
#[utoipa::path(
    get, path = "/crawls/{id}/labels/next", tag = "learning", params(("id" = String, Path), Number),
    responses(
        (status = 200, body = List<ToLabelItem>),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn next(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Params(Number { limit }): Params<Number>,
) -> Result<Json<List<ToLabelItem>>, Problem> {
    let slot = app.slot(&id)?;
    let number = usize::from(limit.unwrap_or(10)).clamp(1, 100);
    let one = Arc::clone(&slot);
    let _one_at_a_time = one.heavy.lock().await;
    blocking(move || {
        let Some(store) = slot.reader()? else { return Ok(Json(List::whole(Vec::new()))) };
        let (folder, labels) = (slot.folder()?, store.labels()?);
        let questions = to_ask(&store, &slot.dir, &folder.topic, &labels, number)?;
        Ok(Json(List::whole(questions.into_iter().map(ToLabelItem::from).collect())))
    })
    .await
}

impl From<Question> for ToLabelItem {
    fn from(question: Question) -> Self {
        let mut passage = MarkedPassage { text: String::new(), marks: Vec::new() };
        let mut at = 0;
        for (text, marked) in &question.pieces {
            let length = u32::try_from(text.encode_utf16().count()).unwrap_or(u32::MAX);
            if *marked {
                passage.marks.push([at, at.saturating_add(length)]);
            }
            at = at.saturating_add(length);
            passage.text.push_str(text);
        }
        let why = serde_json::to_value(question.why).ok().and_then(|why| why.as_str().map(str::to_owned));
        Self {
            seq: question.seq,
            url: question.url,
            title: question.title,
            passages: vec![passage],
            relevance: question.relevance,
            why: why.unwrap_or_default(),
        }
    }
}

/// Says of a page of the crawl whether it is about the topic.
#[utoipa::path(
    put, path = "/crawls/{id}/labels", tag = "learning", params(("id" = String, Path)), request_body = Label,
    responses(
        (status = 200, body = LabelCounts),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn set(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Body(Label { url, relevant }): Body<Label>,
) -> Result<Json<LabelCounts>, Problem> {
    let slot = app.slot(&id)?;
    let page = canonicalize(&url, None).map_err(|error| Problem::field("url", format!("is no address of a page: {error}")))?;
    let fingerprint = Fingerprint::of(&page);
    let one = Arc::clone(&slot);
    // Two labels at once must not lose one.
    let _one_at_a_time = one.labelling.lock().await;
    blocking(move || {
        let known = slot.reader()?.map(|store| store.page_by_fingerprint(fingerprint)).transpose()?.flatten();
        if known.is_none() {
            return Err(Problem::not_found(format!("the crawl has fetched no page {page}")));
        }
        let mut labels = PageLabels::load(&slot.dir)?;
        match relevant {
            Some(relevant) => labels.set(page.as_str(), relevant).map_err(|error| Problem::field("url", error))?,
            None => labels.remove(fingerprint),
        }
        labels.save()?;
        Ok(Json(LabelCounts { labels: labels.len() as u64, relevant: labels.relevant() as u64 }))
    })
    .await
}

/// All labels, as lines of address, tab, and yes or no.
#[utoipa::path(
    get, path = "/crawls/{id}/labels.tsv", tag = "learning", params(("id" = String, Path)),
    responses(
        (status = 200, description = "Labels", body = String, content_type = "text/tab-separated-values"),
        (status = "4XX", description = "There is none", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn tsv(State(app): State<Arc<App>>, At(id): At<String>) -> Result<Response, Problem> {
    let slot = app.slot(&id)?;
    let name = format!("attachment; filename=\"{id}.labels.tsv\"");
    let text = blocking(move || Ok(PageLabels::load(&slot.dir)?.to_tsv())).await?;
    let kind = "text/tab-separated-values; charset=utf-8".to_owned();
    Ok(([(header::CONTENT_TYPE, kind), (header::CONTENT_DISPOSITION, name)], text).into_response())
}

//! What happens, as it happens (Server-Sent Events).
//!
//! Promises: a listener that is too slow misses page events, not the state of crawls: it is told that anew.

use std::{convert::Infallible, sync::Arc};

use axum::{
    extract::State,
    response::sse::{self, KeepAlive, Sse},
};
use futures_util::{Stream, StreamExt, stream};
use serde::Deserialize;
use tokio::sync::broadcast::error::RecvError;
use utoipa::IntoParams;

use crate::monitor::{
    app::{App, Event},
    extract::Params,
    problem::Problem,
};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// Only this crawl's.
    crawl: Option<String>,
}

/// Events: `crawl` (a crawl's summary, first of all crawls, then at most twice a second of each), `page` (a page item with
/// the `crawl` it is of, at most five a second of each crawl), `alert`, and `gone` (the id of a deleted crawl).
#[utoipa::path(
    get, path = "/events", tag = "events", params(Wanted),
    responses(
        (status = 200, description = "A stream of events", content_type = "text/event-stream", body = String),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn stream(
    State(app): State<Arc<App>>,
    Params(Wanted { crawl }): Params<Wanted>,
) -> Sse<impl Stream<Item = Result<sse::Event, Infallible>>> {
    let listener = app.events.subscribe();
    let mut stop = app.stop.clone();
    let first = everything(&app, crawl.as_deref());
    let later = stream::unfold((listener, app, crawl), |(mut listener, app, crawl)| async move {
        loop {
            let events = match listener.recv().await {
                Ok(event) => form(&event, crawl.as_deref()).into_iter().collect(),
                Err(RecvError::Lagged(_)) => everything(&app, crawl.as_deref()),
                Err(RecvError::Closed) => return None,
            };
            if !events.is_empty() {
                return Some((stream::iter(events.into_iter().map(Ok)), (listener, app, crawl)));
            }
        }
    });
    let ends = async move {
        // The server goes down, or nobody is left who could say so.
        while !*stop.borrow_and_update() && stop.changed().await.is_ok() {}
    };
    let events = stream::iter(first.into_iter().map(Ok)).chain(later.flatten()).take_until(Box::pin(ends));
    Sse::new(events).keep_alive(KeepAlive::default())
}

fn everything(app: &App, crawl: Option<&str>) -> Vec<sse::Event> {
    let slots = app.slots().into_iter();
    slots.filter_map(|slot| form(&Event::Crawl(Box::new(slot.summary())), crawl)).collect()
}

/// An event in the form of the interface; `None` where it is not wanted.
fn form(event: &Event, crawl: Option<&str>) -> Option<sse::Event> {
    let (name, of, data) = match event {
        Event::Crawl(summary) => ("crawl", &summary.id, serde_json::to_value(summary)),
        Event::Page(id, page) => {
            let with_id = |mut value: serde_json::Value| {
                value["crawl"] = id.clone().into();
                value
            };
            ("page", id, serde_json::to_value(page).map(with_id))
        }
        Event::Alert(alert) => ("alert", &alert.crawl, serde_json::to_value(alert)),
        Event::Gone(id) => ("gone", id, Ok(serde_json::json!({ "id": id }))),
    };
    let wanted = crawl.is_none_or(|crawl| crawl == of);
    // Plain data always serialises.
    wanted.then(|| sse::Event::default().event(name).data(data.unwrap_or_default().to_string()))
}

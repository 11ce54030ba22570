//! Passing requests on to other servers: what is asked of the crawl `SERVER~ID` is asked of that server.
//!
//! Promises: only who may ask here may ask there; of the request nothing goes there but its method, its query, its body and
//! what describes that; an answer's cookies and policies stay there.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Request, State},
    http::{HeaderName, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use crate::monitor::{app::App, problem::Problem};

/// What of a request is passed on, and what of its answer comes back.
const GO: [HeaderName; 4] =
    [header::CONTENT_TYPE, header::ACCEPT, header::ACCEPT_LANGUAGE, HeaderName::from_static("idempotency-key")];
const COME: [HeaderName; 3] = [header::CONTENT_TYPE, header::CONTENT_DISPOSITION, header::RETRY_AFTER];
/// Bytes of a body that is passed on.
const MAX_BODY: usize = 2 << 20;

/// Answers itself what is for another server, and lets everything else pass.
pub async fn pass_on(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let rest = path.strip_prefix("/api/v1/crawls/").unwrap_or_default();
    let (id, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let id = id.replace("%7E", "~").replace("%7e", "~");
    let Some((server, crawl)) = id.split_once('~') else { return next.run(request).await };
    let target = format!("/api/v1/crawls/{crawl}{rest}");
    let (server, target) = (server.to_owned(), target);
    forward(&app, &server, &target, request).await.unwrap_or_else(IntoResponse::into_response)
}

async fn forward(app: &App, server: &str, path: &str, request: Request) -> Result<Response, Problem> {
    let servers = app.kept().servers;
    let known = servers.iter().find(|known| known.id == server);
    let known = known.ok_or_else(|| Problem::not_found(format!("there is no server {server:?}")))?;
    let query = request.uri().query().map(|query| format!("?{}", query.replace(&format!("confirm={server}~"), "confirm=")));
    let query = query.map(|query| query.replace(&format!("confirm={server}%7E"), "confirm=")).unwrap_or_default();
    let mut asked = app.client.request(request.method().clone(), format!("{}{path}{query}", known.address));
    if !known.token.is_empty() {
        asked = asked.bearer_auth(&known.token);
    }
    for name in GO {
        if let Some(value) = request.headers().get(&name) {
            asked = asked.header(name, value);
        }
    }
    let unreachable = |error: reqwest::Error| {
        Problem::new(axum::http::StatusCode::BAD_GATEWAY, format!("{}: {}", known.name, error.without_url()))
    };
    let mut needs_token = false;
    if known.token.is_empty() && !request.method().is_safe() {
        // A server that needs no login still wants its token against forgery.
        let session = app.client.get(format!("{}/api/v1/session", known.address)).send().await.map_err(unreachable)?;
        let bytes = session.bytes().await.map_err(unreachable)?;
        let session: Option<crate::monitor::wire::SessionInfo> = serde_json::from_slice(&bytes).ok();
        needs_token = session.is_none();
        if let Some(session) = session {
            asked = asked.header("x-csrf-token", session.csrf);
        }
    }
    if needs_token {
        return Err(Problem::new(axum::http::StatusCode::BAD_GATEWAY, format!("{} does not answer as windrow does", known.name)));
    }
    let body = axum::body::to_bytes(request.into_body(), MAX_BODY).await;
    let body = body.map_err(|_| Problem::new(axum::http::StatusCode::PAYLOAD_TOO_LARGE, "the body is too long"))?;
    let answer = asked.body(body).send().await.map_err(unreachable)?;
    let mut response = Response::builder().status(answer.status());
    for name in COME {
        if let Some(value) = answer.headers().get(&name) {
            response = response.header(name, value);
        }
    }
    let body = Body::from_stream(answer.bytes_stream());
    response.body(body).map_err(|error| Problem::internal(&error.into()))
}

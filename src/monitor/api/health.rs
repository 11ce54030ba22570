//! For those who watch the server itself.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::monitor::{
    app::{App, blocking},
    metrics as prometheus,
    problem::Problem,
};

/// Whether the server answers.
#[utoipa::path(get, path = "/healthz", tag = "server", responses((status = 200, description = "It does", body = String, content_type = "text/plain")))]
pub async fn alive() -> &'static str {
    "ok\n"
}

/// Whether the server can run crawls: its folder can be written and it is not going down.
#[utoipa::path(
    get, path = "/readyz", tag = "server",
    responses(
        (status = 200, description = "It can", body = String, content_type = "text/plain"),
        (status = 503, description = "It cannot", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn ready(State(app): State<Arc<App>>) -> Result<&'static str, Problem> {
    let unready = |why: &str| Problem::new(StatusCode::SERVICE_UNAVAILABLE, why.to_owned());
    if *app.stop.borrow() {
        return Err(unready("the server is going down"));
    }
    blocking(move || {
        tempfile::tempfile_in(&app.options.dir).map_err(|_| unready("the server's folder cannot be written"))?;
        Ok("ready\n")
    })
    .await
}

/// Metrics in the `OpenMetrics` format, for Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "server",
    responses(
        (status = 200, description = "Metrics", body = String, content_type = "application/openmetrics-text"),
        (status = 401, description = "A token is needed", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn metrics(State(app): State<Arc<App>>) -> Result<Response, Problem> {
    let text = blocking(move || prometheus::text(&app).map_err(|error| Problem::internal(&error.into()))).await?;
    Ok(([(header::CONTENT_TYPE, prometheus::CONTENT_TYPE)], text).into_response())
}

/// A dashboard for Grafana, to be imported.
#[utoipa::path(get, path = "/api/grafana.json", tag = "server", responses((status = 200, description = "A dashboard", body = serde_json::Value)))]
pub async fn dashboard() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], include_str!("../grafana.json")).into_response()
}

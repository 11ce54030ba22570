//! Logging in and out.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Extension, Json,
    extract::{ConnectInfo, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::monitor::{
    app::App,
    auth::{Identity, SESSION},
    extract::Body,
    guard::{COOKIE, cookie},
    problem::Problem,
    wire::{Login, SessionInfo},
};

/// Who is asking.
#[utoipa::path(get, path = "/session", tag = "session", responses((status = 200, body = SessionInfo)))]
pub async fn show(State(app): State<Arc<App>>, identity: Option<Extension<Identity>>, headers: HeaderMap) -> Json<SessionInfo> {
    Json(info(&app, identity.as_ref().map(|Extension(identity)| identity), &headers))
}

/// Logs a browser in with a token.
#[utoipa::path(
    post, path = "/session", tag = "session", request_body = Login,
    responses(
        (status = 200, body = SessionInfo),
        (status = 401, description = "The token is not known", body = Problem, content_type = "application/problem+json"),
        (status = 429, description = "Too many failed logins", body = Problem, content_type = "application/problem+json"),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn log_in(
    State(app): State<Arc<App>>,
    ConnectInfo(from): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Body(Login { token }): Body<Login>,
) -> Result<Response, Problem> {
    if !app.auth.login_required() {
        return Err(Problem::conflict("this server needs no login"));
    }
    let (secret, identity) = app.auth.log_in(&token, Some(from.ip()))?;
    let set = format!("{COOKIE}={secret}; HttpOnly; SameSite=Strict; Path=/; Max-Age={}", SESSION.as_secs());
    Ok(([(header::SET_COOKIE, set)], Json(info(&app, Some(&identity), &headers))).into_response())
}

/// Logs a browser out.
#[utoipa::path(
    delete, path = "/session", tag = "session",
    responses(
        (status = 204),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn log_out(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    if let Some(secret) = cookie(&headers) {
        app.auth.log_out(secret);
    }
    let gone = format!("{COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, gone)]).into_response()
}

fn info(app: &App, identity: Option<&Identity>, headers: &HeaderMap) -> SessionInfo {
    SessionInfo {
        role: identity.map(|identity| identity.role),
        login_required: app.auth.login_required(),
        csrf: app.auth.csrf(identity),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        language: language(headers).to_owned(),
    }
}

/// `zh` or `en`, whichever the browser would rather have.
pub fn language(headers: &HeaderMap) -> &'static str {
    let wanted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut best = ("en", 0.0_f32);
    for part in wanted.split(',') {
        let (name, rest) = part.trim().split_once(';').unwrap_or((part.trim(), ""));
        let weight = rest.trim().strip_prefix("q=").and_then(|weight| weight.parse().ok()).unwrap_or(1.0);
        let code = match name.split('-').next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "zh" => "zh",
            "en" => "en",
            _ => continue,
        };
        if weight > best.1 {
            best = (code, weight);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_is_the_one_that_is_wanted_most() {
        let of = |value: &str| language(&HeaderMap::from_iter([(header::ACCEPT_LANGUAGE, value.parse().unwrap())]));
        assert_eq!(of("zh-CN,zh;q=0.9,en;q=0.8"), "zh");
        assert_eq!(of("en-US,en;q=0.9,zh;q=0.8"), "en");
        assert_eq!(of("fr, zh;q=0.5, en;q=0.4"), "zh");
        assert_eq!(language(&HeaderMap::new()), "en");
    }
}

//! Who gets in: every request passes here first.
//!
//! Promises: a request is answered only under a name of the server's own (so that no foreign name can be bent to this
//! address); what changes something comes from the same origin and carries a CSRF token, or a bearer token; a role that only
//! reads changes nothing; every answer carries a strict content security policy.

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, header},
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{
    app::App,
    auth::{Identity, Via},
    problem::Problem,
    tokens::Role,
};

/// Name of the cookie.
pub const COOKIE: &str = "windrow_session";

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Lets a request in, or says why not.
pub async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let mut response = match admit(&app, &request) {
        Ok(identity) => {
            if let Some(identity) = identity {
                request.extensions_mut().insert(identity);
            }
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    };
    harden(response.headers_mut());
    response
}

/// Who asks; `None` where nobody has to be known.
fn admit(app: &App, request: &Request) -> Result<Option<Identity>, Problem> {
    let (headers, path) = (request.headers(), request.uri().path());
    let host = host_of(request).ok_or_else(|| Problem::bad_request("the request has no Host"))?;
    if !is_own_name(app, host) {
        return Err(Problem::new(
            axum::http::StatusCode::MISDIRECTED_REQUEST,
            "this server is not known by that name; start it with --host NAME to allow it",
        ));
    }
    let identity = identity(app, headers);
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if changes && identity.as_ref().is_none_or(|identity| identity.via != Via::Bearer) {
        same_origin(headers, host)?;
    }
    let is_open = !path.starts_with("/api/v1/") && path != "/metrics" || path == "/api/v1/session";
    if is_open {
        return Ok(identity);
    }
    let identity = identity.ok_or_else(Problem::unauthorized)?;
    if changes {
        if identity.role < Role::Steer {
            return Err(Problem::forbidden("this token may read, not steer"));
        }
        if !app.auth.knows_csrf(&identity, text(headers, "x-csrf-token")) {
            return Err(Problem::forbidden("the header X-CSRF-Token is missing or stale; GET /api/v1/session gives it"));
        }
    }
    Ok(Some(identity))
}

/// Who is asking.
fn identity(app: &App, headers: &HeaderMap) -> Option<Identity> {
    if !app.auth.login_required() {
        return Some(Identity { role: Role::Steer, via: Via::Open });
    }
    if let Some(token) = text(headers, "authorization").and_then(|value| value.strip_prefix("Bearer ")) {
        return app.auth.bearer(token.trim());
    }
    cookie(headers).and_then(|secret| app.auth.session(secret))
}

/// The session's secret, if the browser sent one.
pub fn cookie(headers: &HeaderMap) -> Option<&str> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(';'));
    pairs.filter_map(|pair| pair.trim().split_once('=')).find(|(name, _)| *name == COOKIE).map(|(_, value)| value)
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// The host that a request is for, with its port.
fn host_of(request: &Request) -> Option<&str> {
    text(request.headers(), "host").or_else(|| request.uri().authority().map(axum::http::uri::Authority::as_str))
}

/// Whether the server is reached under its own name: an address, `localhost`, or a name that it was given. Pages of other sites
/// can bend names of their own to this address, but none of these.
fn is_own_name(app: &App, host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    if app.options.names.iter().any(|own| own.eq_ignore_ascii_case(name)) {
        return true;
    }
    let is_local = app.address.ip().is_loopback();
    match name.parse::<IpAddr>() {
        Ok(address) => !is_local || address.is_loopback(),
        Err(_) => name.eq_ignore_ascii_case("localhost"),
    }
}

/// Refuses what a page of another site sends.
fn same_origin(headers: &HeaderMap, host: &str) -> Result<(), Problem> {
    let foreign = || Problem::forbidden("requests that change something must come from the server's own pages");
    if let Some(site) = text(headers, "sec-fetch-site")
        && !matches!(site, "same-origin" | "none")
    {
        return Err(foreign());
    }
    match headers.get(header::ORIGIN) {
        None => Ok(()),
        Some(origin) => {
            let origin = origin.to_str().ok().and_then(|origin| origin.split_once("://")).map(|(_, authority)| authority);
            if origin.is_some_and(|origin| origin.eq_ignore_ascii_case(host)) { Ok(()) } else { Err(foreign()) }
        }
    }
}

/// Headers of every answer, where it has none of its own.
fn harden(headers: &mut HeaderMap) {
    let every = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in every {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
}

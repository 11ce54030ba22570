//! The console's files, which are part of the binary.
//!
//! Promises: a browser that has a file asks whether it is still that one (`ETag`) and gets no other; addresses of the console's
//! views all answer its page.

use axum::{
    body::Body,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use rust_embed::RustEmbed;

use super::problem::Problem;

#[derive(RustEmbed)]
#[folder = "src/monitor/console/"]
struct Files;

/// Answers with a file, or with the page for an address that is one of its views.
pub async fn file(uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    let is_view = path.is_empty() || !path.rsplit('/').next().is_some_and(|last| last.contains('.'));
    if path.starts_with("api/") {
        return Problem::not_found(format!("there is no /{path}; /api/docs lists what there is")).into_response();
    }
    let name = if is_view { "index.html" } else { path };
    let Some(file) = Files::get(name) else {
        return Problem::not_found(format!("there is no file {path:?}")).into_response();
    };
    let hash = file.metadata.sha256_hash();
    let tag = hash[..8].iter().fold(String::from("\""), |tag, byte| format!("{tag}{byte:02x}")) + "\"";
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let caching = [(header::ETAG, tag.clone()), (header::CACHE_CONTROL, "no-cache".to_owned())];
    if known.is_some_and(|known| known.split(',').any(|known| known.trim().trim_start_matches("W/") == tag)) {
        return (StatusCode::NOT_MODIFIED, caching).into_response();
    }
    let kind = match file.metadata.mimetype() {
        text if text.starts_with("text/") => format!("{text}; charset=utf-8"),
        other => other.to_owned(),
    };
    (caching, [(header::CONTENT_TYPE, kind)], Body::from(file.data)).into_response()
}

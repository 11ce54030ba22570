//! Other windrow servers: listed, and their crawls beside this server's own.
//!
//! Promises: a server that does not answer delays a list by two seconds at most; its token never leaves this one but to it.

use std::{sync::Arc, time::Duration};

use axum::{Json, extract::State, http::StatusCode};

use crate::monitor::{
    app::{App, KnownServer, blocking},
    extract::{At, Body},
    problem::Problem,
    tokens::random_secret,
    wire::{AddServer, CrawlSummary, List, ServerItem},
};

/// How long a list waits for another server.
const PATIENCE: Duration = Duration::from_secs(2);
/// Servers that are listed, at most, and bytes of what one answers.
const MAX_SERVERS: usize = 50;
const MAX_ANSWER: usize = 16 << 20;

/// The other servers.
#[utoipa::path(
    get, path = "/servers", tag = "servers",
    responses(
        (status = 200, body = List<ServerItem>),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn list(State(app): State<Arc<App>>) -> Json<List<ServerItem>> {
    let servers = app.kept().servers;
    let asked = servers.iter().map(|server| async {
        let crawls = crawls_of(&app, server).await;
        ServerItem {
            id: server.id.clone(),
            name: server.name.clone(),
            address: server.address.clone(),
            reachable: crawls.is_ok(),
            crawls: crawls.as_ref().map_or(0, |crawls| crawls.len() as u64),
            error: crawls.err(),
        }
    });
    Json(List::whole(futures_util::future::join_all(asked).await))
}

/// Lists another server.
#[utoipa::path(
    post, path = "/servers", tag = "servers", request_body = AddServer,
    responses(
        (status = 201, body = ServerItem),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn add(
    State(app): State<Arc<App>>,
    Body(AddServer { name, address, token }): Body<AddServer>,
) -> Result<(StatusCode, Json<ServerItem>), Problem> {
    if name.trim().is_empty() || name.chars().count() > 100 {
        return Err(Problem::field("name", "must have 1 to 100 characters"));
    }
    let parsed = url::Url::parse(address.trim()).ok();
    let parsed = parsed.filter(|url| {
        matches!(url.scheme(), "http" | "https") && url.path() == "/" && url.query().is_none() && url.username().is_empty()
    });
    let url = parsed.filter(|_| address.len() <= 500);
    let url = url.ok_or_else(|| Problem::field("address", "give http:// or https://, host and port, and nothing else"))?;
    if token.len() > 200 || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Problem::field("token", "is none that `windrow token new` makes"));
    }
    let id: String = random_secret().map_err(|error| Problem::internal(&error.into()))?;
    let id = format!("s{}", id.chars().filter(char::is_ascii_alphanumeric).take(8).collect::<String>().to_lowercase());
    let server = KnownServer { id, name, address: url.as_str().trim_end_matches('/').to_owned(), token };
    let (keeping, kept) = (Arc::clone(&app), server.clone());
    blocking(move || {
        keeping.change(|state| {
            if state.servers.len() >= MAX_SERVERS {
                return Err(Problem::conflict(format!("there are {MAX_SERVERS} servers already")));
            }
            if state.servers.iter().any(|known| known.address == kept.address) {
                return Err(Problem::conflict(format!("{} is listed already", kept.address)));
            }
            state.servers.push(kept);
            Ok(())
        })?
    })
    .await?;
    let crawls = crawls_of(&app, &server).await;
    let KnownServer { id, name, address, .. } = server;
    let reachable = crawls.is_ok();
    let number = crawls.as_ref().map_or(0, |crawls| crawls.len() as u64);
    Ok((StatusCode::CREATED, Json(ServerItem { id, name, address, reachable, error: crawls.err(), crawls: number })))
}

/// Lists a server no longer.
#[utoipa::path(
    delete, path = "/servers/{id}", tag = "servers", params(("id" = String, Path)),
    responses(
        (status = 204),
        (status = "4XX", description = "There is none", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn remove(State(app): State<Arc<App>>, At(id): At<String>) -> Result<StatusCode, Problem> {
    let gone = id.clone();
    let found = blocking(move || {
        Ok(app.change(|kept| {
            let before = kept.servers.len();
            kept.servers.retain(|server| server.id != gone);
            kept.servers.len() < before
        })?)
    });
    if found.await? { Ok(StatusCode::NO_CONTENT) } else { Err(Problem::not_found(format!("there is no server {id:?}"))) }
}

/// The crawls of all other servers that answer, under ids that lead to them.
pub async fn crawls_of_others(app: &App) -> Vec<CrawlSummary> {
    let servers = app.kept().servers;
    let asked = servers.iter().map(|server| async {
        let mut crawls = crawls_of(app, server).await.unwrap_or_default();
        for crawl in &mut crawls {
            crawl.id = format!("{}~{}", server.id, crawl.id);
            crawl.server = Some(server.id.clone());
            for alert in &mut crawl.alerts {
                alert.crawl.clone_from(&crawl.id);
            }
        }
        crawls
    });
    futures_util::future::join_all(asked).await.into_iter().flatten().collect()
}

/// The crawls that another server has of its own, or why they cannot be had.
async fn crawls_of(app: &App, server: &KnownServer) -> Result<Vec<CrawlSummary>, String> {
    let mut request = app.client.get(format!("{}/api/v1/crawls", server.address)).timeout(PATIENCE);
    if !server.token.is_empty() {
        request = request.bearer_auth(&server.token);
    }
    let in_words = |error: reqwest::Error| {
        if error.is_timeout() { "it does not answer in time".to_owned() } else { error.without_url().to_string() }
    };
    let mut answer = request.send().await.map_err(in_words)?;
    if !answer.status().is_success() {
        return Err(format!("it answers {}", answer.status()));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(in_words)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > MAX_ANSWER {
            return Err("it answers without end".to_owned());
        }
    }
    let list: List<CrawlSummary> = serde_json::from_slice(&bytes).map_err(|_| "it does not answer as windrow does".to_owned())?;
    // Those that it shows for others would be shown twice, or for ever.
    Ok(list.items.into_iter().filter(|crawl| crawl.server.is_none()).collect())
}

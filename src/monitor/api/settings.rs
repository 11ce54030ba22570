//! Settings of the server, and what there is to choose from.

use std::{path::Path, sync::Arc};

use axum::{Json, extract::State};

use crate::monitor::{
    app::{App, blocking},
    extract::Body,
    problem::Problem,
    uploads::orders,
    wire::{ChangeSettings, Settings},
};

/// The settings.
#[utoipa::path(
    get, path = "/settings", tag = "server",
    responses(
        (status = 200, body = Settings),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn show(State(app): State<Arc<App>>) -> Result<Json<Settings>, Problem> {
    blocking(move || Ok(Json(all(&app)))).await
}

/// Changes settings; what is left out stays.
#[utoipa::path(
    put, path = "/settings", tag = "server", request_body = ChangeSettings,
    responses(
        (status = 200, body = Settings),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn change(
    State(app): State<Arc<App>>,
    Body(ChangeSettings { webhook, alerts }): Body<ChangeSettings>,
) -> Result<Json<Settings>, Problem> {
    let webhook = webhook.map(|webhook| webhook.trim().to_owned());
    if let Some(address) = webhook.as_deref().filter(|address| !address.is_empty()) {
        let parsed = url::Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        if parsed.is_none() || address.len() > 2_000 {
            return Err(Problem::field("webhook", "is no http or https address"));
        }
    }
    if let Some(rules) = alerts {
        let is_share = |share: f64| (0.0..=1.0).contains(&share);
        if !is_share(rules.harvest_fell_ratio) || !is_share(rules.error_rate) {
            return Err(Problem::field("alerts", "harvest_fell_ratio and error_rate are shares from 0 to 1"));
        }
        if !(1..=100_000).contains(&rules.stalled_minutes) {
            return Err(Problem::field("alerts", "stalled_minutes must be 1 to 100000"));
        }
    }
    blocking(move || {
        app.change(|kept| {
            if let Some(webhook) = webhook {
                kept.webhook = Some(webhook).filter(|webhook| !webhook.is_empty());
            }
            kept.alerts = alerts.unwrap_or(kept.alerts);
        })?;
        Ok(Json(all(&app)))
    })
    .await
}

fn all(app: &App) -> Settings {
    let kept = app.kept();
    let mut models = names(&app.options.dir.join("models"), |path| path.join("card.json").is_file());
    // Part of windrow.
    models.push("agriculture".to_owned());
    models.sort_unstable();
    models.dedup();
    Settings {
        webhook: kept.webhook,
        alerts: kept.alerts,
        watch_folder: app.options.watch.as_ref().map(|folder| folder.display().to_string()),
        recordings: names(&app.options.recordings(), |path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let name = name.to_lowercase();
            path.is_file() && [".warc", ".warc.gz"].iter().any(|ending| name.ends_with(ending))
        }),
        models,
        orders: orders(),
    }
}

/// What a folder holds that is wanted, by name.
fn names(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut names: Vec<String> = entries
        .filter(|path| wanted(path))
        .filter_map(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
        .filter(|name| crate::monitor::uploads::check_name(name).is_ok())
        .collect();
    names.sort_unstable();
    names
}

//! The watched folder: topic files that are put there are crawled.
//!
//! Promises: a file is taken once; one that is wrong is named in the log, and tried again when it changes.
//! The folder belongs to whoever runs the server, so its topics may name files beside them, as for `windrow crawl`.

use std::{fs, path::Path, sync::Arc};

use sha2::{Digest, Sha256};

use super::{
    app::{App, blocking},
    crawls::Source,
    tokens::hex,
    uploads::Upload,
};
use crate::{config::Config, session::told, topic::Topic};

/// Looks for files that are new.
pub async fn scan(app: &Arc<App>) {
    if app.options.watch.is_none() {
        return;
    }
    let app = Arc::clone(app);
    if let Err(problem) = blocking(move || Ok(look(&app)?)).await {
        tracing::warn!("the watched folder: {}", problem.detail);
    }
}

fn look(app: &Arc<App>) -> anyhow::Result<()> {
    let Some(folder) = &app.options.watch else { return Ok(()) };
    let known = app.kept().watched;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let (name, text) = (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), fs::read(&path)?);
        let digest = hex(&Sha256::digest(&text));
        if known.get(&name) == Some(&digest) {
            continue;
        }
        // Noted first: a file that brings the server down must not do so again.
        app.change(|kept| kept.watched.insert(name.clone(), digest))?;
        match take(app, &path) {
            Ok(id) => tracing::info!("{}: crawl {id}", path.display()),
            Err(error) => tracing::error!("{}: {}", path.display(), told(&error)),
        }
    }
    Ok(())
}

fn take(app: &Arc<App>, path: &Path) -> anyhow::Result<String> {
    let topic = Topic::load(path)?;
    let upload = Upload {
        name: topic.name.chars().take(100).collect(),
        max_pages: topic.limits.max_pages,
        topic,
        config: Config::default(),
        source: Source::Web,
        model: None,
        pages_per_second: None,
        schedule: None,
        made_by: None,
    };
    let slot = app.add_crawl(upload, true).map_err(|problem| anyhow::anyhow!(problem.detail))?;
    Ok(slot.id.clone())
}

//! A crawl's models: what they have learnt from, versions, training.

use std::{fs, path::Path, sync::Arc};

use axum::{Json, extract::State};

use crate::{
    models::{Card, Metrics, ModelError, roll_back as put_back},
    monitor::{
        app::{App, blocking},
        crawls::{Level, Slot},
        extract::{At, Body},
        problem::Problem,
        wire::{LinkClassifierState, ModelFigures, ModelVersion, Models, PageClassifierState, Retrain, Retrained},
    },
    report::LinkModelQuality,
    session::{CrawlFolder, MODEL, Retraining, retrain_from},
};

/// Versions and state of a crawl's models.
#[utoipa::path(
    get, path = "/crawls/{id}/models", tag = "learning", params(("id" = String, Path)),
    responses(
        (status = 200, body = Models),
        (status = "4XX", description = "There is none", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn show(State(app): State<Arc<App>>, At(id): At<String>) -> Result<Json<Models>, Problem> {
    let slot = app.slot(&id)?;
    let asked = match slot.remote() {
        Some(line) => line.ask(crate::engine::Crawl::learners).await.ok(),
        None => None,
    };
    blocking(move || {
        let folder = slot.folder()?;
        let (pages, relevant) = slot.tally(|tally| (tally.fetched, tally.relevant));
        // A crawl that does not run has learnt from the pages it has.
        let (learned, positives, lessons) =
            asked.map_or((pages, relevant, pages), |asked| (asked.pages_learned, asked.positives, asked.lessons));
        let threshold = folder.topic.threshold.get();
        Ok(Json(Models {
            versions: versions(&folder.dir)?,
            page_classifier: PageClassifierState { pages_learned: learned, positives, threshold },
            link_classifier: LinkClassifierState { lessons, auc: link_auc(&folder.dir) },
        }))
    })
    .await
}

/// The trained versions that a crawl's folder holds, the newest first.
fn versions(dir: &Path) -> anyhow::Result<Vec<ModelVersion>> {
    let mut folders = vec![(dir.join(MODEL), true), (dir.join(format!("{MODEL}.previous")), false)];
    if let Ok(older) = fs::read_dir(dir.join(format!("{MODEL}.versions"))) {
        for entry in older {
            folders.push((entry?.path(), false));
        }
    }
    let mut versions = Vec::new();
    for (folder, current) in folders {
        // One that was cut short is no version.
        let Ok(bytes) = fs::read(folder.join("card.json")) else { continue };
        let Ok(card) = serde_json::from_slice::<Card>(&bytes) else { continue };
        let measured = card.measured.first().map(|measured| measured.metrics);
        versions.push(ModelVersion {
            version: card.version,
            trained: card.trained,
            documents: card.data.iter().map(|source| (source.relevant + source.irrelevant) as u64).sum(),
            auc: measured.and_then(|measured| measured.auc),
            ece: measured.map(|measured| measured.ece),
            current,
        });
    }
    versions.sort_by_key(|version| std::cmp::Reverse((version.version, version.current)));
    Ok(versions)
}

/// How good the link model was, as of the last report.
fn link_auc(dir: &Path) -> Option<f64> {
    #[derive(serde::Deserialize)]
    struct Part {
        link_model: Quality,
    }
    #[derive(serde::Deserialize)]
    struct Quality {
        auc: Option<f64>,
    }
    // What is read here is what is written there.
    let _ = |quality: LinkModelQuality| Quality { auc: quality.auc };
    let bytes = fs::read(dir.join("report/summary.json")).ok()?;
    serde_json::from_slice::<Part>(&bytes).ok()?.link_model.auc
}

/// Trains a model from the crawl and its labels; it is installed if it is better, and the crawl starts from it when it runs
/// the next time.
#[utoipa::path(
    post, path = "/crawls/{id}/retrain", tag = "learning", params(("id" = String, Path)), request_body = Retrain,
    responses(
        (status = 200, body = Retrained),
        (status = 409, description = "There is too little to learn from", body = Problem, content_type = "application/problem+json"),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn retrain(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Body(Retrain { force }): Body<Retrain>,
) -> Result<Json<Retrained>, Problem> {
    let slot = app.slot(&id)?;
    let one = Arc::clone(&slot);
    let _one_at_a_time = one.heavy.lock().await;
    blocking(move || {
        let store = slot.reader()?.ok_or_else(|| Problem::conflict("the crawl has not begun: there is nothing to learn from"))?;
        let CrawlFolder { dir, topic, .. } = slot.folder()?;
        let trained = retrain_from(&store, &dir, &topic, &dir.join(MODEL), std::collections::BTreeMap::new(), force);
        let trained = trained.map_err(|error| match error.downcast_ref::<ModelError>() {
            Some(known) if !matches!(known, ModelError::Io { .. }) => Problem::conflict(known.to_string()),
            _ => Problem::internal(&error),
        })?;
        let told = told(&trained);
        slot.log.add(Level::Info, format!("retrained: {}", told.reason));
        Ok(Json(told))
    })
    .await
}

fn told(trained: &Retraining) -> Retrained {
    let Retraining { candidate, verdict, kept } = trained;
    let reason = match (candidate.difference.contradicts, verdict, kept) {
        (true, _, false) => "the labels say the opposite of what the crawl judged; are yes and no exchanged?",
        (_, Some(true), _) => "it is better",
        (_, Some(false), true) => "it is not better, but that was asked for",
        (_, Some(false), false) => "it is not better",
        (_, None, true) => "there are too few labels to tell, and there was no model before, or it was asked for",
        (_, None, false) => "there are too few new labels to tell; the model before stays",
    };
    Retrained {
        installed: *kept,
        before: figures(&candidate.difference.before),
        after: figures(&candidate.difference.after),
        reason: reason.to_owned(),
    }
}

fn figures(metrics: &Metrics) -> ModelFigures {
    let Metrics { auc, precision, recall, ece, log_loss, .. } = *metrics;
    ModelFigures { auc, precision, recall, ece, log_loss }
}

/// Puts the version before back in force.
#[utoipa::path(
    post, path = "/crawls/{id}/rollback", tag = "learning", params(("id" = String, Path)),
    responses(
        (status = 200, body = Models),
        (status = 409, description = "There is no version before", body = Problem, content_type = "application/problem+json"),
        (status = "4XX", description = "There is none", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn roll_back(State(app): State<Arc<App>>, At(id): At<String>) -> Result<Json<Models>, Problem> {
    let slot: Arc<Slot> = app.slot(&id)?;
    {
        let (one, slot) = (Arc::clone(&slot), Arc::clone(&slot));
        let _one_at_a_time = one.heavy.lock().await;
        blocking(move || {
            let card = put_back(&slot.dir.join(MODEL)).map_err(|error| Problem::conflict(error.to_string()))?;
            slot.log.add(Level::Info, format!("version {} of the model is in force again", card.version));
            Ok(())
        })
        .await?;
    }
    show(State(app), At(id)).await
}

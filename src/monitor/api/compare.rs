//! Two crawls beside each other.

use std::sync::Arc;

use axum::{Json, extract::State};
use serde::Deserialize;
use utoipa::IntoParams;

use crate::{
    monitor::{
        app::{App, blocking},
        crawls::Slot,
        extract::Params,
        problem::Problem,
        wire::{Compared, Comparison},
    },
    page::Outcome,
    store::{PageRecord, Store, StoreError},
};

/// Points of each course.
const POINTS: usize = 200;

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Pair {
    /// The id of a crawl.
    a: String,
    b: String,
}

/// What two crawls of this server have found, together and alone.
#[utoipa::path(
    get, path = "/compare", tag = "crawls", params(Pair),
    responses(
        (status = 200, body = Comparison),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn compare(State(app): State<Arc<App>>, Params(Pair { a, b }): Params<Pair>) -> Result<Json<Comparison>, Problem> {
    let (a, b) = (app.slot(&a)?, app.slot(&b)?);
    blocking(move || {
        let mut comparison = Comparison { a: side(&a), b: side(&b), shared_pages: 0, only_a: 0, only_b: 0, shared_relevant: 0 };
        let (store_a, store_b) = (a.reader()?, b.reader()?);
        let pages = |store: &Store| -> Result<_, StoreError> {
            Ok(store.pages(1)?.filter(|page| page.as_ref().map_or(true, |page| page.outcome == Outcome::Fetched)))
        };
        let in_b = |page: &PageRecord| -> Result<Option<PageRecord>, StoreError> {
            let found = store_b.as_ref().map(|store| store.page_by_fingerprint(page.fingerprint)).transpose()?.flatten();
            Ok(found.filter(|page| page.outcome == Outcome::Fetched))
        };
        if let Some(store) = &store_a {
            for page in pages(store)? {
                let page = page?;
                match in_b(&page)? {
                    Some(other) => {
                        comparison.shared_pages += 1;
                        comparison.shared_relevant += u64::from(page.relevant && other.relevant);
                    }
                    None => comparison.only_a += 1,
                }
            }
        }
        if let Some(store) = &store_b {
            let mut all = 0_u64;
            for page in pages(store)? {
                page?;
                all += 1;
            }
            comparison.only_b = all.saturating_sub(comparison.shared_pages);
        }
        Ok(Json(comparison))
    })
    .await
}

fn side(slot: &Slot) -> Compared {
    Compared { summary: slot.summary(), points: slot.tally(|tally| tally.points(POINTS)) }
}

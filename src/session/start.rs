//! Starting a crawl or going on with one, and ending it.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;

use super::{
    changes,
    failure::is_disk_full,
    folder::MODEL,
    report,
    retraining::{Retraining, retrain_if_due},
};
use crate::{
    config::Config,
    engine::{Crawl, Journal, Shares, StopReason, Summary},
    fetch::{Fetcher, HttpFetcher, ReplayFetcher},
    models::ModelBundle,
    report::Written,
    store::{Sizes, Store, StoreConfig, StoreError, Writer},
    topic::Topic,
};

/// What a crawl is started with.
pub struct Start<'a> {
    pub topic: &'a Topic,
    pub config: &'a Config,
    pub model: Option<ModelBundle>,
    /// Over the topic's own limit.
    pub max_pages: Option<u64>,
    /// Whether a crawl may go on under another topic or configuration.
    pub accept_changes: bool,
}

/// A crawl that is ready to run, with its store.
pub struct Session {
    pub crawl: Crawl,
    pub store: Store,
    pub dir: PathBuf,
    /// What came of retraining, where enough labels were new.
    pub retrained: Option<Retraining>,
}

/// How a crawl ended, and what there is of it on disk.
pub struct Ended {
    pub summary: Summary,
    pub sizes: Sizes,
    /// `None` where the disk was too full for it; the trouble in `summary` says so.
    pub written: Option<Written>,
}

/// The web that a crawl sees: the live one, or a recorded one where `recording` names files.
///
/// # Errors
/// A configuration or a recording that cannot be used.
pub fn fetcher_of(config: &Config, recording: &[PathBuf], open_web: bool) -> anyhow::Result<Arc<dyn Fetcher>> {
    if recording.is_empty() {
        return Ok(Arc::new(HttpFetcher::new(&config.fetch)?));
    }
    let web = ReplayFetcher::open(recording, open_web)?;
    web.warnings().iter().for_each(|warning| tracing::warn!("{warning}"));
    Ok(Arc::new(web))
}

/// How the store of a crawl is kept within its memory.
fn store_config(config: &Config) -> StoreConfig {
    let cache_mib = config.store.cache_mib.min(Shares::of(config.crawl.memory).store >> 20).max(1);
    StoreConfig { cache_mib, ..config.store.clone() }
}

impl Session {
    /// Makes the crawl in `dir`, or goes on with the one that is there. `wrap` may put something between the crawl and the
    /// writer of its store.
    ///
    /// # Errors
    /// A folder, store or model that cannot be used; changes that are not accepted.
    pub fn open(
        start: Start<'_>,
        fetcher: Arc<dyn Fetcher>,
        dir: &Path,
        wrap: impl FnOnce(Writer) -> anyhow::Result<Box<dyn Journal>>,
    ) -> anyhow::Result<Self> {
        let kept = store_config(start.config);
        fs::create_dir_all(dir).with_context(|| format!("{} cannot be made", dir.display()))?;
        let store = if Store::exists(dir) { Store::open_with(dir, &kept)? } else { Store::create_with(dir, &kept)? };
        Self::with_store(start, fetcher, store, dir, wrap)
    }

    /// The same with the store of `dir`, which is open already.
    ///
    /// # Errors
    /// As for [`Session::open`].
    pub fn with_store(
        start: Start<'_>,
        fetcher: Arc<dyn Fetcher>,
        store: Store,
        dir: &Path,
        wrap: impl FnOnce(Writer) -> anyhow::Result<Box<dyn Journal>>,
    ) -> anyhow::Result<Self> {
        let Start { topic, config, mut model, max_pages, accept_changes } = start;
        // Killed before its first commit, a crawl starts anew.
        let resumes = store.state()?.is_some();
        changes::keep(dir, topic, config, accept_changes || !resumes)?;
        let due = if resumes { config.page_classifier.retrain_after } else { 0 };
        let retrained = retrain_if_due(&store, dir, topic, due)?;
        if retrained.as_ref().is_some_and(|retrained| retrained.kept) {
            model = Some(ModelBundle::open(&dir.join(MODEL))?);
        }
        let mut plan = config.plan(topic, model.clone())?;
        plan.limits.max_pages = max_pages.or(plan.limits.max_pages);
        if let Some(model) = model {
            keep_model(&model, &dir.join(MODEL))?;
        }
        plan.labels = store.labels()?.iter().map(|(page, _, relevant)| (page, relevant)).collect();
        let writer = wrap(store.writer(&store_config(config))?)?;
        let order = Arc::new(config.crawl.order);
        let crawl =
            if resumes { Crawl::resume(plan, order, fetcher, writer, &store)? } else { Crawl::new(plan, order, fetcher, writer) };
        Ok(Self { crawl, store, dir: dir.to_owned(), retrained })
    }
}

impl Ended {
    /// Packs the store of a crawl that has run, and writes its report.
    ///
    /// # Errors
    /// What cannot be written, unless the disk is full.
    pub fn after(mut summary: Summary, mut store: Store, dir: &Path) -> anyhow::Result<Self> {
        let mut full = summary.stop == StopReason::DiskFull;
        let mut sizes = store.sizes()?;
        if !full {
            match store.compact_if_worth_it() {
                // Somebody reads it: it is packed another time.
                Ok(_) => sizes = store.sizes()?,
                Err(StoreError::Busy) => {}
                Err(error) if error.is_disk_full() => full = true,
                Err(error) => return Err(error.into()),
            }
        }
        let written = match report::write(&store, dir, None) {
            Ok(written) => Some(written),
            Err(error) if full || is_disk_full(&error) => {
                summary.trouble.get_or_insert_with(|| without_report(dir));
                None
            }
            Err(error) => return Err(error),
        };
        Ok(Self { summary, sizes, written })
    }
}

/// What is said of a crawl whose report does not fit on the disk.
fn without_report(dir: &Path) -> String {
    let dir = dir.display();
    format!(
        "the disk is full: the crawl in {dir} is whole, but its report is not written; make some room, then `windrow report {dir}` writes it"
    )
}

/// Keeps the model that a crawl starts from with it, so that it goes on with the same one whatever is retrained meanwhile.
fn keep_model(model: &ModelBundle, folder: &Path) -> anyhow::Result<()> {
    let is_there = folder.join("card.json").is_file() && ModelBundle::open(folder)?.card.id == model.card.id;
    if !is_there {
        model.save(folder)?;
    }
    Ok(())
}

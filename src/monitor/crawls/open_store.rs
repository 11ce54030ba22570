//! The store of a crawl, as the server has it open.
//!
//! Promises: it is open once in the process, whoever reads it; it is closed when nobody has asked for a while, so that the
//! command line can open it.

use std::{
    path::Path,
    sync::Mutex,
    time::{Duration, Instant},
};

use super::locked;
use crate::store::Store;

/// How long an idle store stays open.
const LINGER: Duration = Duration::from_secs(5);

/// The place of an open store.
#[derive(Default)]
pub struct OpenStore {
    open: Mutex<Option<Open>>,
}

struct Open {
    store: Store,
    used: Instant,
}

impl OpenStore {
    /// The store in `dir`, if there is one: the one that the crawl writes while it runs. Blocking.
    pub fn reader(&self, dir: &Path) -> anyhow::Result<Option<Store>> {
        let mut open = locked(&self.open);
        if let Some(open) = open.as_mut() {
            open.used = Instant::now();
            return Ok(Some(open.store.clone()));
        }
        if !Store::exists(dir) {
            return Ok(None);
        }
        let store = Store::open(dir)?;
        *open = Some(Open { store: store.clone(), used: Instant::now() });
        Ok(Some(store))
    }

    /// The store, to crawl into; it is made where there is none. Blocking.
    pub fn to_write(&self, dir: &Path) -> anyhow::Result<Store> {
        let mut open = locked(&self.open);
        if let Some(open) = open.as_ref() {
            return Ok(open.store.clone());
        }
        // Under the lock: whoever reads meanwhile waits, and does not open it a second time.
        let store = if Store::exists(dir) { Store::open(dir)? } else { Store::create(dir)? };
        *open = Some(Open { store: store.clone(), used: Instant::now() });
        Ok(store)
    }

    /// Reads from this store from now on.
    pub fn lend(&self, store: Store) {
        *locked(&self.open) = Some(Open { store, used: Instant::now() });
    }

    /// Packs and closes the store when nobody has asked for a while. Blocking.
    pub fn close_if_unused(&self, dir: &Path) {
        let mut open = locked(&self.open);
        if open.as_ref().is_some_and(|open| open.used.elapsed() > LINGER && open.store.is_alone())
            && let Some(mut last) = open.take()
            && let Err(error) = last.store.compact_if_worth_it()
        {
            tracing::warn!("{}: {error}", dir.display());
        }
    }

    /// Lets go of the store, whoever still reads.
    pub fn close(&self) {
        locked(&self.open).take();
    }
}

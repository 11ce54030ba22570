//! What all requests share: the crawls, the settings, the events.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, watch};

use super::{
    auth::Auth,
    crawls::{Rebuilt, Slot},
    files,
    options::Options,
    problem::Problem,
    wire::{Alert, AlertRules, CrawlSummary, PageItem},
};
use crate::{
    models::{ModelBundle, load},
    session::{CrawlFolder, told},
};

/// Events that a slow listener may be behind.
const BEHIND: usize = 1_024;
/// Crawls of a server, at most.
const MAX_CRAWLS: usize = 10_000;

/// What happened, for those who listen.
#[derive(Debug, Clone)]
pub enum Event {
    Crawl(Box<CrawlSummary>),
    Page(String, Box<PageItem>),
    Alert(Alert),
    /// A crawl is gone.
    Gone(String),
}

/// Another windrow server, as it is kept.
#[derive(Clone, Serialize, Deserialize)]
pub struct KnownServer {
    pub id: String,
    pub name: String,
    pub address: String,
    pub token: String,
}

/// What is kept of the server itself.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    pub webhook: Option<String>,
    pub alerts: AlertRules,
    pub servers: Vec<KnownServer>,
    /// Files of the watched folder that were seen: name and digest.
    pub watched: BTreeMap<String, String>,
}

/// The server's state.
pub struct App {
    pub options: Options,
    pub address: SocketAddr,
    pub auth: Auth,
    pub events: broadcast::Sender<Arc<Event>>,
    pub client: reqwest::Client,
    /// True when the server goes down.
    pub stop: watch::Receiver<bool>,
    /// Stopped crawls that were asked lately.
    pub rebuilt: Rebuilt,
    kept: Mutex<Kept>,
    crawls: RwLock<Crawls>,
    /// Held while a crawl is made.
    making: Mutex<()>,
    /// It watches one crawl that another has started, and can start none.
    watches_one: bool,
}

#[derive(Default)]
struct Crawls {
    slots: BTreeMap<String, Arc<Slot>>,
    /// Ids that are being made.
    reserved: BTreeSet<String>,
}

impl App {
    /// The server of a folder, with the crawls that are in it. Blocking.
    pub fn open(options: Options, address: SocketAddr, stop: watch::Receiver<bool>, watches_one: bool) -> anyhow::Result<Self> {
        for folder in ["crawls", "models", "files"] {
            fs::create_dir_all(options.dir.join(folder))?;
        }
        let kept = files::load(&options.dir.join("server.json"))?.unwrap_or_default();
        let auth = Auth::new(options.tokens.clone())?;
        // reqwest is built without a provider of its own; a second call changes nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(std::time::Duration::from_secs(3))
            .no_proxy()
            .build()?;
        let app = Self {
            address,
            auth,
            events: broadcast::channel(BEHIND).0,
            client,
            stop,
            rebuilt: Rebuilt::default(),
            kept: Mutex::new(kept),
            crawls: RwLock::default(),
            making: Mutex::default(),
            watches_one,
            options,
        };
        app.load_crawls()?;
        Ok(app)
    }

    fn load_crawls(&self) -> anyhow::Result<()> {
        for entry in fs::read_dir(self.options.dir.join("crawls"))? {
            let dir = entry?.path();
            let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with(".gone-") {
                // A deletion that was cut short.
                fs::remove_dir_all(&dir)?;
                continue;
            }
            match Slot::load(&dir) {
                Ok(Some(slot)) => self.enter(Arc::new(slot)),
                Ok(None) => {}
                // One damaged crawl keeps no other from being served.
                Err(error) => tracing::error!("{}: {}; it is left out", dir.display(), told(&error)),
            }
        }
        Ok(())
    }

    /// All crawls, the newest first.
    pub fn slots(&self) -> Vec<Arc<Slot>> {
        let mut slots: Vec<Arc<Slot>> = self.read().slots.values().cloned().collect();
        slots.sort_by_cached_key(|slot| std::cmp::Reverse((slot.job().created, slot.id.clone())));
        slots
    }

    pub fn slot(&self, id: &str) -> Result<Arc<Slot>, Problem> {
        self.read().slots.get(id).cloned().ok_or_else(|| Problem::not_found(format!("there is no crawl {id:?}")))
    }

    /// Takes a crawl in.
    pub fn enter(&self, slot: Arc<Slot>) {
        let mut crawls = self.crawls.write().unwrap_or_else(PoisonError::into_inner);
        crawls.reserved.remove(&slot.id);
        crawls.slots.insert(slot.id.clone(), slot);
    }

    pub fn forget(&self, id: &str) {
        self.rebuilt.forget(id);
        self.crawls.write().unwrap_or_else(PoisonError::into_inner).slots.remove(id);
        self.tell(Event::Gone(id.to_owned()));
    }

    /// A new id, after a name.
    pub fn reserve(&self, name: &str) -> Result<String, Problem> {
        self.may_run()?;
        let mut crawls = self.crawls.write().unwrap_or_else(PoisonError::into_inner);
        if crawls.slots.len() + crawls.reserved.len() >= MAX_CRAWLS {
            return Err(Problem::conflict(format!("there are {MAX_CRAWLS} crawls; delete some")));
        }
        let base = slug(name);
        let is_free =
            |id: &String| !crawls.slots.contains_key(id) && !crawls.reserved.contains(id) && !self.crawl_dir(id).exists();
        let numbered = (2..=u32::MAX).map(|n| format!("{base}-{n}"));
        let id = std::iter::once(base.clone()).chain(numbered).find(is_free).unwrap_or(base.clone());
        crawls.reserved.insert(id.clone());
        Ok(id)
    }

    /// Makes whoever else wants to make a crawl wait.
    pub fn making(&self) -> MutexGuard<'_, ()> {
        self.making.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives an id back whose crawl could not be made.
    pub fn give_up(&self, id: &str) {
        self.crawls.write().unwrap_or_else(PoisonError::into_inner).reserved.remove(id);
        // Whatever was made of it.
        let _ = fs::remove_dir_all(self.crawl_dir(id));
    }

    pub fn crawl_dir(&self, id: &str) -> PathBuf {
        self.options.dir.join("crawls").join(id)
    }

    /// Refuses what a server cannot do that only watches.
    pub fn may_run(&self) -> Result<(), Problem> {
        if self.watches_one {
            return Err(Problem::conflict("this server watches one crawl; `windrow serve` starts and keeps many"));
        }
        Ok(())
    }

    /// The model that a crawl goes on with, or starts from.
    pub fn model_of(&self, folder: &CrawlFolder, name: Option<&str>) -> anyhow::Result<Option<ModelBundle>> {
        match name {
            Some(name) if !folder.model_folder().join("card.json").is_file() => {
                Ok(Some(load(name, &[self.options.dir.join("models")])?))
            }
            _ => folder.model(),
        }
    }

    pub fn kept(&self) -> Kept {
        self.kept_mut().clone()
    }

    /// Changes what is kept of the server, and writes it. Blocking.
    pub fn change<T>(&self, change: impl FnOnce(&mut Kept) -> T) -> anyhow::Result<T> {
        let mut kept = self.kept_mut();
        let answer = change(&mut kept);
        files::save(&self.options.dir.join("server.json"), &*kept)?;
        Ok(answer)
    }

    fn kept_mut(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Crawls> {
        self.crawls.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells those who listen; nobody may.
    pub fn tell(&self, event: Event) {
        if self.events.receiver_count() > 0 {
            let _ = self.events.send(Arc::new(event));
        }
    }

    pub fn tell_crawl(&self, slot: &Slot) {
        slot.tell(|summary| self.tell(Event::Crawl(Box::new(summary))));
    }
}

/// A name as an id: letters, digits and dashes, at most 40, never empty.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.ends_with('-') && !slug.is_empty() {
            slug.push('-');
        }
        if slug.len() >= 40 {
            break;
        }
    }
    let slug = slug.trim_matches('-');
    if slug.is_empty() { "crawl".to_owned() } else { slug.to_owned() }
}

/// Runs what blocks away from the threads that answer.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T, Problem> + Send + 'static) -> Result<T, Problem> {
    match tokio::task::spawn_blocking(work).await {
        Ok(answer) => answer,
        Err(error) => Err(Problem::internal(&anyhow::anyhow!("a defect of windrow: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_safe_in_a_path_and_a_url() {
        assert_eq!(slug("Rice & Wheat!"), "rice-wheat");
        assert_eq!(slug("水稻"), "crawl");
        assert_eq!(slug("../../etc"), "etc");
        assert_eq!(slug(&"x".repeat(90)).len(), 40);
    }
}

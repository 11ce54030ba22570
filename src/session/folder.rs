//! The files of a crawl's folder that say what runs there.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};

use crate::{
    config::Config,
    engine::CrawlPlan,
    models::{ModelBundle, load, search_path},
    store::{CrawlState, Store},
    topic::Topic,
};

/// Folder of the model that a crawl started from, in the crawl's own.
pub const MODEL: &str = "model";
/// The files in a crawl's folder that say what ran.
pub(super) const TOPIC: &str = "topic.toml";
pub(super) const CONFIG: &str = "config.toml";
/// What people said of its pages, and which model it goes on with.
const LABELS: &str = "labels.tsv";
const CARD: &str = "model/card.json";

/// What a crawl follows from that is read back: one that was read back from an equal basis is the same crawl.
#[derive(Debug, Clone, PartialEq)]
pub struct Basis {
    /// The counters change with whatever a crawl does.
    state: Option<CrawlState>,
    /// What its files say; `None` for those that are not there.
    files: Vec<Option<Vec<u8>>>,
}

/// A crawl's folder, with what it says of the crawl.
#[derive(Debug, Clone)]
pub struct CrawlFolder {
    pub dir: PathBuf,
    pub topic: Topic,
    pub config: Config,
}

impl CrawlFolder {
    /// Reads the topic and configuration of the crawl in `dir`.
    ///
    /// # Errors
    /// There is no crawl, or its files cannot be read.
    pub fn open(dir: &Path) -> anyhow::Result<Self> {
        ensure!(Store::exists(dir), "{}: no crawl here", dir.display());
        Self::read(dir)
    }

    /// The same, where the crawl may not have begun.
    ///
    /// # Errors
    /// Its files cannot be read.
    pub fn read(dir: &Path) -> anyhow::Result<Self> {
        let path = dir.join(TOPIC);
        let topic = Topic::load(&path).with_context(|| format!("{} says what the crawl is about", path.display()))?;
        Ok(Self { dir: dir.to_owned(), topic, config: Config::load(&dir.join(CONFIG))? })
    }

    /// Where a model that the crawl started from is kept.
    #[must_use]
    pub fn model_folder(&self) -> PathBuf {
        self.dir.join(MODEL)
    }

    /// The model that the crawl goes on with: the one kept with it, else the topic's.
    ///
    /// # Errors
    /// It is not there, or damaged.
    pub fn model(&self) -> anyhow::Result<Option<ModelBundle>> {
        let kept = self.model_folder();
        if kept.join("card.json").is_file() {
            return Ok(Some(ModelBundle::open(&kept)?));
        }
        let search = search_path(Some(&self.dir.join(TOPIC)));
        Ok(self.topic.model.as_deref().map(|name| load(name, &search)).transpose()?)
    }

    /// What its crawl follows from as it lies on disk, with the store of the folder.
    ///
    /// # Errors
    /// A file or store that cannot be read.
    pub fn basis(&self, store: &Store) -> anyhow::Result<Basis> {
        let read = |name: &str| match fs::read(self.dir.join(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some).with_context(|| format!("{} cannot be read", self.dir.join(name).display())),
        };
        let files = [TOPIC, CONFIG, LABELS, CARD].map(read).into_iter().collect::<anyhow::Result<_>>()?;
        Ok(Basis { state: store.state()?, files })
    }

    /// What its crawl is asked to do, labels included.
    ///
    /// # Errors
    /// An example, model or label that cannot be read.
    pub fn plan(&self, store: &Store) -> anyhow::Result<CrawlPlan> {
        let mut plan = self.config.plan(&self.topic, self.model()?)?;
        plan.labels = store.labels()?.iter().map(|(page, _, relevant)| (page, relevant)).collect();
        Ok(plan)
    }
}

/// Makes the folder of a crawl that has not begun: topic and configuration, and nothing else.
///
/// # Errors
/// A folder that cannot be written.
pub fn begin(dir: &Path, topic: &Topic, config: &Config) -> anyhow::Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("{} cannot be made", dir.display()))?;
    super::changes::keep(dir, topic, config, true)
}

//! The webs that crawls see.

use std::{path::Path, sync::Arc};

use anyhow::Context;

pub use crate::monitor::wire::Source;
use crate::{
    config::Config,
    fetch::Fetcher,
    session::{DEMO_WEB, fetcher_of},
};

/// Makes the web of a crawl.
pub trait Webs: Send + Sync {
    /// The web for `source`; `recordings` holds recorded ones, and `dir` is the crawl's folder. Blocking.
    ///
    /// # Errors
    /// A recording or configuration that cannot be used.
    fn open(&self, source: &Source, config: &Config, recordings: &Path, dir: &Path) -> anyhow::Result<Arc<dyn Fetcher>>;
}

/// The live web, the demo web, and recorded ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct TheWeb;

impl Webs for TheWeb {
    fn open(&self, source: &Source, config: &Config, recordings: &Path, dir: &Path) -> anyhow::Result<Arc<dyn Fetcher>> {
        let files = match source {
            Source::Web => Vec::new(),
            Source::Demo => {
                let path = dir.join("demo.warc.gz");
                if !path.is_file() {
                    let unborn = dir.join("demo.warc.new");
                    std::fs::write(&unborn, DEMO_WEB)
                        .and_then(|()| std::fs::rename(&unborn, &path))
                        .with_context(|| format!("{} cannot be written", path.display()))?;
                }
                vec![path]
            }
            Source::Recording(name) => vec![recordings.join(name)],
        };
        fetcher_of(config, &files, false)
    }
}

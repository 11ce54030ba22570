//! What a server is started with.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use super::{
    Webs,
    crawls::TheWeb,
    tokens::{TokenError, Tokens},
};

/// Where a server listens, keeps its crawls, and whom it answers.
#[derive(Clone)]
pub struct Options {
    /// Folder of the server's crawls and settings; made where it is missing.
    pub dir: PathBuf,
    /// Port 0 takes one that is free.
    pub listen: SocketAddr,
    /// Topic files that are put here are crawled.
    pub watch: Option<PathBuf>,
    /// Recorded webs that a crawl may name [default: `recordings` in `dir`].
    pub recordings: Option<PathBuf>,
    /// The file with the hashes of the tokens; without it only this machine is answered, and may do all.
    pub tokens: Option<PathBuf>,
    /// Crawls that run at a time; more wait for their turn.
    pub max_running: usize,
    /// Names under which the server is reached, besides its address.
    pub names: Vec<String>,
    /// The webs that crawls see; tests bring their own.
    pub webs: Arc<dyn Webs>,
}

/// Why a server does not start so.
#[derive(Debug, thiserror::Error)]
pub enum OptionsError {
    #[error(
        "--listen {0} can be reached from other machines, so it needs tokens: make one with `windrow token new --role steer \
         --tokens FILE` and give --tokens FILE, or listen on 127.0.0.1"
    )]
    Open(SocketAddr),
    #[error("{0} holds no token; make one with `windrow token new --role steer --tokens {0}`")]
    NoToken(String),
    #[error(transparent)]
    Tokens(#[from] TokenError),
}

impl Options {
    /// A server for this machine alone, with its crawls in `dir`.
    #[must_use]
    pub fn new(dir: PathBuf, listen: SocketAddr) -> Self {
        let webs = Arc::new(TheWeb);
        Self { dir, listen, watch: None, recordings: None, tokens: None, max_running: 64, names: Vec::new(), webs }
    }

    /// The folder of recorded webs.
    #[must_use]
    pub fn recordings(&self) -> PathBuf {
        self.recordings.clone().unwrap_or_else(|| self.dir.join("recordings"))
    }

    /// Refuses what would let strangers in.
    pub(super) fn check(&self) -> Result<(), OptionsError> {
        match &self.tokens {
            None if self.listen.ip().is_loopback() => Ok(()),
            None => Err(OptionsError::Open(self.listen)),
            Some(path) if Tokens::load(path)?.is_empty() => Err(OptionsError::NoToken(path.display().to_string())),
            Some(_) => Ok(()),
        }
    }
}

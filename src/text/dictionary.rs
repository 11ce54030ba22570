//! jieba's dictionary: loaded when it is first needed, and once.
//!
//! Loading takes about 90 ms and 30 MB, which a crawl that meets no Chinese saves.
//!
//! Promises: whoever asks gets the whole of it, and waits while another thread loads it.
//! Never: changes what is shared; words are added to a copy (about 24 MB).

use std::{
    sync::{Arc, LazyLock},
    thread,
};

use jieba_rs::Jieba;

static SHARED: LazyLock<Jieba> = LazyLock::new(Jieba::new);

#[derive(Debug, Clone)]
pub(super) enum Dictionary {
    /// jieba's own.
    Shared,
    /// With words of a user.
    Extended(Arc<Jieba>),
}

impl Dictionary {
    pub(super) fn get(&self) -> &Jieba {
        match self {
            Self::Shared => &SHARED,
            Self::Extended(jieba) => jieba,
        }
    }

    /// Whether nobody has to wait for it.
    pub(super) fn is_loaded(&self) -> bool {
        match self {
            Self::Shared => LazyLock::get(&SHARED).is_some(),
            Self::Extended(_) => true,
        }
    }

    /// Begins to load what is shared.
    pub(super) fn load_ahead() {
        let load = || _ = LazyLock::force(&SHARED);
        if !Self::Shared.is_loaded() && thread::Builder::new().name("dictionary".to_owned()).spawn(load).is_err() {
            tracing::debug!("no thread is left to load the dictionary ahead");
        }
    }
}

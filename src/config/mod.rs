//! The configuration file: one section for each module that has settings, composed here.
//!
//! Promises: every key has a default that is polite and closed; `default.toml` shows them all and is checked
//! against the code; an unknown key is an error that names it.
//! Never: holds settings of its own, or is imported by what it configures.

mod plan;

use std::{fs, path::Path};

use serde::{Deserialize, Serialize};

use crate::{
    engine::EngineConfig, fetch::FetchConfig, frontier::FrontierConfig, frontier::TrapConfig,
    page_classifier::PageClassifierConfig, parse::ParseConfig, politeness::PaceConfig, store::StoreConfig,
    topical_rank::RankConfig,
};

pub use plan::PlanError;

/// The whole configuration, as shipped.
pub const DEFAULT_TOML: &str = include_str!("default.toml");

/// All sections.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub crawl: EngineConfig,
    pub frontier: FrontierConfig,
    pub traps: TrapConfig,
    pub fetch: FetchConfig,
    pub politeness: PaceConfig,
    pub parse: ParseConfig,
    pub page_classifier: PageClassifierConfig,
    pub topical_rank: RankConfig,
    pub store: StoreConfig,
}

/// A configuration file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{path}: {source}")]
    Io { path: String, source: std::io::Error },
    #[error("{path}: {message}\nSee `windrow config` for every key and its default.")]
    Invalid { path: String, message: String },
}

impl Config {
    /// Reads a file; what it leaves out keeps its default.
    ///
    /// # Errors
    /// The file cannot be read, or a key is unknown or has a wrong value; line and column are named.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|source| ConfigError::Io { path: name.clone(), source })?;
        toml::from_str(&text).map_err(|error| ConfigError::Invalid { path: name, message: error.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_file_shows_every_key_with_its_default() {
        let shipped: Config = toml::from_str(DEFAULT_TOML).unwrap();
        assert_eq!(shipped, Config::default());
        let all = toml::Value::try_from(Config::default()).unwrap();
        let shown: toml::Value = toml::from_str(DEFAULT_TOML).unwrap();
        for (section, keys) in all.as_table().unwrap() {
            for key in keys.as_table().unwrap().keys() {
                assert!(shown.get(section).and_then(|s| s.get(key)).is_some(), "default.toml lacks {section}.{key}");
            }
        }
    }

    #[test]
    fn an_unknown_key_is_named_with_its_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "[crawl]\nworkres = 3\n").unwrap();
        let message = Config::load(file.path()).unwrap_err().to_string();
        assert!(message.contains("workres") && message.contains("line 2"), "{message}");
    }
}

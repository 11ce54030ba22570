//! What a crawl was started with against what it is to go on with: a change is shown, and needs to be accepted.
//!
//! Promises: a crawl never goes on under another topic or configuration unless the user says so.
//! Never: tells two files apart by their layout or comments.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, bail};

use super::folder::{CONFIG, TOPIC};
use crate::{
    config::Config,
    disk::{self, Readers},
    topic::Topic,
};

/// Keeps topic and configuration with the crawl in `out`; where others are kept there, `accept` replaces them.
///
/// # Errors
/// They differ and that is not accepted: every change is listed.
pub(super) fn keep(out: &Path, topic: &Topic, config: &Config, accept: bool) -> anyhow::Result<()> {
    let files = [(TOPIC, topic.to_toml()?), (CONFIG, toml::to_string(config)?)];
    let mut changes = Vec::new();
    for (name, now) in &files {
        let path = out.join(name);
        // A crawl that was killed while it was made may lack them.
        if let Ok(before) = fs::read_to_string(&path) {
            let before = if *name == CONFIG { with_defaults(&before) } else { before };
            let found = differences(&before, now).with_context(|| format!("{} cannot be read", path.display()))?;
            changes.extend(found.into_iter().map(|line| format!("  {name}: {line}")));
        }
    }
    if !changes.is_empty() && !accept {
        bail!(
            "{} was crawled with another topic or configuration:\n{}\nGive --accept-changes to go on with the new one, or \
             another --out to start a new crawl.",
            out.display(),
            changes.join("\n")
        );
    }
    for (name, now) in files {
        let path = out.join(name);
        replace(&path, &now).with_context(|| format!("{} cannot be kept with the crawl", path.display()))?;
    }
    Ok(())
}

/// Replaces a file, unless it says the same.
pub(super) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    if fs::read(path).is_ok_and(|before| before == text.as_bytes()) {
        return Ok(());
    }
    disk::replace(path, text.as_bytes(), Readers::Usual)
}

/// A configuration as this version reads it, so that a key that is new since is no change.
fn with_defaults(text: &str) -> String {
    let read = toml::from_str::<Config>(text).ok().and_then(|config| toml::to_string(&config).ok());
    read.unwrap_or_else(|| text.to_owned())
}

/// The keys that differ, as `key: old → new`.
fn differences(before: &str, now: &str) -> anyhow::Result<Vec<String>> {
    let (before, now) = (flat(before)?, flat(now)?);
    let keys: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let shown = |value: Option<&String>| value.map_or("(none)", String::as_str).to_owned();
    let differs = |key: &&&String| before.get(**key) != now.get(**key);
    Ok(keys.iter().filter(differs).map(|&key| format!("{key}: {} → {}", shown(before.get(key)), shown(now.get(key)))).collect())
}

/// A TOML text as values by dotted keys.
fn flat(text: &str) -> anyhow::Result<BTreeMap<String, String>> {
    fn add(key: &str, value: &toml::Value, flat: &mut BTreeMap<String, String>) {
        match value {
            toml::Value::Table(table) => {
                for (name, value) in table {
                    let key = if key.is_empty() { name.clone() } else { format!("{key}.{name}") };
                    add(&key, value, flat);
                }
            }
            value => drop(flat.insert(key.to_owned(), value.to_string())),
        }
    }
    let mut values = BTreeMap::new();
    add("", &toml::Value::Table(text.parse()?), &mut values);
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_key_by_key_and_layout_is_none() {
        let before = "# a comment\nname = \"rice\"\n[limits]\nmax_pages = 10\nold = true\n";
        let now = "limits = { max_pages = 20, new = [1] }\nname = \"rice\"\n";
        assert_eq!(
            differences(before, now).unwrap(),
            ["limits.max_pages: 10 → 20", "limits.new: (none) → [1]", "limits.old: true → (none)"]
        );
        assert!(differences(now, now).unwrap().is_empty());
    }

    #[test]
    fn a_crawl_goes_on_under_another_configuration_only_if_that_is_accepted() {
        let folder = tempfile::tempdir().unwrap();
        let topic = Topic::parse(include_str!("../../corpora/demo.toml"), Path::new("demo.toml")).unwrap();
        let mut config = Config::default();
        keep(folder.path(), &topic, &config, false).unwrap();
        keep(folder.path(), &topic, &config, false).unwrap();
        config.crawl.seed = 99;
        let message = keep(folder.path(), &topic, &config, false).unwrap_err().to_string();
        assert!(message.contains("config.toml: crawl.seed: 1 → 99") && message.contains("--accept-changes"), "{message}");
        keep(folder.path(), &topic, &config, true).unwrap();
        keep(folder.path(), &topic, &config, false).unwrap();
        // A key that the file lacks has its default.
        fs::write(folder.path().join(CONFIG), "[crawl]\nseed = 99\n").unwrap();
        keep(folder.path(), &topic, &config, false).unwrap();
    }
}

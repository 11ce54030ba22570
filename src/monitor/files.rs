//! The monitor's own state on disk: small JSON files.
//!
//! Promises: a file is replaced whole or not at all, also by a crash; only its owner may read it.

use std::{fs, path::Path};

use anyhow::Context;
use serde::{Serialize, de::DeserializeOwned};

use crate::disk::{self, Readers};

/// Writes a value.
pub(super) fn save<T: Serialize>(path: &Path, value: &T) -> anyhow::Result<()> {
    write(path, &serde_json::to_vec(value)?)
}

/// Writes bytes.
pub(super) fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let fault = || format!("{} cannot be written", path.display());
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(fault)?;
    disk::replace(path, bytes, Readers::Owner).with_context(fault)
}

/// Reads a value; `None` where there is no file.
pub(super) fn load<T: DeserializeOwned>(path: &Path) -> anyhow::Result<Option<T>> {
    let bytes = match fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        read => read.with_context(|| format!("{} cannot be read", path.display()))?,
    };
    serde_json::from_slice(&bytes).map(Some).with_context(|| format!("{} is damaged; remove it to do without it", path.display()))
}

/// The time of now in the form of the interface.
pub(super) fn now() -> String {
    time(jiff::Timestamp::now())
}

/// A time in the form of the interface: RFC 3339 in UTC, to the millisecond.
pub(super) fn time(at: jiff::Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

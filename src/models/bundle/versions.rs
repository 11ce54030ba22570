//! The versions of a model before the one in force.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{CARD, ModelBundle};
use crate::models::{Card, ModelError};

/// Puts the version before back, and returns its card; what was in force becomes the earlier one, so that twice is not at
/// all.
///
/// # Errors
/// There is no earlier version, it is damaged, or a folder cannot be renamed.
pub fn roll_back(folder: &Path) -> Result<Card, ModelError> {
    let (previous, between) = (sibling(folder, ".previous"), sibling(folder, ".new"));
    if !previous.join(CARD).is_file() {
        return Err(ModelError::NoEarlier(folder.to_owned()));
    }
    let card = ModelBundle::open_alone(&previous)?.card;
    remove(&between)?;
    let rename = |from: &Path, to: &Path| fs::rename(from, to).map_err(ModelError::io(from));
    // A save that was cut short may have left no model in force.
    let was_in_force = folder.exists();
    if was_in_force {
        rename(folder, &between)?;
    }
    rename(&previous, folder)?;
    if was_in_force {
        rename(&between, &previous)?;
    }
    Ok(card)
}

/// Moves the folder of a version that is two steps back to `NAME.versions/VERSION-ID`.
pub(super) fn put_away(previous: &Path, folder: &Path) -> Result<(), ModelError> {
    if !previous.exists() {
        return Ok(());
    }
    let name = fs::read(previous.join(CARD))
        .ok()
        .and_then(|bytes| serde_json::from_slice::<Card>(&bytes).ok())
        .map_or_else(|| "damaged".to_owned(), |card| format!("{:04}-{}", card.version, card.id));
    let versions = sibling(folder, ".versions");
    fs::create_dir_all(&versions).map_err(ModelError::io(&versions))?;
    let place = versions.join(name);
    remove(&place)?;
    fs::rename(previous, &place).map_err(ModelError::io(previous))
}

/// The folder of the same name with an ending, beside `folder`.
pub(super) fn sibling(folder: &Path, ending: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    folder.with_file_name(name)
}

pub(super) fn remove(folder: &Path) -> Result<(), ModelError> {
    if folder.exists() { fs::remove_dir_all(folder).map_err(ModelError::io(folder)) } else { Ok(()) }
}

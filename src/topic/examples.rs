//! Example pages: files and folders in the topic file, made a list of files.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::{
    error::{Place, TopicError},
    source::Source,
};

/// Files that show what belongs to the topic and what does not, sorted, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Examples {
    pub positive: Vec<PathBuf>,
    pub negative: Vec<PathBuf>,
}

/// Endings that are taken from a folder; a file that is named itself may have any.
const ENDINGS: &[&str] = &["html", "htm", "xhtml", "shtml", "txt", "md"];
/// More files than this are a mistaken path, not examples.
const MAX_FILES: usize = 50_000;

/// Expands the paths of `key` (such as `examples.positive`).
///
/// # Errors
/// A path that does not exist, cannot be read, or is a folder without a page in it.
pub(super) fn expand(paths: &[String], key: &str, source: &Source) -> Result<Vec<PathBuf>, TopicError> {
    let mut files = Vec::new();
    for (at, path) in paths.iter().enumerate() {
        let full = source.folder.join(path);
        let before = files.len();
        if full.is_file() {
            files.push(full);
            continue;
        }
        let place = || source.place_in(key, at);
        if !full.is_dir() {
            return Err(TopicError::MissingPath { place: place(), key: key.to_owned(), path: path.clone(), full });
        }
        walk(full, &mut files)?;
        let wrong = |problem| TopicError::Value { place: place(), key: key.to_owned(), problem };
        if files.len() == before {
            return Err(wrong(format!("the folder {path:?} holds no page: its files must end in .{}", ENDINGS.join(", ."))));
        }
        if files.len() > MAX_FILES {
            return Err(wrong(format!("the folder {path:?} holds more than {MAX_FILES} pages: name a smaller one")));
        }
    }
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

/// Adds the pages below `folder`; folders behind symbolic links are not entered, since they may lead back up.
fn walk(folder: PathBuf, files: &mut Vec<PathBuf>) -> Result<(), TopicError> {
    let mut waiting = vec![folder];
    while let Some(folder) = waiting.pop() {
        let failed = |source| TopicError::Read { place: Place::whole(folder.display().to_string()), source };
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if files.len() > MAX_FILES {
                return Ok(());
            }
            if entry.file_type().map_err(failed)?.is_dir() {
                waiting.push(entry.path());
            } else if is_page(&entry.path()) {
                files.push(entry.path());
            }
        }
    }
    Ok(())
}

fn is_page(path: &Path) -> bool {
    let Some(ending) = path.extension().and_then(|ending| ending.to_str()) else { return false };
    ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

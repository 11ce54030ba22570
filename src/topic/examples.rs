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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic::Topic;

    fn load(folder: &Path, examples: &str) -> Result<Topic, TopicError> {
        let text = format!("keywords = [\"rice\"]\nseeds = [\"http://e.com/\"]\n[examples]\n{examples}");
        Topic::parse(&text, &folder.join("t.toml"))
    }

    #[test]
    fn folders_give_their_pages_and_named_files_are_taken_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("good/deep");
        fs::create_dir_all(&deep).unwrap();
        for file in ["good/b.HTML", "good/deep/a.txt", "good/picture.png", "page"] {
            fs::write(folder.path().join(file), "rice").unwrap();
        }
        let topic = load(folder.path(), "positive = [\"good\", \"good/b.HTML\"]\nnegative = [\"page\"]").unwrap();
        let names = |files: &[PathBuf]| files.iter().map(|file| file.file_name().unwrap().to_owned()).collect::<Vec<_>>();
        assert_eq!(names(&topic.examples.positive), ["b.HTML", "a.txt"]);
        assert_eq!(names(&topic.examples.negative), ["page"]);
    }

    #[test]
    fn a_path_that_leads_nowhere_is_named_with_where_it_was_looked_for() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("empty")).unwrap();
        let error = |examples: &str| load(folder.path(), examples).unwrap_err().to_string();
        let missing = error("negative = [\"no/such\"]");
        assert!(missing.contains("t.toml:4:13: examples.negative: there is no file or folder \"no/such\""), "{missing}");
        assert!(missing.ends_with(&folder.path().join("no/such").display().to_string()), "{missing}");
        assert!(error("positive = [\"empty\"]").contains("the folder \"empty\" holds no page: its files must end in .html"));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_back_up_does_not_go_round_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("good")).unwrap();
        fs::write(folder.path().join("good/a.txt"), "rice").unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("good/up")).unwrap();
        assert_eq!(load(folder.path(), "positive = [\"good\"]").unwrap().examples.positive.len(), 1);
    }
}

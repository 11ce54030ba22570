//! Tasks: a topic on a recorded web, with the label that says what belongs to it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

/// One topic on one recorded web.
#[derive(Debug, Clone, Deserialize)]
pub struct Task {
    pub id: String,
    /// Name of the web: `NAME.warc.gz` and `NAME.labels.tsv` beside the task file.
    pub corpus: String,
    pub label: String,
    pub language: String,
    pub keywords: Vec<String>,
    pub seeds: Vec<String>,
    /// The folder of the task file.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// A task file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    #[error("{path}: {source}")]
    Io { path: String, source: std::io::Error },
    #[error("{path}: not a list of tasks: {source}")]
    Json { path: String, source: serde_json::Error },
}

impl Task {
    #[must_use]
    pub fn web_path(&self) -> PathBuf {
        self.folder.join(format!("{}.warc.gz", self.corpus))
    }

    #[must_use]
    pub fn labels_path(&self) -> PathBuf {
        self.folder.join(format!("{}.labels.tsv", self.corpus))
    }
}

/// Reads `tasks.json`: a list of tasks.
///
/// # Errors
/// The file cannot be read, or is not such a list.
pub fn load_tasks(path: &Path) -> Result<Vec<Task>, TaskError> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).map_err(|source| TaskError::Io { path: name.clone(), source })?;
    let mut tasks: Vec<Task> = serde_json::from_str(&text).map_err(|source| TaskError::Json { path: name, source })?;
    let folder = path.parent().unwrap_or(Path::new("."));
    for task in &mut tasks {
        folder.clone_into(&mut task.folder);
    }
    Ok(tasks)
}

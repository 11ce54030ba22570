//! What can be wrong with a model, its data, or the folder it lies in.

use std::{io, path::PathBuf};

/// A model that cannot be loaded, trained or written.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error(
        "there is no model {name:?}: looked in {looked}; part of windrow are {embedded}. Give a folder that holds a card.json"
    )]
    NotFound { name: String, looked: String, embedded: String },
    #[error("{file} of model {model} is damaged ({what}): copy the model anew, or train it again")]
    Damaged { model: String, file: String, what: String },
    #[error(
        "model {model} is of format {found}, this windrow reads format {expected}: train it again, or use the windrow that made it"
    )]
    Format { model: String, found: u32, expected: u32 },
    #[error(
        "{error}. The version before still works: version {version} ({id}) in {}; `windrow retrain --rollback` puts it back",
        folder.display()
    )]
    EarlierWorks { error: Box<ModelError>, version: u32, id: String, folder: PathBuf },
    #[error("{place}: {problem}")]
    Manifest { place: String, problem: String },
    #[error("{}, line {line}: {problem}", path.display())]
    Data { path: PathBuf, line: usize, problem: String },
    #[error("not enough to train on: {have}. {need}")]
    TooLittle { have: String, need: &'static str },
    #[error("the page model could not be fitted: {0}")]
    Fit(String),
    #[error("{} has no earlier version to go back to", .0.display())]
    NoEarlier(PathBuf),
}

impl ModelError {
    /// An error of reading or writing `path`.
    pub(super) fn io(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

//! Files that are written over a while: `NAME.partial` until they are whole.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What a file is called until it is whole.
#[must_use]
pub fn partial_name(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    name.into()
}

/// Gives a file that is whole its name.
///
/// # Errors
/// It cannot be renamed.
pub fn settle(path: &Path) -> io::Result<()> {
    fs::rename(partial_name(path), path)
}

/// What kept a row from being written, as the system said it: a full disk or a reader that went away is to be known as one.
#[must_use]
pub fn of_csv(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

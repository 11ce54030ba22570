//! Small files that are replaced as a whole.
//!
//! Promises: whatever happens meanwhile, the file is the old one or the new one, never half of it; when [`replace`] returns, the new
//! one is on disk, its name included.
//! Never: holds what grows with a crawl (that is `store` and `spill`).

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::Path,
};

/// Who may read a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// Whom the system lets read new files.
    Usual,
    /// Only its owner, where the system knows owners.
    Owner,
}

/// Replaces the file `path`, which need not be there: writes a file beside it and renames that.
///
/// # Errors
/// Its folder cannot be written, or the disk is full; the file is as it was then.
pub fn replace(path: &Path, bytes: &[u8], readers: Readers) -> io::Result<()> {
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    let fresh = Path::new(&fresh);
    let written = create(fresh, readers).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    if let Err(error) = written.and_then(|()| fs::rename(fresh, path)) {
        // What was not written is of no use to anybody; the first error is the one to tell.
        drop(fs::remove_file(fresh));
        return Err(error);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    sync_folder(folder.unwrap_or(Path::new(".")))
}

fn create(path: &Path, readers: Readers) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    options.open(path)
}

/// Waits until the names in a folder are on disk.
///
/// # Errors
/// The folder cannot be read.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Other systems cannot open a directory, and keep its entries safe by themselves.
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.tsv");
        replace(&path, b"a longer first text", Readers::Usual).unwrap();
        replace(&path, b"second", Readers::Owner).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::MetadataExt::mode(&fs::metadata(&path).unwrap()) & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_cannot_be_written_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job.json");
        replace(&path, b"old", Readers::Usual).unwrap();
        // In the way of the file beside it.
        fs::create_dir(folder.path().join("job.json.new")).unwrap();
        replace(&path, b"new", Readers::Usual).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        // In the way of the rename.
        let taken = folder.path().join("taken");
        fs::create_dir(&taken).unwrap();
        replace(&taken, b"new", Readers::Usual).unwrap_err();
        assert!(!folder.path().join("taken.new").exists(), "what was written is removed");
        replace(&folder.path().join("missing/file"), b"new", Readers::Usual).unwrap_err();
    }
}

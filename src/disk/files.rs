//! Where long files lie: on the system's disk, or on one that tests let fail.

use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
    sync::Arc,
};

/// Whether an error says that the disk is full, or a quota used up.
#[must_use]
pub fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Bytes that are free where a folder lies; `None` where the system does not say.
#[must_use]
pub fn free_bytes(folder: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// A file that is written, and read, at a place.
pub trait DiskFile: Read + Write + Seek + Send {
    /// Waits until what was written is on disk.
    ///
    /// # Errors
    /// It is not, or nobody knows.
    fn sync(&self) -> io::Result<()>;

    /// Fills `bytes` with what lies at a place.
    ///
    /// # Errors
    /// It cannot be read, or less lies there.
    fn read_at(&mut self, place: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(place))?;
        self.read_exact(bytes)
    }

    /// Writes at a place.
    ///
    /// # Errors
    /// Not all of it was written.
    fn write_at(&mut self, place: u64, bytes: &[u8]) -> io::Result<()> {
        self.seek(SeekFrom::Start(place))?;
        self.write_all(bytes)
    }
}

impl DiskFile for File {
    // One call of the system instead of two.
    #[cfg(unix)]
    fn read_at(&mut self, place: u64, bytes: &mut [u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(self, bytes, place)
    }

    #[cfg(unix)]
    fn write_at(&mut self, place: u64, bytes: &[u8]) -> io::Result<()> {
        std::os::unix::fs::FileExt::write_all_at(self, bytes, place)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// What gives files out; the seam at which tests let reads, writes and syncs fail.
pub trait Disk: fmt::Debug + Send + Sync {
    /// A new file.
    ///
    /// # Errors
    /// There is one of that name, or it cannot be made.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// A file that is there, to be written.
    ///
    /// # Errors
    /// It is not there, or may not be written.
    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;

    /// A file without a name, which is gone when it is closed.
    ///
    /// # Errors
    /// The folder cannot be written.
    fn temporary(&self, folder: &Path) -> io::Result<Box<dyn DiskFile>>;
}

/// The disk of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemDisk;

impl SystemDisk {
    #[must_use]
    pub fn shared() -> Arc<dyn Disk> {
        Arc::new(Self)
    }
}

impl Disk for SystemDisk {
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(File::create_new(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(OpenOptions::new().write(true).open(path)?))
    }

    fn temporary(&self, folder: &Path) -> io::Result<Box<dyn DiskFile>> {
        Ok(Box::new(tempfile::tempfile_in(folder)?))
    }
}

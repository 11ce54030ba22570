//! Files: small ones that are replaced as a whole, and long ones that may fail half-way.
//!
//! Promises: [`replace()`] leaves the old file or the new one, never half of it, whatever happens meanwhile.
//! Never: knows what is in a file (that is `store` and `spill`).

mod files;
mod replace;

pub use files::{Disk, DiskFile, SystemDisk, is_full};
pub use replace::{Readers, replace, sync_folder};

//! Files: small ones that are replaced as a whole, tables that are written over a while, and long ones that may fail half-way.
//!
//! Promises: [`replace()`] leaves the old file or the new one, never half of it, whatever happens meanwhile.
//! A file that is written over a while has its name when it is whole; the end of it may be lost with the power, unless its writer syncs it.
//! Never: knows what is in a file (that is for whoever writes it).

mod files;
mod partial;
mod replace;

pub use files::{Disk, DiskFile, SystemDisk, free_bytes, is_full};
pub use partial::{of_csv, partial_name, settle};
pub use replace::{Readers, replace, sync_folder};

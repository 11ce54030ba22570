//! Where tests find recorded data that is too large, or not ours, to keep beside them.

use std::{env, path::PathBuf};

/// The folder of corpora: `WINDROW_CORPORA`, or `../shared/corpora` beside the checkout.
///
/// Prints why a test is skipped where there is none, so that a silent pass is not taken for a pass.
pub fn corpora() -> Option<PathBuf> {
    let folder = env::var_os("WINDROW_CORPORA")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora"), PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("SKIPPED: no corpora at {}; set WINDROW_CORPORA to the folder that holds them", folder.display());
    None
}

//! `windrow config`: the configuration file as shipped, every key explained.

use std::{io::Write, process::ExitCode};

/// Prints the file.
pub(super) fn run() -> anyhow::Result<ExitCode> {
    std::io::stdout().lock().write_all(crate::config::DEFAULT_TOML.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

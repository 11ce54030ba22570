//! Parse the command line, call the library, choose the exit code.

use std::process::ExitCode;

use clap::Parser;
use windrow::cli::{Cli, run};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    run(cli).unwrap_or_else(|error| {
        eprintln!("windrow: {error:#}");
        ExitCode::FAILURE
    })
}

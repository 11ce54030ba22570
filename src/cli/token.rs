//! `windrow token new`: a token for a server, shown once.

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};

use crate::monitor::{Role, new_token};

/// Make tokens for `windrow serve`.
#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Make a token, print it once, and keep its hash in a file
    New {
        /// What its holder may do
        #[arg(long, value_enum)]
        role: Role,
        /// The file of hashes; made where it is missing. A server that reads it knows the token within seconds
        #[arg(long, value_name = "FILE")]
        tokens: PathBuf,
    },
}

pub(super) fn run(args: &TokenArgs, json: bool) -> anyhow::Result<ExitCode> {
    let TokenCommand::New { role, tokens } = &args.command;
    let token = new_token(tokens, *role)?;
    if json {
        println!("{}", serde_json::json!({ "token": token, "role": role, "file": tokens }));
    } else {
        println!("{token}");
        eprintln!("Keep it: it is not shown again, and {} holds only its hash.", tokens.display());
    }
    Ok(ExitCode::SUCCESS)
}

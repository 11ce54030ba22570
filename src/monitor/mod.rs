//! The monitor: many crawls in one process, watched and steered by REST and from a browser.
//!
//! | question | file |
//! |---|---|
//! | What does a crawl need to be started, paused, stopped, kept over a restart? | `crawls/` |
//! | What is said to whom, in which form? | `api/` (a file for each resource), `wire/` (the forms) |
//! | Who may ask? | `guard`, `auth`, `tokens` |
//! | What is noticed over time? | `ticker`, `crawls/tally`, `alerts`, `schedule`, `metrics` |
//!
//! Promises: a crawl's end, error or panic touches no other crawl; what ran when the server ended runs again when it starts;
//! no request reads a whole table into memory; without tokens only this machine is answered; a topic that comes by request
//! names no place in the file system.
//! Never: changes what a crawl does unless it is told to, keeps a token (only its hash), asks another machine for fonts,
//! scripts or styles.

mod alerts;
mod api;
mod app;
mod auth;
mod console;
mod crawls;
mod extract;
mod files;
mod guard;
mod metrics;
mod options;
mod problem;
mod schedule;
mod server;
mod ticker;
mod tokens;
mod uploads;
mod watched;
mod wire;

pub use api::openapi;
pub use crawls::{Source, TheWeb, Webs};
pub use options::{Options, OptionsError};
pub use server::{Server, Watched, one_crawl};
pub use tokens::{Role, TokenError, new_token};

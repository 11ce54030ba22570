//! Manners: may this URL be fetched, and when.
//!
//! Promises: robots.txt is obeyed as RFC 9309 says; no host and no server
//! address is asked before its delay has passed; a server that says it is
//! overloaded is left alone for as long as it asks, or longer each time.
//! Never: sends a request (`fetch`), reads a clock or draws a random number:
//! both are handed in, so that a replayed crawl is polite in virtual time.

mod bandwidth;
mod config;
mod pace;
mod paces;
mod pattern;
mod retry_after;
mod robots;
mod tag;

pub use bandwidth::Bandwidth;
pub use config::{PaceConfig, PaceConfigError};
pub use pace::{Ledger, Pace, Reply};
pub use paces::Paces;
pub use retry_after::retry_after;
pub use robots::{MAX_ROBOTS_BYTES, Robots, Verdict, robots_text};
pub use tag::x_robots_tag;

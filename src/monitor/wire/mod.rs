//! The forms of what is said over REST: what `/api/openapi.json` describes.
//!
//! Promises: field names are those of the interface; times are RFC 3339 in UTC; a list is a [`List`].

mod crawl;
mod learn;
mod rows;
mod server;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use crawl::*;
pub use learn::*;
pub use rows::*;
pub use server::*;

/// A part of a list.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct List<T> {
    pub items: Vec<T>,
    /// Where the next part begins; `null` at the end. A part may hold fewer items than asked for, even none, before the end.
    pub next: Option<String>,
}

impl<T> List<T> {
    pub fn whole(items: Vec<T>) -> Self {
        Self { items, next: None }
    }
}

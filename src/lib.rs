//! windrow: a focused crawler that learns its topic while it crawls.
pub mod fetch;
pub mod page;
pub mod report;
pub mod store;
pub mod text;
pub mod url;

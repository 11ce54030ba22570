//! windrow: a focused crawler that learns its topic while it crawls.
pub mod cli {
    pub mod topic;
}
pub mod fetch;
pub mod page;
pub mod store;
pub mod text;
pub mod topic;
pub mod url;

//! windrow: a focused crawler that learns its topic while it crawls.
pub mod fetch;
pub mod frontier;
pub mod link_classifier;
pub mod page;
pub mod page_classifier;
pub mod store;
pub mod text;
pub mod topic;
pub mod topical_rank;
pub mod url;

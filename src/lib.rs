//! windrow: a focused crawler that learns its topic while it crawls.
pub mod cli;
pub mod config;
pub mod engine;
pub mod evaluation;
pub mod fetch;
pub mod frontier;
pub mod link_classifier;
pub mod page;
pub mod page_classifier;
pub mod parse;
pub mod politeness;
pub mod report;
pub mod store;
pub mod text;
pub mod topic;
pub mod topical_rank;
pub mod url;

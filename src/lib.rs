//! windrow: a focused crawler that learns its topic while it crawls.
pub mod fetch;
pub mod page;
pub mod report;
pub mod store;
pub mod text;
pub mod url;

pub mod text;

pub mod page;

pub mod topic;

pub mod fetch;
pub mod parse;
pub mod politeness;

pub mod link_classifier;
pub mod page_classifier;
pub mod topical_rank;

pub mod frontier;

pub mod store;

pub mod report;

pub mod engine;

pub mod config;

pub mod evaluation;

pub mod cli;

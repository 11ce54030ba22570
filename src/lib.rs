//! windrow: a focused crawler that learns its topic while it crawls.
//!
//! A page's journey, top to bottom:
//!
//! 1. A [`topic`] gives keywords, seeds and limits; [`config`] makes a plan of it.
//! 2. The [`frontier`] hands out the most wanted [`url`] whose host may be asked, as [`politeness`] says.
//! 3. [`fetch`] asks the live web or a recorded one; whatever happens is an answer.
//! 4. [`parse`] turns bytes into a [`page`]: text cut into words by [`text`], links with their context.
//! 5. The [`page_classifier`] judges it: how sure is it that this is the topic?
//! 6. The [`engine`] takes the visit in. The [`link_classifier`] learns what came of the link that led here and
//!    estimates where the new links lead; [`topical_rank`] spreads relevance over the link graph; both give the
//!    frontier new priorities. What does not fit in memory, [`spill`] keeps in temporary files.
//! 7. The [`store`] commits all of it at once, the page's bytes to a WARC archive.
//! 8. [`models`] are trained before a crawl, or from one, and kept with a card.
//! 9. The [`report`] tells what was found and why; [`export`] hands it to other programs. [`evaluation`] compares crawl orders with labels from outside,
//!    which nothing above can see.
//! 10. A crawl's folder is opened by a [`session`]; the [`monitor`] runs many of them and answers browsers and programs. [`cli`] is
//!     what the user types.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used))]

pub mod disk;
pub mod spill;
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

pub mod models;

pub mod frontier;

pub mod store;

pub mod report;

pub mod export;

pub mod engine;

pub mod config;

pub mod session;

pub mod monitor;

pub mod evaluation;

pub mod cli;

//! `windrow serve`: crawls made, paused, steered, labelled and deleted over REST; who may do so; what survives.
//!
//! Servers listen on ports that the system picks; waiting is polling with a deadline that only a dead server meets.

mod access;
mod crawls;
mod description;
mod here;
mod others;
mod rows;
mod schedules;
mod survival;

//! From the client's errors to [`Failure`]s.
//!
//! Promises: every error becomes the failure that says what a reader can act
//! on, with the innermost cause in words and without the URL.

use std::{error::Error, io, iter::successors};

use crate::fetch::Failure;

/// What was going on when an error came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    Headers,
    Body,
}

/// The failure behind an error.
pub(super) fn failure(error: &reqwest::Error, stage: Stage) -> Failure {
    let words = causes(error).last().map_or_else(|| error.to_string(), ToString::to_string);
    for cause in causes(error) {
        if let Some(known) = cause.downcast_ref::<Failure>() {
            return known.clone();
        }
        if let Some(found) = cause.downcast_ref::<io::Error>().and_then(|error| from_io(error, &words, stage)) {
            return found;
        }
        if cause.is::<rustls::Error>() {
            return Failure::Tls(words);
        }
        if let Some(error) = cause.downcast_ref::<hyper::Error>() {
            if error.is_parse() {
                return Failure::Protocol(words);
            }
            if error.is_incomplete_message() {
                return Failure::Broken(words);
            }
        }
    }
    match (error.is_timeout(), error.is_connect()) {
        (true, true) => Failure::Timeout("connecting"),
        (true, false) => Failure::Timeout("waiting for the answer"),
        (false, true) => Failure::Connect(words),
        (false, false) => Failure::Broken(words),
    }
}

/// Whether a body ended before its declared end, but in good order.
pub(super) fn is_early_end(error: &reqwest::Error) -> bool {
    causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>()).any(|error| error.kind() == io::ErrorKind::UnexpectedEof)
}

/// What an error was caused by, the innermost cause last.
fn causes(error: &reqwest::Error) -> impl Iterator<Item = &(dyn Error + 'static)> {
    successors(error.source(), |&cause| cause.source())
}

fn from_io(error: &io::Error, words: &str, stage: Stage) -> Option<Failure> {
    // An io::Error passes its inner error's source on, never the inner error itself, and may hold another io::Error.
    if let Some(inner) = error.get_ref() {
        if let Some(nested) = inner.downcast_ref::<io::Error>() {
            return from_io(nested, words, stage);
        }
        if let Some(known) = inner.downcast_ref::<Failure>() {
            return Some(known.clone());
        }
        if inner.is::<rustls::Error>() {
            return Some(Failure::Tls(inner.to_string()));
        }
    }
    match (error.kind(), stage) {
        (io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData, Stage::Body) => Some(Failure::Protocol(words.to_owned())),
        (io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionAborted | io::ErrorKind::BrokenPipe, _) => {
            Some(Failure::Broken(words.to_owned()))
        }
        _ => None,
    }
}

//! Numbers and scope of a topic file: in range, and spelt as the crawl compares them.

use super::{error::TopicError, file::TopicFile, source::Source};
use crate::url::{ScopeConfig, ScopeError, canonicalize, host_of, registrable_domain};

/// The deepest tunnel that may be asked for.
const MAX_TUNNEL_DEPTH: u8 = 8;

/// # Errors
/// The first number that is out of its range.
pub(super) fn check_numbers(file: &TopicFile, source: &Source) -> Result<(), TopicError> {
    let checks = [
        ("threshold", file.threshold.is_none_or(|given| (0.0..=1.0).contains(&given)), "must lie between 0 and 1; 0.5 is usual"),
        ("tunnel.depth", file.tunnel.depth <= MAX_TUNNEL_DEPTH, "must lie between 0 and 8; 3 is usual, 0 turns tunnelling off"),
        (
            "stop.harvest_below.rate",
            file.stop.harvest_below.is_none_or(|floor| floor.rate > 0.0 && floor.rate <= 1.0),
            "is a share of pages: above 0 and at most 1, such as 0.05",
        ),
        (
            "stop.harvest_below.over",
            file.stop.harvest_below.is_none_or(|floor| floor.over > 0),
            "is a number of pages: at least 1, such as 500",
        ),
    ];
    match checks.iter().find(|(_, holds, _)| !holds) {
        None => Ok(()),
        Some((key, _, problem)) => {
            Err(TopicError::Value { place: source.place(key), key: (*key).to_owned(), problem: (*problem).to_owned() })
        }
    }
}

/// The scope with its hosts in the spelling of canonical URLs and its sites as registrable domains.
///
/// # Errors
/// An entry of `hosts` or `sites` that is no host name.
pub(super) fn canonical_scope(scope: &ScopeConfig, source: &Source) -> Result<ScopeConfig, TopicError> {
    let canonical = |names: &[String], key: &'static str| {
        let names = names.iter().enumerate();
        names
            .map(|(at, name)| canonical_host(name).ok_or_else(|| not_a_host(name, key, at, source)))
            .collect::<Result<Vec<_>, _>>()
    };
    let sites = canonical(&scope.sites, "scope.sites")?;
    Ok(ScopeConfig {
        hosts: canonical(&scope.hosts, "scope.hosts")?,
        sites: sites.iter().map(|host| registrable_domain(host).to_owned()).collect(),
        ..scope.clone()
    })
}

fn canonical_host(name: &str) -> Option<String> {
    if name.contains(|c: char| matches!(c, '/' | ':' | '@' | '?' | '#' | '*') || c.is_whitespace()) {
        return None;
    }
    canonicalize(&format!("http://{name}/"), None).ok().map(|url| host_of(&url).to_owned())
}

fn not_a_host(name: &str, key: &str, at: usize, source: &Source) -> TopicError {
    let host = canonicalize(name, None).ok().map(|url| host_of(&url).to_owned());
    let example = host.unwrap_or_else(|| "www.example.com".to_owned());
    let problem = format!("{name:?} is not a host name: write only the name, as in {example:?}");
    TopicError::Value { place: source.place_in(key, at), key: key.to_owned(), problem }
}

/// Adds the place to a pattern that does not compile.
pub(super) fn scope_error(error: ScopeError, source: &Source) -> TopicError {
    let ScopeError::Pattern { key, .. } = &error;
    TopicError::Scope { place: source.place(&format!("scope.{key}")), source: error }
}

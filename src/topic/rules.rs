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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{topic::Topic, url::Url};

    fn parse(text: &str) -> Result<Topic, String> {
        let text = format!("keywords = [\"rice\"]\nseeds = [\"http://www.e.com/\"]\n{text}");
        Topic::parse(&text, Path::new("t.toml")).map_err(|error| error.to_string())
    }

    #[test]
    fn numbers_out_of_range_are_refused_at_their_place() {
        for (text, start) in [
            ("threshold = 1.5", "t.toml:3:13: threshold: must lie between 0 and 1"),
            ("threshold = nan", "t.toml:3:13: threshold: must"),
            ("[tunnel]\ndepth = 9", "t.toml:4:9: tunnel.depth: must lie between 0 and 8"),
            ("[stop]\nharvest_below = { rate = 0, over = 5 }", "t.toml:4:26: stop.harvest_below.rate: is a share"),
            ("[stop]\nharvest_below = { rate = 0.1, over = 0 }", "t.toml:4:38: stop.harvest_below.over: is a number"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(start), "{error}");
        }
    }

    #[test]
    fn hosts_and_sites_are_spelt_as_urls_spell_them() {
        let topic = parse("[scope]\nsites = [\"WWW.Example.com\", \"农业.cn\"]").unwrap();
        assert_eq!(topic.scope_config().sites, ["example.com", "xn--vhq58f.cn"]);
        assert!(topic.scope().admits(&Url::parse("http://bbs.example.com/x").unwrap(), 1).is_ok());
        assert!(topic.scope().admits(&Url::parse("http://example.org/x").unwrap(), 1).is_err());
    }

    #[test]
    fn a_url_among_the_hosts_is_refused_with_its_host() {
        let error = parse("[scope]\nhosts = [\"e.com\", \"http://www.e.com/rice\"]").unwrap_err();
        assert!(error.starts_with("t.toml:4:19: scope.hosts: \"http://www.e.com/rice\" is not a host name"), "{error}");
        assert!(error.ends_with("as in \"www.e.com\""), "{error}");
    }

    #[test]
    fn a_pattern_that_does_not_compile_is_placed() {
        let error = parse("[scope]\nexclude = [\"(\"]").unwrap_err();
        assert!(error.starts_with("t.toml:4:11: scope.exclude: "), "{error}");
    }
}

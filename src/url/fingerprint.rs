//! The URL-seen key: 64 bits, high 24 from the host, low 40 from the whole URL
//! (after Heritrix's `BdbUriUniqFilter`), so that one host's keys lie together on disk.
//!
//! URLs that differ only in scheme, default port, trailing slash, index file or the order of their parameters
//! share a fingerprint: they are one page nearly always, and a crawler that
//! fetches both has wasted a request.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Url, host::authority};

/// Identity of a page's address; stable across runs and machines (xxh3).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fingerprint(pub u64);

const URL_BITS: u32 = 40;

impl Fingerprint {
    /// The fingerprint of a canonical URL.
    #[must_use]
    pub fn of(url: &Url) -> Self {
        Self::of_parts(authority(url), url.path(), url.query())
    }

    /// The same from the text of a canonical URL, which is not parsed for it; `None` where it can be none.
    #[must_use]
    pub fn of_text(url: &str) -> Option<Self> {
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
        let (authority, rest) = rest.split_at(rest.find('/')?);
        let authority = authority.strip_suffix(":80").or_else(|| authority.strip_suffix(":443")).unwrap_or(authority);
        let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
        let (path, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
        Some(Self::of_parts(authority.to_owned(), path, query)).filter(|_| !authority.contains(['@', '?', '#']))
    }

    fn of_parts(authority: String, path: &str, query: Option<&str>) -> Self {
        let host = xxh3_64(authority.as_bytes()) >> URL_BITS;
        let whole = xxh3_64(key(authority, path, query).as_bytes()) & ((1 << URL_BITS) - 1);
        Self(host << URL_BITS | whole)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

const INDEX_FILES: &[&str] =
    &["index.html", "index.htm", "index.shtml", "index.php", "index.asp", "default.html", "default.htm", "default.asp"];

/// The text that two spellings of one page share: no scheme, no default port, no trailing slash, no index file, and
/// the parameters of the query in one order, each once.
#[must_use]
pub fn same_page_key(url: &Url) -> String {
    key(authority(url), url.path(), url.query())
}

fn key(mut key: String, path: &str, query: Option<&str>) -> String {
    let file_at = path.rfind('/').map_or(0, |slash| slash + 1);
    let path = if query.is_none() && INDEX_FILES.iter().any(|index| path[file_at..].eq_ignore_ascii_case(index)) {
        &path[..file_at]
    } else {
        path
    };
    key.push_str(path.trim_end_matches('/'));
    if let Some(query) = query {
        let mut parameters: Vec<&str> = query.split('&').collect();
        parameters.sort_unstable();
        parameters.dedup();
        key.push('?');
        key.push_str(&parameters.join("&"));
    }
    key
}

/// Arash Partow's hash, by which the literature assigns a URL to one of n queues (systems.md 1).
#[must_use]
pub fn aphash(text: &str) -> u32 {
    text.bytes().enumerate().fold(0xAAAA_AAAA_u32, |hash, (i, c)| {
        let c = u32::from(c);
        hash ^ if i % 2 == 0 { (hash << 7) ^ c ^ (hash >> 3) } else { !((hash << 11) ^ c ^ (hash >> 5)) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn print(url: &str) -> Fingerprint {
        Fingerprint::of(&Url::parse(url).unwrap())
    }

    #[test]
    fn scheme_port_slash_and_index_file_do_not_make_a_new_page() {
        for same in ["https://e.com/a/", "http://e.com:80/a", "http://e.com/a/index.html", "http://e.com/a/index.php"] {
            assert_eq!(print("http://e.com/a"), print(same), "{same}");
            assert_eq!(Fingerprint::of_text(same), Some(print(same)), "{same}");
        }
        for other in ["http://e.com/b", "http://e.com/a?x=1", "http://e.com:8080/a", "http://www.e.com/a", "http://e.com/a/b"] {
            assert_ne!(print("http://e.com/a"), print(other), "{other}");
        }
    }

    #[test]
    fn the_text_of_a_url_gives_its_fingerprint() {
        for text in [
            "http://e.com/",
            "https://e.com:443/a/index.html",
            "http://[::1]:80/?",
            "http://e.com:8080/a?y=2&x=1#?/@:80",
            "http://e.com:443/a@b",
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!(Fingerprint::of_text(url.as_str()), Some(Fingerprint::of(&url)), "{text}");
        }
        for none in ["", "ftp://e.com/", "http://e.com", "http://user@e.com/", "about:blank", "http://e.com?x/"] {
            assert_eq!(Fingerprint::of_text(none), None, "{none}");
        }
    }

    #[test]
    fn permuted_queries_are_one_page() {
        assert_eq!(print("http://e.com/a?x=1&y=2"), print("http://e.com/a?y=2&x=1&y=2"));
        assert_ne!(print("http://e.com/a?x=1&y=2"), print("http://e.com/a?x=2&y=1"));
    }

    #[test]
    fn urls_of_one_host_share_the_high_bits() {
        assert_eq!(print("http://e.com/a").0 >> URL_BITS, print("https://e.com/z?q").0 >> URL_BITS);
        assert_ne!(print("http://e.com/a").0 >> URL_BITS, print("http://f.com/a").0 >> URL_BITS);
    }

    #[test]
    fn aphash_spreads_one_site_over_its_queues() {
        let mut queues = [0_u32; 50];
        for page in 0..5_000 {
            queues[aphash(&format!("http://e.com/news/{page}.html")) as usize % 50] += 1;
        }
        assert!(queues.iter().all(|&n| (50..200).contains(&n)), "{queues:?}");
    }
}

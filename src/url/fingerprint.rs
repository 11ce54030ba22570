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
        let host = xxh3_64(authority(url).as_bytes()) >> URL_BITS;
        let whole = xxh3_64(same_page_key(url).as_bytes()) & ((1 << URL_BITS) - 1);
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
    let mut key = authority(url);
    let path = url.path();
    let file_at = path.rfind('/').map_or(0, |slash| slash + 1);
    let path = if url.query().is_none() && INDEX_FILES.iter().any(|index| path[file_at..].eq_ignore_ascii_case(index)) {
        &path[..file_at]
    } else {
        path
    };
    key.push_str(path.trim_end_matches('/'));
    if let Some(query) = url.query() {
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
        }
        for other in ["http://e.com/b", "http://e.com/a?x=1", "http://e.com:8080/a", "http://www.e.com/a", "http://e.com/a/b"] {
            assert_ne!(print("http://e.com/a"), print(other), "{other}");
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

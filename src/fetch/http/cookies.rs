//! Cookies within bounds.
//!
//! Promises: what a server can make the crawler remember is limited per cookie,
//! per host and over all hosts. Lives as long as the fetcher, is never stored.

use std::sync::{Mutex, PoisonError};

use reqwest::{
    cookie::{CookieStore, Jar},
    header::HeaderValue,
};
use rustc_hash::{FxHashMap, FxHashSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::url::Url;

/// What RFC 6265 (6.1) asks clients to support at least.
const MAX_COOKIE_BYTES: usize = 4_096;
const MAX_PER_HOST: usize = 20;
const MAX_HOSTS: usize = 10_000;

/// A jar that refuses what goes beyond its bounds.
#[derive(Default)]
pub(super) struct BoundedJar {
    jar: Jar,
    /// Hashed cookie names by host.
    names: Mutex<FxHashMap<String, FxHashSet<u64>>>,
}

impl BoundedJar {
    fn accepts(&self, cookie: &HeaderValue, url: &Url) -> bool {
        let bytes = cookie.as_bytes();
        let Some(host) = url.host_str().filter(|_| bytes.len() <= MAX_COOKIE_BYTES) else { return false };
        let name = xxh3_64(bytes.split(|&byte| byte == b'=').next().unwrap_or_default());
        let mut hosts = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if !hosts.contains_key(host) && hosts.len() >= MAX_HOSTS {
            return false;
        }
        let names = hosts.entry(host.to_owned()).or_default();
        names.contains(&name) || (names.len() < MAX_PER_HOST && names.insert(name))
    }
}

impl CookieStore for BoundedJar {
    fn set_cookies(&self, cookies: &mut dyn Iterator<Item = &HeaderValue>, url: &Url) {
        self.jar.set_cookies(&mut cookies.filter(|cookie| self.accepts(cookie, url)), url);
    }

    fn cookies(&self, url: &Url) -> Option<HeaderValue> {
        self.jar.cookies(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_cookies_is_cut() {
        let (jar, url) = (BoundedJar::default(), Url::parse("http://e.com/").unwrap());
        let receive = |cookies: Vec<String>| {
            let values: Vec<HeaderValue> = cookies.iter().map(|cookie| cookie.parse().unwrap()).collect();
            jar.set_cookies(&mut values.iter(), &url);
        };
        receive((0..1_000).map(|n| format!("c{n}=1; Path=/")).collect());
        receive(vec![format!("huge={}", "x".repeat(5_000)), "c3=2".to_owned()]);
        let header = jar.cookies(&url).unwrap();
        let sent = header.to_str().unwrap();
        assert_eq!(sent.split("; ").count(), MAX_PER_HOST);
        assert!(sent.contains("c3=2") && !sent.contains("huge"));
    }
}

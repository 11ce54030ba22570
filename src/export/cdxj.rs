//! CDXJ: one line per capture, `KEY TIMESTAMP {JSON}`, as pywb and other replayers read it.
//!
//! Promises: keys are SURTs as the `surt` library makes them of http addresses (host reversed, `www.` and the default port
//! dropped, lower case, parameters in order).

use std::fmt::Write;

use serde_json::json;

use crate::url::Url;

/// What an index says of one capture.
#[derive(Debug, Clone)]
pub(super) struct Indexed {
    pub url: String,
    /// RFC 3339, whole seconds, UTC.
    pub date: String,
    pub mime: String,
    pub status: u16,
    /// `sha1:` and base32, as in the record.
    pub digest: String,
    pub length: u64,
    pub offset: u64,
    pub file: String,
    pub is_revisit: bool,
}

impl Indexed {
    /// The line, without its end.
    pub fn line(&self) -> String {
        let digits: String = self.date.chars().filter(char::is_ascii_digit).collect();
        let mime = if self.is_revisit { "warc/revisit" } else { self.mime.as_str() };
        let fields = json!({
            "url": self.url, "mime": mime, "status": self.status.to_string(), "digest": self.digest,
            "length": self.length.to_string(), "offset": self.offset.to_string(), "filename": self.file,
        });
        format!("{} {digits} {fields}", surt(&self.url))
    }
}

/// The key that a URL is looked up by.
pub(super) fn surt(address: &str) -> String {
    let Ok(url) = Url::parse(address) else { return address.to_lowercase() };
    let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
    let mut key = match url.host() {
        Some(url::Host::Domain(_) | url::Host::Ipv4(_)) => {
            let mut labels: Vec<&str> = without_www(&host).split('.').collect();
            labels.reverse();
            labels.join(",")
        }
        _ => host.clone(),
    };
    if let Some(port) = url.port() {
        // Writing to a string does not fail.
        let _ = write!(key, ":{port}");
    }
    key.push(')');
    let mut path = url.path().to_lowercase();
    while path.contains("//") {
        path = path.replace("//", "/");
    }
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path.as_str() };
    key.push_str(if path.is_empty() { "/" } else { path });
    if let Some(query) = url.query().filter(|query| !query.is_empty()) {
        let lower = query.to_lowercase();
        let mut parameters: Vec<&str> = lower.split('&').collect();
        parameters.sort_by_key(|parameter| parameter.split_once('=').unwrap_or((parameter, "")));
        key.push('?');
        key.push_str(&parameters.join("&"));
    }
    key
}

/// The host without a leading `www.` or `www2.`.
fn without_www(host: &str) -> &str {
    let rest = host.strip_prefix("www").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.and_then(|rest| rest.strip_prefix('.')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_those_of_the_surt_library() {
        // Made with Python's surt 0.3.1.
        for (url, key) in [
            ("http://www.Example.com/", "com,example)/"),
            ("https://example.com/A/b.html?z=1&Y=2", "com,example)/a/b.html?y=2&z=1"),
            ("http://www2.example.co.uk:8080/dir/", "uk,co,example:8080)/dir"),
            ("http://192.0.2.7/x", "7,2,0,192)/x"),
            ("http://e.com/a//b/?", "com,e)/a/b"),
            ("http://e.com/a?a-b=1&a=2&%E6%B0%B4", "com,e)/a?%e6%b0%b4&a=2&a-b=1"),
            ("http://www.com/", "com)/"),
            ("http://example.com", "com,example)/"),
        ] {
            assert_eq!(surt(url), key, "{url}");
        }
    }

    #[test]
    fn a_line_has_key_time_and_fields() {
        let indexed = Indexed {
            url: "http://e.com/a".into(),
            date: "2026-11-21T00:00:00Z".into(),
            mime: "text/html".into(),
            status: 200,
            digest: "sha1:ABC".into(),
            length: 5,
            offset: 7,
            file: "x.warc.gz".into(),
            is_revisit: false,
        };
        let line = indexed.line();
        let (key, rest) = line.split_once(' ').unwrap();
        let (time, fields) = rest.split_once(' ').unwrap();
        let fields: serde_json::Value = serde_json::from_str(fields).unwrap();
        assert_eq!((key, time, &fields["offset"], &fields["status"]), ("com,e)/a", "20261121000000", &"7".into(), &"200".into()));
    }
}

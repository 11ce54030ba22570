//! One spelling for one address.
//!
//! Parsing follows the WHATWG URL standard (the `url` crate): case, default
//! port, dot segments and IDN are settled there. On top of it come the rules a
//! crawler needs: no fragment, no credentials, no session or tracking
//! parameters, one way to write a percent escape.

use std::fmt::Write as _;

use super::Url;

/// Longest URL that is kept, in bytes; longer ones are nearly always traps.
pub const MAX_URL_BYTES: usize = 2_048;

/// Why a link's text is not an address that can be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    #[error("not a URL that can be parsed")]
    Malformed,
    #[error("scheme is neither http nor https")]
    Scheme,
    #[error("no host")]
    NoHost,
    #[error("longer than {MAX_URL_BYTES} bytes")]
    TooLong,
}

/// Query parameters that name a visitor or a campaign, never a page.
const DROPPED_PARAMETERS: &[&str] = &[
    "phpsessid",
    "jsessionid",
    "aspsessionid",
    "sessionid",
    "session_id",
    "sid",
    "gclid",
    "fbclid",
    "msclkid",
    "yclid",
    "dclid",
    "_ga",
    "mc_cid",
    "mc_eid",
    "spm",
    "utm_source",
    "utm_medium",
    "utm_campaign",
    "utm_term",
    "utm_content",
    "utm_id",
];

/// Parses `href`, relative to `base` where there is one, into its canonical form.
///
/// # Errors
/// [`UrlError`] says why the text cannot be fetched; the caller counts it and goes on.
pub fn canonicalize(href: &str, base: Option<&Url>) -> Result<Url, UrlError> {
    if href.len() > MAX_URL_BYTES {
        return Err(UrlError::TooLong);
    }
    let parsed = match base {
        Some(base) => base.join(href.trim()),
        None => Url::parse(href.trim()),
    };
    let mut url = parsed.map_err(|_| UrlError::Malformed)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlError::Scheme);
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(UrlError::NoHost);
    }
    url.set_fragment(None);
    // Both setters fail only on URLs without a host, which were refused above.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    settle_escapes(&mut url);
    drop_session_segment(&mut url);
    settle_query(&mut url);
    if url.as_str().len() > MAX_URL_BYTES {
        return Err(UrlError::TooLong);
    }
    Ok(url)
}

/// Cuts `;jsessionid=…` off the path.
fn drop_session_segment(url: &mut Url) {
    if !url.path().contains(';') {
        return;
    }
    let lower = url.path().to_ascii_lowercase();
    if let Some(at) = lower.find(";jsessionid=") {
        let kept = url.path()[..at].to_owned();
        url.set_path(&kept);
    }
}

/// Decodes escapes of unreserved characters and writes the rest in capitals (RFC 3986, 6.2.2).
fn settle_escapes(url: &mut Url) {
    // What one escape stands for may complete another (`%%34%31`), so it takes rounds; each makes the path shorter.
    while url.path().contains('%') {
        let settled = settled(url.path());
        if settled == url.path() {
            return;
        }
        url.set_path(&settled);
    }
}

fn settled(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%').then(|| bytes.get(at + 1..at + 3)).flatten();
        let escape = escape.filter(|hex| hex.iter().all(u8::is_ascii_hexdigit));
        let value = escape.and_then(|hex| std::str::from_utf8(hex).ok()).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match value {
            Some(value) if value.is_ascii_alphanumeric() || matches!(value, b'-' | b'.' | b'_' | b'~') => {
                out.push(char::from(value));
                at += 3;
            }
            Some(value) => {
                // Writing to a string cannot fail.
                let _ = write!(out, "%{value:02X}");
                at += 3;
            }
            None => {
                // A URL that was parsed is ASCII.
                out.push(char::from(bytes[at]));
                at += 1;
            }
        }
    }
    out
}

/// Drops tracking parameters and an empty query; keeps the order of the rest, which some sites depend on.
fn settle_query(url: &mut Url) {
    let Some(query) = url.query() else { return };
    let kept: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !is_dropped(pair)).collect();
    let kept = kept.join("&");
    if kept.is_empty() {
        url.set_query(None);
    } else if kept != query {
        url.set_query(Some(&kept));
    }
}

fn is_dropped(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or(pair);
    DROPPED_PARAMETERS.iter().any(|dropped| name.eq_ignore_ascii_case(dropped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canonical(href: &str) -> String {
        canonicalize(href, None).unwrap().to_string()
    }

    #[test]
    fn spellings_of_one_address_become_one() {
        assert_eq!(canonical("HTTP://Example.COM:80/a/../b/./c#top"), "http://example.com/b/c");
        assert_eq!(canonical("http://user:pw@example.com"), "http://example.com/");
        assert_eq!(canonical("http://example.com/%7euser/%e4%b8%ad"), "http://example.com/~user/%E4%B8%AD");
        assert_eq!(canonical("http://农业.cn/"), "http://xn--vhq58f.cn/");
    }

    #[test]
    fn session_and_tracking_parameters_are_dropped_and_the_rest_kept_in_order() {
        assert_eq!(canonical("http://e.com/a;jsessionid=1F?utm_source=x&b=2&a=1&PHPSESSID=9"), "http://e.com/a?b=2&a=1");
        assert_eq!(canonical("http://e.com/a?"), "http://e.com/a");
    }

    #[test]
    fn a_canonical_form_is_its_own_canonical_form() {
        for found in ["http://e.com/%%34%31", "http://e.com/%+1", "http://e.com/a;%6Asessionid=1", "http://e.com/a/%%32e/b"] {
            let once = canonical(found);
            assert_eq!(canonical(&once), once, "{found}");
        }
    }

    #[test]
    fn relative_links_are_joined_to_their_base() {
        let base = Url::parse("http://e.com/x/y.html").unwrap();
        assert_eq!(canonicalize("../z?q=1#f", Some(&base)).unwrap().as_str(), "http://e.com/z?q=1");
    }

    #[test]
    fn what_cannot_be_fetched_says_why() {
        assert_eq!(canonicalize("javascript:void(0)", None), Err(UrlError::Scheme));
        assert_eq!(canonicalize("mailto:a@b.c", None), Err(UrlError::Scheme));
        assert_eq!(canonicalize("/relative", None), Err(UrlError::Malformed));
        assert_eq!(canonicalize(&format!("http://e.com/{}", "a".repeat(3000)), None), Err(UrlError::TooLong));
    }
}

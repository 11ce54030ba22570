//! Hosts, and the sites they belong to.

use super::Url;

/// Host and, where it is not the scheme's default, port: what one server's queue is named by.
#[must_use]
pub fn authority(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) if !matches!(port, 80 | 443) => format!("{host}:{port}"),
        _ => host.to_owned(),
    }
}

/// The host of a canonical URL; never empty for one that came out of `canonicalize`.
#[must_use]
pub fn host_of(url: &Url) -> &str {
    url.host_str().unwrap_or_default()
}

/// The registrable domain (public suffix list), or the host itself where there is none (an address, `localhost`).
#[must_use]
pub fn registrable_domain(host: &str) -> &str {
    if host.parse::<std::net::IpAddr>().is_ok() || host.starts_with('[') {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

/// The site of a URL: its host's registrable domain.
#[must_use]
pub fn site_of(url: &Url) -> &str {
    registrable_domain(host_of(url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn big_sites_give_each_section_its_own_host_but_one_domain() {
        assert_eq!(registrable_domain("news.nongye.com.cn"), "nongye.com.cn");
        assert_eq!(registrable_domain("a.b.co.uk"), "b.co.uk");
        assert_eq!(registrable_domain("127.0.0.1"), "127.0.0.1");
        assert_eq!(registrable_domain("localhost"), "localhost");
    }
}

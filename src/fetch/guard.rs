//! Which addresses a crawler has no business with.
//!
//! Promises: an address that is not part of the public internet is told from
//! one that is, whatever form it is wrapped in (mapped, NAT64, 6to4).
//! Never: resolves names; `dns` asks here about each address it found.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::url::Url;

/// Whether an address is loopback, private, link-local (cloud metadata included), multicast, or otherwise not public.
///
/// After the IANA special-purpose registries (RFC 6890 and its updates).
pub(super) fn is_private(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_private_v4(address),
        IpAddr::V6(address) => embedded_v4(address).map_or_else(|| is_private_v6(address), is_private_v4),
    }
}

/// The private address that a URL names itself, as a literal or as `localhost`.
pub(super) fn private_literal(url: &Url) -> Option<IpAddr> {
    let address = literal(url).or_else(|| match url.host()? {
        url::Host::Domain(name) => is_localhost(name).then_some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        _ => None,
    })?;
    is_private(address).then_some(address)
}

/// The address that a URL has instead of a host name. Its parser has settled decimal, octal and hexadecimal forms.
pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    match url.host()? {
        url::Host::Ipv4(address) => Some(IpAddr::V4(address)),
        url::Host::Ipv6(address) => Some(IpAddr::V6(address)),
        url::Host::Domain(_) => None,
    }
}

fn is_localhost(name: &str) -> bool {
    let name = name.strip_suffix('.').unwrap_or(name);
    name.rsplit('.').next().is_some_and(|last| last.eq_ignore_ascii_case("localhost"))
}

fn is_private_v4(address: Ipv4Addr) -> bool {
    match address.octets() {
        [100, second, ..] => (64..128).contains(&second),
        [172, second, ..] => (16..32).contains(&second),
        [192, second, third, _] => second == 168 || (second == 0 && matches!(third, 0 | 2)),
        [198, second, third, _] => matches!(second, 18 | 19) || (second == 51 && third == 100),
        [203, second, third, _] => second == 0 && third == 113,
        [169, second, ..] => second == 254,
        [first, ..] => matches!(first, 0 | 10 | 127 | 224..=255),
    }
}

fn is_private_v6(address: Ipv6Addr) -> bool {
    match address.segments() {
        // Local-use NAT64; discard-only.
        [0x64, 0xff9b, third, ..] => third == 1,
        [0x100, rest @ ..] => rest[..3] == [0, 0, 0],
        // Teredo and the other protocol assignments; documentation, old and new.
        [0x2001, second, ..] => second < 0x200 || second == 0x0db8,
        [0x3fff, second, ..] => second < 0x1000,
        // What is reserved around loopback, segment routing, unique local (fd00:ec2::254 serves cloud metadata),
        // link-local, site-local, multicast.
        [first, ..] => matches!(first, 0 | 0x5f00 | 0xfc00..=0xfdff | 0xfe80..=0xfeff | 0xff00..),
    }
}

/// The IPv4 address that an IPv6 address stands for: mapped, compatible, NAT64 (RFC 6052) or 6to4 (RFC 3056).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            Some(v4(high, low))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_known_in_every_wrapping() {
        let private = [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.8.8.8",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.8",
            "192.168.1.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "2001:db8::1",
            "2001::1",
            "100::1",
        ];
        for address in private {
            assert!(is_private(address.parse().unwrap()), "{address}");
        }
        let public = [
            "1.1.1.1",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "192.169.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "::ffff:1.1.1.1",
            "64:ff9b::101:101",
            "2002:101:101::1",
        ];
        for address in public {
            assert!(!is_private(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn addresses_are_found_in_urls_however_they_are_written() {
        let hidden = [
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://[::1]/",
            "http://[::ffff:7f00:1]/",
            "http://localhost/",
            "http://LOCALHOST./",
            "http://a.localhost/",
            "http://169.254.169.254/latest",
            "http://127.0.0.1./",
            "http://１２７.0.0.1/",
        ];
        for url in hidden {
            assert!(private_literal(&Url::parse(url).unwrap()).is_some(), "{url}");
        }
        for url in
            ["http://1.1.1.1/", "http://localhost.example.com/", "http://example.com/127.0.0.1", "http://127.0.0.1.nip.io/"]
        {
            assert_eq!(private_literal(&Url::parse(url).unwrap()), None, "{url}");
        }
    }
}

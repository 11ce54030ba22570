//! Facts about URLs from the WHATWG standard's test data (web-platform-tests, url/resources/urltestdata.json), where
//! they apply to what a crawler fetches; fragments and credentials, which a canonical form has not, are left out.

use windrow::url::{Url, UrlError, canonicalize};

const BASE: &str = "http://example.org/foo/bar";

#[test]
fn links_are_resolved_as_the_standard_says() {
    let facts = [
        ("http://example\t.\norg", "http://example.org/"),
        ("http://user:pass@foo:21/bar;par?b#c", "http://foo:21/bar;par?b"),
        ("https://test:@test", "https://test/"),
        ("https://:@test", "https://test/"),
        ("http:foo.com", "http://example.org/foo/foo.com"),
        ("\t   :foo.com   \n", "http://example.org/foo/:foo.com"),
        (" foo.com  ", "http://example.org/foo/foo.com"),
        ("http://f:21/ b ? d # e ", "http://f:21/%20b%20?%20d%20"),
        ("http://f:/c", "http://f/c"),
        ("http://f:0/c", "http://f:0/c"),
        ("http://f:00000000000000/c", "http://f:0/c"),
        ("http://f:00000000000000000000080/c", "http://f/c"),
        ("http://f:\n/c", "http://f/c"),
        ("  ", "http://example.org/foo/bar"),
        (":foo.com/", "http://example.org/foo/:foo.com/"),
        (":", "http://example.org/foo/:"),
        (":a", "http://example.org/foo/:a"),
        (":/", "http://example.org/foo/:/"),
        (":\\", "http://example.org/foo/:/"),
        (":#", "http://example.org/foo/:"),
        ("#", "http://example.org/foo/bar"),
        ("#/", "http://example.org/foo/bar"),
        ("?", "http://example.org/foo/bar"),
        ("?a=b", "http://example.org/foo/bar?a=b"),
        ("/", "http://example.org/"),
        (":23", "http://example.org/foo/:23"),
        ("/:23", "http://example.org/:23"),
        ("\\x", "http://example.org/x"),
        ("::", "http://example.org/foo/::"),
        ("//foo/bar", "http://foo/bar"),
        ("http://foo/path;a??e#f#g", "http://foo/path;a??e"),
        ("http://foo/abcd?efgh?ijkl", "http://foo/abcd?efgh?ijkl"),
        ("[61:24:74]:98", "http://example.org/foo/[61:24:74]:98"),
        ("http:[61:27]/:foo", "http://example.org/foo/[61:27]/:foo"),
        ("http://[::127.0.0.1]", "http://[::7f00:1]/"),
        ("http://[0:0:0:0:0:0:13.1.68.3]", "http://[::d01:4403]/"),
        ("http://[2001::1]", "http://[2001::1]/"),
        ("http:/example.com/", "http://example.org/example.com/"),
        ("https:/example.com/", "https://example.com/"),
        ("https:example.com/", "https://example.com/"),
        ("/a/b/c", "http://example.org/a/b/c"),
        ("/a%2fc", "http://example.org/a%2Fc"),
        ("/a/%2f/c", "http://example.org/a/%2F/c"),
        ("#β", "http://example.org/foo/bar"),
        ("http://example.com/././foo", "http://example.com/foo"),
        ("http://example.com/./.foo", "http://example.com/.foo"),
        ("http://example.com/foo/.", "http://example.com/foo/"),
        ("http://example.com/foo/./", "http://example.com/foo/"),
        ("http://example.com/foo/bar/..", "http://example.com/foo/"),
        ("http://example.com/foo/bar/../ton", "http://example.com/foo/ton"),
        ("http://example.com/foo/bar/../ton/../../a", "http://example.com/a"),
        ("http://example.com/foo/../../..", "http://example.com/"),
        ("http://example.com/foo/../../../ton", "http://example.com/ton"),
        ("http://example.com/foo/%2e", "http://example.com/foo/"),
        ("http://example.com////../..", "http://example.com//"),
        ("http://example.com/foo/bar//../..", "http://example.com/foo/"),
        ("http://example.com/foo/bar//..", "http://example.com/foo/bar/"),
        ("http://example.com/foo", "http://example.com/foo"),
        ("http://example.com/%20foo", "http://example.com/%20foo"),
        ("http://example.com/foo%", "http://example.com/foo%"),
        ("http://example.com/foo%2", "http://example.com/foo%2"),
        ("http://example.com/foo%2zbar", "http://example.com/foo%2zbar"),
        ("http://example.com/foo\tbar", "http://example.com/foobar"),
        ("http://example.com\\\\foo\\\\bar", "http://example.com//foo//bar"),
        ("http://example.com/@asdf%40", "http://example.com/@asdf%40"),
        ("http://example.com/你好你好", "http://example.com/%E4%BD%A0%E5%A5%BD%E4%BD%A0%E5%A5%BD"),
        ("http://example.com/‥/foo", "http://example.com/%E2%80%A5/foo"),
        ("http://www.google.com/foo?bar=baz#", "http://www.google.com/foo?bar=baz"),
        ("http://www/foo/%2E/html", "http://www/foo/html"),
        ("http://host/?'", "http://host/?%27"),
        ("http://GOO\u{200b}\u{2060}\u{feff}goo.com", "http://googoo.com/"),
        ("http://www.foo。bar.com", "http://www.foo.bar.com/"),
        ("http://Ｇｏ.com", "http://go.com/"),
        ("http://你好你好", "http://xn--6qqa088eba/"),
        ("https://faß.ExAmPlE/", "https://xn--fa-hia.example/"),
        ("http://192.0x00A80001", "http://192.168.0.1/"),
        ("http://０Ｘｃ０．０２５０．０１", "http://192.168.0.1/"),
        ("http://4294967295/", "http://255.255.255.255/"),
        ("..", "http://example.org/"),
        ("../../../x", "http://example.org/x"),
        ("\\\\x\\hello", "http://x/hello"),
    ];
    let base = Url::parse(BASE).unwrap();
    for (link, resolved) in facts {
        assert_eq!(canonicalize(link, Some(&base)).map(String::from), Ok(resolved.to_owned()), "{link:?}");
    }
}

#[test]
fn what_the_standard_calls_a_failure_is_no_address() {
    let base = Url::parse(BASE).unwrap();
    for link in [
        "http://f:b/c",
        "http://f: /c",
        "http://f:fifty-two/c",
        "http://f:65536/c",
        "http://f: 21 / b ? d # e ",
        "http://[1::2]:3:4",
        "http://2001::1",
        "http://2001::1]",
        "http://[www.google.com]/",
        "http://[::1.2.3.4x]",
        "http://[::.1.2]",
        "http://a b",
        "http://a<b",
        "http://a>b",
        "http://a^b",
        "http://ho%20st/",
        "http://%zz%66%a.com",
        "http://%25",
        "http://hello%00",
        "http://256.256.256.256.256",
        "http://4294967296",
        "http://192.168.0.257",
        "http://１９２.168.0.257",
        "https://x x:12",
    ] {
        assert_eq!(canonicalize(link, Some(&base)), Err(UrlError::Malformed), "{link:?}");
    }
}

#[test]
fn other_schemes_are_no_web() {
    let base = Url::parse(BASE).unwrap();
    for link in [
        "a:\t foo.com",
        "ftp://example.com/",
        "file:///tmp/mock/path",
        "about:blank",
        "data:text/html,x",
        "javascript:x",
        "foo://",
    ] {
        assert_eq!(canonicalize(link, Some(&base)), Err(UrlError::Scheme), "{link:?}");
    }
}

//! The facts that a robots.txt reader is measured by: the cases of Google's
//! published parser test, the examples of RFC 9309, and arbitrary bytes.
//!
//! Two of Google's cases do not apply here. A URL with bare non-ASCII letters
//! does not match an escaped rule there; a `Url` is always escaped. And the rule
//! `/foo/bar/%62%61%7A` does not match `/foo/bar/baz` there, "not to be relied
//! on", while RFC 9309 (2.2.2) says that it does.

use proptest::prelude::*;

use super::*;

/// A robots.txt, and for agents and URLs whether they are allowed.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str, bool)]);

fn allowed(text: &[u8], agent: &str, url: &str) -> bool {
    let url = if url.is_empty() { "http://foo.bar" } else { url };
    Robots::parse(200, text, agent).allows(&Url::parse(url).unwrap()).allowed
}

fn hold(cases: &[Case<'_>]) {
    for (text, expected) in cases {
        for &(agent, url, expected) in *expected {
            assert_eq!(allowed(text.as_bytes(), agent, url), expected, "{agent} {url} under\n{text}");
        }
    }
}

#[test]
fn lines_and_groups_are_read_as_googles_parser_reads_them() {
    let groups = "allow: /foo/bar/\n\nuser-agent: FooBot\ndisallow: /\nallow: /x/\nuser-agent: BarBot\ndisallow: /\nallow: /y/\n\n\n\
                  allow: /w/\nuser-agent: BazBot\n\nuser-agent: FooBot\nallow: /z/\ndisallow: /\n";
    hold(&[
        ("", &[("FooBot", "", true), ("", "", true)]),
        ("user-agent: FooBot\ndisallow: /\n", &[("", "", true), ("FooBot", "", false), ("FooBot", "http://foo.bar/x/y", false)]),
        ("foo: FooBot\nbar: /\n", &[("FooBot", "http://foo.bar/x/y", true)]),
        ("user-agent FooBot\ndisallow /\n", &[("FooBot", "http://foo.bar/x/y", false)]),
        (
            groups,
            &[
                ("FooBot", "http://foo.bar/x/b", true),
                ("FooBot", "http://foo.bar/z/d", true),
                ("FooBot", "http://foo.bar/y/c", false),
                ("BarBot", "http://foo.bar/y/c", true),
                ("BarBot", "http://foo.bar/w/a", true),
                ("BarBot", "http://foo.bar/z/d", false),
                ("BazBot", "http://foo.bar/z/d", true),
                ("FooBot", "http://foo.bar/foo/bar/", false),
                ("BarBot", "http://foo.bar/foo/bar/", false),
                ("BazBot", "http://foo.bar/foo/bar/", false),
            ],
        ),
    ]);
}

#[test]
fn names_are_read_whatever_their_case() {
    for text in [
        "USER-AGENT: FooBot\nALLOW: /x/\nDISALLOW: /\n",
        "user-agent: FooBot\nallow: /x/\ndisallow: /\n",
        "uSeR-aGeNt: FooBot\nAlLoW: /x/\ndIsAlLoW: /\n",
    ] {
        hold(&[(text, &[("FooBot", "http://foo.bar/x/y", true), ("FooBot", "http://foo.bar/a/b", false)])]);
    }
    for name in ["FOO BAR", "foo bar", "FoO bAr"] {
        let text = format!("User-Agent: {name}\nAllow: /x/\nDisallow: /\n");
        for agent in ["Foo", "foo"] {
            assert!(
                allowed(text.as_bytes(), agent, "http://foo.bar/x/y") && !allowed(text.as_bytes(), agent, "http://foo.bar/a/b")
            );
        }
    }
    for (value, is_token) in [
        ("Foobot", true),
        ("Foobot-Bar", true),
        ("Foo_Bar", true),
        ("", false),
        ("ツ", false),
        ("Foobot*", false),
        (" Foobot ", false),
        ("Foobot/2.1", false),
        ("Foobot Bar", false),
    ] {
        assert_eq!(!value.is_empty() && product_token(value.as_bytes()) == value.as_bytes(), is_token, "{value:?}");
    }
}

#[test]
fn the_own_group_comes_before_the_one_for_all() {
    hold(&[
        (
            "User-Agent: *\nDisallow: /\nUser-Agent: Foo Bar\nAllow: /x/\nDisallow: /\n",
            &[("Foo", "http://foo.bar/x/y", true), ("Foo Bar", "http://foo.bar/x/y", false)],
        ),
        (
            "user-agent: *\nallow: /\nuser-agent: FooBot\ndisallow: /\n",
            &[("FooBot", "http://foo.bar/x/y", false), ("BarBot", "http://foo.bar/x/y", true)],
        ),
        (
            "user-agent: FooBot\nallow: /\nuser-agent: BarBot\ndisallow: /\nuser-agent: BazBot\ndisallow: /\n",
            &[("QuxBot", "http://foo.bar/x/y", true)],
        ),
        (
            "User-agent: *\nDisallow: /x/\nUser-agent: FooBot\nDisallow: /y/\n",
            &[("FooBot", "http://foo.bar/x/page", true), ("FooBot", "http://foo.bar/y/page", false)],
        ),
    ]);
}

#[test]
fn the_longest_match_wins_and_of_two_the_one_that_allows() {
    let page = "http://foo.bar/x/page.html";
    hold(&[
        ("user-agent: FooBot\ndisallow: /x/\n", &[("FooBot", "http://foo.bar/x/y", false)]),
        ("user-agent: FooBot\ndisallow: /X/\n", &[("FooBot", "http://foo.bar/x/y", true)]),
        ("user-agent: FooBot\ndisallow: /x/page.html\nallow: /x/\n", &[("FooBot", page, false)]),
        (
            "user-agent: FooBot\nallow: /x/page.html\ndisallow: /x/\n",
            &[("FooBot", page, true), ("FooBot", "http://foo.bar/x/", false)],
        ),
        ("user-agent: FooBot\ndisallow: \nallow: \n", &[("FooBot", page, true)]),
        ("user-agent: FooBot\ndisallow: /\nallow: /\n", &[("FooBot", page, true)]),
        (
            "user-agent: FooBot\ndisallow: /x\nallow: /x/\n",
            &[("FooBot", "http://foo.bar/x", false), ("FooBot", "http://foo.bar/x/", true)],
        ),
        ("user-agent: FooBot\ndisallow: /x/page.html\nallow: /x/page.html\n", &[("FooBot", page, true)]),
        (
            "user-agent: FooBot\nallow: /page\ndisallow: /*.html\n",
            &[("FooBot", "http://foo.bar/page.html", false), ("FooBot", "http://foo.bar/page", true)],
        ),
        (
            "user-agent: FooBot\nallow: /x/page.\ndisallow: /*.html\n",
            &[("FooBot", page, true), ("FooBot", "http://foo.bar/x/y.html", false)],
        ),
        ("user-agent: FooBot\nallow: /p\ndisallow: /\n", &[("FooBot", "http://example.com/page", true)]),
        ("user-agent: FooBot\nallow: /folder\ndisallow: /folder\n", &[("FooBot", "http://example.com/folder/page", true)]),
        ("user-agent: FooBot\nallow: /page\ndisallow: /*.htm\n", &[("FooBot", "http://example.com/page.htm", false)]),
        (
            "user-agent: FooBot\nallow: /$\ndisallow: /\n",
            &[("FooBot", "http://example.com/", true), ("FooBot", "http://example.com/page.html", false)],
        ),
    ]);
}

#[test]
fn escapes_and_special_characters_are_understood() {
    let allow = |path: &str| format!("User-agent: FooBot\nDisallow: /\nAllow: {path}\n");
    for (rule, url) in [
        ("/foo/bar?qux=taz&baz=http://foo.bar?tar&par", "http://foo.bar/foo/bar?qux=taz&baz=http://foo.bar?tar&par"),
        ("/foo/bar/ツ", "http://foo.bar/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "http://foo.bar/foo/bar/%E3%83%84"),
        ("/foo/bar/%62%61%7A", "http://foo.bar/foo/bar/%62%61%7A"),
    ] {
        assert!(allowed(allow(rule).as_bytes(), "FooBot", url), "{rule} {url}");
    }
    hold(&[
        (
            "User-agent: FooBot\nDisallow: /foo/bar/quz\nAllow: /foo/*/qux\n",
            &[
                ("FooBot", "http://foo.bar/foo/bar/quz", false),
                ("FooBot", "http://foo.bar/foo/quz", true),
                ("FooBot", "http://foo.bar/foo//quz", true),
                ("FooBot", "http://foo.bar/foo/bax/quz", true),
            ],
        ),
        (
            "User-agent: FooBot\nDisallow: /foo/bar$\nAllow: /foo/bar/qux\n",
            &[
                ("FooBot", "http://foo.bar/foo/bar", false),
                ("FooBot", "http://foo.bar/foo/bar/qux", true),
                ("FooBot", "http://foo.bar/foo/bar/", true),
                ("FooBot", "http://foo.bar/foo/bar/baz", true),
            ],
        ),
        (
            "User-agent: FooBot\n# Disallow: /\nDisallow: /foo/quz#qux\nAllow: /\n",
            &[("FooBot", "http://foo.bar/foo/bar", true), ("FooBot", "http://foo.bar/foo/quz", false)],
        ),
        (
            "User-Agent: *\nAllow: /allowed-slash/index.html\nDisallow: /\n",
            &[
                ("foobot", "http://foo.com/allowed-slash/", true),
                ("foobot", "http://foo.com/allowed-slash/index.htm", false),
                ("foobot", "http://foo.com/allowed-slash/index.html", true),
                ("foobot", "http://foo.com/anyother-url", false),
            ],
        ),
    ]);
}

#[test]
fn patterns_match_as_googles_documentation_says() {
    let table: &[(&str, &[&str], &[&str])] = &[
        (
            "/fish",
            &["/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.html?id=anything"],
            &["/bar", "/Fish.asp", "/catfish", "/?id=fish"],
        ),
        (
            "/fish*",
            &["/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.html?id=anything"],
            &["/bar", "/Fish.bar", "/catfish", "/?id=fish"],
        ),
        (
            "/fish/",
            &["/fish/", "/fish/salmon", "/fish/?salmon", "/fish/salmon.html", "/fish/?id=anything"],
            &["/bar", "/fish", "/fish.html", "/Fish/Salmon.html"],
        ),
        (
            "/*.php",
            &[
                "/filename.php",
                "/folder/filename.php",
                "/folder/filename.php?parameters",
                "//folder/any.php.file.html",
                "/filename.php/",
                "/index?f=filename.php/",
            ],
            &["/bar", "/php/", "/index?php", "/windows.PHP"],
        ),
        (
            "/*.php$",
            &["/filename.php", "/folder/filename.php"],
            &[
                "/bar",
                "/filename.php?parameters",
                "/filename.php/",
                "/filename.php5",
                "/php/",
                "/filename?php",
                "/aaaphpaaa",
                "//windows.PHP",
            ],
        ),
        ("/fish*.php", &["/fish.php", "/fishheads/catfish.php?parameters"], &["/bar", "/Fish.PHP"]),
    ];
    for (rule, yes, no) in table {
        let text = format!("user-agent: FooBot\ndisallow: /\nallow: {rule}\n");
        for (paths, expected) in [(yes, true), (no, false)] {
            for path in *paths {
                assert_eq!(allowed(text.as_bytes(), "FooBot", &format!("http://foo.bar{path}")), expected, "{rule} {path}");
            }
        }
    }
}

#[test]
fn long_lines_count_up_to_their_limit() {
    let long = |key: &str, letter: &str| format!("/x/{}", letter.repeat(MAX_LINE_BYTES - key.len() - 2));
    let text = format!("user-agent: FooBot\ndisallow: {}/qux\n", long("disallow: ", "a"));
    assert!(allowed(text.as_bytes(), "FooBot", "http://foo.bar/fux"));
    assert!(!allowed(text.as_bytes(), "FooBot", &format!("http://foo.bar{}/fux", long("disallow: ", "a"))));
    let (a, b) = (long("allow: ", "a"), long("allow: ", "b"));
    let text = format!("user-agent: FooBot\ndisallow: /\nallow: {a}/qux\nallow: {b}/qux\n");
    assert!(!allowed(text.as_bytes(), "FooBot", "http://foo.bar/"));
    assert!(allowed(text.as_bytes(), "FooBot", &format!("http://foo.bar{a}/qux")));
    assert!(allowed(text.as_bytes(), "FooBot", &format!("http://foo.bar{b}/fux")));
}

#[test]
fn every_line_end_and_byte_order_mark_is_read() {
    let lines = ["User-Agent: foo", "Allow: /some/path", "User-Agent: bar", "", "", "Disallow: /"];
    let mixed = "User-Agent: foo\nAllow: /some/path\r\nUser-Agent: bar\n\r\n\nDisallow: /".to_owned();
    let files = ["\n", "\r\n", "\r"].map(|end| lines.map(|line| format!("{line}{end}")).concat());
    for text in files.into_iter().chain([lines.join("\n"), mixed]) {
        assert!(
            allowed(text.as_bytes(), "foo", "http://foo.bar/x") && !allowed(text.as_bytes(), "bar", "http://foo.bar/x"),
            "{text:?}"
        );
    }
    let text = b"User-Agent: foo\nDisallow: /AnyValue\n";
    for (mark, is_read) in [(&b"\xEF\xBB\xBF"[..], true), (b"\xEF\xBB", true), (b"\xEF", true), (b"\xEF\x11\xBF", false)] {
        assert_eq!(!allowed(&[mark, text].concat(), "foo", "http://foo.bar/AnyValue"), is_read, "{mark:x?}");
    }
    assert!(allowed(b"User-Agent: foo\n\xEF\xBB\xBFDisallow: /AnyValue\n", "foo", "http://foo.bar/AnyValue"));
}

#[test]
fn sitemaps_are_found_anywhere_and_end_no_group() {
    let group = "User-Agent: foo\nAllow: /some/path\nUser-Agent: bar\n\n\n";
    let sitemap = "Sitemap: http://foo.bar/sitemap.xml\n";
    for text in [format!("{group}{sitemap}"), format!("{sitemap}{group}")] {
        assert_eq!(Robots::parse(200, text.as_bytes(), "any").sitemaps(), ["http://foo.bar/sitemap.xml"]);
    }
    let text = format!("User-agent: a\n{sitemap}Crawl-delay: 2\nUser-agent: b\nDisallow: /\n");
    assert!(!allowed(text.as_bytes(), "a", "http://foo.bar/x") && !allowed(text.as_bytes(), "b", "http://foo.bar/x"));
}

#[test]
fn the_examples_of_the_rfc_hold() {
    // RFC 9309, 5.1.
    let simple = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\nUser-Agent: foobot\nDisallow:/\n\
                  Allow:/example/page.html\nAllow:/example/allowed.gif\n\nUser-Agent: barbot\nUser-Agent: bazbot\n\
                  Disallow: /example/page.html\n\nUser-Agent: quxbot\n";
    // RFC 9309, 5.2.
    let longest = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
    // RFC 9309, 2.2.1: groups of one agent are merged.
    let merged = "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: BarBot\ndisallow: /baz\n\
                  user-agent: ExampleBot\ndisallow: /qux\n";
    hold(&[
        (
            simple,
            &[
                ("otherbot", "http://e.com/a.gif", false),
                ("otherbot", "http://e.com/a.gif?x", true),
                ("otherbot", "http://e.com/example/", false),
                ("otherbot", "http://e.com/publications/a", true),
                ("otherbot", "http://e.com/publications/a.gif", true),
                ("foobot", "http://e.com/publications/", false),
                ("foobot", "http://e.com/example/page.html", true),
                ("foobot", "http://e.com/example/allowed.gif", true),
                ("barbot", "http://e.com/example/page.html", false),
                ("bazbot", "http://e.com/example/page.html", false),
                ("bazbot", "http://e.com/example/other.gif", true),
                ("quxbot", "http://e.com/example/page.html", true),
            ],
        ),
        (
            longest,
            &[("foobot", "http://e.com/example/page/", true), ("foobot", "http://e.com/example/page/disallowed.gif", false)],
        ),
        (
            merged,
            &[
                ("examplebot", "http://e.com/foo", false),
                ("ExampleBot", "http://e.com/qux", false),
                ("ExampleBot", "http://e.com/baz", true),
            ],
        ),
        // RFC 9309, 2.2.2: the implicit permission for robots.txt itself.
        (
            "User-agent: *\nDisallow: /\n",
            &[("any", "http://e.com/robots.txt", true), ("any", "http://e.com/robots.txt.bak", false)],
        ),
    ]);
    // RFC 9309, 2.2.2 and 2.2.3: rule, path that it matches.
    for (rule, path) in [
        ("/foo/bar?baz=quz", "/foo/bar?baz=quz"),
        ("/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https://foo.bar"),
        ("/foo/bar/ツ", "/foo/bar/%E3%83%84"),
        ("/foo/bar/%E3%83%84", "/foo/bar/%e3%83%84"),
        ("/foo/bar/%62%61%7A", "/foo/bar/baz"),
        ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html"),
        ("/path/foo-%24", "/path/foo-$"),
    ] {
        let text = format!("user-agent: *\ndisallow: {rule}\n");
        assert!(!allowed(text.as_bytes(), "a", &format!("http://e.com{path}")), "{rule} {path}");
    }
}

#[test]
fn the_status_decides_where_there_is_no_text() {
    let page = Url::parse("http://e.com/x").unwrap();
    let rules = b"user-agent: *\ndisallow: /x";
    for (status, is_allowed) in [
        (200, false),
        (204, false),
        (301, true),
        (401, true),
        (403, true),
        (404, true),
        (410, true),
        (429, false),
        (500, false),
        (503, false),
        (0, false),
    ] {
        assert_eq!(Robots::parse(status, rules, "a").allows(&page).allowed, is_allowed, "{status}");
    }
    let (since, day) = (Timestamp(1_000), Duration::from_hours(24));
    let unreachable = Robots::parse(503, b"", "a");
    let minutes = |failures| unreachable.expires(since, failures).since(since).as_secs() / 60;
    assert_eq!([1, 2, 3, 60].map(minutes), [10, 20, 40, 24 * 60]);
    assert!(!unreachable.clone().forgiven(since, since + day * 29).allows(&page).allowed);
    assert!(unreachable.forgiven(since, since + day * 30).allows(&page).allowed);
    let robots = Robots::parse(200, rules, "a");
    assert_eq!(robots.expires(since, 0), since + day);
    assert!(!robots.forgiven(since, since + day * 300).allows(&page).allowed);
}

#[test]
fn a_verdict_names_its_rule() {
    let robots = Robots::parse(200, b"user-agent: *\nDisallow: /private/*.html # secret\nAllow: /", "a");
    let rule = |url: &str| robots.allows(&Url::parse(url).unwrap()).rule;
    assert_eq!(rule("http://e.com/private/a.html").as_deref(), Some("Disallow: /private/*.html"));
    assert_eq!(rule("http://e.com/x").as_deref(), Some("Allow: /"));
    let unreachable = Robots::parse(503, b"", "a").allows(&Url::parse("http://e.com/x").unwrap());
    assert_eq!(unreachable.rule.as_deref(), Some("robots.txt cannot be reached (status 503)"));
}

#[test]
fn delays_are_read_as_seconds_and_the_longest_holds() {
    let delay = |text: &str| Robots::parse(200, text.as_bytes(), "a").crawl_delay();
    assert_eq!(delay("user-agent: *\ncrawl-delay: 2.5"), Some(Duration::from_millis(2_500)));
    assert_eq!(
        delay("user-agent: *\ncrawl-delay: 9\nuser-agent: a\ncrawl-delay: 1\ncrawl-delay: 3"),
        Some(Duration::from_secs(3))
    );
    for odd in ["-1", "nan", "inf", "1e400", "soon", ""] {
        assert_eq!(delay(&format!("user-agent: *\ncrawl-delay: {odd}")), None, "{odd}");
    }
    assert_eq!(delay("crawl-delay: 5\nuser-agent: b\ncrawl-delay: 7"), None);
}

#[test]
fn only_the_first_500_kib_are_read() {
    let filler = "# nothing to see here\n".repeat(MAX_ROBOTS_BYTES / 22);
    let text = format!("user-agent: *\ndisallow: /early\n{filler}disallow: /late\n");
    assert!(!allowed(text.as_bytes(), "a", "http://e.com/early"));
    assert!(allowed(text.as_bytes(), "a", "http://e.com/late"));
    let cut = format!("user-agent: *\ndisallow: /\nallow: /{}", "x".repeat(MAX_ROBOTS_BYTES));
    assert!(!allowed(cut.as_bytes(), "a", "http://e.com/xx"));
}

proptest! {
    #[test]
    fn any_bytes_are_a_robots_txt(text in proptest::collection::vec(any::<u8>(), 0..2_000), path in "[/a-z*$%?]{0,50}") {
        let _ = Robots::parse(200, &text, "windrow").allows(&Url::parse(&format!("http://e.com/{path}")).unwrap());
    }

    #[test]
    fn a_rule_for_everything_disallows_everything(
        lines in proptest::collection::vec("(Disallow: [/a-z*$]{0,20}|Sitemap: x|junk|# a)", 0..20),
        path in "[/a-z0-9]{0,30}",
    ) {
        let text = format!("User-agent: windrow\n{}\nDisallow: /\n", lines.join("\n"));
        let url = format!("http://e.com/{path}");
        prop_assert!(!allowed(text.as_bytes(), "windrow", &url), "{}", url);
    }
}

#[test]
fn the_text_that_is_kept_says_what_the_bytes_said() {
    let gbk = b"user-agent: *\ndisallow: /\xc4\xda\xb2\xbf/\nallow: /public/";
    let cut = format!("user-agent: *\ndisallow: /\n{}\nallow: /{}", "#".repeat(2_000), "x".repeat(MAX_ROBOTS_BYTES));
    for (body, forbidden) in [(&gbk[..], "/%C4%DA%B2%BF/x"), (cut.as_bytes(), "/x")] {
        let url = Url::parse(&format!("http://e.com{forbidden}")).unwrap();
        let kept = robots_text(body);
        for rules in [Robots::parse(200, body, "windrow"), Robots::parse(200, kept.as_bytes(), "windrow")] {
            assert!(!rules.allows(&url).allowed, "{forbidden}");
        }
    }
    assert!(robots_text(gbk).contains("/%C4%DA%B2%BF/"));
}

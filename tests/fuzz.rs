//! Fuzz targets as properties: whatever bytes come, nothing panics, hangs or breaks its promise.
//!
//! A long run: `PROPTEST_CASES=200000 cargo test --release --test fuzz`. What it finds is kept in
//! `tests/fuzz.proptest-regressions`, which every run tries first.

use proptest::prelude::*;
use windrow::{
    fetch::ReplayFetcher,
    parse::{Document, ParseConfig, links_of_xml, parse},
    politeness::Robots,
    text::Segmenter,
    url::{Fingerprint, MAX_URL_BYTES, Url, canonicalize, templates},
};

/// Text made of pieces that mean something to the reader under test, and of anything else.
fn soup(pieces: &'static [&'static str], most: usize) -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => prop::sample::select(pieces).prop_map(|piece| piece.as_bytes().to_vec()),
        2 => prop::collection::vec(any::<u8>(), 0..6),
        1 => "\\PC{0,8}".prop_map(String::into_bytes),
    ];
    prop::collection::vec(piece, 0..most).prop_map(|pieces| pieces.concat())
}

const URL_PIECES: &[&str] = &[
    "http://",
    "https:",
    "//",
    "/",
    "\\",
    "..",
    ".",
    "%2e",
    "%2F",
    "%%34%31",
    "%",
    "%+1",
    "%E4%B8",
    "?",
    "&",
    "=",
    "#",
    "@",
    ":",
    ":80",
    "a",
    "e.com",
    "[::1]",
    "0x7f.1",
    "。",
    "农业",
    "ß",
    ";jsessionid=",
    ";%6Asessionid=",
    "sid=1",
    "utm_source",
    " ",
    "\t",
    "\u{200b}",
    "xn--",
];

const ROBOTS_PIECES: &[&str] = &[
    "User-agent: *\n",
    "user-agent: windrow\r",
    "User-Agent windrow\n",
    "Disallow: /\n",
    "Disallow:\n",
    "Allow: /a*$\n",
    "Disallow: /*?\n",
    "Crawl-delay: 1e999\n",
    "Crawl-delay: 5\n",
    "Sitemap: http://e.com/s.xml\n",
    "\u{feff}",
    "#",
    "*",
    "$",
    "%",
    "%2f",
    "/",
    ":",
    "\n",
    "\r\n",
    "\0",
];

const HTML_PIECES: &[&str] = &[
    "<html lang=zh>",
    "<meta charset=gb2312>",
    "<meta charset=utf-16>",
    "<meta http-equiv=refresh content='0;url=/x'>",
    "<base href='//b/'>",
    "<a href='/x'>",
    "<a href=\"http://[\">",
    "</a>",
    "<title>",
    "<p>",
    "<div>",
    "</div>",
    "<table><tr><td>",
    "<script>",
    "</script>",
    "<!--",
    "-->",
    "<svg><math>",
    "<template>",
    "<link rel=canonical href=/c>",
    "<frameset>",
    "水稻病虫害",
    "\u{feff}",
    "&amp;",
    "&#x110000;",
    "&",
    "<",
    ">",
    "\0",
    "<![CDATA[",
    "rice field ",
];

const XML_PIECES: &[&str] = &[
    "<?xml version='1.0' encoding='gbk'?>",
    "<!DOCTYPE x [<!ENTITY a 'aaaa'>]>",
    "<urlset>",
    "<url>",
    "<loc>",
    "</loc>",
    "</url>",
    "</urlset>",
    "<sitemapindex>",
    "<sitemap>",
    "<rss><channel>",
    "<item>",
    "<title>",
    "<link>",
    "<link href='/x'/>",
    "</link>",
    "</item>",
    "<feed>",
    "<entry>",
    "</entry>",
    "http://e.com/a",
    "&a;",
    "&amp;",
    "&#0;",
    "<![CDATA[",
    "]]>",
    "<!--",
    "\u{1f}\u{8b}",
];

const WARC_PIECES: &[&str] = &[
    "WARC/1.0\r\n",
    "WARC/1.1\n",
    "WARC-Type: response\r\n",
    "WARC-Type: revisit\r\n",
    "WARC-Target-URI: http://e.com/\r\n",
    "WARC-Target-URI: <http://e.com/b>\r\n",
    "WARC-Date: 2024-05-06T07:08:09Z\r\n",
    "WARC-Date: never\r\n",
    "WARC-Record-ID: <urn:1>\r\n",
    "WARC-Refers-To: <urn:1>\r\n",
    "Content-Length: 40\r\n",
    "Content-Length: 99999999999999999999\r\n",
    "Content-Length: -1\r\n",
    "\r\n",
    "\r\n\r\n",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 304 Not Modified\r\n",
    "Content-Encoding: gzip\r\n",
    "Transfer-Encoding: chunked\r\n",
    "5\r\nhello\r\n0\r\n\r\n",
    "<p>body</p>",
    "\0",
];

proptest! {
    #[test]
    fn a_canonical_url_is_its_own_canonical_form(text in soup(URL_PIECES, 16), has_base: bool) {
        let base = Url::parse("http://base.example/a/b?c").unwrap();
        let text = String::from_utf8_lossy(&text);
        if let Ok(url) = canonicalize(&text, has_base.then_some(&base)) {
            let again = canonicalize(url.as_str(), None);
            prop_assert_eq!(again.as_ref(), Ok(&url));
            prop_assert!(url.as_str().len() <= MAX_URL_BYTES && url.fragment().is_none() && url.username().is_empty());
            prop_assert_eq!(Fingerprint::of(&url), Fingerprint::of(&again.unwrap()));
            let [narrow, wide] = templates(&url);
            prop_assert!(!narrow.is_empty() && !wide.is_empty());
        }
    }

    #[test]
    fn any_bytes_are_a_robots_txt(text in soup(ROBOTS_PIECES, 60), path in "/[a-z%*$?/.]{0,12}", status in 0_u16..600) {
        let robots = Robots::parse(status, &text, "windrow");
        let url = Url::parse("http://e.com").unwrap().join(&path);
        if let Ok(url) = url {
            let verdict = robots.allows(&url);
            prop_assert_eq!(&verdict, &robots.allows(&url));
            prop_assert!(verdict.allowed || verdict.rule.is_some(), "who is sent away learns why");
        }
        prop_assert!(robots.allows(&Url::parse("http://e.com/robots.txt").unwrap()).allowed);
        prop_assert!(robots.sitemaps().len() <= 1_000);
    }

    #[test]
    fn any_bytes_are_a_page_or_an_error(body in soup(HTML_PIECES, 60), content_type in prop::option::of(prop::sample::select(&[
        "text/html", "text/html; charset=big5", "text/html; charset=nonsense", "text/plain", "application/xml", "", ";;;=",
    ][..]))) {
        let url = Url::parse("http://e.com/dir/page?x=1").unwrap();
        let config = ParseConfig { max_links: 20, ..ParseConfig::default() };
        if let Ok(page) = parse(&Document { url: &url, content_type, body: &body }, &Segmenter::shared(), &config) {
            prop_assert!(page.outlinks.len() <= 20);
            for outlink in &page.outlinks {
                prop_assert_eq!(canonicalize(outlink.url.as_str(), None), Ok(outlink.url.clone()));
                prop_assert_eq!(outlink.fingerprint, Fingerprint::of(&outlink.url));
            }
        }
    }

    #[test]
    fn any_bytes_are_a_list_of_links_or_an_error(body in soup(XML_PIECES, 60)) {
        let url = Url::parse("http://e.com/sitemap.xml").unwrap();
        if let Ok(list) = links_of_xml(&Document { url: &url, content_type: None, body: &body }, 7) {
            prop_assert!(list.links.len() <= 7);
            prop_assert!(list.links.iter().all(|link| link.url.as_str().len() <= MAX_URL_BYTES));
        }
    }

    #[test]
    fn any_bytes_are_an_archive_or_an_error(body in soup(WARC_PIECES, 60), packed: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(if packed { "fuzz.warc.gz" } else { "fuzz.warc" });
        std::fs::write(&path, &body).unwrap();
        if let Ok(web) = ReplayFetcher::open(&[path], false) {
            for url in web.urls().map(str::to_owned).collect::<Vec<_>>() {
                prop_assert!(Url::parse(&url).is_ok(), "{url}");
            }
        }
    }
}

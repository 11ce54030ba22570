//! Documents made to hurt: whatever the bytes, parsing ends, stays bounded and does not panic.

use std::time::Duration;

use proptest::{collection::vec, prelude::*, sample::select};
use windrow::{
    page::Page,
    parse::{Document, ParseConfig, ParseError, links_of_xml, parse},
    text::Segmenter,
    url::Url,
};

fn read(body: &[u8]) -> Page {
    try_read(body).unwrap()
}

fn try_read(body: &[u8]) -> Result<Page, ParseError> {
    let url = Url::parse("http://e.com/").unwrap();
    let document = Document { url: &url, content_type: Some("text/html"), body };
    let config = ParseConfig { deadline: Duration::from_millis(100), ..ParseConfig::default() };
    parse(&document, &Segmenter::shared(), &config)
}

fn numbered(count: usize, piece: fn(usize) -> String) -> String {
    (0..count).map(piece).collect()
}

#[test]
fn deep_nesting_is_cut_at_the_deadline() {
    let page = read(format!("<p>before{}", "<div>".repeat(100_000)).as_bytes());
    assert!(page.text.starts_with("before"));
    assert!(page.truncated);
}

#[test]
fn unclosed_formatting_does_not_multiply_without_end() {
    let formatting = numbered(20_000, |n| format!("<b id={n}>"));
    let page = read(format!("{formatting}{}", "<p>x".repeat(100_000)).as_bytes());
    assert!(page.truncated);
}

#[test]
fn a_tag_of_endless_attributes_ends() {
    let attributes = numbered(200_000, |n| format!(" a{n}=1"));
    read(format!("<p>before<a href=/x{attributes}>link</a>").as_bytes());
}

#[test]
fn links_are_capped_and_the_rest_counted() {
    let links = numbered(50_000, |n| format!("<a href=/{n}>{n}</a> "));
    let page = read(format!("<p>{links}").as_bytes());
    assert!(page.outlinks.len() <= 2_000);
    assert!(page.truncated || page.outlinks.len() as u64 + u64::from(page.links_dropped) == 50_000);
}

#[test]
fn broken_addresses_are_counted_and_left_out() {
    let long = format!("http://e.com/{}", "x".repeat(5_000));
    let page = read(
        format!("<a href='http://[/'>a</a><a href='http://'>b</a><a href='{long}'>c</a><a href='ftp://e.com/'>d</a>").as_bytes(),
    );
    assert!(page.outlinks.is_empty());
    assert_eq!(page.links_dropped, 3);
}

#[test]
fn a_run_without_an_end_is_read_as_far_as_the_size_limit() {
    let url = Url::parse("http://e.com/").unwrap();
    let config = ParseConfig { max_bytes: 100_000, ..ParseConfig::default() };
    for body in ["农".repeat(100_000), "x".repeat(300_000), " ".repeat(300_000), "&".repeat(300_000), "<".repeat(300_000)] {
        let document = Document { url: &url, content_type: Some("text/html; charset=utf-8"), body: body.as_bytes() };
        let page = parse(&document, &Segmenter::shared(), &config).unwrap();
        assert!(page.truncated && page.text.len() <= 100_000);
    }
}

#[test]
fn zeros_broken_bytes_and_unclosed_tags_are_read_around() {
    let start = format!("<p>{}one\0two ", "水稻".repeat(20));
    let page =
        read(&[start.as_bytes(), b"\xff\xfe three <a href=/x>four <b>five<table><a href=/y>six<td>seven<!-- eight"].concat());
    assert!(page.had_decode_errors);
    for word in ["one", "three", "four", "seven"] {
        assert!(page.text.contains(word), "{word} in {}", page.text);
    }
    assert_eq!(page.outlinks.len(), 2);
}

#[test]
fn empty_documents_are_empty_pages() {
    for body in ["", " ", "<", "</", "<!--", "<a", "<a href", "&#", "<html", "<frameset>", "<title>", "<select><option>"] {
        let page = read(body.as_bytes());
        assert!(page.outlinks.is_empty() && page.simhash == 0, "{body}");
    }
}

/// Pieces of mark-up that interact badly.
fn markup() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "<a href=/x>",
        "</a>",
        "<a>",
        "<p>",
        "</p>",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
        "<b>",
        "</b>",
        "<ul><li>",
        "</ul>",
        "<dl><dt>",
        "</dl>",
        "<h1>",
        "</h1>",
        "<h2>",
        "<nav>",
        "</nav>",
        "<main>",
        "<div class='menu x1'>",
        "</div>",
        "<svg><a href=/s>",
        "</svg>",
        "<template>",
        "</template>",
        "<script>",
        "</script>",
        "<style>",
        "<title>",
        "</title>",
        "<base href=http://b/>",
        "<iframe src=/f>",
        "<frameset>",
        "<frame src=/g>",
        "<select><option>",
        "<area href=/m alt=水稻>",
        "<img alt='x y'>",
        "<meta charset=gbk>",
        "<br>",
        "<math><mi>",
        "<plaintext>",
        "<textarea>",
        "<noscript>",
        "text ",
        "水稻",
        "\u{3000}",
        "&amp;",
        "&#0;",
        "<!--",
        "-->",
        "\0",
    ]);
    vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn arbitrary_bytes_never_panic(body in vec(any::<u8>(), 0..400), content_type in "[a-z/;= -]{0,30}") {
        let url = Url::parse("http://e.com/").unwrap();
        let document = Document { url: &url, content_type: Some(&content_type), body: &body };
        let _ = parse(&document, &Segmenter::shared(), &ParseConfig::default());
        let _ = links_of_xml(&document, 10);
    }

    #[test]
    fn tangled_markup_gives_a_consistent_page(body in markup()) {
        // So many zeros that it is taken for binary data.
        let Ok(page) = try_read(body.as_bytes()) else { return Ok(()) };
        for link in &page.outlinks {
            prop_assert!(link.context.heading.is_none_or(|number| usize::from(number) < page.headings.len()));
            prop_assert!((0.0..=1.0).contains(&link.context.position));
            prop_assert!(link.context.anchor.len() <= 16 && link.context.around.len() <= 24);
        }
        prop_assert!(page.terms.iter().all(|term| term.count > 0.0));
        prop_assert!(!page.text.contains("  ") && page.text.trim() == page.text);
    }

    #[test]
    fn tangled_xml_never_panics(body in "(<(urlset|url|loc|item|link|title|/url|/loc|!\\[CDATA\\[|\\?x)>?|&(amp|x|#65);|\\]\\]>|x){0,40}") {
        let url = Url::parse("http://e.com/").unwrap();
        let _ = links_of_xml(&Document { url: &url, content_type: None, body: body.as_bytes() }, 10);
    }
}

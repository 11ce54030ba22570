//! Decoding of real pages: declared, declared late, undeclared, wrongly declared and broken.

mod common;

use std::{fs, path::Path, time::Duration};

use windrow::{
    page::Page,
    parse::{Document, ParseConfig, parse},
    text::{Language, Segmenter},
    url::Url,
};

/// One line of `expected.tsv`.
struct Case {
    name: String,
    actual: String,
    page: Page,
}

fn cases(folder: &Path) -> Vec<Case> {
    let expected = fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let config = ParseConfig { deadline: Duration::from_mins(1), ..ParseConfig::default() };
    expected
        .lines()
        .skip(1)
        .map(|line| {
            let columns: Vec<&str> = line.split('\t').collect();
            let [file, url, _, actual, case] = columns[..] else { panic!("five columns in {line}") };
            let body = fs::read(folder.join(file)).unwrap();
            let url = Url::parse(url).unwrap();
            // The header names no charset: the page itself must tell.
            let document = Document { url: &url, content_type: Some("text/html"), body: &body };
            let page = parse(&document, &Segmenter::shared(), &config).unwrap();
            Case { name: format!("{file} ({case})"), actual: actual.to_owned(), page }
        })
        .collect()
}

/// GB2312, GBK and GB18030 are one family, read by one decoder.
fn family(encoding: &str) -> &str {
    match encoding {
        "gb2312" | "gbk" | "gb18030" => "gb18030",
        other => other,
    }
}

#[test]
fn every_page_decodes_to_what_it_is_whatever_it_declares() {
    let Some(corpora) = common::corpora() else { return };
    let cases = cases(&corpora.join("charset"));
    assert!(cases.len() > 70);
    for Case { name, actual, page } in &cases {
        if let Some(encoding) = actual.strip_suffix("-broken") {
            assert_eq!(page.charset, family(encoding), "{name}");
            // The byte 0x80 is no GB18030, but WHATWG reads it as the euro sign that it stands for in Windows' GBK.
            assert!(page.had_decode_errors || page.text.contains('€'), "{name}");
            continue;
        }
        assert!(!page.had_decode_errors, "{name}: decoded as {}", page.charset);
        // ASCII is the same in every family.
        if actual != "ascii" {
            assert_eq!(page.charset, family(actual), "{name}");
        }
    }
}

#[test]
fn decoded_pages_read_as_chinese() {
    let Some(corpora) = common::corpora() else { return };
    for Case { name, actual, page } in cases(&corpora.join("charset")) {
        if page.text.chars().count() > 200 && actual != "ascii" {
            assert_eq!(page.language, Language::Zh, "{name}: {}", page.title);
        }
    }
}

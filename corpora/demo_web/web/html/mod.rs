//! Markup: six house styles, and what they share.
//!
//! Promises: every link of a document is in the markup, at least once.
//! Never: changes a document's text.

mod article;
mod cards;
mod definitions;
mod forum;
mod lists;
mod tables;

use super::{
    document::{Document, Inline, Link},
    plan::Style,
};

/// A document in a house style.
pub fn render(style: Style, document: &Document) -> String {
    match style {
        Style::Tables => tables::render(document),
        Style::Lists => lists::render(document),
        Style::Cards => cards::render(document),
        Style::Definitions => definitions::render(document),
        Style::Article => article::render(document),
        Style::Forum => forum::render(document),
    }
}

/// A frameset with a menu and a main frame.
pub fn frameset(title: &str, menu: &str, main: &str) -> String {
    format!(
        "<HTML><HEAD><META HTTP-EQUIV=\"Content-Type\" CONTENT=\"text/html; charset=utf-8\"><TITLE>{title}</TITLE></HEAD>\n\
         <FRAMESET COLS=\"160,*\">\n<FRAME NAME=menu SRC=\"{menu}\">\n<FRAME NAME=main SRC=\"{main}\">\n\
         <NOFRAMES><BODY><A HREF=\"{main}\">{title}</A></BODY></NOFRAMES>\n</FRAMESET></HTML>\n"
    )
}

/// The page inside the menu frame.
pub fn frame_menu(title: &str, links: &[Link]) -> String {
    let items: Vec<String> = links.iter().map(|link| anchor_with(link, " TARGET=main") + "<BR>\n").collect();
    format!("<HTML><HEAD><TITLE>{title}</TITLE></HEAD><BODY BGCOLOR=#EEEEDD>\n{}</BODY></HTML>\n", items.concat())
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn anchor(link: &Link) -> String {
    anchor_with(link, "")
}

fn anchor_with(link: &Link, attributes: &str) -> String {
    labelled(link, attributes, &escape(&link.text))
}

/// A link around markup of its own.
fn labelled(link: &Link, attributes: &str, inner: &str) -> String {
    let nofollow = if link.nofollow { " rel=\"nofollow\"" } else { "" };
    format!("<a href=\"{}\"{nofollow}{attributes}>{inner}</a>", escape(&link.href))
}

fn anchors(links: &[Link], between: &str) -> String {
    let anchors: Vec<String> = links.iter().map(anchor).collect();
    anchors.join(between)
}

fn inlines(inlines: &[Inline]) -> String {
    let parts = inlines.iter().map(|inline| match inline {
        Inline::Text(text) => escape(text),
        Inline::Link(link) => anchor(link),
    });
    parts.collect()
}

/// The words for "read more", taking turns.
fn more(document: &Document, at: usize) -> Link {
    let text = &document.more[at % document.more.len()];
    Link::new("", text)
}

/// What stands between `<head>` and `</head>`.
fn head(document: &Document) -> String {
    let line = |value: &Option<String>, before: &str, after: &str| {
        value.as_ref().map(|value| format!("{before}{value}{after}\n")).unwrap_or_default()
    };
    let charset = document.charset.map(|charset| format!("text/html; charset={charset}"));
    let charset = line(&charset, "<meta http-equiv=\"Content-Type\" content=\"", "\">");
    let (early, late) = if document.charset_is_late { (styles(), charset) } else { (charset, String::new()) };
    let title = if document.title == document.site { String::new() } else { format!("{} - ", document.title) };
    [
        early,
        line(&document.base, "<base href=\"", "\">"),
        line(&document.robots, "<meta name=\"robots\" content=\"", "\">"),
        line(&document.feed, "<link rel=\"alternate\" type=\"application/rss+xml\" href=\"", "\">"),
        format!("<title>{}{}</title>\n", escape(&title), escape(&document.site)),
        late,
    ]
    .concat()
}

/// Enough of a style sheet to push what follows out of the first kilobyte.
fn styles() -> String {
    let styles: Vec<String> = (0..40).map(|n| format!(".c{n} {{ margin: {n}px; color: #{:06x}; }}\n", n * 4_099)).collect();
    format!("<style>\n{}</style>\n", styles.concat())
}

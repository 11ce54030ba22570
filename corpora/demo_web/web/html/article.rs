//! HTML5: article, nav, aside, and links in running text.

use super::super::{
    Language,
    document::{Block, Document, Link, Teaser},
};
use super::{anchor, anchors, escape, head, inlines, labelled, more};

pub fn render(document: &Document) -> String {
    let language = if document.language == Language::Chinese { "zh-CN" } else { "en" };
    let body: Vec<String> = document.blocks.iter().map(|block| self::block(document, block)).collect();
    let side: Vec<String> = document
        .side
        .iter()
        .map(|(heading, links)| format!("<section><h3>{}</h3>\n{}</section>\n", escape(heading), list(links)))
        .collect();
    format!(
        "<!doctype html>\n<html lang=\"{language}\">\n<head>\n{}</head>\n<body>\n<header><a href=\"/\">{}</a>\n<nav>{}</nav></header>\n\
         <main>\n<nav aria-label=\"breadcrumb\">{} {}</nav>\n<article>\n{}</article>\n</main>\n<aside>\n{}</aside>\n\
         <footer>{} <small>{}</small></footer>\n</body>\n</html>\n",
        head(document),
        escape(&document.site),
        list(&document.menu),
        escape(&document.here),
        anchors(&document.crumbs, " &rsaquo; "),
        body.concat(),
        side.concat(),
        anchors(&document.footer_links, " "),
        escape(&document.footer),
    )
}

fn list(links: &[Link]) -> String {
    let items: Vec<String> = links.iter().map(|link| format!("<li>{}</li>", anchor(link))).collect();
    format!("<ul>{}</ul>\n", items.join("\n"))
}

fn block(document: &Document, block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("<h1>{}</h1>\n", escape(text)),
        Block::Byline(text) => format!("<p><time>{}</time></p>\n", escape(text)),
        Block::Text(text) => format!("<p>{}</p>\n", inlines(text)),
        Block::Teasers(teasers) => teasers.iter().enumerate().map(|(at, teaser)| self::teaser(document, at, teaser)).collect(),
        Block::Links { heading, links } => format!("<section><h2>{}</h2>\n{}</section>\n", escape(heading), list(links)),
        Block::Pager(links) => format!("<nav class=\"pagination\">{}</nav>\n", anchors(links, " ")),
        Block::Post { author, text } => format!("<blockquote><cite>{}</cite> {}</blockquote>\n", escape(author), escape(text)),
    }
}

fn teaser(document: &Document, at: usize, teaser: &Teaser) -> String {
    let more = labelled(&teaser.link, " class=\"more-link\"", &escape(&more(document, at).text));
    format!(
        "<section class=\"post\"><h2>{}</h2>\n<time>{}</time>\n<p>{} {more}</p></section>\n",
        anchor(&teaser.link),
        teaser.date,
        escape(&teaser.summary)
    )
}

//! Cards: divs in divs, pictures as links, "read more" under every teaser.

use super::super::document::{Block, Document, Teaser};
use super::{anchor, anchors, escape, head, inlines, labelled, more};

pub fn render(document: &Document) -> String {
    let body: Vec<String> = document.blocks.iter().map(|block| self::block(document, block)).collect();
    let side: Vec<String> = document
        .side
        .iter()
        .map(|(heading, links)| {
            let items: Vec<String> = links.iter().map(|link| format!("<div class=\"item\">{}</div>\n", anchor(link))).collect();
            format!("<div class=\"box\"><div class=\"box-title\">{}</div>\n{}</div>\n", escape(heading), items.concat())
        })
        .collect();
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n{}</head>\n<body><div class=\"header\"><div class=\"logo\">{}</div>\n\
         <div class=\"menu\">{}</div></div>\n<div class=\"crumbs\">{} {}</div>\n<div class=\"content\">\n{}</div>\n\
         <div class=\"sidebar\">\n{}</div>\n<div class=\"footer\">{} {}</div>\n</body>\n</html>\n",
        head(document),
        escape(&document.site),
        anchors(&document.menu, "\n"),
        escape(&document.here),
        anchors(&document.crumbs, " / "),
        body.concat(),
        side.concat(),
        anchors(&document.footer_links, " "),
        escape(&document.footer),
    )
}

fn block(document: &Document, block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("<div class=\"headline\"><h1>{}</h1></div>\n", escape(text)),
        Block::Byline(text) => format!("<div class=\"meta\">{}</div>\n", escape(text)),
        Block::Text(text) => format!("<div class=\"para\">{}</div>\n", inlines(text)),
        Block::Teasers(teasers) => {
            let cards: Vec<String> = teasers.iter().enumerate().map(|(at, teaser)| card(document, at, teaser)).collect();
            format!("<div class=\"cards\">\n{}</div>\n", cards.concat())
        }
        Block::Links { heading, links } => {
            let items: Vec<String> = links.iter().map(|link| format!("<div class=\"rel\">{}</div>\n", anchor(link))).collect();
            format!("<div class=\"related\"><h4>{}</h4>\n{}</div>\n", escape(heading), items.concat())
        }
        Block::Pager(links) => format!("<div class=\"pager\">{}</div>\n", anchors(links, " ")),
        Block::Post { author, text } => format!("<div class=\"comment\"><b>{}</b> {}</div>\n", escape(author), escape(text)),
    }
}

/// Three kinds of cards take turns: title linked, picture linked, only "read more" linked.
fn card(document: &Document, at: usize, teaser: &Teaser) -> String {
    let title = escape(&teaser.link.text);
    let more = labelled(&teaser.link, " class=\"more\"", &escape(&more(document, at).text));
    let summary = format!("<div class=\"summary\">{}</div>", escape(&teaser.summary));
    let inner = match at % 3 {
        0 => format!("<h3>{}</h3>{summary}{more}", anchor(&teaser.link)),
        1 => labelled(&teaser.link, "", &format!("<img src=\"/thumb/{at}.jpg\" alt=\"{title}\">")) + &summary,
        _ => format!("<h3>{title}</h3>{summary}{more}"),
    };
    format!("<div class=\"card\">{inner}<span class=\"date\">{}</span></div>\n", teaser.date)
}

//! Lists within lists: the menus and newsrooms of the portals.

use super::super::document::{Block, Document, Link};
use super::{anchor, anchors, escape, head, inlines};

pub fn render(document: &Document) -> String {
    let body: Vec<String> = document.blocks.iter().map(block).collect();
    let side: Vec<String> =
        document.side.iter().map(|(heading, links)| format!("<h3>{}</h3>\n{}", escape(heading), list("rank", links))).collect();
    format!(
        "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\" \"http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd\">\n\
         <html>\n<head>\n{}</head>\n<body>\n<div id=\"top\"><h1>{}</h1>\n{}</div>\n<p class=\"position\">{}: {}</p>\n\
         <div id=\"main\">\n{}</div>\n<div id=\"side\">\n{}</div>\n<div id=\"foot\"><p>{}</p><p>{}</p></div>\n</body>\n</html>\n",
        head(document),
        escape(&document.site),
        list("nav", &document.menu),
        escape(&document.here),
        anchors(&document.crumbs, " &gt; "),
        body.concat(),
        side.concat(),
        anchors(&document.footer_links, " | "),
        escape(&document.footer),
    )
}

/// List items are opened and never closed, which HTML allows.
fn list(class: &str, links: &[Link]) -> String {
    let items: Vec<String> = links.iter().map(|link| format!("<li>{}\n", anchor(link))).collect();
    format!("<ul class=\"{class}\">\n{}</ul>\n", items.concat())
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("<h2>{}</h2>\n", escape(text)),
        Block::Byline(text) => format!("<p class=\"info\">{}</p>\n", escape(text)),
        Block::Text(text) => format!("<p>{}</p>\n", inlines(text)),
        Block::Teasers(teasers) => {
            let items: Vec<String> = teasers
                .iter()
                .map(|teaser| {
                    format!("<li><span>{}</span> {}<br>{}\n", teaser.date, anchor(&teaser.link), escape(&teaser.summary))
                })
                .collect();
            format!("<ul class=\"news\">\n{}</ul>\n", items.concat())
        }
        Block::Links { heading, links } => format!("<h3>{}</h3>\n{}", escape(heading), list("links", links)),
        Block::Pager(links) => format!("<div class=\"page\">{}</div>\n", anchors(links, " ")),
        Block::Post { author, text } => format!("<li><b>{}</b>: {}\n", escape(author), escape(text)),
    }
}

//! A forum: threads in a table, posts in another.

use super::super::document::{Block, Document};
use super::{anchor, anchors, escape, head, inlines};

pub fn render(document: &Document) -> String {
    let body: Vec<String> = document.blocks.iter().map(block).collect();
    let side: Vec<String> = document
        .side
        .iter()
        .map(|(heading, links)| {
            format!("<fieldset><legend>{}</legend>\n{}</fieldset>\n", escape(heading), anchors(links, "<br>\n"))
        })
        .collect();
    format!(
        "<!DOCTYPE html>\n<html>\n<head>\n{}</head>\n<body>\n<table class=\"top\"><tr><td>{}</td><td align=\"right\">{}</td></tr></table>\n\
         <div class=\"where\">{}: {}</div>\n{}\n{}<div class=\"foot\">{} {}</div>\n</body>\n</html>\n",
        head(document),
        escape(&document.site),
        anchors(&document.menu, " | "),
        escape(&document.here),
        anchors(&document.crumbs, " -> "),
        body.concat(),
        side.concat(),
        escape(&document.footer),
        anchors(&document.footer_links, " "),
    )
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("<h2 class=\"subject\">{}</h2>\n", escape(text)),
        Block::Byline(text) => format!("<div class=\"author\">{}</div>\n", escape(text)),
        Block::Text(text) => format!("<div class=\"notice\">{}</div>\n", inlines(text)),
        Block::Teasers(teasers) => {
            let rows: Vec<String> = teasers
                .iter()
                .map(|teaser| {
                    format!("<tr><td class=\"icon\">*</td><td>{}</td><td>{}</td></tr>\n", anchor(&teaser.link), teaser.date)
                })
                .collect();
            format!("<table class=\"threads\">\n{}</table>\n", rows.concat())
        }
        Block::Links { heading, links } => {
            format!("<div class=\"links\"><b>{}</b><br>\n{}</div>\n", escape(heading), anchors(links, "<br>\n"))
        }
        Block::Pager(links) => format!("<div class=\"pages\">{}</div>\n", anchors(links, " ")),
        Block::Post { author, text } => {
            format!(
                "<table class=\"post\"><tr><td class=\"who\">{}</td><td class=\"msg\">{}</td></tr></table>\n",
                escape(author),
                escape(text)
            )
        }
    }
}

//! Definition lists: terms that link, descriptions that explain.

use super::super::document::{Block, Document};
use super::{anchor, anchors, escape, head, inlines};

pub fn render(document: &Document) -> String {
    let body: Vec<String> = document.blocks.iter().map(block).collect();
    let side: Vec<String> = document
        .side
        .iter()
        .map(|(heading, links)| format!("<dl>\n<dt>{}\n<dd>{}\n</dl>\n", escape(heading), anchors(links, "\n<dd>")))
        .collect();
    format!(
        "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\">\n<html><head>\n{}</head>\n<body>\n<h1>{}</h1>\n\
         <p class=menu>[ {} ]\n<p class=path>{}: {}\n<hr>\n{}<hr>\n{}<address>{}<br>{}</address>\n</body></html>\n",
        head(document),
        escape(&document.site),
        anchors(&document.menu, " | "),
        escape(&document.here),
        anchors(&document.crumbs, " &raquo; "),
        body.concat(),
        side.concat(),
        escape(&document.footer),
        anchors(&document.footer_links, " "),
    )
}

fn block(block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("<h2>{}</h2>\n", escape(text)),
        Block::Byline(text) => format!("<p><small>{}</small>\n", escape(text)),
        Block::Text(text) => format!("<p>{}\n", inlines(text)),
        Block::Teasers(teasers) => {
            let items: Vec<String> = teasers
                .iter()
                .map(|teaser| {
                    format!("<dt>{} <small>{}</small>\n<dd>{}\n", anchor(&teaser.link), teaser.date, escape(&teaser.summary))
                })
                .collect();
            format!("<dl>\n{}</dl>\n", items.concat())
        }
        Block::Links { heading, links } => {
            let items: Vec<String> = links.iter().map(|link| format!("<dd>{}\n", anchor(link))).collect();
            format!("<dl>\n<dt>{}\n{}</dl>\n", escape(heading), items.concat())
        }
        Block::Pager(links) => format!("<p>{}\n", anchors(links, " | ")),
        Block::Post { author, text } => format!("<dt>{}\n<dd>{}\n", escape(author), escape(text)),
    }
}

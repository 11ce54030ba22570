//! The tables era: capitals, FONT, and tags that nobody closes.

use super::super::document::{Block, Document, Teaser};
use super::{anchor, anchors, escape, head, inlines, labelled, more};

pub fn render(document: &Document) -> String {
    let menu: Vec<String> = document.menu.iter().map(|link| format!("<TR><TD BGCOLOR=#DDEEDD>{}\n", anchor(link))).collect();
    let side: Vec<String> = document
        .side
        .iter()
        .map(|(heading, links)| {
            let rows: Vec<String> = links.iter().map(|link| format!("<TR><TD>&middot; {}\n", anchor(link))).collect();
            format!("<TABLE WIDTH=150><TR><TH BGCOLOR=#99CC99>{}</TH>\n{}</TABLE>\n", escape(heading), rows.concat())
        })
        .collect();
    let body: Vec<String> = document.blocks.iter().map(|block| self::block(document, block)).collect();
    format!(
        "<HTML>\n<HEAD>\n{}</HEAD>\n<BODY BGCOLOR=WHITE>\n<CENTER><FONT SIZE=6 COLOR=GREEN>{}</FONT></CENTER>\n\
         <TABLE WIDTH=760 BORDER=0 CELLPADDING=4><TR VALIGN=TOP><TD WIDTH=150>\n<TABLE>\n{}</TABLE>\n{}\
         <TD>\n<FONT SIZE=2>{}: {} &gt;</FONT>\n{}</TABLE>\n<HR><CENTER><FONT SIZE=1>{} {}</FONT></CENTER>\n</BODY>\n</HTML>\n",
        head(document),
        escape(&document.site),
        menu.concat(),
        side.concat(),
        escape(&document.here),
        anchors(&document.crumbs, " &gt; "),
        body.concat(),
        escape(&document.footer),
        anchors(&document.footer_links, " | "),
    )
}

fn block(document: &Document, block: &Block) -> String {
    match block {
        Block::Heading(text) => format!("<CENTER><B><FONT SIZE=4>{}</FONT></B></CENTER>\n", escape(text)),
        Block::Byline(text) => format!("<P ALIGN=RIGHT><FONT SIZE=1 COLOR=GRAY>{}</FONT>\n", escape(text)),
        Block::Text(text) => format!("<P>{}\n", inlines(text)),
        Block::Teasers(teasers) => {
            let rows: Vec<String> = teasers.iter().enumerate().map(|(at, teaser)| row(document, at, teaser)).collect();
            format!("<TABLE BORDER=1 CELLSPACING=0>\n{}</TABLE>\n", rows.concat())
        }
        Block::Links { heading, links } => format!("<P><B>{}</B><BR>\n{}\n", escape(heading), anchors(links, "<BR>\n")),
        Block::Pager(links) => format!("<P ALIGN=CENTER>{}\n", anchors(links, "&nbsp;")),
        Block::Post { author, text } => format!("<TR><TD>{}<TD>{}\n", escape(author), escape(text)),
    }
}

/// Every other row has the title as text and its link elsewhere.
fn row(document: &Document, at: usize, teaser: &Teaser) -> String {
    if at.is_multiple_of(2) {
        return format!("<TR><TD>{}<TD>{}<TD>{}\n", anchor(&teaser.link), escape(&teaser.summary), teaser.date);
    }
    let more = labelled(&teaser.link, "", &escape(&more(document, at).text));
    format!("<TR><TD>{}<TD>{}<TD>{more}\n", escape(&teaser.link.text), escape(&teaser.summary))
}

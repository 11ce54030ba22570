//! Element tree → page, in one walk.
//!
//! Promises: every node is visited once and every run of text is segmented
//! once; nothing recurses, nothing is quadratic, whatever the nesting.
//! Never: fetches, executes or judges anything.

use std::mem;

use ego_tree::{NodeId, iter::Edge};
use encoding_rs::Encoding;
use html5ever::local_name;
use scraper::{Html, Node, node::Element};

use super::{
    blocks::{Blocks, PAGE, Spans},
    element::{Role, attribute},
    frame::{Area, Frame, tag_path},
    head::{Head, rel_has},
    headings::Headings,
    links::{Links, Seen},
    text_buffer::TextBuffer,
    words::{Place, Span, Words},
};
use crate::{
    page::Page,
    text::{Language, Segmenter, TermId},
    url::Url,
};

/// Characters of a title that are kept.
const MAX_TITLE_CHARS: usize = 300;

/// A text shorter than this, in bytes, says little about its language.
const SHORT_TEXT: usize = 60;

/// Reads the tree of the document at `url`, decoded from `encoding`, with at most `max_links` outlinks.
pub(super) fn read(html: &Html, url: &Url, encoding: &'static Encoding, segmenter: &Segmenter, max_links: usize) -> Page {
    let mut walk = Walk::new(Links::new(url, encoding, max_links), Words::new(segmenter));
    for edge in html.tree.root().traverse() {
        match edge {
            Edge::Open(node) => match node.value() {
                Node::Element(element) => walk.open(element, node.id()),
                Node::Text(text) => walk.text(text),
                _ => {}
            },
            Edge::Close(node) if node.value().is_element() => walk.close(node.id()),
            Edge::Close(_) => {}
        }
    }
    walk.finish()
}

/// An `<a href>` that is not closed yet.
struct OpenAnchor<'t> {
    node: NodeId,
    seen: Seen<'t>,
}

/// A stretch of text in one block.
struct Run {
    /// In bytes.
    text: Span,
    block: u32,
    navigation: bool,
    in_heading: bool,
}

struct Walk<'t, 's> {
    text: TextBuffer,
    runs: Vec<Run>,
    words: Words<'s>,
    links: Links<'t>,
    blocks: Blocks,
    head: Head,
    title: String,
    title_terms: Vec<TermId>,
    frames: Vec<Frame<'t>>,
    anchor: Option<OpenAnchor<'t>>,
    headings: Headings,
    /// Words and links of the blocks that look like menus.
    menus: Vec<(Span, Span)>,
    /// Links met before each open block.
    links_before: Vec<u32>,
}

impl<'t, 's> Walk<'t, 's> {
    fn new(links: Links<'t>, words: Words<'s>) -> Self {
        Self {
            text: TextBuffer::default(),
            runs: Vec::new(),
            words,
            links,
            blocks: Blocks::new(),
            head: Head::default(),
            title: String::new(),
            title_terms: Vec::new(),
            frames: vec![Frame::page()],
            anchor: None,
            headings: Headings::default(),
            menus: Vec::new(),
            links_before: Vec::new(),
        }
    }

    /// The innermost open element.
    fn top(&self) -> Frame<'t> {
        self.frames[self.frames.len() - 1]
    }

    fn text(&mut self, text: &str) {
        let top = self.top();
        if top.skip {
            return;
        }
        if top.role == Role::Title {
            self.set_title(text);
            return;
        }
        self.text.push(text);
    }

    /// Takes the first title that says something.
    fn set_title(&mut self, text: &str) {
        if self.title.is_empty() {
            let cut = text.char_indices().nth(MAX_TITLE_CHARS).map_or(text, |(end, _)| &text[..end]);
            self.title = cut.split_whitespace().collect::<Vec<_>>().join(" ");
            self.title_terms = self.words.add_title(&self.title);
        }
    }

    fn open(&mut self, element: &'t Element, node: NodeId) {
        let above = self.top();
        let role = Role::of(element);
        let is_read_block = role.is_block() && !above.skip;
        if is_read_block {
            self.end_run();
            self.text.break_line();
        }
        let start = self.words.position();
        let mut frame = above.child(element, role, start);
        if is_read_block {
            frame.area = above.area.inside(element, role);
            frame.in_heading |= matches!(role, Role::Heading(1..=4));
            frame.block = self.blocks.open(above.block, role == Role::List, start);
            self.links_before.push(self.links.occurrences());
            if role == Role::List {
                self.headings.open_list();
            }
        }
        self.frames.push(frame);
        if !frame.skip {
            self.enter(element, role, node);
        }
    }

    /// Takes from an element that is open now what it says itself.
    fn enter(&mut self, element: &'t Element, role: Role, node: NodeId) {
        match role {
            Role::Root => self.head.root(element),
            // Words end here, but the block goes on.
            Role::Break => self.text.break_line(),
            Role::Anchor => self.open_anchor(element, node),
            Role::Area => self.embedded_link(element, &local_name!("href"), attribute(element, &local_name!("alt"))),
            Role::Frame => {
                self.embedded_link(element, &local_name!("src"), None);
                self.skip_inside();
            }
            Role::Image => self.image(element),
            Role::Meta => self.head.meta(element, &self.links),
            Role::Link => self.link_element(element),
            Role::Inline if element.name.local == local_name!("time") => {
                let is_content = self.top().area == Area::Content;
                self.head.time(element, is_content);
            }
            Role::Base => {
                if let Some(href) = attribute(element, &local_name!("href")) {
                    self.links.set_base(href);
                }
            }
            _ => {}
        }
    }

    fn skip_inside(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.skip = true;
        }
    }

    fn close(&mut self, node: NodeId) {
        if self.anchor.as_ref().is_some_and(|anchor| anchor.node == node) {
            self.close_anchor();
        }
        let Some(frame) = self.frames.pop() else { return };
        if frame.skip || !frame.role.is_block() {
            return;
        }
        self.end_run_in(&frame);
        self.text.break_line();
        let end = self.words.position();
        let links_before = self.links_before.pop().unwrap_or_default();
        if self.blocks.close(frame.block, end) {
            self.menus.push((frame.start..end, links_before..self.links.occurrences()));
        }
        match frame.role {
            Role::Heading(_) => self.headings.heading(frame.start..end),
            Role::Label => self.headings.label(frame.start..end),
            Role::List => self.headings.close_list(),
            _ => {}
        }
    }

    /// Segments the text gathered since the last boundary.
    fn end_run(&mut self) {
        let top = self.top();
        self.end_run_in(&top);
    }

    fn end_run_in(&mut self, frame: &Frame<'t>) {
        let end = self.text.position();
        let run = self.text.take_run();
        if run.is_empty() {
            return;
        }
        self.runs.push(Run {
            text: end - run.len() as u32..end,
            block: frame.block,
            navigation: frame.area == Area::Navigation,
            in_heading: frame.in_heading,
        });
        let place = match (&self.anchor, frame.area) {
            (Some(_), _) => Place::Anchor,
            (None, Area::Navigation) => Place::Navigation,
            (None, _) => Place::Content,
        };
        let before = self.words.position();
        self.words.add_run(run, place, frame.in_heading);
        self.blocks.count_words(frame.block, self.words.position() - before, place == Place::Anchor);
    }

    fn open_anchor(&mut self, element: &'t Element, node: NodeId) {
        let Some(href) = attribute(element, &local_name!("href")) else { return };
        self.close_anchor();
        self.end_run();
        self.text.part_anchors();
        let seen = self.seen(element, href, attribute(element, &local_name!("title")));
        self.anchor = Some(OpenAnchor { node, seen });
    }

    fn close_anchor(&mut self) {
        if self.anchor.is_none() {
            return;
        }
        self.end_run();
        if let Some(OpenAnchor { mut seen, .. }) = self.anchor.take() {
            seen.words.end = self.words.position();
            seen.text.end = self.text.position();
            self.text.end_anchor();
            self.blocks.count_link(seen.block);
            self.links.add(seen, &self.words);
        }
    }

    /// A link that starts here and has no text yet.
    fn seen(&mut self, element: &'t Element, href: &'t str, label: Option<&'t str>) -> Seen<'t> {
        let (words, text) = (self.words.position(), self.text.position());
        let top = self.top();
        Seen {
            href,
            nofollow: rel_has(element, &["nofollow", "ugc", "sponsored"]),
            text: text..text,
            words: words..words,
            label: label.filter(|label| !label.trim().is_empty()),
            block: top.block,
            heading: self.headings.nearest(),
            tag_path: tag_path(&mut self.frames),
            navigation: top.area == Area::Navigation,
        }
    }

    /// A link without text of its own: `area`, `frame`, `iframe`, `link`.
    fn embedded_link(&mut self, element: &'t Element, address: &html5ever::LocalName, label: Option<&'t str>) {
        let Some(href) = attribute(element, address) else { return };
        self.end_run();
        let seen = self.seen(element, href, label.or_else(|| attribute(element, &local_name!("title"))));
        self.blocks.count_link(seen.block);
        self.links.add(seen, &self.words);
    }

    /// An image's `alt` stands for the text of the link around it.
    fn image(&mut self, element: &'t Element) {
        let alt = attribute(element, &local_name!("alt")).filter(|alt| !alt.trim().is_empty());
        if let (Some(anchor), Some(alt)) = (&mut self.anchor, alt) {
            anchor.seen.label = Some(alt);
        }
    }

    fn link_element(&mut self, element: &'t Element) {
        if rel_has(element, &["next", "prev"]) {
            self.embedded_link(element, &local_name!("href"), None);
        } else if rel_has(element, &["canonical"])
            && let Some(href) = attribute(element, &local_name!("href"))
        {
            self.head.canonical(href, &self.links);
        }
    }

    /// Counts the words of menus less, and returns their links. A list of short links below a heading
    /// may as well be what the page is about, so only those above all headings are taken for menus.
    fn demote_menus(&mut self) -> Spans {
        let first_heading = self.headings.first();
        let (mut words, mut links) = (Spans::default(), Spans::default());
        for (menu_words, menu_links) in mem::take(&mut self.menus) {
            if menu_words.end <= first_heading {
                words.push(menu_words);
                links.push(menu_links);
            }
        }
        for span in words.merged().iter() {
            self.words.demote(span);
        }
        links.merged()
    }

    /// Where the text is navigation.
    fn boilerplate(&self) -> Vec<Span> {
        let mut spans = Spans::default();
        for run in &self.runs {
            if run.navigation || (!run.in_heading && self.blocks.is_mostly_links(run.block)) {
                spans.push(run.text.clone());
            }
        }
        spans.merged().iter().cloned().collect()
    }

    fn finish(mut self) -> Page {
        self.close_anchor();
        self.end_run();
        self.blocks.close(PAGE, self.words.position());
        let menu_links = self.demote_menus();
        let boilerplate = self.boilerplate();
        let text = self.text.into_string();
        let (outlinks, headings, links_dropped) = self.links.finish(&text, &self.words, &self.blocks, &menu_links);
        let (terms, simhash) = self.words.finish();
        Page {
            language: language_of(&text, &self.title, self.head.language),
            title: self.title,
            title_terms: self.title_terms,
            text,
            boilerplate,
            published: self.head.published,
            terms,
            headings,
            outlinks,
            canonical: self.head.canonical,
            refresh: self.head.refresh,
            directives: self.head.directives,
            simhash,
            links_dropped,
            ..Page::default()
        }
    }
}

/// The language of the text; where there is hardly any, the title and then `<html lang>` tell.
fn language_of(text: &str, title: &str, declared: Option<Language>) -> Language {
    if text.len() >= SHORT_TEXT {
        return Language::of(text);
    }
    match (Language::of(&format!("{title} {text}")), declared) {
        (Language::Other, Some(declared)) => declared,
        (told, _) => told,
    }
}

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
    element::{FNV_START, Role, attribute, fnv, is_named_navigation, signature},
    head::{Head, rel_has},
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

/// Elements above a link that make its tag path.
const TAG_PATH: usize = 4;

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

/// What part of the page an element stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Area {
    Page,
    /// Inside `article`, `main` or `section`, whose headers are their own.
    Content,
    Navigation,
}

/// An open element, with what holds for the text inside it.
#[derive(Clone, Copy)]
struct Frame<'t> {
    element: Option<&'t Element>,
    role: Role,
    /// 0 until asked for.
    signature: u32,
    block: u32,
    area: Area,
    skip: bool,
    in_heading: bool,
    /// The first word inside.
    start: u32,
}

/// An `<a href>` that is not closed yet.
struct OpenAnchor<'t> {
    node: NodeId,
    seen: Seen<'t>,
}

/// The headings that are in force: of the page, and of the list or table.
#[derive(Clone, Default)]
struct Headings {
    page: Option<Span>,
    label: Option<Span>,
}

struct Walk<'t, 's> {
    text: TextBuffer,
    words: Words<'s>,
    links: Links<'t>,
    blocks: Blocks,
    head: Head,
    title: String,
    title_terms: Vec<TermId>,
    frames: Vec<Frame<'t>>,
    anchor: Option<OpenAnchor<'t>>,
    headings: Headings,
    /// Headings as they were where each open list began.
    outer_headings: Vec<Headings>,
    menu_words: Spans,
    menu_links: Spans,
    /// Links met before each open block.
    links_before: Vec<u32>,
}

impl<'t, 's> Walk<'t, 's> {
    fn new(links: Links<'t>, words: Words<'s>) -> Self {
        let page = Frame {
            element: None,
            role: Role::Root,
            signature: 0,
            block: PAGE,
            area: Area::Page,
            skip: false,
            in_heading: false,
            start: 0,
        };
        Self {
            text: TextBuffer::default(),
            words,
            links,
            blocks: Blocks::new(),
            head: Head::default(),
            title: String::new(),
            title_terms: Vec::new(),
            frames: vec![page],
            anchor: None,
            headings: Headings::default(),
            outer_headings: Vec::new(),
            menu_words: Spans::default(),
            menu_links: Spans::default(),
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
        let mut frame = Frame { element: Some(element), role, signature: 0, skip: above.skip || role == Role::Skip, ..above };
        if frame.skip {
            self.frames.push(frame);
            return;
        }
        if role.is_block() {
            self.end_run();
            self.text.break_line();
            frame.area = area_of(element, role, above.area);
            frame.block = self.blocks.open(above.block, role == Role::List, self.words.position());
            self.links_before.push(self.links.occurrences());
            if role == Role::List {
                self.outer_headings.push(self.headings.clone());
            }
            frame.in_heading |= matches!(role, Role::Heading(1..=4));
        }
        frame.start = self.words.position();
        self.frames.push(frame);
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
            self.menu_words.push(frame.start..end);
            self.menu_links.push(links_before..self.links.occurrences());
        }
        self.close_heading(&frame, end);
    }

    fn close_heading(&mut self, frame: &Frame<'t>, end: u32) {
        let words = frame.start..end;
        match frame.role {
            Role::Heading(_) if !words.is_empty() => self.headings = Headings { page: Some(words), label: None },
            Role::Label if !words.is_empty() => self.headings.label = Some(words),
            Role::List => {
                let outer = self.outer_headings.pop().unwrap_or_default();
                self.headings.label = if outer.page == self.headings.page { outer.label } else { None };
            }
            _ => {}
        }
    }

    /// Segments the text gathered since the last boundary.
    fn end_run(&mut self) {
        let top = self.top();
        self.end_run_in(&top);
    }

    fn end_run_in(&mut self, frame: &Frame<'t>) {
        let run = self.text.take_run();
        if run.is_empty() {
            return;
        }
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
            heading: self.headings.label.clone().or_else(|| self.headings.page.clone()),
            tag_path: self.tag_path(),
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

    /// Hash of the elements above the innermost one.
    fn tag_path(&mut self) -> u32 {
        let above = self.frames.len() - 1;
        self.frames[above.saturating_sub(TAG_PATH)..above].iter_mut().fold(FNV_START, |hash, frame| {
            if frame.signature == 0 {
                frame.signature = frame.element.map_or(1, signature);
            }
            fnv(hash, frame.signature.to_le_bytes())
        })
    }

    fn finish(mut self) -> Page {
        self.close_anchor();
        self.end_run();
        self.blocks.close(PAGE, self.words.position());
        for span in mem::take(&mut self.menu_words).merged().iter() {
            self.words.demote(span);
        }
        let text = self.text.into_string();
        let (outlinks, headings, links_dropped) = self.links.finish(&text, &self.words, &self.blocks, &self.menu_links.merged());
        let (terms, simhash) = self.words.finish();
        Page {
            language: language_of(&text, &self.title, self.head.language),
            title: self.title,
            title_terms: self.title_terms,
            text,
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

/// The area inside a block.
fn area_of(element: &Element, role: Role, above: Area) -> Area {
    let is_main = element.name.local == local_name!("main");
    match role {
        Role::Section if is_main || above == Area::Page => Area::Content,
        _ if above == Area::Navigation => Area::Navigation,
        Role::Navigation => Area::Navigation,
        Role::Banner if above == Area::Page => Area::Navigation,
        _ if above == Area::Page && is_named_navigation(element) => Area::Navigation,
        _ => above,
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

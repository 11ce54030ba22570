//! The blocks of a page: which words stand in each, which list each belongs to, and which are mere menus.
//!
//! Promises: constant work for each block opened and closed, however deep.
//! Never: looks at words or links themselves, only at how many there are.

use super::words::Span;

/// A block of this many links or more may be a menu…
const MENU_LINKS: u32 = 10;

/// …where the links have no more words than this each…
const MENU_WORDS_PER_LINK: u32 = 2;

/// …and there is little else: links hold this share of the words, in percent.
const MENU_LINK_SHARE: u32 = 70;

/// How far above a block its list may be for the block to be an item of it.
const ITEM_DEPTH: u32 = 4;

/// Number of the block that stands for the whole page.
pub(super) const PAGE: u32 = 0;

#[derive(Clone, Default)]
struct Block {
    parent: u32,
    depth: u32,
    /// The nearest list or table at or above it; the page where there is none.
    list: u32,
    words: Span,
    own: Tally,
}

/// What stands in a block and in the blocks inside, menus among them left out.
#[derive(Clone, Copy, Default)]
struct Tally {
    words: u32,
    links: u32,
    link_words: u32,
}

impl Tally {
    fn is_menu(self) -> bool {
        self.links >= MENU_LINKS
            && self.link_words <= self.links.saturating_mul(MENU_WORDS_PER_LINK)
            && u64::from(self.link_words) * 100 >= u64::from(self.words) * u64::from(MENU_LINK_SHARE)
    }
}

/// All blocks, in the order in which they open.
pub(super) struct Blocks {
    list: Vec<Block>,
}

impl Blocks {
    pub(super) fn new() -> Self {
        Self { list: vec![Block::default()] }
    }

    /// Opens a block inside `parent`, where the next word is number `position`.
    pub(super) fn open(&mut self, parent: u32, is_list: bool, position: u32) -> u32 {
        let id = self.list.len() as u32;
        let above = &self.list[parent as usize];
        let (depth, list) = (above.depth + 1, if is_list { id } else { above.list });
        self.list.push(Block { parent, depth, list, words: position..position, own: Tally::default() });
        id
    }

    /// Counts words in a block, of a link or not.
    pub(super) fn count_words(&mut self, block: u32, words: u32, of_link: bool) {
        let tally = &mut self.list[block as usize].own;
        tally.words += words;
        tally.link_words += if of_link { words } else { 0 };
    }

    /// Counts a link in a block.
    pub(super) fn count_link(&mut self, block: u32) {
        self.list[block as usize].own.links += 1;
    }

    /// Closes a block before word number `position`, and says whether it is a menu.
    pub(super) fn close(&mut self, block: u32, position: u32) -> bool {
        let Block { parent, own, .. } = self.list[block as usize];
        self.list[block as usize].words.end = position;
        if block == PAGE {
            return false;
        }
        if own.is_menu() {
            return true;
        }
        let above = &mut self.list[parent as usize].own;
        above.words += own.words;
        above.links += own.links;
        above.link_words += own.link_words;
        false
    }

    pub(super) fn parent(&self, block: u32) -> u32 {
        self.list[block as usize].parent
    }

    /// Whether most words of a closed block are those of links, those of menus inside it left out.
    pub(super) fn is_mostly_links(&self, block: u32) -> bool {
        let own = self.list[block as usize].own;
        own.links > 0 && own.link_words * 2 > own.words
    }

    /// The words of a closed block.
    pub(super) fn span(&self, block: u32) -> Span {
        self.list[block as usize].words.clone()
    }

    /// The block whose links belong together with those of `block`: its list or table, else the block two above it.
    pub(super) fn container(&self, block: u32) -> u32 {
        let own = &self.list[block as usize];
        let list = &self.list[own.list as usize];
        if own.list != PAGE && own.depth - list.depth <= ITEM_DEPTH { own.list } else { self.parent(own.parent) }
    }
}

/// A set of numbers, as spans that are merged once all are in.
#[derive(Default)]
pub(super) struct Spans {
    list: Vec<Span>,
}

impl Spans {
    pub(super) fn push(&mut self, span: Span) {
        if !span.is_empty() {
            self.list.push(span);
        }
    }

    /// The spans in order, without overlaps.
    pub(super) fn merged(mut self) -> Self {
        self.list.sort_unstable_by_key(|span| span.start);
        let mut merged: Vec<Span> = Vec::with_capacity(self.list.len());
        for span in self.list {
            match merged.last_mut() {
                Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
                _ => merged.push(span),
            }
        }
        Self { list: merged }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Span> {
        self.list.iter()
    }

    /// Whether a number is in the set; the spans must be merged.
    pub(super) fn contains(&self, number: u32) -> bool {
        let after = self.list.partition_point(|span| span.start <= number);
        after > 0 && self.list[after - 1].end > number
    }
}

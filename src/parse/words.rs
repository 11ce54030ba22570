//! The words of a page in order, each segmented once and counted on the way.
//!
//! Promises: bag, anchors, headings and contexts all read the one list that is
//! made here. Never: looks at the tree.

use std::ops::Range;

use super::simhash::simhash;
use crate::{
    page::{TermBag, TermBagBuilder},
    text::{Segmenter, TermId},
};

/// What a word counts inside a link or in navigation, beside 1 for the body.
const ASIDE: f32 = 0.2;

/// What a word counts more for standing in a heading of level 1 to 4.
const HEADING: f32 = 2.0;

/// What a word counts more for standing in the title.
const TITLE: f32 = 3.0;

/// Fewer words of content than this cannot tell a copy from another page of the same make.
const FEW_WORDS: usize = 30;

/// Occurrences that there is room for from the start: those of most pages.
const USUAL_WORDS: usize = 2_048;

/// Where a word stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Content,
    Navigation,
    Anchor,
}

/// One occurrence of a word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    pub(super) id: TermId,
    pub(super) place: Place,
}

/// Positions in the list of words.
pub(super) type Span = Range<u32>;

/// The words found so far.
pub(super) struct Words<'s> {
    segmenter: &'s Segmenter,
    bag: TermBagBuilder,
    list: Vec<Word>,
}

impl<'s> Words<'s> {
    pub(super) fn new(segmenter: &'s Segmenter) -> Self {
        Self { segmenter, bag: TermBagBuilder::default(), list: Vec::with_capacity(USUAL_WORDS) }
    }

    /// Segments a run of text that stands in one place, and counts its words.
    pub(super) fn add_run(&mut self, run: &str, place: Place, in_heading: bool) {
        let base = if place == Place::Content { 1.0 } else { ASIDE };
        let weight = if in_heading { base + HEADING } else { base };
        let (bag, list) = (&mut self.bag, &mut self.list);
        self.segmenter.for_each_word(run, |word| list.push(Word { id: bag.add(word, weight), place }));
    }

    /// Counts the words of the title, and returns them.
    pub(super) fn add_title(&mut self, title: &str) -> Vec<TermId> {
        let mut ids = Vec::new();
        let bag = &mut self.bag;
        self.segmenter.for_each_word(title, |word| ids.push(bag.add(word, TITLE)));
        ids
    }

    /// The words of a text that is not part of the page's text, such as an image's `alt`; not counted.
    pub(super) fn of_label(&self, label: &str) -> Vec<TermId> {
        self.segmenter.term_ids(label)
    }

    /// The place of the next word.
    pub(super) fn position(&self) -> u32 {
        self.list.len() as u32
    }

    pub(super) fn slice(&self, span: &Span) -> &[Word] {
        &self.list[span.start as usize..span.end as usize]
    }

    /// Counts content words less, now that they turned out to stand in navigation.
    pub(super) fn demote(&mut self, span: &Span) {
        for word in &mut self.list[span.start as usize..span.end as usize] {
            if word.place == Place::Content {
                word.place = Place::Navigation;
                self.bag.reweigh(word.id, ASIDE - 1.0);
            }
        }
    }

    /// The bag, and the near-duplicate fingerprint of the content: menus, which a site's pages share, are left out of it.
    pub(super) fn finish(self) -> (TermBag, u64) {
        let content = || self.list.iter().filter(|word| word.place == Place::Content).map(|word| word.id);
        let simhash = if content().nth(FEW_WORDS).is_some() { simhash(content()) } else { 0 };
        (self.bag.finish(), simhash)
    }
}

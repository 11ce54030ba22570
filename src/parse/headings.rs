//! Which heading stands above a place in the page.
//!
//! Promises: the nearest one before it; those of a list or table hold to its end only.
//! Never: keeps words, only where they are.

use super::words::Span;

/// The headings in force, as the walk goes on.
#[derive(Default)]
pub(super) struct Headings {
    now: InForce,
    /// As they were where each open list or table began.
    outer: Vec<InForce>,
    first: Option<u32>,
}

#[derive(Clone, Default)]
struct InForce {
    /// `h1` to `h6`.
    page: Option<Span>,
    /// `dt`, `th`, `caption`, `legend`.
    label: Option<Span>,
}

impl Headings {
    pub(super) fn open_list(&mut self) {
        self.outer.push(self.now.clone());
    }

    pub(super) fn close_list(&mut self) {
        let outer = self.outer.pop().unwrap_or_default();
        self.now.label = if outer.page == self.now.page { outer.label } else { None };
    }

    /// A heading of the page ends.
    pub(super) fn heading(&mut self, words: Span) {
        if !words.is_empty() {
            self.first.get_or_insert(words.start);
            self.now = InForce { page: Some(words), label: None };
        }
    }

    /// A heading within a list or table ends.
    pub(super) fn label(&mut self, words: Span) {
        if !words.is_empty() {
            self.now.label = Some(words);
        }
    }

    /// The nearest heading.
    pub(super) fn nearest(&self) -> Option<Span> {
        self.now.label.clone().or_else(|| self.now.page.clone())
    }

    /// The first word of the page's first heading; 0 where there is none.
    pub(super) fn first(&self) -> u32 {
        self.first.unwrap_or(0)
    }
}

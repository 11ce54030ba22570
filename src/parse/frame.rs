//! The open elements of the walk, each with what holds for the text inside it.
//!
//! Promises: constant size and work per element; a child starts as a copy of its parent.
//! Never: outlives the tree it points into.

use html5ever::local_name;
use scraper::node::Element;

use super::{
    blocks::PAGE,
    element::{FNV_START, Role, fnv, is_named_navigation, signature},
};

/// Elements above a link that make its tag path.
const TAG_PATH: usize = 4;

/// What part of the page an element stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Area {
    Page,
    /// Inside `article`, `main` or `section`, whose headers are their own.
    Content,
    Navigation,
}

impl Area {
    /// The area inside a block that stands in `self`.
    pub(super) fn inside(self, element: &Element, role: Role) -> Self {
        let is_main = element.name.local == local_name!("main");
        match (role, self) {
            (Role::Section, _) if is_main => Self::Content,
            (_, Self::Navigation) | (Role::Navigation, _) | (Role::Banner, Self::Page) => Self::Navigation,
            (Role::Section, Self::Page) => Self::Content,
            (_, Self::Page) if is_named_navigation(element) => Self::Navigation,
            (_, above) => above,
        }
    }
}

/// An open element.
#[derive(Clone, Copy)]
pub(super) struct Frame<'t> {
    element: Option<&'t Element>,
    pub(super) role: Role,
    /// 0 until asked for.
    signature: u32,
    /// The nearest block: this element or one above it.
    pub(super) block: u32,
    pub(super) area: Area,
    /// Nothing inside is read.
    pub(super) skip: bool,
    pub(super) in_heading: bool,
    /// Number of the first word inside.
    pub(super) start: u32,
}

impl<'t> Frame<'t> {
    /// The frame around all elements.
    pub(super) fn page() -> Self {
        Self {
            element: None,
            role: Role::Root,
            signature: 0,
            block: PAGE,
            area: Area::Page,
            skip: false,
            in_heading: false,
            start: 0,
        }
    }

    /// An element inside this one, whose words will start at number `start`.
    pub(super) fn child(&self, element: &'t Element, role: Role, start: u32) -> Self {
        Self { element: Some(element), role, signature: 0, skip: self.skip || role == Role::Skip, start, ..*self }
    }
}

/// Hash of the names and classes of the innermost elements, the last of `frames` left out.
pub(super) fn tag_path(frames: &mut [Frame<'_>]) -> u32 {
    let last = frames.len().saturating_sub(1);
    frames[last.saturating_sub(TAG_PATH)..last].iter_mut().fold(FNV_START, |hash, frame| {
        if frame.signature == 0 {
            frame.signature = frame.element.map_or(1, signature);
        }
        fnv(hash, frame.signature.to_le_bytes())
    })
}

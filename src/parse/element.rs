//! What an element means to the walk: its role by name, and what its class and id give away.
//!
//! Promises: looks at one element at a time, without the tree around it.
//! Never: keeps state.

use html5ever::{LocalName, local_name, ns};
use scraper::node::Element;

/// What an element does to the text, the blocks and the links around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Inline,
    /// Breaks the line, but not the block: `br`, `hr`.
    Break,
    Block,
    /// A block whose items belong together: lists and tables.
    List,
    /// A block of content of its own: `article`, `main`, `section`.
    Section,
    /// `nav`, `aside`, and lists to choose from.
    Navigation,
    /// `header` and `footer`: navigation where they belong to the whole page.
    Banner,
    /// `h1` to `h6`, with the level.
    Heading(u8),
    /// `dt`, `th`, `caption`, `legend`: headings within their list or table.
    Label,
    Anchor,
    Area,
    Frame,
    Image,
    Title,
    Meta,
    Link,
    Base,
    /// `html` and `body`: the page itself.
    Root,
    /// Nothing inside is text of the page.
    Skip,
}

impl Role {
    pub(super) fn of(element: &Element) -> Self {
        if element.name.ns != ns!(html) {
            return Self::Skip;
        }
        match element.name.local {
            local_name!("html") | local_name!("body") => Self::Root,
            local_name!("a") => Self::Anchor,
            local_name!("br") | local_name!("hr") => Self::Break,
            local_name!("img") => Self::Image,
            local_name!("div")
            | local_name!("p")
            | local_name!("li")
            | local_name!("td")
            | local_name!("tr")
            | local_name!("dd")
            | local_name!("tbody")
            | local_name!("thead")
            | local_name!("tfoot")
            | local_name!("form")
            | local_name!("center")
            | local_name!("blockquote")
            | local_name!("pre")
            | local_name!("address")
            | local_name!("fieldset")
            | local_name!("figure")
            | local_name!("figcaption")
            | local_name!("details")
            | local_name!("summary")
            | local_name!("dialog")
            | local_name!("hgroup")
            | local_name!("option")
            | local_name!("textarea")
            | local_name!("frameset")
            | local_name!("listing")
            | local_name!("xmp") => Self::Block,
            local_name!("ul")
            | local_name!("ol")
            | local_name!("dl")
            | local_name!("dir")
            | local_name!("menu")
            | local_name!("table") => Self::List,
            local_name!("h1") => Self::Heading(1),
            local_name!("h2") => Self::Heading(2),
            local_name!("h3") => Self::Heading(3),
            local_name!("h4") => Self::Heading(4),
            local_name!("h5") => Self::Heading(5),
            local_name!("h6") => Self::Heading(6),
            local_name!("dt") | local_name!("th") | local_name!("caption") | local_name!("legend") => Self::Label,
            local_name!("article") | local_name!("main") | local_name!("section") => Self::Section,
            local_name!("nav") | local_name!("aside") | local_name!("select") => Self::Navigation,
            local_name!("header") | local_name!("footer") => Self::Banner,
            local_name!("area") => Self::Area,
            local_name!("frame") | local_name!("iframe") => Self::Frame,
            local_name!("title") => Self::Title,
            local_name!("meta") => Self::Meta,
            local_name!("link") => Self::Link,
            local_name!("base") => Self::Base,
            local_name!("script")
            | local_name!("style")
            | local_name!("noscript")
            | local_name!("noframes")
            | local_name!("noembed")
            | local_name!("template")
            | local_name!("object")
            | local_name!("rt")
            | local_name!("rp")
            | local_name!("canvas") => Self::Skip,
            _ => Self::Inline,
        }
    }

    /// Whether the element starts a line and holds what belongs together.
    pub(super) fn is_block(self) -> bool {
        matches!(
            self,
            Self::Block | Self::List | Self::Section | Self::Navigation | Self::Banner | Self::Heading(_) | Self::Label
        )
    }
}

/// The value of an attribute without a namespace.
pub(super) fn attribute<'a>(element: &'a Element, name: &LocalName) -> Option<&'a str> {
    element.attrs.iter().find(|(known, _)| known.local == *name && known.ns == ns!()).map(|(_, value)| &**value)
}

/// Whether class or id say that the element holds navigation (`main-nav`, `sidebar`, `footer_links`).
///
/// Names that speak of the page's layout (`has-sidebar`, `content-with-menu`) or of a post's own
/// header do not count.
pub(super) fn is_named_navigation(element: &Element) -> bool {
    element.attrs.iter().any(|(name, value)| {
        (name.local == local_name!("class") || name.local == local_name!("id"))
            && value.split_ascii_whitespace().any(names_navigation)
    })
}

fn names_navigation(name: &str) -> bool {
    const NOT: &[&str] =
        &["no", "not", "has", "with", "without", "content", "layout", "page", "post", "entry", "article", "body", "section"];
    let mut found = false;
    for word in name.split(|c: char| !c.is_ascii_alphabetic()) {
        if NOT.iter().any(|not| word.eq_ignore_ascii_case(not)) {
            return false;
        }
        found = found || is_navigation_word(word.as_bytes());
    }
    found
}

fn is_navigation_word(word: &[u8]) -> bool {
    const WHOLE: &[&[u8]] = &[b"header", b"foot", b"crumb", b"crumbs", b"toolbar"];
    const WITHIN: &[&[u8]] = &[b"menu", b"footer", b"sidebar", b"breadcrumb"];
    let starts = |at: usize, part: &[u8]| word.len() >= at + part.len() && word[at..at + part.len()].eq_ignore_ascii_case(part);
    WHOLE.iter().any(|whole| word.eq_ignore_ascii_case(whole))
        || starts(0, b"nav")
        || (word.len() > 3 && starts(word.len() - 3, b"nav"))
        || (word.len() >= 4 && (0..=word.len() - 4).any(|at| WITHIN.iter().any(|part| starts(at, part))))
}

/// A hash of the element's name and the words of its class, digits left out, in any order; stable on disk (FNV-1a).
pub(super) fn signature(element: &Element) -> u32 {
    const MAX_CLASSES: usize = 8;
    let mut classes = [0_u32; MAX_CLASSES];
    let mut count = 0;
    if let Some(class) = attribute(element, &local_name!("class")) {
        for word in class.split_ascii_whitespace().take(MAX_CLASSES) {
            classes[count] = fnv(FNV_START, word.bytes().filter(|byte| !byte.is_ascii_digit()));
            count += 1;
        }
    }
    classes[..count].sort_unstable();
    let name = fnv(FNV_START, element.name.local.bytes());
    classes[..count].iter().fold(name, |hash, class| fnv(hash, class.to_le_bytes()))
}

/// Start value of [`fnv`].
pub(super) const FNV_START: u32 = 0x811c_9dc5;

/// FNV-1a, 32 bits, going on from `hash`.
pub(super) fn fnv(hash: u32, bytes: impl IntoIterator<Item = u8>) -> u32 {
    bytes.into_iter().fold(hash, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use html5ever::{Attribute, QualName, tendril::StrTendril};

    use super::*;

    fn element(name: &str, class: &str) -> Element {
        let name = QualName::new(None, ns!(html), LocalName::from(name));
        let class = Attribute { name: QualName::new(None, ns!(), local_name!("class")), value: StrTendril::from(class) };
        Element::new(name, vec![class])
    }

    #[test]
    fn navigation_is_told_by_name_but_layout_words_do_not_make_it() {
        for named in
            ["nav", "main-nav", "navbar", "topNav", "left_menu", "submenu2", "site-footer", "sidebar", "breadcrumbs", "header"]
        {
            assert!(is_named_navigation(&element("div", named)), "{named}");
        }
        for other in ["content", "has-sidebar", "post-header", "document", "canvas", "with-nav fixed", "layout-sidebar-left", ""]
        {
            assert!(!is_named_navigation(&element("div", other)), "{other}");
        }
    }

    #[test]
    fn signatures_ignore_digits_and_the_order_of_classes() {
        let base = signature(&element("li", "item odd"));
        assert_eq!(base, signature(&element("li", "odd item42")));
        assert_ne!(base, signature(&element("li", "item")));
        assert_ne!(base, signature(&element("td", "item odd")));
    }
}

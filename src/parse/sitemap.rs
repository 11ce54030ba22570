//! Links out of XML lists: sitemaps and sitemap indexes (sitemaps.org), RSS and Atom feeds.
//!
//! Promises: bounded in links, bytes and depth of work; entities other than the
//! five of XML and character references are left out, never expanded; a broken
//! document gives the links before the break.
//! Never: fetches the sitemaps that an index names.

use std::{borrow::Cow, io::Read};

use flate2::read::MultiGzDecoder;
use quick_xml::{
    Reader, XmlVersion,
    escape::resolve_predefined_entity,
    events::{BytesStart, Event},
};

use super::{Document, ParseError, charset};
use crate::url::{MAX_URL_BYTES, Url, canonicalize};

/// Bytes of a list that are read, unpacked.
const MAX_XML_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of a title that are kept.
const MAX_TITLE_BYTES: usize = 500;

/// Attributes of one element that are looked at.
const MAX_ATTRIBUTES: usize = 16;

/// What an XML list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum XmlKind {
    /// Its links are pages.
    Sitemap,
    /// Its links are further sitemaps.
    SitemapIndex,
    /// RSS or Atom; its links are pages, newest first as a rule.
    Feed,
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmlLink {
    pub url: Url,
    /// The entry's title, in feeds.
    pub title: Option<String>,
}

/// The links of an XML list, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XmlLinks {
    pub kind: XmlKind,
    pub links: Vec<XmlLink>,
    /// There were more links or bytes than the limits allow, or the XML broke off.
    pub truncated: bool,
}

/// Reads at most `max_links` links of a sitemap or feed; gzip around it is undone.
///
/// # Errors
/// [`ParseError::NotAList`] where the root element is that of no known list.
pub fn links_of_xml(document: &Document<'_>, max_links: usize) -> Result<XmlLinks, ParseError> {
    let (body, cut) = unpacked(document.body);
    let decoded = charset::decode(&body, document.content_type, document.url);
    let mut list = List::new(document.url, max_links);
    let mut reader = Reader::from_str(&decoded.text);
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let broken = loop {
        match reader.read_event() {
            Ok(Event::Eof) => break list.depth > 0,
            Ok(event) => {
                if !list.take(&event)? {
                    break true;
                }
            }
            Err(_) => break true,
        }
    };
    let kind = list.kind.ok_or_else(|| ParseError::NotAList("missing".to_owned()))?;
    Ok(XmlLinks { kind, links: list.links, truncated: broken || cut })
}

/// The body without gzip around it, and whether it was cut to the size limit.
fn unpacked(body: &[u8]) -> (Cow<'_, [u8]>, bool) {
    if !body.starts_with(&[0x1f, 0x8b]) {
        let end = body.len().min(MAX_XML_BYTES);
        return (Cow::Borrowed(&body[..end]), end < body.len());
    }
    let mut out = Vec::new();
    let read = MultiGzDecoder::new(body).take(MAX_XML_BYTES as u64).read_to_end(&mut out);
    let cut = read.is_err() || out.len() == MAX_XML_BYTES;
    (Cow::Owned(out), cut)
}

/// What the text being read belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Address,
    Title,
}

/// The list as far as it is read.
struct List<'u> {
    base: &'u Url,
    max_links: usize,
    kind: Option<XmlKind>,
    links: Vec<XmlLink>,
    depth: u32,
    /// Depth of the entry that is open.
    entry: Option<u32>,
    field: Option<Field>,
    address: String,
    title: String,
}

impl<'u> List<'u> {
    fn new(base: &'u Url, max_links: usize) -> Self {
        Self {
            base,
            max_links,
            kind: None,
            links: Vec::new(),
            depth: 0,
            entry: None,
            field: None,
            address: String::new(),
            title: String::new(),
        }
    }

    /// Takes the next event in; `false` once there are links enough.
    fn take(&mut self, event: &Event<'_>) -> Result<bool, ParseError> {
        match event {
            Event::Start(element) => {
                self.depth += 1;
                self.open(element)?;
            }
            Event::Empty(element) => {
                self.depth += 1;
                self.open(element)?;
                return Ok(self.close());
            }
            Event::End(_) => return Ok(self.close()),
            Event::Text(text) => self.text(&text.xml10_content()),
            Event::CData(text) => self.text(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                if let Ok(Some(c)) = reference.resolve_char_ref() {
                    self.text(c.encode_utf8(&mut [0; 4]));
                } else if let Some(text) = resolve_predefined_entity(&reference.xml10_content()) {
                    self.text(text);
                }
            }
            _ => {}
        }
        Ok(true)
    }

    fn open(&mut self, element: &BytesStart<'_>) -> Result<(), ParseError> {
        let name = element.name();
        let name = name.as_ref();
        if self.kind.is_none() {
            self.kind = Some(kind_of_root(name).ok_or_else(|| ParseError::NotAList(name.chars().take(40).collect()))?);
        } else if self.entry.is_none() {
            if matches!(name, "url" | "sitemap" | "item" | "entry") {
                self.entry = Some(self.depth);
                self.address.clear();
                self.title.clear();
            }
        } else if self.entry == Some(self.depth - 1) {
            match name {
                "loc" => self.field = Some(Field::Address),
                "title" => self.field = Some(Field::Title),
                "link" if self.address.is_empty() => match atom_href(element) {
                    Some(href) => self.address = href,
                    None => self.field = Some(Field::Address),
                },
                _ => {}
            }
        }
        Ok(())
    }

    fn close(&mut self) -> bool {
        if self.entry == Some(self.depth) {
            self.entry = None;
            self.end_entry();
        } else if self.entry == Some(self.depth.saturating_sub(1)) {
            self.field = None;
        }
        self.depth = self.depth.saturating_sub(1);
        self.links.len() < self.max_links
    }

    fn text(&mut self, text: &str) {
        let (into, limit) = match self.field {
            // One byte more than an address may have, so that a longer one is refused, not shortened.
            Some(Field::Address) => (&mut self.address, MAX_URL_BYTES + 1),
            Some(Field::Title) => (&mut self.title, MAX_TITLE_BYTES),
            None => return,
        };
        let room = limit.saturating_sub(into.len());
        into.push_str(&text[..text.floor_char_boundary(room)]);
    }

    fn end_entry(&mut self) {
        self.field = None;
        if let Ok(url) = canonicalize(self.address.trim(), Some(self.base))
            && !self.address.trim().is_empty()
        {
            let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
            self.links.push(XmlLink { url, title: Some(title).filter(|title| !title.is_empty()) });
        }
    }
}

fn kind_of_root(name: &str) -> Option<XmlKind> {
    match name {
        "urlset" => Some(XmlKind::Sitemap),
        "sitemapindex" => Some(XmlKind::SitemapIndex),
        "rss" | "feed" | "rdf:RDF" => Some(XmlKind::Feed),
        _ => None,
    }
}

/// The address of Atom's `<link href>`, where it leads to the entry itself.
fn atom_href(element: &BytesStart<'_>) -> Option<String> {
    let (mut href, mut is_alternate) = (None, true);
    let mut attributes = element.attributes();
    for attribute in attributes.with_checks(false).take(MAX_ATTRIBUTES).flatten() {
        match attribute.key.as_ref() {
            "href" => href = attribute.normalized_value(XmlVersion::Implicit1_0).ok().map(Cow::into_owned),
            "rel" => is_alternate = attribute.value.as_ref() == "alternate",
            _ => {}
        }
    }
    href.map(|href| if is_alternate { href } else { String::new() })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn read(body: &[u8]) -> Result<XmlLinks, ParseError> {
        let url = Url::parse("http://e.com/sitemap.xml").unwrap();
        links_of_xml(&Document { url: &url, content_type: None, body }, 3)
    }

    fn urls(list: &XmlLinks) -> Vec<&str> {
        list.links.iter().map(|link| link.url.as_str()).collect()
    }

    #[test]
    fn sitemaps_and_indexes_give_their_locations_only() {
        let list = read(
            b"<?xml version='1.0'?><urlset><url><loc> http://e.com/a?x=1&amp;y=2 </loc><image:image><image:loc>http://e.com/i.png\
              </image:loc></image:image></url><url><loc>/b</loc></url></urlset>",
        )
        .unwrap();
        assert_eq!((list.kind, list.truncated), (XmlKind::Sitemap, false));
        assert_eq!(urls(&list), ["http://e.com/a?x=1&y=2", "http://e.com/b"]);
        let index = read(b"<sitemapindex><sitemap><loc>http://e.com/1.xml</loc></sitemap></sitemapindex>").unwrap();
        assert_eq!(index.kind, XmlKind::SitemapIndex);
    }

    #[test]
    fn feeds_give_titles_too() {
        let rss = read(
            "<rss><channel><title>site</title><link>http://e.com/</link><item><title><![CDATA[水稻 & <b>]]></title>\
             <link>http://e.com/1</link></item><item><title>Q&#65;&amp;&bomb;</title><link>http://e.com/2</link></item></channel></rss>"
                .as_bytes(),
        )
        .unwrap();
        assert_eq!(urls(&rss), ["http://e.com/1", "http://e.com/2"]);
        assert_eq!(rss.links[0].title.as_deref(), Some("水稻 & <b>"));
        assert_eq!(rss.links[1].title.as_deref(), Some("QA&"));
        let atom = read(
            b"<feed><link href='/'/><entry><link rel='self' href='/x.atom'/><link rel='alternate' href='/x'/><title>X</title></entry></feed>",
        )
        .unwrap();
        assert_eq!(urls(&atom), ["http://e.com/x"]);
    }

    #[test]
    fn packed_lists_are_unpacked() {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packer.write_all(b"<urlset><url><loc>http://e.com/a</loc></url></urlset>").unwrap();
        assert_eq!(urls(&read(&packer.finish().unwrap()).unwrap()), ["http://e.com/a"]);
    }

    #[test]
    fn broken_and_endless_lists_give_what_came_before() {
        let broken = read(b"<urlset><url><loc>http://e.com/a</loc></url><url><loc>http://e.com/b").unwrap();
        assert_eq!((urls(&broken), broken.truncated), (vec!["http://e.com/a"], true));
        let many = format!("<urlset>{}", "<url><loc>/a</loc></url>".repeat(10));
        let many = read(many.as_bytes()).unwrap();
        assert_eq!((many.links.len(), many.truncated), (3, true));
        assert!(read(b"<html><a href=x>").unwrap_err().to_string().contains("html"));
        assert!(read(b"").is_err());
    }

    #[test]
    fn entities_are_never_expanded() {
        let bomb =
            "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><urlset><url><loc>http://e.com/&b;</loc></url></urlset>";
        assert_eq!(urls(&read(bomb.as_bytes()).unwrap()), ["http://e.com/"]);
    }
}

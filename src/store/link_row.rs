//! A waiting URL as bytes: the row there are the most of, so it is packed by hand.
//!
//! The words of its in-links stand in the row of the page that each is on (`links_row`); here are the numbers of page and
//! link. So does the URL, where it is that of the first in-link; else scheme and host are left out of it (the host's id
//! stands for them). The queue's key can be read without the rest.
//!
//! Promises: every field of [`LinkRecord`] comes back as it was, priority and estimate to the precision of 32 bits; an
//! in-link is known by page and ordinal, and its context never changes.
//! Never: looks a host or a page up; the caller says which name an id has, and what stands on a page.

mod layout;

use super::{AddedInLink, InLink, LinkRecord, StoreError, codec::damaged};
use crate::{
    page::Relevance,
    url::{Fingerprint, Url, authority},
};
use layout::{Address, InLinkRow, KIND, LinkRow};
pub(super) use layout::{Head, head};

/// What the rows of pages hold of a link that is being written.
pub(super) trait OnPages {
    /// Whether its page is written in this batch, and has it.
    fn holds(&self, target: Fingerprint, in_link: &InLink) -> bool;
    /// The URL that it leads to, as its page has it.
    fn url(&self, target: Fingerprint, in_link: &InLink) -> Option<&str>;
}

/// What a row says that is to be replaced.
#[derive(Default)]
pub(super) struct Before {
    on_pages: Vec<(u64, u16)>,
    /// Its URL is that of its first in-link.
    has_no_url: bool,
}

impl Before {
    pub fn of(bytes: &[u8]) -> Result<Self, StoreError> {
        let row = LinkRow::read(bytes)?;
        let on_pages = row.in_links.iter().filter(|link| matches!(link, InLinkRow::OnPage(..)));
        Ok(Self { on_pages: on_pages.map(InLinkRow::key).collect(), has_no_url: matches!(row.address, Address::First) })
    }
}

/// The name of the host whose queue a URL belongs to.
pub(super) fn host_name(url: &str) -> Result<String, StoreError> {
    Url::parse(url).map(|url| authority(&url)).map_err(|e| StoreError::Refused(format!("`{url}` is no URL: {e}")))
}

/// A row; `before` is the one that it replaces.
pub(super) fn encode(
    (host, host_name): (u32, &str),
    (target, link): (Fingerprint, &LinkRecord),
    pages: &impl OnPages,
    before: &Before,
) -> Result<Vec<u8>, StoreError> {
    let LinkRecord {
        url,
        discovered,
        depth,
        tunnel_depth,
        in_links,
        in_degree,
        forgotten_relevance,
        tries,
        not_before,
        priority,
        estimate,
    } = link;
    let stands = |link: &InLink| pages.holds(target, link) || before.on_pages.contains(&(link.source, link.ordinal));
    let is_first = in_links.first().filter(|first| stands(first)).is_some_and(|first| {
        let was_first = before.has_no_url && before.on_pages.first() == Some(&(first.source, first.ordinal));
        was_first || (pages.holds(target, first) && pages.url(target, first) == Some(url))
    });
    let row = LinkRow {
        head: Head { host, priority: *priority as f32 },
        address: if is_first { Address::First } else { Address::of(url, host_name) },
        discovered: *discovered,
        depth: *depth,
        tunnel_depth: *tunnel_depth,
        in_degree: *in_degree,
        forgotten_relevance: *forgotten_relevance,
        tries: *tries,
        not_before: *not_before,
        estimate: estimate.get() as f32,
        in_links: in_links.iter().map(|link| InLinkRow::of(link, stands(link))).collect(),
    };
    row.write()
}

/// A row with one in-link more; the URL may be nearer to a seed by it.
pub(super) fn with_in_link(bytes: &[u8], added: &AddedInLink, stands_on_page: bool) -> Result<Vec<u8>, StoreError> {
    let mut row = LinkRow::read(bytes)?;
    let AddedInLink { in_link, depth, tunnel_depth } = added;
    if !row.in_links.iter().any(|known| known.key() == (in_link.source, in_link.ordinal)) {
        row.in_links.push(InLinkRow::of(in_link, stands_on_page));
    }
    row.depth = row.depth.min(*depth);
    row.tunnel_depth = row.tunnel_depth.min(*tunnel_depth);
    row.write()
}

/// A row with another priority.
pub(super) fn with_priority(bytes: &[u8], priority: f64) -> Result<Vec<u8>, StoreError> {
    let mut row = LinkRow::read(bytes)?;
    row.head.priority = priority as f32;
    row.write()
}

/// Reads a row; `name_of` gives the name of its host, `in_link` a link of a page and where it leads.
pub(super) fn decode(
    bytes: &[u8],
    name_of: impl FnOnce(u32) -> Result<std::sync::Arc<str>, StoreError>,
    mut in_link: impl FnMut(u64, u16) -> Result<(InLink, Option<String>), StoreError>,
) -> Result<LinkRecord, StoreError> {
    let row = LinkRow::read(bytes)?;
    let mut in_links = Vec::with_capacity(row.in_links.len());
    let mut first_url = None;
    for link in row.in_links {
        match link {
            InLinkRow::Whole(link) => in_links.push(*link),
            InLinkRow::OnPage(source, ordinal) => {
                let (link, url) = in_link(source, ordinal)?;
                if in_links.is_empty() {
                    first_url = url;
                }
                in_links.push(link);
            }
        }
    }
    let whole = |scheme: &str, rest: &str| Ok::<_, StoreError>([scheme, &name_of(row.head.host)?, rest].concat());
    let url = match row.address {
        Address::First => first_url.ok_or_else(|| damaged(KIND, "its first in-link does not say where it leads"))?,
        Address::Http(rest) => whole("http://", &rest)?,
        Address::Https(rest) => whole("https://", &rest)?,
        Address::Whole(url) => url.into_owned(),
    };
    Ok(LinkRecord {
        url,
        discovered: row.discovered,
        depth: row.depth,
        tunnel_depth: row.tunnel_depth,
        in_links,
        in_degree: row.in_degree,
        forgotten_relevance: row.forgotten_relevance,
        tries: row.tries,
        not_before: row.not_before,
        priority: row.head.priority(),
        estimate: Relevance::new(f64::from(row.estimate)),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::layout::VERSION;
    use super::*;
    use crate::{
        page::{LinkContext, Timestamp},
        store::codec::hex,
        text::TermId,
    };

    prop_compose! {
        /// Few values for each field, so that neighbours are often alike.
        fn in_link()(source in 0..3_u64, text in "[ab]?", ids in prop::collection::vec(0..2_u32, 0..2), heading in 0..2_u16,
                     group in 0..2_u16, position in 0..2_u8) -> InLink {
            let ids: Box<[TermId]> = ids.into_iter().map(TermId).collect();
            let context = LinkContext {
                anchor_text: text.into(),
                anchor: ids.clone(),
                around: ids.clone(),
                heading: Some(heading).filter(|&heading| heading > 0),
                tag_path: u32::from(group) << 30,
                group,
                position: f32::from(position),
                navigation: group > 0,
            };
            InLink { source, ordinal: 7 * group, context, heading: ids }
        }
    }

    fn link(url: &str, in_links: Vec<InLink>) -> LinkRecord {
        LinkRecord {
            url: url.into(),
            discovered: 300,
            depth: 4,
            tunnel_depth: 2,
            in_links,
            in_degree: 70_000,
            forgotten_relevance: 0.75,
            tries: 1,
            not_before: Timestamp(1_795_219_200_000),
            priority: 0.375,
            estimate: Relevance::new(0.25),
        }
    }

    /// Pages that hold in-links by `seq`: of all pages below a number, and they lead to one URL.
    struct Below<'a>(u64, &'a str);

    impl OnPages for Below<'_> {
        fn holds(&self, _: Fingerprint, in_link: &InLink) -> bool {
            in_link.source < self.0
        }

        fn url(&self, _: Fingerprint, _: &InLink) -> Option<&str> {
            Some(self.1)
        }
    }

    fn written(link: &LinkRecord, pages: &Below<'_>, before: &Before) -> Vec<u8> {
        let name = host_name(&link.url).unwrap();
        encode((3, &name), (Fingerprint(1), link), pages, before).unwrap()
    }

    /// Reads a row whose in-links stand on pages as they do in `link`.
    fn reread(row: &[u8], link: &LinkRecord, on_page: &str) -> LinkRecord {
        let name = host_name(&link.url).unwrap();
        let in_link = |source, ordinal| {
            let known = link.in_links.iter().find(|known| (known.source, known.ordinal) == (source, ordinal)).unwrap();
            Ok((known.clone(), Some(on_page.to_owned())))
        };
        decode(
            row,
            |id| {
                assert_eq!(id, 3);
                Ok(name.as_str().into())
            },
            in_link,
        )
        .unwrap()
    }

    proptest! {
        #[test]
        fn every_field_comes_back(mut in_links in prop::collection::vec(in_link(), 0..6), below in 0..4_u64,
                                  url in "(http|https|ftp)://(e[.]com|f[.]org:81)/[a-z]{0,5}") {
            // An in-link is known by page and ordinal.
            in_links.sort_by_key(|link| (link.source, link.ordinal));
            in_links.dedup_by_key(|link| (link.source, link.ordinal));
            let link = link(&url, in_links);
            for on_page in [url.as_str(), "http://other.test/"] {
                let row = written(&link, &Below(below, on_page), &Before::default());
                prop_assert_eq!(head(&row).unwrap(), Head { host: 3, priority: 0.375 });
                prop_assert_eq!(&reread(&row, &link, on_page), &link);
                // Written again when the pages are no longer at hand.
                let again = written(&link, &Below(0, ""), &Before::of(&row).unwrap());
                prop_assert_eq!(&again, &row);
                let moved = with_priority(&row, 0.5).unwrap();
                prop_assert_eq!(&reread(&moved, &link, on_page), &LinkRecord { priority: 0.5, ..link.clone() });
            }
        }

        #[test]
        fn bytes_that_are_no_row_are_an_error(mut bytes: Vec<u8>) {
            if let Some(first) = bytes.first_mut() {
                *first = VERSION;
            }
            let none = |_, _| Err(damaged(KIND, "no page is at hand"));
            prop_assert!(decode(&bytes, |_| Ok("e.com".into()), none).is_err() || bytes.len() > 18);
        }
    }

    #[test]
    fn an_in_link_that_is_added_is_there_once_and_may_bring_a_url_nearer() {
        let in_link = |source| InLink { source, ordinal: 4, context: LinkContext::default(), heading: Box::default() };
        let link = link("http://e.com/a", vec![in_link(1)]);
        let row = written(&link, &Below(0, ""), &Before::default());
        let added = AddedInLink { in_link: in_link(2), depth: 1, tunnel_depth: 3 };
        let once = with_in_link(&row, &added, false).unwrap();
        let expected = LinkRecord { in_links: vec![in_link(1), in_link(2)], depth: 1, ..link.clone() };
        assert_eq!(reread(&once, &link, ""), expected);
        assert_eq!(with_in_link(&once, &added, false).unwrap(), once);
    }

    #[test]
    fn the_layout_is_the_one_of_its_version() {
        let context = LinkContext {
            anchor_text: "稻".into(),
            anchor: [TermId(1)].into(),
            around: [TermId(2), TermId(3)].into(),
            heading: Some(4),
            tag_path: 5,
            group: 6,
            position: 0.5,
            navigation: true,
        };
        let in_link = |source| InLink { source, ordinal: 11, context: context.clone(), heading: [TermId(8)].into() };
        let link = link("https://e.com/a", vec![in_link(1), in_link(7)]);
        let rows = [Below(0, ""), Below(9, "https://e.com/a")].map(|pages| hex(&written(&link, &pages, &Before::default())));
        assert_eq!(
            rows,
            [
                "04030000c03e4e0000803e44ac02f0a2040000403f0180b09cdb9f3401010b03e7a8bb0101020203010405060000003f01010801070b03e7a8bb0101020203010405060000003f0101082f61",
                "04030000c03e4c0000803e44ac02f0a2040000403f0180b09cdb9f3416011607"
            ],
            "the link row has changed: raise its VERSION, or old crawls are misread"
        );
    }
}

//! A waiting URL as bytes: the row there are the most of, so it is packed by hand.
//!
//! Scheme and host are left out of the URL (the host's id stands for them), word
//! ids take four bytes each, and the queue's key can be read without the rest.
//!
//! Promises: every field of [`LinkRecord`] comes back as it was.
//! Never: looks a host up; the caller says which name an id has.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{
    InLink, LinkRecord, StoreError,
    codec::{body, damaged, plain},
};
use crate::{
    page::{LinkContext, Relevance, Timestamp},
    text::TermId,
    url::{Url, authority},
};

const KIND: &str = "link";
const VERSION: u8 = 2;

/// What the queue needs of a row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    pub host: u32,
    pub priority: f64,
}

#[derive(Serialize, Deserialize)]
struct LinkRow<'a> {
    head: Head,
    scheme: Scheme,
    /// The URL after scheme and host.
    #[serde(borrow)]
    rest: Cow<'a, str>,
    discovered: u64,
    depth: u16,
    tunnel_depth: u8,
    in_degree: u32,
    forgotten_relevance: f32,
    tries: u8,
    not_before: Timestamp,
    estimate: Relevance,
    #[serde(borrow)]
    in_links: Vec<InLinkRow<'a>>,
}

/// One link; what is `None` is as in the link before it in the row. Menus lead to a page from
/// everywhere in the same words, so most links after the first are a few bytes.
#[derive(Serialize, Deserialize)]
struct InLinkRow<'a> {
    source: u64,
    ordinal: u16,
    #[serde(borrow)]
    anchor: Option<(Cow<'a, str>, Ids<'a>)>,
    #[serde(borrow)]
    around: Option<Ids<'a>>,
    #[serde(borrow)]
    heading: Option<(Option<u16>, Ids<'a>)>,
    place: Option<Place>,
    position: Option<f32>,
}

#[derive(Serialize, Deserialize)]
struct Place {
    #[serde(with = "postcard::fixint::le")]
    tag_path: u32,
    group: u16,
    navigation: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Scheme {
    /// The rest is the whole URL.
    Whole,
    Http,
    Https,
}

impl Scheme {
    fn prefix(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::Http => "http://",
            Self::Https => "https://",
        }
    }
}

/// The name of the host whose queue a URL belongs to.
pub(super) fn host_name(url: &str) -> Result<String, StoreError> {
    Url::parse(url).map(|url| authority(&url)).map_err(|e| StoreError::Refused(format!("`{url}` is no URL: {e}")))
}

pub(super) fn encode(host: u32, host_name: &str, link: &LinkRecord) -> Result<Vec<u8>, StoreError> {
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
    let (scheme, rest) = split(url, host_name);
    let row = LinkRow {
        head: Head { host, priority: *priority },
        scheme,
        rest: Cow::Borrowed(rest),
        discovered: *discovered,
        depth: *depth,
        tunnel_depth: *tunnel_depth,
        in_degree: *in_degree,
        forgotten_relevance: *forgotten_relevance,
        tries: *tries,
        not_before: *not_before,
        estimate: *estimate,
        in_links: in_links.iter().scan(None, |before, link| Some(InLinkRow::of(link, before.replace(link)))).collect(),
    };
    plain(KIND, VERSION, &row)
}

/// Reads host and priority alone.
pub(super) fn head(bytes: &[u8]) -> Result<Head, StoreError> {
    let (head, _) = postcard::take_from_bytes(body(KIND, VERSION, bytes)?).map_err(|e| damaged(KIND, e))?;
    Ok(head)
}

/// Reads a row; `name_of` gives the name of its host.
pub(super) fn decode(
    bytes: &[u8],
    name_of: impl FnOnce(u32) -> Result<std::sync::Arc<str>, StoreError>,
) -> Result<LinkRecord, StoreError> {
    let row: LinkRow = postcard::from_bytes(body(KIND, VERSION, bytes)?).map_err(|e| damaged(KIND, e))?;
    let url = match row.scheme {
        Scheme::Whole => row.rest.into_owned(),
        scheme => [scheme.prefix(), &name_of(row.head.host)?, &row.rest].concat(),
    };
    let mut in_links: Vec<InLink> = Vec::with_capacity(row.in_links.len());
    for link in row.in_links {
        in_links.push(link.into_in_link(in_links.last()).ok_or_else(|| damaged(KIND, "its first link leans on none"))?);
    }
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
        priority: row.head.priority,
        estimate: row.estimate,
    })
}

fn split<'a>(url: &'a str, host_name: &str) -> (Scheme, &'a str) {
    let after = |scheme: Scheme| Some((scheme, url.strip_prefix(scheme.prefix())?.strip_prefix(host_name)?));
    after(Scheme::Http).or_else(|| after(Scheme::Https)).unwrap_or((Scheme::Whole, url))
}

impl<'a> InLinkRow<'a> {
    fn of(link: &'a InLink, before: Option<&InLink>) -> Self {
        let InLink { source, ordinal, context, heading: heading_words } = link;
        let LinkContext { anchor_text, anchor, around, heading, tag_path, group, position, navigation } = context;
        let differs = |same: fn(&InLink, &InLink) -> bool| !before.is_some_and(|before| same(before, link));
        let ids = |ids: &'a [TermId]| Ids(Cow::Borrowed(ids));
        Self {
            source: *source,
            ordinal: *ordinal,
            anchor: differs(|a, b| (&a.context.anchor_text, &a.context.anchor) == (&b.context.anchor_text, &b.context.anchor))
                .then(|| (Cow::Borrowed(&**anchor_text), ids(anchor))),
            around: differs(|a, b| a.context.around == b.context.around).then(|| ids(around)),
            heading: differs(|a, b| (a.context.heading, &a.heading) == (b.context.heading, &b.heading))
                .then(|| (*heading, ids(heading_words))),
            place: differs(|a, b| place_of(&a.context) == place_of(&b.context)).then_some(Place {
                tag_path: *tag_path,
                group: *group,
                navigation: *navigation,
            }),
            position: differs(|a, b| a.context.position.to_bits() == b.context.position.to_bits()).then_some(*position),
        }
    }

    /// The link, where `before` is the one before it; `None` where that is needed and missing.
    fn into_in_link(self, before: Option<&InLink>) -> Option<InLink> {
        let was = before.map(|before| &before.context);
        let (anchor_text, anchor) = match self.anchor {
            Some((text, Ids(ids))) => (text.into(), ids.into()),
            None => was.map(|was| (was.anchor_text.clone(), was.anchor.clone()))?,
        };
        let (heading, heading_words) = match self.heading {
            Some((heading, Ids(ids))) => (heading, ids.into()),
            None => before.map(|before| (before.context.heading, before.heading.clone()))?,
        };
        let (tag_path, group, navigation) = match self.place {
            Some(Place { tag_path, group, navigation }) => (tag_path, group, navigation),
            None => was.map(place_of)?,
        };
        let around = match self.around {
            Some(Ids(ids)) => ids.into(),
            None => was?.around.clone(),
        };
        let position = self.position.or(was.map(|was| was.position))?;
        let context = LinkContext { anchor_text, anchor, around, heading, tag_path, group, position, navigation };
        Some(InLink { source: self.source, ordinal: self.ordinal, context, heading: heading_words })
    }
}

fn place_of(context: &LinkContext) -> (u32, u16, bool) {
    (context.tag_path, context.group, context.navigation)
}

/// Word ids, four bytes each: they are hashes, so a varint would take five.
struct Ids<'a>(Cow<'a, [TermId]>);

impl Serialize for Ids<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|id| id.0.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Ids<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (ids, rest) = <&[u8]>::deserialize(deserializer)?.as_chunks();
        if !rest.is_empty() {
            return Err(de::Error::custom("word ids that are not whole"));
        }
        Ok(Self(ids.iter().map(|id| TermId(u32::from_le_bytes(*id))).collect()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::codec::hex;

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
            priority: 0.1,
            estimate: Relevance::new(0.3),
        }
    }

    proptest! {
        #[test]
        fn every_field_comes_back(in_links in prop::collection::vec(in_link(), 0..6), url in "(http|https|ftp)://(e[.]com|f[.]org:81)/[a-z]{0,5}") {
            let link = link(&url, in_links);
            let name = host_name(&url).unwrap();
            let row = encode(3, &name, &link).unwrap();
            prop_assert_eq!(head(&row).unwrap(), Head { host: 3, priority: 0.1 });
            let decoded = decode(&row, |id| {
                assert_eq!(id, 3);
                Ok(name.as_str().into())
            });
            prop_assert_eq!(decoded.unwrap(), link);
        }

        #[test]
        fn bytes_that_are_no_row_are_an_error(mut bytes: Vec<u8>) {
            if let Some(first) = bytes.first_mut() {
                *first = VERSION;
            }
            prop_assert!(decode(&bytes, |_| Ok("e.com".into())).is_err() || bytes.len() > 20);
        }
    }

    #[test]
    fn a_menu_that_repeats_costs_a_few_bytes_a_time() {
        let context = LinkContext { anchor_text: "Home".into(), around: (0..12).map(TermId).collect(), ..LinkContext::default() };
        let menu: Vec<InLink> =
            (1..=8).map(|source| InLink { source, ordinal: 0, context: context.clone(), heading: Box::default() }).collect();
        let size = |links: &[InLink]| encode(0, "e.com", &link("http://e.com/", links.to_vec())).unwrap().len();
        assert_eq!((size(&menu) - size(&menu[..1])) / 7, 7);
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
        let link = link("https://e.com/a", vec![InLink { source: 7, ordinal: 11, context, heading: [TermId(8)].into() }]);
        let row = encode(9, "e.com", &link).unwrap();
        assert_eq!(
            hex(&row),
            "02099a9999999999b93f02022f61ac020402f0a2040000403f0180b09cdb9f349a99993e01070b0103e7a8bb040100000001080200000003000000010104040800000001050000000601010000003f",
            "the link row has changed: raise its VERSION, or old crawls are misread"
        );
    }
}

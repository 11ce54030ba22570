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
const VERSION: u8 = 1;

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
    tries: u8,
    not_before: Timestamp,
    estimate: Relevance,
    rank_received: f64,
    #[serde(borrow)]
    in_links: Vec<InLinkRow<'a>>,
}

#[derive(Serialize, Deserialize)]
struct InLinkRow<'a> {
    source: u64,
    #[serde(borrow)]
    anchor_text: Cow<'a, str>,
    anchor: Ids<'a>,
    around: Ids<'a>,
    heading_words: Ids<'a>,
    heading: Option<u16>,
    #[serde(with = "postcard::fixint::le")]
    tag_path: u32,
    group: u16,
    position: f32,
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
        tries,
        not_before,
        priority,
        estimate,
        rank_received,
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
        tries: *tries,
        not_before: *not_before,
        estimate: *estimate,
        rank_received: *rank_received,
        in_links: in_links.iter().map(InLinkRow::of).collect(),
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
    Ok(LinkRecord {
        url,
        discovered: row.discovered,
        depth: row.depth,
        tunnel_depth: row.tunnel_depth,
        in_links: row.in_links.into_iter().map(InLinkRow::into_in_link).collect(),
        in_degree: row.in_degree,
        tries: row.tries,
        not_before: row.not_before,
        priority: row.head.priority,
        estimate: row.estimate,
        rank_received: row.rank_received,
    })
}

fn split<'a>(url: &'a str, host_name: &str) -> (Scheme, &'a str) {
    let after = |scheme: Scheme| Some((scheme, url.strip_prefix(scheme.prefix())?.strip_prefix(host_name)?));
    after(Scheme::Http).or_else(|| after(Scheme::Https)).unwrap_or((Scheme::Whole, url))
}

impl<'a> InLinkRow<'a> {
    fn of(link: &'a InLink) -> Self {
        let InLink { source, context, heading: heading_words } = link;
        let LinkContext { anchor_text, anchor, around, heading, tag_path, group, position, navigation } = context;
        Self {
            source: *source,
            anchor_text: Cow::Borrowed(anchor_text),
            anchor: Ids(Cow::Borrowed(anchor)),
            around: Ids(Cow::Borrowed(around)),
            heading_words: Ids(Cow::Borrowed(heading_words)),
            heading: *heading,
            tag_path: *tag_path,
            group: *group,
            position: *position,
            navigation: *navigation,
        }
    }

    fn into_in_link(self) -> InLink {
        let context = LinkContext {
            anchor_text: self.anchor_text.into(),
            anchor: self.anchor.0.into(),
            around: self.around.0.into(),
            heading: self.heading,
            tag_path: self.tag_path,
            group: self.group,
            position: self.position,
            navigation: self.navigation,
        };
        InLink { source: self.source, context, heading: self.heading_words.0.into() }
    }
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

//! The links of a page as one row: what became of each, and the surroundings of those that waiting URLs were found by.
//!
//! A waiting URL keeps the numbers of the links that lead to it; their words, their anchors, and mostly the URL itself are
//! read here, where they are written once and packed together with those around them.
//!
//! When a page is found changed, a new row takes the place of its row: the links are those of now, and the in-links that waiting
//! URLs refer to are taken along ([`Kept`]).
//!
//! Promises: outlinks and in-links come back as they were; an in-link that a waiting URL refers to has the same number, words and
//! URL in every row of its page.
//! Never: changes in its place.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{
    InLink, OutlinkFate, OutlinkRecord, StoreError,
    codec::{Encoder, Lexicon, body, damaged, unpack_alike},
    dictionary::Alike,
    words::{WordList, distances, numbers},
};
use crate::{page::LinkContext, text::TermId, url::Fingerprint};

const KIND: &str = "outlinks";
const VERSION: u8 = 3;

#[derive(Serialize, Deserialize)]
struct Row<'a> {
    fates: Vec<OutlinkFate>,
    #[serde(borrow)]
    urls: Texts<'a>,
    #[serde(borrow)]
    anchors: Texts<'a>,
    /// Targets that do not follow from their URLs, by place: hashes pack badly, so the rest are left out.
    targets: Vec<(u32, Fingerprint)>,
    /// The words of all contexts, each once: distances of the numbers of those that have one, then the ids of the others.
    numbered: Vec<u32>,
    #[serde(borrow)]
    others: Ids<'a>,
    /// Words of the contexts, one context's after the other, as places in that list: the anchor's, then those around it.
    said: Vec<u32>,
    /// Headings of contexts: number on the page, words.
    headings: Vec<(Option<u16>, Vec<u32>)>,
    places: Vec<Place>,
    contexts: Vec<ContextRow<'a>>,
}

/// Texts, one after the other.
#[derive(Serialize, Deserialize)]
struct Texts<'a> {
    lengths: Vec<u32>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Place {
    #[serde(with = "postcard::fixint::le")]
    tag_path: u32,
    group: u16,
    navigation: bool,
}

/// The surroundings of one link; words, headings and places are numbers in their lists.
#[derive(Serialize, Deserialize)]
struct ContextRow<'a> {
    ordinal: u16,
    /// Place among the URLs, plus one; 0 where it is none of them (a redirect, a canonical address). URLs beyond the outlinks are
    /// those of links that the page has no more.
    outlink: u32,
    /// `None` where it is the outlink's.
    #[serde(borrow)]
    anchor_text: Option<Cow<'a, str>>,
    /// Numbers of words in `said`.
    anchor: u32,
    around: u32,
    heading: u32,
    place: u32,
    /// `None` where it follows from the link's place among the outlinks.
    position: Option<f32>,
}

/// The contexts of one page's links that are to be kept, by ordinal, with the target of each.
pub(super) type Noted<'a> = BTreeMap<u16, (Fingerprint, &'a InLink)>;

/// An in-link of an earlier row of a page, and where it leads, if the row said so.
pub(super) struct Kept {
    pub in_link: InLink,
    pub target: Option<(Fingerprint, String)>,
}

/// Packs the links of a page; `kept` are those of its earlier row that waiting URLs refer to.
pub(super) fn encode(
    encoder: &mut Encoder,
    outlinks: &[OutlinkRecord],
    noted: &Noted<'_>,
    kept: &[Kept],
) -> Result<Vec<u8>, StoreError> {
    let places: FxHashMap<Fingerprint, usize> =
        outlinks.iter().enumerate().rev().map(|(at, outlink)| (outlink.target, at)).collect();
    let mut gone: Vec<(Fingerprint, &str)> = Vec::new();
    let mut links: BTreeMap<u16, (Option<usize>, &InLink)> =
        noted.iter().map(|(&ordinal, (target, in_link))| (ordinal, (places.get(target).copied(), *in_link))).collect();
    for Kept { in_link, target } in kept {
        let at = target.as_ref().map(|(target, url)| outlinks.len() + place_in(&mut gone, (*target, url.as_str())) as usize);
        links.insert(in_link.ordinal, (at, in_link));
    }
    let mut ids: Vec<TermId> = Vec::new();
    for (_, in_link) in links.values() {
        let LinkContext { anchor, around, .. } = &in_link.context;
        ids.extend(anchor.iter().chain(around).chain(&in_link.heading));
    }
    ids.sort_unstable();
    ids.dedup();
    let (mut numbered, mut others) = (Vec::new(), Vec::new());
    for id in ids {
        match encoder.words.number_of(id) {
            Some(number) => numbered.push((number, id)),
            None => others.push(id.0),
        }
    }
    numbered.sort_unstable();
    let all = numbered.iter().map(|&(_, id)| id).chain(others.iter().map(|&id| TermId(id)));
    let place_of: FxHashMap<TermId, u32> = all.zip(0..).collect();
    let in_list = |ids: &[TermId]| ids.iter().map(|id| place_of.get(id).copied().unwrap_or_default()).collect::<Vec<u32>>();
    let mut said = Vec::new();
    let (mut headings, mut places_list) = (Vec::new(), Vec::new());
    let contexts = links.iter().map(|(&ordinal, &(at, in_link))| {
        let InLink { source: _, ordinal: _, context, heading: heading_words } = in_link;
        let LinkContext { anchor_text, anchor, around, heading, tag_path, group, position, navigation } = context;
        let outlink = at.and_then(|at| outlinks.get(at).map(|outlink| (at, outlink)));
        let place = Place { tag_path: *tag_path, group: *group, navigation: *navigation };
        said.extend(in_list(anchor));
        said.extend(in_list(around));
        ContextRow {
            ordinal,
            outlink: at.map_or(0, |at| at as u32 + 1),
            anchor_text: match outlink {
                Some((_, outlink)) if *outlink.anchor == **anchor_text => None,
                _ => Some(Cow::Borrowed(&**anchor_text)),
            },
            anchor: anchor.len() as u32,
            around: around.len() as u32,
            heading: place_in(&mut headings, (*heading, in_list(heading_words))),
            place: place_in(&mut places_list, place),
            position: match outlink {
                Some((at, _)) if usual_position(at, outlinks.len()).to_bits() == position.to_bits() => None,
                _ => Some(*position),
            },
        }
    });
    let contexts: Vec<ContextRow<'_>> = contexts.collect();
    let addresses = outlinks.iter().map(|link| (link.target, link.url.as_str())).chain(gone);
    let targets = addresses.clone().enumerate().filter(|&(_, (target, url))| Fingerprint::of_text(url) != Some(target));
    let row = Row {
        fates: outlinks.iter().map(|link| link.fate).collect(),
        urls: Texts::of(addresses.map(|(_, url)| url)),
        anchors: Texts::of(outlinks.iter().map(|link| link.anchor.as_str())),
        targets: targets.map(|(at, (target, _))| (at as u32, target)).collect(),
        numbered: distances(&numbered.iter().map(|&(number, _)| number).collect::<Vec<_>>()),
        others: Ids(Cow::Owned(others)),
        said,
        headings,
        places: places_list,
        contexts,
    };
    encoder.pack_alike(Alike::Links, KIND, VERSION, &row)
}

/// The place of a value in a list, to which it is added where it is new. Lists are short.
fn place_in<T: PartialEq>(list: &mut Vec<T>, value: T) -> u32 {
    let at = list.iter().rposition(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    });
    at as u32
}

/// Where a link stands that is number `at` of so many, as the parser counts.
fn usual_position(at: usize, of: usize) -> f32 {
    at as f32 / of.saturating_sub(1).max(1) as f32
}

/// The links of a page, unpacked but not read: of most pages one link is asked for.
pub(super) struct Links {
    raw: Vec<u8>,
    words: Arc<WordList>,
}

/// The links of a page, read.
struct View<'a> {
    row: Row<'a>,
    numbered: Vec<u32>,
    words: &'a WordList,
}

impl Links {
    pub fn unpack(row: &[u8], lexicon: &dyn Lexicon) -> Result<Self, StoreError> {
        let raw = unpack_alike(KIND, body(KIND, VERSION, row)?, lexicon)?;
        let mut links = Self { raw, words: Arc::default() };
        let last = links.view()?.numbered.last().copied();
        if let Some(last) = last {
            links.words = lexicon.words(last)?;
        }
        Ok(links)
    }

    fn view(&self) -> Result<View<'_>, StoreError> {
        let row: Row<'_> = postcard::from_bytes(&self.raw).map_err(|e| damaged(KIND, e))?;
        let numbered = numbers(&row.numbered).ok_or_else(|| damaged(KIND, "a word has no number"))?;
        Ok(View { row, numbered, words: &self.words })
    }

    /// What became of each link, in page order.
    pub fn outlinks(&self) -> Result<Vec<OutlinkRecord>, StoreError> {
        self.view()?.outlinks()
    }

    /// The in-link that is number `ordinal` of page `source`, and the URL that it leads to, where the page's links have it.
    pub fn in_link(&self, source: u64, ordinal: u16) -> Result<(InLink, Option<String>), StoreError> {
        self.view()?.in_link(source, ordinal)
    }

    /// The numbers of its in-links, ascending.
    pub fn ordinals(&self) -> Result<Vec<u16>, StoreError> {
        Ok(self.view()?.row.contexts.iter().map(|context| context.ordinal).collect())
    }

    /// Whether an in-link has this number.
    pub fn has(&self, ordinal: u16) -> bool {
        self.ordinals().is_ok_and(|ordinals| ordinals.binary_search(&ordinal).is_ok())
    }

    /// The in-links that stand on page `source`, each with where it leads.
    pub fn in_links(&self, source: u64) -> Result<Vec<Kept>, StoreError> {
        let view = self.view()?;
        let kept = |context: &ContextRow<'_>| {
            let (in_link, url) = view.in_link(source, context.ordinal)?;
            let at = context.outlink.checked_sub(1);
            let target = at.zip(url).and_then(|(at, url)| Some((view.target(at, &url)?, url)));
            Ok(Kept { in_link, target })
        };
        view.row.contexts.iter().map(kept).collect()
    }

    /// Whether everything in it can be read.
    pub fn check(&self) -> Result<(), StoreError> {
        let view = self.view()?;
        view.outlinks()?;
        view.row.contexts.iter().try_for_each(|context| view.in_link(0, context.ordinal).map(drop))
    }
}

impl View<'_> {
    fn outlinks(&self) -> Result<Vec<OutlinkRecord>, StoreError> {
        let row = &self.row;
        let (mut urls, mut anchors) = (row.urls.iter(), row.anchors.iter());
        let record = |(at, fate): (u32, &OutlinkFate)| {
            let (url, anchor) = urls.next().zip(anchors.next()).ok_or_else(|| damaged(KIND, "a link is cut short"))?;
            let target = self.target(at, url).ok_or_else(|| damaged(KIND, "a target is missing"))?;
            Ok(OutlinkRecord { target, url: url.to_owned(), anchor: anchor.to_owned(), fate: *fate })
        };
        (0..).zip(&row.fates).map(record).collect()
    }

    /// Where the link at a place of the URLs leads.
    fn target(&self, at: u32, url: &str) -> Option<Fingerprint> {
        let named = self.row.targets.binary_search_by_key(&at, |&(at, _)| at);
        named.map_or_else(|_| Fingerprint::of_text(url), |named| Some(self.row.targets[named].1))
    }

    /// The word at a place of the list of all words.
    fn word(&self, place: u32) -> Option<TermId> {
        match self.numbered.get(place as usize) {
            Some(&number) => self.words.id(number),
            None => self.row.others.0.get(place as usize - self.numbered.len()).map(|&id| TermId(id)),
        }
    }

    fn in_link(&self, source: u64, ordinal: u16) -> Result<(InLink, Option<String>), StoreError> {
        let missing = || damaged(KIND, format!("link {ordinal} of page {source} is not as it should be"));
        let row = &self.row;
        let at = row.contexts.binary_search_by_key(&ordinal, |context| context.ordinal).map_err(|_| missing())?;
        let context = &row.contexts[at];
        let outlink = (context.outlink as usize).checked_sub(1);
        let words =
            |places: &[u32]| places.iter().map(|&place| self.word(place).ok_or_else(missing)).collect::<Result<Box<_>, _>>();
        let start: usize = row.contexts[..at].iter().map(|before| before.anchor as usize + before.around as usize).sum();
        let (around_at, end) = (start + context.anchor as usize, start + context.anchor as usize + context.around as usize);
        let (anchor, around) = (row.said.get(start..around_at), row.said.get(around_at..end));
        let (heading, heading_words) = row.headings.get(context.heading as usize).ok_or_else(missing)?;
        let Place { tag_path, group, navigation } = *row.places.get(context.place as usize).ok_or_else(missing)?;
        let anchor_text = match (&context.anchor_text, outlink) {
            (Some(text), _) => &**text,
            (None, Some(at)) => row.anchors.get(at).ok_or_else(missing)?,
            (None, None) => return Err(missing()),
        };
        let position = match (context.position, outlink) {
            (Some(position), _) => position,
            (None, Some(at)) => usual_position(at, row.fates.len()),
            (None, None) => return Err(missing()),
        };
        let context = LinkContext {
            anchor_text: anchor_text.into(),
            anchor: words(anchor.ok_or_else(missing)?)?,
            around: words(around.ok_or_else(missing)?)?,
            heading: *heading,
            tag_path,
            group,
            position,
            navigation,
        };
        let in_link = InLink { source, ordinal, context, heading: words(heading_words)? };
        Ok((in_link, outlink.and_then(|at| row.urls.get(at)).map(str::to_owned)))
    }
}

impl Texts<'_> {
    fn of<'t>(texts: impl Iterator<Item = &'t str> + Clone) -> Self {
        Self { lengths: texts.clone().map(|text| text.len() as u32).collect(), text: Cow::Owned(texts.collect()) }
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        self.lengths.iter().scan(0, |start, &length| {
            let from = *start;
            *start += length as usize;
            self.text.get(from..*start)
        })
    }

    fn get(&self, at: usize) -> Option<&str> {
        let start: usize = self.lengths.get(..at)?.iter().map(|&length| length as usize).sum();
        self.text.get(start..start + *self.lengths.get(at)? as usize)
    }
}

/// Word ids, ascending, four bytes each: they are hashes, so a varint would take five.
struct Ids<'a>(Cow<'a, [u32]>);

impl Serialize for Ids<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bytes: Vec<u8> = self.0.iter().flat_map(|id| id.to_le_bytes()).collect();
        serializer.serialize_bytes(&bytes)
    }
}

impl<'de> Deserialize<'de> for Ids<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (ids, rest) = <&[u8]>::deserialize(deserializer)?.as_chunks();
        if !rest.is_empty() {
            return Err(de::Error::custom("word ids that are not whole"));
        }
        Ok(Self(ids.iter().map(|id| u32::from_le_bytes(*id)).collect()))
    }
}

#[cfg(test)]
mod tests;

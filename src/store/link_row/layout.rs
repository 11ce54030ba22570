//! The bytes of a waiting URL's row: what stands where, and in how many bytes.
//!
//! Promises: a row reads back as it was written; the head can be read without the rest.
//! Never: knows what stands on a page (that is its parent's).

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{
    page::Timestamp,
    store::{
        InLink, StoreError,
        codec::{body, damaged, plain},
    },
};

pub(super) const KIND: &str = "link";
pub(super) const VERSION: u8 = 4;

/// What the queue needs of a row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(in crate::store) struct Head {
    pub host: u32,
    pub(super) priority: f32,
}

impl Head {
    pub fn priority(self) -> f64 {
        f64::from(self.priority)
    }
}

pub(super) struct LinkRow<'a> {
    pub head: Head,
    pub address: Address<'a>,
    pub discovered: u64,
    pub depth: u16,
    pub tunnel_depth: u8,
    pub in_degree: u32,
    pub forgotten_relevance: f32,
    pub tries: u8,
    pub not_before: Timestamp,
    pub estimate: f32,
    pub in_links: Vec<InLinkRow>,
}

/// The URL.
pub(super) enum Address<'a> {
    /// That of the first in-link.
    First,
    /// The rest after scheme and host.
    Http(Cow<'a, str>),
    Https(Cow<'a, str>),
    Whole(Cow<'a, str>),
}

impl<'a> Address<'a> {
    pub fn of(url: &'a str, host_name: &str) -> Self {
        let after = |scheme: &str| Some(Cow::Borrowed(url.strip_prefix(scheme)?.strip_prefix(host_name)?));
        let secure = || after("https://").map(Self::Https);
        after("http://").map(Self::Http).or_else(secure).unwrap_or(Self::Whole(Cow::Borrowed(url)))
    }
}

/// An in-link.
pub(super) enum InLinkRow {
    /// Its context stands in the row of its page: `seq`, ordinal.
    OnPage(u64, u16),
    /// It stands nowhere else.
    Whole(Box<InLink>),
}

impl InLinkRow {
    pub fn of(link: &InLink, stands_on_page: bool) -> Self {
        if stands_on_page { Self::OnPage(link.source, link.ordinal) } else { Self::Whole(Box::new(link.clone())) }
    }

    /// `seq` of its page, and its ordinal.
    pub fn key(&self) -> (u64, u16) {
        match self {
            Self::OnPage(source, ordinal) => (*source, *ordinal),
            Self::Whole(in_link) => (in_link.source, in_link.ordinal),
        }
    }
}

/// The byte after the head: in its last two bits the kind of address, then what the row says beyond what most do, then the
/// number of in-links.
mod flag {
    pub const FORGOTTEN: u8 = 1 << 2;
    pub const TRIED: u8 = 1 << 3;
    /// Both depths do not fit into one byte.
    pub const DEEP: u8 = 1 << 4;
    pub const IN_LINKS: u32 = 5;
    /// So many in-links or more: their number follows.
    pub const MANY: usize = 7;
}

impl LinkRow<'_> {
    pub fn write(&self) -> Result<Vec<u8>, StoreError> {
        let mut bytes = plain(KIND, VERSION, &self.head)?;
        let (kind, text) = match &self.address {
            Address::First => (0, None),
            Address::Http(rest) => (1, Some(rest)),
            Address::Https(rest) => (2, Some(rest)),
            Address::Whole(url) => (3, Some(url)),
        };
        let is_deep = self.depth >= 32 || self.tunnel_depth >= 8;
        let was_tried = self.tries > 0 || self.not_before != Timestamp::default();
        let mut flags = kind | (self.in_links.len().min(flag::MANY) << flag::IN_LINKS) as u8;
        for (flag, is_set) in
            [(flag::FORGOTTEN, self.forgotten_relevance != 0.0), (flag::TRIED, was_tried), (flag::DEEP, is_deep)]
        {
            flags |= if is_set { flag } else { 0 };
        }
        bytes.push(flags);
        bytes.extend_from_slice(&self.estimate.to_le_bytes());
        let mut add = Adding(bytes);
        if is_deep {
            add.value(&(self.depth, self.tunnel_depth))?;
        } else {
            add.0.push(self.depth as u8 | self.tunnel_depth << 5);
        }
        add.value(&(self.discovered, self.in_degree))?;
        if self.forgotten_relevance != 0.0 {
            add.value(&self.forgotten_relevance)?;
        }
        if was_tried {
            add.value(&(self.tries, self.not_before))?;
        }
        if self.in_links.len() >= flag::MANY {
            add.value(&self.in_links.len())?;
        }
        for in_link in &self.in_links {
            match in_link {
                InLinkRow::OnPage(source, ordinal) => add.value(&(u32::from(*ordinal) << 1, source))?,
                InLinkRow::Whole(link) => add.value(&(1_u32, link))?,
            }
        }
        if let Some(text) = text {
            add.0.extend_from_slice(text.as_bytes());
        }
        Ok(add.0)
    }

    pub fn read(bytes: &[u8]) -> Result<LinkRow<'_>, StoreError> {
        let mut rest = Rest(body(KIND, VERSION, bytes)?);
        let head = rest.value()?;
        let &[flags] = rest.array()?;
        let estimate = f32::from_le_bytes(*rest.array()?);
        let (depth, tunnel_depth) = if flags & flag::DEEP > 0 {
            rest.value()?
        } else {
            let &[both] = rest.array()?;
            (u16::from(both & 31), both >> 5)
        };
        let (discovered, in_degree) = rest.value()?;
        let forgotten_relevance = if flags & flag::FORGOTTEN > 0 { rest.value()? } else { 0.0 };
        let (tries, not_before) = if flags & flag::TRIED > 0 { rest.value()? } else { Default::default() };
        let mut number = usize::from(flags >> flag::IN_LINKS);
        if number == flag::MANY {
            number = rest.value()?;
        }
        let mut in_links = Vec::with_capacity(number.min(flag::MANY));
        for _ in 0..number {
            let ordinal: u32 = rest.value()?;
            in_links.push(match ordinal & 1 {
                0 => InLinkRow::OnPage(rest.value()?, (ordinal >> 1) as u16),
                _ => InLinkRow::Whole(rest.value()?),
            });
        }
        let text = Cow::Borrowed(std::str::from_utf8(rest.0).map_err(|e| damaged(KIND, e))?);
        let address = match flags & 3 {
            0 => Address::First,
            1 => Address::Http(text),
            2 => Address::Https(text),
            _ => Address::Whole(text),
        };
        Ok(LinkRow {
            head,
            address,
            discovered,
            depth,
            tunnel_depth,
            in_degree,
            forgotten_relevance,
            tries,
            not_before,
            estimate,
            in_links,
        })
    }
}

/// Reads host and priority alone.
pub(in crate::store) fn head(bytes: &[u8]) -> Result<Head, StoreError> {
    let (head, _) = postcard::take_from_bytes(body(KIND, VERSION, bytes)?).map_err(|e| damaged(KIND, e))?;
    Ok(head)
}

/// A row that is being written.
struct Adding(Vec<u8>);

impl Adding {
    fn value<T: Serialize>(&mut self, value: &T) -> Result<(), StoreError> {
        let bytes = postcard::to_extend(value, std::mem::take(&mut self.0));
        self.0 = bytes.map_err(|e| StoreError::Refused(format!("a {KIND} row cannot be encoded: {e}")))?;
        Ok(())
    }
}

/// What is left of a row that is being read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn value<T: Deserialize<'a>>(&mut self) -> Result<T, StoreError> {
        let (value, rest) = postcard::take_from_bytes(self.0).map_err(|e| damaged(KIND, e))?;
        self.0 = rest;
        Ok(value)
    }

    fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], StoreError> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or_else(|| damaged(KIND, "it is cut short"))?;
        self.0 = rest;
        Ok(bytes)
    }
}

//! The page's journey: one errand, from request to parsed and read page. Shares nothing, returns a value; it is judged
//! when the engine takes it in, by the newest model.

use std::{net::IpAddr, sync::Arc, time::Duration};

use xxhash_rust::xxh3::xxh3_64;

use super::copies::TextPrint;
use crate::{
    fetch::{Failure, Fetched, Fetcher, Request, Response, Validators},
    frontier::HostId,
    page::{LinkContext, Outlink, Page, Timestamp},
    page_classifier::Reading,
    parse::{Document, ParseConfig, ParseError, XmlKind, XmlLink, XmlLinks, links_of_xml, parse},
    politeness::{MAX_ROBOTS_BYTES, x_robots_tag},
    text::{Segmenter, TermId, url_words},
    topic::{KeywordSet, Matches},
    topical_rank::NodeId,
    url::{Fingerprint, Url, canonicalize},
};

/// What a list is called whose links are lists.
pub(super) const SITEMAP_INDEX: &str = "a sitemap index";

/// What is fetched, and for what.
#[derive(Debug, Clone)]
pub(super) struct Errand {
    pub(super) host: HostId,
    pub(super) url: Url,
    pub(super) purpose: Purpose,
    pub(super) started: Timestamp,
    /// For a conditional GET.
    pub(super) validators: Validators,
}

impl Errand {
    /// What the fetcher is asked for.
    pub(super) fn request(&self) -> Request {
        // One byte more than is read of it, so that a cut is seen.
        let body_limit = if matches!(self.purpose, Purpose::Robots(_)) { MAX_ROBOTS_BYTES + 1 } else { 0 };
        Request { validators: self.validators.clone(), body_limit, ..Request::get(self.url.clone()) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Page(NodeId),
    /// Where the host is, before it is asked for anything.
    Locate,
    /// The host's robots.txt; redirects followed so far.
    Robots(u8),
}

/// What every visit needs; the same for all.
pub(super) struct Web {
    pub(super) fetcher: Arc<dyn Fetcher>,
    pub(super) segmenter: Arc<Segmenter>,
    pub(super) keywords: Arc<KeywordSet>,
    pub(super) parse: ParseConfig,
    /// The crawler's token in robots.txt and robots tags.
    pub(super) agent: String,
    /// Links taken of a sitemap or feed, at most.
    pub(super) links_per_list: usize,
}

/// Everything one errand brings back.
#[derive(Debug)]
pub(super) struct Visit {
    pub(super) errand: Errand,
    pub(super) elapsed: Duration,
    pub(super) address: Option<IpAddr>,
    pub(super) result: Result<Answer, Failure>,
}

/// A server's answer, read as far as it can be.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) response: Response,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Document(Box<ReadDocument>),
    /// A redirect, and where to if its `Location` is a URL.
    Redirect(Option<Url>),
    /// A status that is no document (4xx, 5xx, 204, 304).
    Status,
    /// A document that cannot be read, and why.
    Unreadable(String),
    /// Not read: robots.txt.
    Raw,
}

/// A parsed document.
#[derive(Debug)]
pub(super) struct ReadDocument {
    pub(super) page: Page,
    pub(super) reading: Reading,
    /// What its text is known again by.
    pub(super) print: TextPrint,
    /// Keywords on each of its links.
    pub(super) link_matches: Vec<LinkMatches>,
    /// xxh3 of the body.
    pub(super) digest: u64,
    /// What it is, if it is no page of its own but a list of links.
    pub(super) list: Option<&'static str>,
}

/// Which keywords occur on a link, around it and above it.
#[derive(Debug, Clone, Default)]
pub(super) struct LinkMatches {
    pub(super) anchor: Matches,
    pub(super) around: Matches,
    pub(super) heading: Matches,
}

impl ReadDocument {
    /// The heading above a link.
    pub(super) fn heading<'a>(page: &'a Page, link: &Outlink) -> &'a [TermId] {
        link.context.heading.and_then(|at| page.headings.get(usize::from(at))).map_or(&[], |words| words)
    }

    fn of(page: Page, reading: Reading, keywords: &KeywordSet) -> Self {
        let matches = |link: &Outlink| LinkMatches {
            anchor: keywords.matches(&link.context.anchor),
            around: keywords.matches(&link.context.around),
            heading: keywords.matches(Self::heading(&page, link)),
        };
        Self {
            link_matches: page.outlinks.iter().map(matches).collect(),
            print: TextPrint::of(page.simhash, &page.terms),
            page,
            reading,
            digest: 0,
            list: None,
        }
    }
}

impl Web {
    /// The network's half of the journey.
    pub(super) async fn fetch(&self, errand: &Errand) -> Fetched {
        if errand.purpose == Purpose::Locate {
            let address = self.fetcher.locate(&errand.url).await;
            return Fetched { elapsed: Duration::ZERO, address, result: Err(Failure::NotRecorded) };
        }
        self.fetcher.fetch(errand.request()).await
    }

    /// The processor's half: decode, parse, segment, read. Blocking.
    pub(super) fn read(&self, errand: Errand, fetched: Fetched) -> Visit {
        let Fetched { elapsed, address, result } = fetched;
        let result = result.map(|response| {
            let content = self.content(&errand, &response);
            Answer { response, content }
        });
        Visit { errand, elapsed, address, result }
    }

    fn content(&self, errand: &Errand, response: &Response) -> Content {
        match response.status {
            300..=303 | 307 | 308 => {
                let target = response.header("location").and_then(|to| canonicalize(to, Some(&errand.url)).ok());
                Content::Redirect(target)
            }
            _ if matches!(errand.purpose, Purpose::Robots(_)) => Content::Raw,
            200..=203 | 206 => self.document(&errand.url, response),
            _ => Content::Status,
        }
    }

    fn document(&self, url: &Url, response: &Response) -> Content {
        let document = Document { url, content_type: response.header("content-type"), body: &response.body };
        match parse(&document, &self.segmenter, &self.parse) {
            Err(error) => self.list(&document, &error).unwrap_or_else(|| Content::Unreadable(error.to_string())),
            Ok(mut page) => {
                let tags = response.headers.iter().filter(|(name, _)| name == "x-robots-tag").map(|(_, value)| value.as_str());
                let header = x_robots_tag(tags, &self.agent);
                page.directives.nofollow |= header.nofollow;
                page.directives.noindex |= header.noindex;
                let reading = Reading::of(&page.terms, &url_words(url, &self.segmenter).directory, &self.keywords);
                // The engine cuts the links' URLs into words, and never waits for a dictionary.
                self.segmenter.load_for_urls(page.outlinks.iter().map(|link| link.url.as_str()));
                let document = ReadDocument::of(page, reading, &self.keywords);
                Content::Document(Box::new(ReadDocument { digest: xxh3_64(&response.body), ..document }))
            }
        }
    }

    /// A document that is no page may be a sitemap or a feed: a page of links, with titles where it has them.
    fn list(&self, document: &Document<'_>, error: &ParseError) -> Option<Content> {
        if !error.may_be_list() {
            return None;
        }
        let XmlLinks { kind, links, truncated } = links_of_xml(document, self.links_per_list).ok()?;
        let last = links.len().saturating_sub(1).max(1) as f32;
        let outlink = |(at, link): (usize, XmlLink)| {
            let title = link.title.unwrap_or_default();
            let context = LinkContext {
                anchor: self.segmenter.term_ids(&title).into(),
                anchor_text: title.into(),
                position: at as f32 / last,
                ..LinkContext::default()
            };
            Outlink { fingerprint: Fingerprint::of(&link.url), url: link.url, nofollow: false, context }
        };
        let outlinks: Vec<Outlink> = links.into_iter().enumerate().map(outlink).collect();
        self.segmenter.load_for_urls(outlinks.iter().map(|link| link.url.as_str()));
        let page = Page { outlinks, truncated, ..Page::default() };
        let named = Some(match kind {
            XmlKind::Sitemap => "a sitemap",
            XmlKind::SitemapIndex => SITEMAP_INDEX,
            XmlKind::Feed => "a feed",
        });
        let document = ReadDocument::of(page, Reading::default(), &self.keywords);
        Some(Content::Document(Box::new(ReadDocument { list: named, ..document })))
    }
}

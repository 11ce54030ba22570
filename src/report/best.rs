//! The best pages for a reader: near-duplicates folded into one, each with the way that led to it.
//!
//! Promises: ways end, also where records point at each other in a circle.

use crate::{store::PageRecord, url::Fingerprint};

use super::{ReportError, facts::Rows};

/// Pages whose word fingerprints differ in at most this many of 64 bits say the same (Manku, Jain, Das Sarma 2007).
const NEAR_BITS: u32 = 3;
/// Longest way that is followed, in links.
const MAX_STEPS: usize = 64;

/// A page, and how it was found.
#[derive(Debug)]
pub(super) struct BestPage {
    pub page: PageRecord,
    /// Further pages of the same text among the best.
    pub similar: usize,
    /// From the seed to the page's source; empty for seeds.
    pub way: Vec<Step>,
}

/// A page on the way to another.
#[derive(Debug, PartialEq, Eq, serde::Serialize)]
pub struct Step {
    pub url: String,
    /// Empty where the page is known by its address only.
    pub title: String,
    pub relevant: bool,
    /// Text of the link that led to this page; empty for seeds.
    pub anchor: String,
}

/// The first `count` pages of `best` that say different things.
///
/// # Errors
/// The rows cannot be read.
pub(super) fn best_pages(rows: &dyn Rows, best: Vec<PageRecord>, count: usize) -> Result<Vec<BestPage>, ReportError> {
    let mut shown: Vec<BestPage> = Vec::new();
    for page in best {
        if let Some(known) = shown.iter_mut().find(|known| is_near(known.page.simhash, page.simhash)) {
            known.similar += 1;
        } else if shown.len() < count {
            let way = way_to(rows, &page)?;
            shown.push(BestPage { page, similar: 0, way });
        }
    }
    Ok(shown)
}

fn is_near(a: u64, b: u64) -> bool {
    a != 0 && b != 0 && (a ^ b).count_ones() <= NEAR_BITS
}

/// The pages on the way from a seed to a page, the seed first; empty for a seed.
///
/// # Errors
/// The rows cannot be read.
pub fn way_to(rows: &dyn Rows, page: &PageRecord) -> Result<Vec<Step>, ReportError> {
    let mut way = Vec::new();
    let mut passed: Vec<Fingerprint> = vec![page.fingerprint];
    let mut source = page.source.zip(page.source_url.clone());
    while let Some((fingerprint, url)) = source.take() {
        if passed.contains(&fingerprint) || way.len() == MAX_STEPS {
            break;
        }
        passed.push(fingerprint);
        match rows.page_by_fingerprint(fingerprint).map_err(ReportError::read("pages"))? {
            Some(step) => {
                way.push(Step { url: step.url, title: step.title, relevant: step.relevant, anchor: step.anchor });
                source = step.source.zip(step.source_url);
            }
            None => way.push(Step { url, title: String::new(), relevant: false, anchor: String::new() }),
        }
    }
    way.reverse();
    Ok(way)
}

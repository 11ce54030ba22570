//! How far each keyword can be trusted: those of a topic occur together, one that is everywhere occurs alone.
//!
//! A keyword that is also a menu word, a site's name or a directory can capture a crawl: every page of a large site holds it.
//! Its pages hold no other keyword, and that gives it away, without any label. A keyword is trusted in full when a seventh
//! of its pages hold another one too, or as large a share as any keyword's.
//!
//! Promises: 1 before anything is known and for a topic of one keyword; never below 0.05.
//! Never: looks at judgements, so that it cannot run away with them.

use super::Reading;

/// Trust by keyword, 0.05..=1.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KeywordTrust(Vec<f64>);

/// Occurrences (outside links, mostly) from which a page counts as one that holds a keyword.
const HOLDS: f32 = 1.0;

/// Share of a keyword's pages with another keyword from which it is trusted in full.
const COMPANY: f64 = 0.15;

impl KeywordTrust {
    /// From the pages fetched so far, for a topic of `keywords` keywords.
    pub(crate) fn of_pages<'a>(keywords: usize, pages: impl Iterator<Item = &'a Reading>) -> Self {
        let mut alone = vec![0.0; keywords];
        let mut together = vec![0.0; keywords];
        for page in pages {
            let held = page.keyword_counts.iter().filter(|&&(_, count)| count >= HOLDS);
            let company = if held.clone().count() > 1 { &mut together } else { &mut alone };
            held.for_each(|&(keyword, _)| company[usize::from(keyword)] += 1.0);
        }
        // One page's worth of doubt either way.
        let shares: Vec<f64> =
            alone.iter().zip(&together).map(|(alone, together)| (together + 1.0) / (alone + together + 2.0)).collect();
        let enough = shares.iter().copied().fold(0.0, f64::max).min(COMPANY);
        Self(shares.into_iter().map(|share| (share / enough).clamp(0.05, 1.0)).collect())
    }

    pub(crate) fn of(&self, keyword: u16) -> f64 {
        self.0.get(usize::from(keyword)).copied().unwrap_or(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{page::TermBag, text::TermId, topic::KeywordSet};

    fn trust(keywords: &str, pages: &[&str]) -> Vec<f64> {
        let set = KeywordSet::new(keywords.split(' ').map(|word| vec![TermId::of(word)]));
        let readings: Vec<Reading> = pages
            .iter()
            .map(|words| Reading::of(&words.split(' ').map(|word| (word, 1.0)).collect::<TermBag>(), &[], &set))
            .collect();
        KeywordTrust::of_pages(set.len(), readings.iter()).0
    }

    #[test]
    fn a_keyword_that_is_never_met_with_another_loses_its_trust() {
        let mut pages = vec!["service tax road"; 60];
        let before = trust("soil compost service", &pages[..2]);
        assert!(before[2] > 0.6, "{before:?}");
        let captured = trust("soil compost service", &pages);
        assert!(captured[2] < 0.25 && (captured[0] - 1.0).abs() < 1e-12, "{captured:?}");
        pages.extend(["soil compost heap"; 20]);
        let found = trust("soil compost service", &pages);
        assert!(found[2] < 0.25 && found[0] > 0.99 && found[1] > 0.99, "{found:?}");
    }

    #[test]
    fn one_keyword_alone_is_trusted() {
        assert_eq!(trust("soil", &["soil heap", "soil", "worm"]), [1.0]);
    }
}

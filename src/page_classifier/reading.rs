//! A page as the classifiers read it: sublinear word weights, keyword counts, length.

use super::KeywordTrust;
use crate::{
    page::{Relevance, TermBag},
    text::TermId,
    topic::{KeywordSet, Matches},
};

/// Columns that a crawl's words are hashed into. linfa-bayes fits two dense rows of this width in under a millisecond.
pub const DIMENSIONS: usize = 1 << 16;

/// The column of a word.
pub(crate) fn column(word: TermId) -> usize {
    word.0 as usize & (DIMENSIONS - 1)
}

/// What is read of one page; independent of any model, so it can be judged again later.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reading {
    /// `(word, ln(1 + count))`, ascending by word.
    pub(crate) words: Vec<(TermId, f32)>,
    /// Sum of the word weights.
    pub(crate) weight: f64,
    /// `(keyword, count)` of the keywords that occur.
    pub(crate) keyword_counts: Vec<(u16, f32)>,
    /// Keywords in the URL's host and directories.
    pub(crate) url_matches: Matches,
    /// Weighted number of words.
    pub(crate) length: f64,
}

impl Reading {
    /// Reads a page's words; `url_words` are those of its host and directories.
    #[must_use]
    pub fn of(terms: &TermBag, url_words: &[TermId], keywords: &KeywordSet) -> Self {
        let words: Vec<(TermId, f32)> = terms.iter().map(|term| (term.id, term.count.ln_1p())).collect();
        let keyword_counts = (0..keywords.len())
            .filter_map(|index| {
                let count = keywords.terms(index).iter().map(|&term| terms.count(term)).fold(f32::INFINITY, f32::min);
                Some((u16::try_from(index).ok()?, count)).filter(|_| count > 0.0)
            })
            .collect();
        Self {
            weight: words.iter().map(|&(_, x)| f64::from(x)).sum(),
            words,
            keyword_counts,
            url_matches: keywords.matches(url_words),
            length: terms.total(),
        }
    }

    /// Keyword evidence: `Σ_k u_k ln(1 + 100 tf_k / (n + 100))` plus 0.3 of the URL's keyword score, where `u_k` = 0.56 times
    /// the keyword's [trust](KeywordTrust).
    #[must_use]
    pub fn keyword_score(&self, trust: &KeywordTrust) -> f64 {
        const UNIFORM_WEIGHT: f64 = 0.56;
        let weight =
            |&(keyword, count): &(u16, f32)| trust.of(keyword) * (100.0 * f64::from(count) / (self.length + 100.0)).ln_1p();
        let in_text: f64 = self.keyword_counts.iter().map(weight).sum();
        let missed = |&(keyword, share): &(u16, f32)| 1.0 - 0.9 * trust.of(keyword) * f64::from(share);
        let in_url = 1.0 - self.url_matches.iter().map(missed).product::<f64>();
        UNIFORM_WEIGHT * in_text + 0.3 * in_url
    }

    /// Whether the page holds keyword `index`.
    #[must_use]
    pub fn holds(&self, index: usize) -> bool {
        self.keyword_counts.iter().any(|&(known, _)| usize::from(known) == index)
    }
}

/// Whether a page looks like the topic before anything is learnt; used to trust seeds.
pub(crate) fn looks_on_topic(reading: &Reading) -> bool {
    reading.keyword_score(&KeywordTrust::default()) >= 0.15
}

/// The logistic function as a [`Relevance`].
pub(crate) fn sigmoid(z: f64) -> Relevance {
    Relevance::new(1.0 / (1.0 + (-z).exp()))
}

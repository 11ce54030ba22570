//! Keywords, matched against the words of a page, an anchor or a URL.

use rustc_hash::FxHashMap;

use crate::text::TermId;

/// The topic's keywords as sets of words. A keyword of several words matches by the share of them that occurs.
#[derive(Debug, Clone, Default)]
pub struct KeywordSet {
    keywords: Vec<Vec<TermId>>,
    holders: FxHashMap<TermId, Vec<u16>>,
}

/// Which keywords occur somewhere, and how fully: `(keyword, 0..=1)`, ascending, absent ones left out.
pub type Matches = Box<[(u16, f32)]>;

impl KeywordSet {
    /// Builds the set; empty keywords and those past 65,535 are left out.
    #[must_use]
    pub fn new(keywords: impl IntoIterator<Item = Vec<TermId>>) -> Self {
        let mut set = Self::default();
        for mut terms in keywords {
            terms.sort_unstable();
            terms.dedup();
            let Ok(index) = u16::try_from(set.keywords.len()) else { break };
            if terms.is_empty() {
                continue;
            }
            for &term in &terms {
                set.holders.entry(term).or_default().push(index);
            }
            set.keywords.push(terms);
        }
        set
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.keywords.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keywords.is_empty()
    }

    /// The words of keyword `index`, sorted.
    pub fn terms(&self, index: usize) -> &[TermId] {
        &self.keywords[index]
    }

    /// How far each keyword occurs among `words`: 1 for all of its words, half the square of their share otherwise.
    #[must_use]
    pub fn matches(&self, words: &[TermId]) -> Matches {
        let mut found: Vec<(u16, TermId)> = words
            .iter()
            .filter_map(|word| self.holders.get(word).map(|holders| (word, holders)))
            .flat_map(|(word, holders)| holders.iter().map(|&keyword| (keyword, *word)))
            .collect();
        if found.is_empty() {
            return Matches::default();
        }
        found.sort_unstable();
        found.dedup();
        found
            .chunk_by(|a, b| a.0 == b.0)
            .map(|words| {
                let share = words.len() as f32 / self.keywords[usize::from(words[0].0)].len() as f32;
                (words[0].0, if share >= 1.0 { 1.0 } else { 0.5 * share * share })
            })
            .collect()
    }

    /// The probability-like union of matches: `1 − Π (1 − w_k m_k)`, with `weights` by keyword.
    #[must_use]
    pub fn score(matches: &[(u16, f32)], weights: &[f64]) -> f64 {
        1.0 - matches.iter().map(|&(keyword, share)| 1.0 - weights[usize::from(keyword)] * f64::from(share)).product::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(words: &str) -> Vec<TermId> {
        words.split(' ').map(TermId::of).collect()
    }

    #[test]
    fn a_keyword_of_several_words_matches_by_its_share() {
        let set = KeywordSet::new([ids("operating system"), ids("software")]);
        assert_eq!(*set.matches(&ids("an operating system and software")), [(0, 1.0), (1, 1.0)]);
        assert_eq!(*set.matches(&ids("solar system system")), [(0, 0.125)]);
        assert!(set.matches(&ids("bird")).is_empty());
    }

    #[test]
    fn several_matches_add_up_but_stay_below_one() {
        let score = KeywordSet::score(&[(0, 1.0), (1, 1.0)], &[0.9, 0.9]);
        assert!((score - 0.99).abs() < 1e-6, "{score}");
        assert!(KeywordSet::score(&[], &[]).abs() < 1e-12);
    }
}

//! Which words the pages that a user finds interesting have in common: step 4 of the customizable focused
//! crawler's topic definition (systems.md 4), where TF-IDF proposes feature terms and the user chooses.
//!
//! Promises: pure; the same pages give the same suggestions in the same order.
//! Never: changes a topic, or sees how its pages were found.

use rustc_hash::FxHashMap;
use serde::Serialize;

use super::{background::Background, keyword::Keyword};
use crate::{page::TermBag, text::TermId};

/// Pages of general text that are imagined beside the background, so that a handful of real pages is enough to start.
const IMAGINED_PAGES: f64 = 50.0;
/// Words of an imagined page, where it is compared word by word.
const IMAGINED_LENGTH: f64 = 300.0;
/// The weight of the prior in the log-odds, as a share of all words that were seen.
const PRIOR_SHARE: f64 = 0.3;
/// Where the ranks of both scores are fused, how little the first places stand out (Cormack et al. 2009).
const FUSION: f64 = 60.0;

/// A word that may be worth a place among the keywords.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suggestion {
    pub word: String,
    /// Mean over the interesting pages of the word's normalised TF-IDF weight, in `0..=1`.
    pub tfidf: f64,
    /// Log-odds against the background, in standard deviations: above 2 is no chance.
    pub log_odds: f64,
    /// Interesting pages that hold it.
    pub pages: usize,
    /// Background pages that hold it.
    pub background_pages: usize,
    /// It is a keyword already.
    pub is_keyword: bool,
}

/// What is counted of one word.
struct Count<'a> {
    word: &'a str,
    generic: f64,
    interesting: f64,
    background: f64,
    pages: usize,
    background_pages: usize,
    tfidf: f64,
}

/// Ranks the words of `interesting` pages by how much more they say there than in `background`, the best first.
///
/// Two scores rank them together (reciprocal rank fusion): the mean over pages of the TF-IDF weight
/// `w_i = f_i log(D/h_i) / √Σ_j (f_j log(D/h_j))²`, and the log-odds with an informative Dirichlet prior
/// (Monroe, Colaresi & Quinn 2008), as a z-score. To the background belong 50 imagined pages of general text,
/// so it may be empty. Of three or more interesting pages, words that only one holds come last: they are
/// that page's own subject. Numbers and single characters are left out.
#[must_use]
pub fn suggest(interesting: &[&TermBag], background: &[&TermBag], keywords: &[Keyword], limit: usize) -> Vec<Suggestion> {
    let words: f64 = interesting.iter().map(|page| page.total()).sum();
    if words <= 0.0 {
        return Vec::new();
    }
    let page_length = words / interesting.len() as f64;
    let mut counts = count(interesting, background);
    weigh(&mut counts, interesting, background.len(), page_length);
    let odds = Odds::new(words, background.iter().map(|page| page.total()).sum(), IMAGINED_PAGES * IMAGINED_LENGTH);
    let mut suggestions: Vec<Suggestion> = counts
        .into_iter()
        .filter(|(_, count)| can_be_keyword(count.word))
        .map(|(id, count)| Suggestion {
            word: count.word.to_owned(),
            tfidf: count.tfidf,
            log_odds: odds.z_score(&count),
            pages: count.pages,
            background_pages: count.background_pages,
            is_keyword: keywords.iter().any(|keyword| is_spelt(keyword, id)),
        })
        .filter(|suggestion| suggestion.log_odds > 0.0 && suggestion.tfidf > 0.0)
        .collect();
    rank(&mut suggestions, if interesting.len() < 3 { 1 } else { 2 });
    suggestions.truncate(limit);
    suggestions
}

fn count<'a>(interesting: &[&'a TermBag], background: &[&TermBag]) -> FxHashMap<TermId, Count<'a>> {
    let generic = Background::shared();
    let mut counts = FxHashMap::default();
    for term in interesting.iter().flat_map(|page| page.iter()) {
        let count = counts.entry(term.id).or_insert_with(|| Count {
            word: term.word,
            generic: generic.frequency(term.word),
            interesting: 0.0,
            background: 0.0,
            pages: 0,
            background_pages: 0,
            tfidf: 0.0,
        });
        count.interesting += f64::from(term.count);
        count.pages += 1;
    }
    for term in background.iter().flat_map(|page| page.iter()) {
        if let Some(count) = counts.get_mut(&term.id) {
            count.background += f64::from(term.count);
            count.background_pages += 1;
        }
    }
    counts
}

/// Adds up every word's TF-IDF weights, page by page, each page's weights of length 1.
fn weigh(counts: &mut FxHashMap<TermId, Count<'_>>, interesting: &[&TermBag], background_pages: usize, page_length: f64) {
    let documents = (interesting.len() + background_pages) as f64 + IMAGINED_PAGES;
    let idf: FxHashMap<TermId, f64> = counts
        .iter()
        .map(|(id, count)| {
            // A page of general text holds a word of probability p with 1 − (1 − p)^length ≈ 1 − e^(−p·length).
            let imagined = IMAGINED_PAGES * (1.0 - (-count.generic * page_length).exp());
            let holding = (count.pages + count.background_pages) as f64 + imagined;
            (*id, (documents / holding).ln().max(0.0))
        })
        .collect();
    for page in interesting {
        let weights: Vec<(TermId, f64)> = page.iter().map(|term| (term.id, f64::from(term.count) * idf[&term.id])).collect();
        let length = weights.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
        if length > 0.0 {
            for (id, weight) in weights {
                if let Some(count) = counts.get_mut(&id) {
                    count.tfidf += weight / length / interesting.len() as f64;
                }
            }
        }
    }
}

/// The sizes, in words, of the two bodies of text that are compared.
struct Odds {
    interesting: f64,
    background: f64,
    imagined: f64,
}

impl Odds {
    fn new(interesting: f64, background: f64, imagined: f64) -> Self {
        Self { interesting, background: background + imagined, imagined }
    }

    /// Monroe et al. 2008, equations 16, 20 and 22; the prior is the pooled text at three tenths of its size.
    fn z_score(&self, count: &Count<'_>) -> f64 {
        let background = count.background + self.imagined * count.generic;
        let prior = PRIOR_SHARE * (count.interesting + background);
        let prior_total = PRIOR_SHARE * (self.interesting + self.background);
        let odds = |held: f64, total: f64| (held + prior) / (total + prior_total - held - prior).max(1.0);
        let difference = odds(count.interesting, self.interesting).ln() - odds(background, self.background).ln();
        let variance = 1.0 / (count.interesting + prior) + 1.0 / (background + prior);
        difference / variance.sqrt()
    }
}

/// Orders by the fused ranks of both scores, words of fewer than `shared` pages after the others; ties stand in alphabetical order.
fn rank(suggestions: &mut Vec<Suggestion>, shared: usize) {
    let mut ranked: Vec<(f64, Suggestion)> = suggestions.drain(..).map(|suggestion| (0.0, suggestion)).collect();
    ranked.sort_by(|(_, a), (_, b)| a.word.cmp(&b.word));
    for score in [|s: &Suggestion| s.tfidf, |s: &Suggestion| s.log_odds] {
        ranked.sort_by(|(_, a), (_, b)| score(b).total_cmp(&score(a)));
        for (place, (fused, _)) in ranked.iter_mut().enumerate() {
            *fused += 1.0 / (FUSION + place as f64);
        }
    }
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    ranked.sort_by_key(|(_, suggestion)| suggestion.pages < shared);
    suggestions.extend(ranked.into_iter().map(|(_, suggestion)| suggestion));
}

fn can_be_keyword(word: &str) -> bool {
    word.chars().nth(1).is_some() && !word.chars().all(char::is_numeric)
}

/// Whether the keyword is this one word, as a whole.
fn is_spelt(keyword: &Keyword, id: TermId) -> bool {
    keyword.terms == [id] || TermId::of(&keyword.text) == id
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{text::Segmenter, topic::Topic};

    fn bags(texts: &[&str]) -> Vec<TermBag> {
        let segmenter = Segmenter::shared();
        let bag = |text: &&str| segmenter.words(text).iter().map(|word| (word.as_str(), 1.0)).collect();
        texts.iter().map(bag).collect()
    }

    fn suggested(interesting: &[&str], background: &[&str], keywords: &[Keyword]) -> Vec<Suggestion> {
        let (interesting, background) = (bags(interesting), bags(background));
        suggest(&interesting.iter().collect::<Vec<_>>(), &background.iter().collect::<Vec<_>>(), keywords, 100)
    }

    fn place(suggestions: &[Suggestion], word: &str) -> usize {
        suggestions.iter().position(|suggestion| suggestion.word == word).unwrap_or(usize::MAX)
    }

    const FARMING: &[&str] = &[
        "水稻 病虫害 的 防治：稻飞虱 和 稻瘟病 是 水稻 的 主要 病虫害，发展 农业 生产",
        "小麦 病虫害 绿色 防治 技术，公司 发展",
        "水稻 育秧 技术 与 病虫害 防治，首页 发展",
    ];
    const OTHER: &[&str] = &["公司 首页 发展 股票 技术", "公司 首页 电影 发展", "首页 足球 比赛 技术"];

    #[test]
    fn words_of_the_topic_come_before_words_of_every_page() {
        let suggestions = suggested(FARMING, OTHER, &[]);
        assert!(suggestions[..3].iter().any(|first| first.word == "病虫害"), "{suggestions:?}");
        for general in ["发展", "公司", "首页"] {
            assert!(place(&suggestions, "水稻") < place(&suggestions, general), "{general} in {suggestions:?}");
        }
        let pests = &suggestions[place(&suggestions, "病虫害")];
        assert_eq!((pests.pages, pests.background_pages, pests.is_keyword), (3, 0, false));
    }

    #[test]
    fn general_text_stands_in_where_there_is_no_background() {
        let pages = [
            "the crop rotation of wheat makes a good system",
            "wheat and crop rotation in this system",
            "our system for crop yields",
        ];
        let suggestions = suggested(&pages, &[], &[]);
        assert!(place(&suggestions, "crop") < place(&suggestions, "system"), "{suggestions:?}");
        assert!(place(&suggestions, "rotation") < place(&suggestions, "good"), "{suggestions:?}");
    }

    #[test]
    fn the_weights_are_those_of_the_formula() {
        // Two pages, one word each in common text of no use here: all idf equal, so each page's weights are f / √Σf².
        let interesting: Vec<TermBag> =
            vec![[("qqa", 3.0), ("qqb", 4.0)].into_iter().collect(), [("qqa", 4.0), ("qqb", 3.0)].into_iter().collect()];
        let suggestions = suggest(&interesting.iter().collect::<Vec<_>>(), &[], &[], 10);
        for suggestion in &suggestions {
            assert!((suggestion.tfidf - 0.7).abs() < 1e-9, "{suggestion:?}");
        }
        assert_eq!(suggestions.iter().map(|suggestion| suggestion.word.as_str()).collect::<Vec<_>>(), ["qqa", "qqb"]);
    }

    #[test]
    fn keywords_are_marked_and_numbers_and_single_characters_left_out() {
        let topic = Topic::from_parts("t", ["水稻", "crop rotation"], ["http://e.com/x"]).unwrap();
        let suggestions = suggested(&["水稻 crop 2024 稻 q7", "水稻 crop 2024 稻 q7"], &[], &topic.keywords);
        let marks: Vec<(&str, bool)> = suggestions.iter().map(|s| (s.word.as_str(), s.is_keyword)).collect();
        assert!(
            marks.contains(&("水稻", true)) && marks.contains(&("crop", false)) && marks.contains(&("q7", false)),
            "{marks:?}"
        );
        assert_eq!(marks.len(), 3, "{marks:?}");
    }

    #[test]
    fn one_page_s_own_subject_comes_last() {
        let suggestions = suggested(&["wheat barley", "wheat barley", "wheat zeppelin zeppelin zeppelin zeppelin"], &[], &[]);
        assert_eq!(suggestions.last().unwrap().word, "zeppelin");
    }

    #[test]
    fn empty_pages_suggest_nothing() {
        assert!(suggested(&[], OTHER, &[]).is_empty());
        assert!(suggested(&["", ""], &[], &[]).is_empty());
    }
}

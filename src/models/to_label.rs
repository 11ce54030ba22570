//! Which pages a person should label next.
//!
//! Two of three are those whose label teaches most: the model is unsure of them, many links lead to them, and they are unlike
//! each other and what is labelled already. Every third is drawn at random, since only those tell how good the model is.
//!
//! Promises: the same pages and labels give the same list; pages that are labelled are not in it.

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::{page::TermBag, text::TermId};

/// A fetched page that may be labelled, or is.
#[derive(Debug, Clone)]
pub struct Labelable {
    pub seq: u64,
    /// What the crawl judges, 0..=1.
    pub relevance: f64,
    /// What links bring to it: its `TopicalRank`.
    pub rank: f64,
    pub terms: TermBag,
    pub labelled: bool,
}

/// A page worth a label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ToLabel {
    pub seq: u64,
    pub why: WhyLabel,
}

/// Why a page is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyLabel {
    /// The model is unsure, and the page is unlike the others.
    Unsure,
    /// Drawn at random.
    Random,
}

/// Every how-many-th page is drawn at random.
const RANDOM_EVERY: usize = 3;
/// Of how many times as many unsure pages the diverse ones are chosen.
const POOL: usize = 12;

/// The `number` pages whose label helps most, in the order they should be asked; `threshold` is the topic's.
#[must_use]
pub fn to_label(pages: &[Labelable], number: usize, threshold: f64) -> Vec<ToLabel> {
    let mut asked: Vec<usize> = Vec::new();
    let vectors = Vectors::of(pages);
    let mut likeness: Vec<f64> = vec![0.0; pages.len()];
    let mut pool = unsure_first(pages, threshold);
    pool.truncate(POOL * number.max(1));
    for (at, _) in pages.iter().enumerate().filter(|(_, page)| page.labelled) {
        vectors.compare(at, pool.iter().map(|&(at, _)| at), &mut likeness);
    }
    let labelled = pages.iter().filter(|page| page.labelled).count();
    // A new draw once labels have come in.
    let mut random = fastrand::Rng::with_seed(labelled as u64);
    let mut lots: Vec<usize> = (0..pages.len()).filter(|&at| !pages[at].labelled).collect();
    random.shuffle(&mut lots);
    let mut list = Vec::new();
    while list.len() < number {
        let draw = |asked: &[usize]| lots.iter().copied().find(|at| !asked.contains(at)).map(|at| (at, WhyLabel::Random));
        let best = || {
            let left = pool.iter().filter(|(at, _)| !asked.contains(at));
            let worth = |&(at, worth): &(usize, f64)| worth * (1.0 - likeness[at]);
            left.max_by(|a, b| worth(a).total_cmp(&worth(b)).then(b.0.cmp(&a.0))).map(|&(at, _)| (at, WhyLabel::Unsure))
        };
        let next = if list.len() % RANDOM_EVERY == RANDOM_EVERY - 1 { draw(&asked) } else { best().or_else(|| draw(&asked)) };
        let Some((at, why)) = next else { break };
        vectors.compare(at, pool.iter().map(|&(at, _)| at), &mut likeness);
        asked.push(at);
        list.push(ToLabel { seq: pages[at].seq, why });
    }
    list
}

/// Unlabelled pages with how unsure the model is of them, weighed by how much is linked to them; the most first.
fn unsure_first(pages: &[Labelable], threshold: f64) -> Vec<(usize, f64)> {
    let mut by_rank: Vec<usize> = (0..pages.len()).collect();
    by_rank.sort_by(|&a, &b| pages[a].rank.total_cmp(&pages[b].rank).then(a.cmp(&b)));
    let mut traffic = vec![0.0; pages.len()];
    for (place, at) in by_rank.into_iter().enumerate() {
        traffic[at] = place as f64 / pages.len() as f64;
    }
    let widest = threshold.max(1.0 - threshold);
    let worth = |(at, page): (usize, &Labelable)| {
        let unsure = 1.0 - (page.relevance - threshold).abs() / widest;
        (at, (unsure + 0.01) * (0.5 + 0.5 * traffic[at]))
    };
    let mut unsure: Vec<(usize, f64)> = pages.iter().enumerate().filter(|(_, page)| !page.labelled).map(worth).collect();
    unsure.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    unsure
}

/// TF-IDF vectors of length 1.
struct Vectors(Vec<Vec<(TermId, f32)>>);

impl Vectors {
    fn of(pages: &[Labelable]) -> Self {
        let mut holding: FxHashMap<TermId, f32> = FxHashMap::default();
        for term in pages.iter().flat_map(|page| page.terms.iter()) {
            *holding.entry(term.id).or_default() += 1.0;
        }
        let number = pages.len() as f32;
        let vector = |page: &Labelable| {
            let weigh = |term: crate::page::Term<'_>| {
                (term.id, term.count.ln_1p() * (number / holding.get(&term.id).copied().unwrap_or(1.0)).ln())
            };
            let weights: Vec<(TermId, f32)> = page.terms.iter().map(weigh).collect();
            let length = weights.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt().max(1e-6);
            weights.into_iter().map(|(id, weight)| (id, weight / length)).collect()
        };
        Self(pages.iter().map(vector).collect())
    }

    /// Raises the likeness of each of `others` to its cosine with `page`.
    fn compare(&self, page: usize, others: impl Iterator<Item = usize>, likeness: &mut [f64]) {
        let weights: FxHashMap<TermId, f32> = self.0[page].iter().copied().collect();
        for other in others {
            let cosine: f32 = self.0[other].iter().filter_map(|(id, weight)| Some(weight * weights.get(id)?)).sum();
            likeness[other] = likeness[other].max(f64::from(cosine));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(seq: u64, relevance: f64, words: &str) -> Labelable {
        let terms = words.split(' ').map(|word| (word, 1.0)).collect();
        Labelable { seq, relevance, rank: 0.1, terms, labelled: false }
    }

    #[test]
    fn unsure_pages_come_first_and_of_two_alike_only_one() {
        let mut pages = vec![
            page(1, 0.5, "rice field pest"),
            page(2, 0.5, "rice field pest"),
            page(3, 0.48, "goal team match"),
            page(4, 0.99, "soil water"),
            page(5, 0.01, "music band"),
        ];
        let first: Vec<u64> = to_label(&pages, 2, 0.5).iter().map(|page| page.seq).collect();
        assert!(first.contains(&3) && (first.contains(&1) ^ first.contains(&2)), "{first:?}");
        pages[2].labelled = true;
        assert!(to_label(&pages, 5, 0.5).iter().all(|page| page.seq != 3));
    }

    #[test]
    fn every_third_page_is_drawn_at_random_and_none_is_asked_twice() {
        let pages: Vec<Labelable> = (0..40).map(|n| page(n, n as f64 / 40.0, &format!("word{n} same"))).collect();
        let list = to_label(&pages, 40, 0.5);
        let mut seqs: Vec<u64> = list.iter().map(|page| page.seq).collect();
        seqs.sort_unstable();
        seqs.dedup();
        assert_eq!(seqs.len(), 40);
        assert!(list.iter().skip(2).step_by(3).all(|page| page.why == WhyLabel::Random));
        assert_eq!(list, to_label(&pages, 40, 0.5));
    }

    #[test]
    fn of_pages_alike_the_one_that_more_is_linked_to_is_asked() {
        let mut pages = vec![page(1, 0.5, "rice field pest"), page(2, 0.5, "rice field pest"), page(3, 0.9, "goal")];
        pages[1].rank = 0.9;
        assert_eq!(to_label(&pages, 1, 0.5)[0].seq, 2);
    }
}

//! A pass: all remembered pages are judged anew, twice (soft self-training), and a new model comes of it.
//!
//! A pass is done in slices, one for each page that is learnt from, so that a crawl of thousands of pages does not wait for it.
//!
//! Promises: a slice is bounded by the words it looks at, so the same pages in the same order bring the same slices; until a pass
//! ends, the model that was in force before it judges; a page's new relevance is told once, when it is final.
//! Never: asks a clock.

use super::{PageLearner, reading::DIMENSIONS};
use crate::page::Relevance;

/// A page whose judgement changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rejudged {
    /// The page's number as given to [`PageLearner::observe`].
    pub page: u64,
    pub relevance: Relevance,
}

/// What came of a part of a pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slice {
    /// The pages whose relevance moved.
    pub moved: Vec<Rejudged>,
    /// Whether the pass ended with it.
    pub is_new_model: bool,
}

/// How far a pass is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pass {
    step: usize,
    /// Pages that are through with the step.
    at: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Every page is scored by counts that leave it out; then the scale is fitted to the two classes.
    Score,
    /// Relevances are renewed by these scores, and counted.
    Judge { is_last: bool },
}

/// What a pass does, one after the other; then the model is published.
const STEPS: [Step; 4] = [Step::Score, Step::Judge { is_last: false }, Step::Score, Step::Judge { is_last: true }];

/// A relevance that moved by less is not worth counting a page's words again, nor telling.
const SAME: f64 = 0.01;

/// Pages that a slice looks at whatever they cost: more than come meanwhile, so that every pass ends.
const LEAST: usize = 4;

/// What a page costs beside its words, and what it costs to tell that it moved; in words.
const PAGE: usize = 16;
const MOVE: usize = 400;

impl PageLearner {
    /// Judges some of the remembered pages anew, beginning a pass where none is under way.
    pub fn judge_anew(&mut self) -> Slice {
        self.judge_within(self.config.words_at_once)
    }

    /// Judges all remembered pages anew at once, makes a new model, and returns the pages whose relevance moved.
    pub fn rejudge(&mut self) -> Vec<Rejudged> {
        self.pass = None;
        self.judge_within(usize::MAX).moved
    }

    /// Goes on with the pass until `words` are used up, but by [`LEAST`] pages.
    fn judge_within(&mut self, words: usize) -> Slice {
        let mut pass = self.pass.take().unwrap_or_else(|| self.begin_pass());
        let mut slice = Slice::default();
        let (mut left, mut least) = (words, LEAST);
        while let Some(&step) = STEPS.get(pass.step) {
            while pass.at < self.sample.len() {
                if left == 0 && least == 0 {
                    self.pass = Some(pass);
                    return slice;
                }
                least = least.saturating_sub(1);
                left = left.saturating_sub(self.take(step, pass.at, &mut slice.moved));
                pass.at += 1;
            }
            if step == Step::Score {
                self.fit_scale();
            }
            pass = Pass { step: pass.step + 1, at: 0 };
        }
        // Fitting looks at every column; a slice of its own where this one has looked at much already.
        if left < DIMENSIONS && left < words {
            self.pass = Some(pass);
            return slice;
        }
        self.publish();
        slice.is_new_model = true;
        slice
    }

    fn begin_pass(&mut self) -> Pass {
        self.begin_model();
        for sample in &mut self.sample {
            sample.score = None;
        }
        Pass { step: 0, at: 0 }
    }

    /// Takes one page through a step, and says how many words that was worth.
    fn take(&mut self, step: Step, at: usize, moved: &mut Vec<Rejudged>) -> usize {
        let (sample, counts) = (&mut self.sample[at], &mut self.counts);
        let words = sample.reading.words.len();
        let mut cost = PAGE;
        // A page that came since the others were scored is scored in its turn.
        if step == Step::Score || sample.score.is_none() {
            sample.score = Some(counts.score_leaving_out(&sample.reading, sample.counted));
            cost += words;
        }
        let (Step::Judge { is_last }, Some(score), false) = (step, sample.score, sample.fixed) else { return cost };
        let evidence = *sample.evidence.get_or_insert_with(|| {
            cost += if self.bayes.trained.is_some() { words } else { 0 };
            self.bayes.evidence(&sample.reading)
        });
        let relevance = self.bayes.combine(&sample.reading, score, evidence).relevance;
        sample.relevance = relevance.get();
        if (sample.relevance - sample.counted).abs() > SAME {
            counts.relabel(&sample.reading, sample.counted, sample.relevance);
            sample.counted = sample.relevance;
            cost += words;
        }
        if is_last && (sample.relevance - sample.told).abs() > SAME {
            sample.told = sample.relevance;
            moved.push(Rejudged { page: sample.page, relevance });
            cost += MOVE;
        }
        cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        page::TermBag,
        page_classifier::{PageClassifierConfig, Reading},
        text::TermId,
        topic::KeywordSet,
    };

    /// Words of a page here.
    const WORDS: usize = 6;

    fn page(number: u64) -> Reading {
        let text = match number % 3 {
            0 => format!("rice paddy seedling irrigation water w{}", number % 13),
            1 => format!("goal football team player match w{}", number % 11),
            _ => format!("paddy seedling water field w{} v{}", number % 7, number % 5),
        };
        let keywords = KeywordSet::new(["rice", "irrigation"].map(|word| vec![TermId::of(word)]));
        Reading::of(&text.split(' ').map(|word| (word, 1.0)).collect::<TermBag>(), &[], &keywords)
    }

    fn taught(config: &PageClassifierConfig, pages: u64) -> PageLearner {
        let mut learner = PageLearner::new(config, 2, None);
        for number in 0..pages {
            learner.observe(number, page(number));
        }
        learner
    }

    fn judgements(learner: &PageLearner) -> Vec<f64> {
        (0..30).map(|number| learner.model().judge(&page(number)).relevance.get()).collect()
    }

    #[test]
    fn a_pass_in_slices_ends_where_one_at_once_does() {
        let mut at_once = taught(&PageClassifierConfig::default(), 60);
        let mut in_slices = taught(&PageClassifierConfig { words_at_once: 100, ..PageClassifierConfig::default() }, 60);
        let before = judgements(&in_slices);
        let (mut moved, mut slices) = (Vec::new(), 0);
        loop {
            let slice = in_slices.judge_anew();
            moved.extend(slice.moved);
            slices += 1;
            if slice.is_new_model {
                break;
            }
            assert!(in_slices.is_due(), "it is to be gone on with");
            assert_eq!((judgements(&in_slices), in_slices.version()), (before.clone(), 0), "the model of before judges");
        }
        assert_eq!(at_once.rejudge(), moved);
        assert!(moved.len() > 10 && slices > 4 * 60 * (PAGE + WORDS) / 200, "{} moved in {slices} slices", moved.len());
        assert_eq!((judgements(&at_once), at_once.keyword_weights()), (judgements(&in_slices), in_slices.keyword_weights()));
        assert_ne!(before, judgements(&at_once));
        assert!(in_slices.version() == 1 && !in_slices.is_due());
    }

    #[test]
    fn a_slice_is_bounded_by_the_words_it_looks_at() {
        let words_at_once = 10 * (PAGE + WORDS);
        let mut learner = taught(&PageClassifierConfig { words_at_once, ..PageClassifierConfig::default() }, 400);
        learner.judge_anew();
        assert_eq!(learner.pass.map(|pass| (pass.step, pass.at)), Some((0, 10)));
        let mut slices = 0;
        while !learner.judge_anew().is_new_model {
            slices += 1;
        }
        assert!(slices >= 2 * 400 / 10, "{slices}");
    }

    #[test]
    fn pages_that_come_and_go_during_a_pass_are_judged_with_the_others() {
        let config = PageClassifierConfig { sample: 50, words_at_once: 200, ..PageClassifierConfig::default() };
        let mut learner = taught(&config, 50);
        let mut told: std::collections::BTreeMap<u64, f64> =
            (0..50).map(|number| (number, learner.sample[number as usize].told)).collect();
        for number in 50..400 {
            told.insert(number, learner.observe(number, page(number)).relevance.get());
            if learner.is_due() {
                told.extend(learner.judge_anew().moved.iter().map(|moved| (moved.page, moved.relevance.get())));
            }
        }
        while !learner.judge_anew().is_new_model {}
        learner.rejudge().iter().for_each(|moved| _ = told.insert(moved.page, moved.relevance.get()));
        for sample in &learner.sample {
            let told = told[&sample.page];
            assert!((told - sample.relevance).abs() <= SAME, "page {}: {told}, now {}", sample.page, sample.relevance);
        }
        let total = learner.counts.relevant_total + learner.counts.irrelevant_total;
        let all: f64 = (0..400).map(|number| page(number).weight).sum();
        assert!((total - all).abs() < 1e-6, "every page is counted once");
    }
}

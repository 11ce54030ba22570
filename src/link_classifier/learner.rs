//! The link classifier: estimates from evidence, learns from outcomes.

mod gather;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{
    TrainedLinkModel,
    evidence::{Evidence, FEATURES, Feature},
    facts::{InLinkFacts, TargetFacts, WordScores, group_key, parent_key, tag_path_key},
    link_bayes::LinkBayes,
    logistic::Logistic,
    outcomes::Outcomes,
};
use crate::{
    page::{LinkContext, Relevance},
    text::TermId,
    topic::{KeywordSet, Matches},
};

/// What the page model says of a word: positive for the topic.
pub type WordWeight<'a> = &'a dyn Fn(TermId) -> f64;

/// Learns where links lead.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct LinkLearner {
    model: Logistic,
    outcomes: Outcomes,
    anchor: LinkBayes,
    url: LinkBayes,
    around: LinkBayes,
    keyword_weights: Vec<f64>,
    /// Evidence that is not to count.
    left_out: Vec<Feature>,
    keeps_prior_weights: bool,
    learnt: f64,
    /// How often words were settled, and the number of lessons at which they will be again.
    epoch: u32,
    next_epoch: f64,
    /// What each remembered outcome was counted as, to correct it when its page is judged anew.
    taught: FxHashMap<u64, Taught>,
    /// What was learnt since the lessons were last taken, where they are wanted.
    #[serde(skip)]
    lessons: Option<Vec<Lesson>>,
}

/// One step of learning, to be taken again after a crash.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Lesson(Step);

#[derive(Debug, Clone, Serialize, Deserialize)]
enum Step {
    /// A link was found: words of its anchor, its URL and around it.
    Saw(Box<[TermId]>, Box<[TermId]>, Box<[TermId]>),
    /// A link was followed.
    Learnt(u64, Taught, Evidence),
    /// A page was judged anew.
    Relabelled(u64, Relevance),
    /// The links of a page have led somewhere.
    Rewarded(u64, f64),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Taught {
    relevance: f64,
    keys: Vec<u64>,
    anchor: Box<[TermId]>,
    url: Box<[TermId]>,
    around: Box<[TermId]>,
}

/// Words are settled after every lesson at first, then whenever this share of lessons is new.
const EPOCH: f64 = 0.1;

/// Outcomes whose words and keys are remembered for correction.
const MAX_TAUGHT: usize = 4_000;

impl LinkLearner {
    /// A learner that starts from weights trained before.
    #[must_use]
    pub fn starting_from(trained: &TrainedLinkModel) -> Self {
        Self { model: Logistic::around(trained.all()), ..Self::default() }
    }

    /// Sets how much each keyword counts now, 0..=1 each.
    pub fn set_keyword_weights(&mut self, weights: Vec<f64>) {
        self.keyword_weights = weights;
    }

    /// Never counts some pieces of evidence, to measure what they are worth.
    pub fn leave_out(&mut self, features: &[Feature]) {
        self.left_out.extend_from_slice(features);
    }

    /// Never fits the weights to outcomes.
    pub fn keep_prior_weights(&mut self) {
        self.keeps_prior_weights = true;
    }

    /// Keyword score of matches under the current weights, 0..=1.
    #[must_use]
    pub fn keyword_score(&self, matches: &Matches) -> f64 {
        KeywordSet::score(matches, &self.keyword_weights)
    }

    /// Counts a newly found link as background for the words of links.
    pub fn see(&mut self, target: &TargetFacts, context: &LinkContext) {
        self.see_words(&context.anchor, &target.file_words, &context.around);
        if let Some(lessons) = &mut self.lessons {
            let step = Step::Saw(context.anchor.clone(), target.file_words.clone(), context.around.clone());
            lessons.push(Lesson(step));
        }
    }

    fn see_words(&mut self, anchor: &[TermId], url: &[TermId], around: &[TermId]) {
        self.anchor.see(anchor);
        self.around.see(around);
        self.url.see(url);
    }

    /// Remembers every step of learning from now on, until it is taken.
    pub fn keep_lessons(&mut self) {
        self.lessons.get_or_insert_default();
    }

    /// The steps since they were last taken.
    pub fn take_lessons(&mut self) -> Vec<Lesson> {
        self.lessons.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Takes a step again.
    pub fn repeat(&mut self, Lesson(step): Lesson) {
        match step {
            Step::Saw(anchor, url, around) => self.see_words(&anchor, &url, &around),
            Step::Learnt(key, taught, evidence) => drop(self.take_in(key, taught, evidence)),
            Step::Relabelled(key, relevance) => self.relabel(key, relevance),
            Step::Rewarded(key, beyond) => self.reward(key, beyond),
        }
    }

    /// Mean relevance of what was fetched.
    #[must_use]
    pub fn overall_rate(&self) -> f64 {
        self.outcomes.overall()
    }

    /// The weights in force, by [`Feature`].
    #[must_use]
    pub fn weights(&self) -> &[f64; FEATURES] {
        self.model.weights()
    }

    /// Grows by one whenever [`LinkLearner::word_scores`] may say something else of the same words.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// What a link's words say: the same for the whole of an epoch and of a version of the page model.
    #[must_use]
    pub fn word_scores(&self, context: &LinkContext, words: WordWeight<'_>) -> WordScores {
        WordScores { anchor: self.anchor.score(&context.anchor, words), around: self.around.score(&context.around, words) }
    }

    /// The estimate for a link with this evidence.
    #[must_use]
    pub fn estimate(&self, evidence: &Evidence) -> Relevance {
        Relevance::new(1.0 / (1.0 + (-self.model.log_odds(evidence)).exp()))
    }

    /// Learns what came of a link. `key` names its page for [`LinkLearner::relabel`]. Seeds teach nothing: they have no in-links.
    /// Returns whether the weights changed.
    pub fn learn(
        &mut self,
        key: u64,
        target: &TargetFacts,
        in_links: &[InLinkFacts<'_>],
        evidence: Evidence,
        relevance: Relevance,
    ) -> bool {
        let Some(first) = in_links.first() else { return false };
        let mut keys: Vec<u64> = vec![target.host_key, target.shape_key];
        keys.extend_from_slice(&target.directory_keys);
        for link in in_links {
            keys.extend([group_key(link), parent_key(link), tag_path_key(link, target)]);
        }
        keys.sort_unstable();
        keys.dedup();
        let taught = Taught {
            relevance: relevance.get(),
            keys,
            anchor: first.context.anchor.clone(),
            url: target.file_words.clone(),
            around: first.context.around.clone(),
        };
        if let Some(lessons) = &mut self.lessons {
            lessons.push(Lesson(Step::Learnt(key, taught.clone(), evidence)));
        }
        self.take_in(key, taught, evidence)
    }

    fn take_in(&mut self, key: u64, taught: Taught, evidence: Evidence) -> bool {
        let relevance = taught.relevance;
        self.outcomes.add(taught.keys.iter().copied(), relevance);
        self.count_words(&taught, relevance, 1.0 - relevance);
        if self.taught.len() < MAX_TAUGHT {
            self.taught.insert(key, taught);
        }
        self.learnt += 1.0;
        if self.learnt >= self.next_epoch {
            self.epoch += 1;
            self.next_epoch = self.learnt + 1.0 + EPOCH * self.learnt;
            for words in [&mut self.anchor, &mut self.url, &mut self.around] {
                words.settle();
            }
        }
        !self.keeps_prior_weights && self.model.learn(key, evidence, relevance)
    }

    /// Links of which it knows what came.
    #[must_use]
    pub fn learned(&self) -> u64 {
        self.learnt as u64
    }

    /// How much was fetched like a target: from its directory (its shape, at the top of a host), and a tenth as much for its host.
    #[must_use]
    pub fn tries(&self, target: &TargetFacts) -> f64 {
        let directory = target.directory_keys.last().copied().unwrap_or(target.shape_key);
        self.outcomes.number(directory) + 0.1 * self.outcomes.number(target.host_key)
    }

    /// Tells what the links of a page have led to so far, 0..=1: delayed reward for the link that led to it.
    pub fn reward(&mut self, key: u64, beyond: f64) {
        if let Some(lessons) = &mut self.lessons {
            lessons.push(Lesson(Step::Rewarded(key, beyond)));
        }
        self.model.reward(key, beyond);
    }

    /// The whole learner as bytes, with the number of the last page it has learnt from.
    #[must_use]
    pub fn to_bytes(&self, last_page: u64) -> Vec<u8> {
        // Plain data always serialises.
        rmp_serde::to_vec(&(last_page, self)).unwrap_or_default()
    }

    /// Reads [`LinkLearner::to_bytes`] back; `None` for bytes of another version.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<(u64, Self)> {
        rmp_serde::from_slice(bytes).ok()
    }

    /// Corrects what was learnt from a page that has been judged anew.
    pub fn relabel(&mut self, key: u64, relevance: Relevance) {
        if let Some(lessons) = &mut self.lessons {
            lessons.push(Lesson(Step::Relabelled(key, relevance)));
        }
        self.model.relabel(key, relevance.get());
        let Some(mut taught) = self.taught.remove(&key) else { return };
        let change = relevance.get() - taught.relevance;
        self.outcomes.correct(taught.keys.iter().copied(), change);
        self.count_words(&taught, change, -change);
        taught.relevance = relevance.get();
        self.taught.insert(key, taught);
    }

    fn count_words(&mut self, taught: &Taught, relevant: f64, irrelevant: f64) {
        self.anchor.learn(&taught.anchor, relevant, irrelevant);
        self.url.learn(&taught.url, relevant, irrelevant);
        self.around.learn(&taught.around, relevant, irrelevant);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link_classifier::facts::{Linkers, Neighbours, SourceFacts};

    fn context(anchor: &str, group: u16) -> LinkContext {
        LinkContext { anchor: anchor.split(' ').map(TermId::of).collect(), group, ..LinkContext::default() }
    }

    fn facts<'a>(context: &'a LinkContext, source: &'a SourceFacts, none: &'a Matches) -> InLinkFacts<'a> {
        InLinkFacts {
            context,
            words: WordScores::default(),
            anchor_matches: none,
            around_matches: none,
            heading_matches: none,
            source,
            source_key: 1,
            group_size: 5,
            neighbours: Neighbours::default(),
        }
    }

    #[test]
    fn a_list_that_led_to_the_topic_promises_more_of_it() {
        let mut learner = LinkLearner::default();
        let (none, source) = (Matches::default(), SourceFacts { relevance: 0.3, ..SourceFacts::default() });
        let target = TargetFacts::default();
        let (good, bad) = (context("good list", 1), context("bad menu", 2));
        for key in 0..20 {
            for (context, relevance) in [(&good, 0.95), (&bad, 0.05)] {
                let words = learner.word_scores(context, &|_| 0.0);
                let link = [InLinkFacts { words, ..facts(context, &source, &none) }];
                let evidence = learner.evidence(&target, &link, Linkers::default(), &|_| 0.0);
                learner.see(&target, context);
                learner.learn(key * 2 + u64::from(context.group), &target, &link, evidence, Relevance::new(relevance));
            }
        }
        let estimate = |context: &LinkContext| {
            let words = learner.word_scores(context, &|_| 0.0);
            let link = [InLinkFacts { words, ..facts(context, &source, &none) }];
            learner.estimate(&learner.evidence(&target, &link, Linkers::default(), &|_| 0.0)).get()
        };
        assert!(estimate(&context("unseen", 1)) > 2.0 * estimate(&context("unseen", 2)));
        assert!(estimate(&good) > estimate(&context("unseen", 1)));
    }

    #[test]
    fn a_learner_starts_from_trained_weights_and_goes_on_learning() {
        let trained: TrainedLinkModel = serde_json::from_str("{\"bias\": 1.0}").unwrap();
        let mut learner = LinkLearner::starting_from(&trained);
        let plain = Evidence::default();
        assert!(learner.estimate(&plain) > LinkLearner::default().estimate(&plain));
        let (none, source, target, list) =
            (Matches::default(), SourceFacts::default(), TargetFacts::default(), context("list", 1));
        for key in 0..40 {
            learner.learn(key, &target, &[facts(&list, &source, &none)], plain, Relevance::NONE);
        }
        assert!(learner.estimate(&plain).get() < 0.2);
    }

    #[test]
    fn evidence_that_is_left_out_counts_nothing() {
        let (none, source) = (Matches::default(), SourceFacts { relevance: 0.9, ..SourceFacts::default() });
        let (list, target) = (context("list", 1), TargetFacts::default());
        let link = [facts(&list, &source, &none)];
        let best =
            |learner: &LinkLearner| learner.evidence(&target, &link, Linkers::default(), &|_| 0.0).get(Feature::ParentBest);
        let mut learner = LinkLearner::default();
        assert!(best(&learner) > 0.8);
        learner.leave_out(&[Feature::ParentBest]);
        assert!(best(&learner).abs() < 1e-12);
    }

    #[test]
    fn pages_whose_links_were_not_kept_still_count_among_the_linkers() {
        let (none, source) = (Matches::default(), SourceFacts { relevance: 1.0, ..SourceFacts::default() });
        let (list, target) = (context("list", 1), TargetFacts::default());
        let link = [facts(&list, &source, &none)];
        let mean = |linkers: Linkers| LinkLearner::default().evidence(&target, &link, linkers, &|_| 0.0).get(Feature::ParentMean);
        let among_irrelevant = mean(Linkers { number: 100, forgotten_relevance: 1.0 });
        assert!(among_irrelevant < 0.0 && mean(Linkers { number: 1, forgotten_relevance: 0.0 }) > 0.0);
    }

    #[test]
    fn a_snapshot_and_the_lessons_since_make_the_learner_that_was() {
        let (none, source) = (Matches::default(), SourceFacts { relevance: 0.3, ..SourceFacts::default() });
        let mut learner = LinkLearner::default();
        learner.keep_lessons();
        let mut snapshot = Vec::new();
        for key in 0..60 {
            let target = TargetFacts { file_words: [TermId(key as u32 % 7)].into(), host_key: key % 5, ..TargetFacts::default() };
            let list = context(["good list", "bad menu"][key as usize % 2], key as u16 % 3);
            let link = [facts(&list, &source, &none)];
            learner.see(&target, &list);
            let evidence = learner.evidence(&target, &link, Linkers::default(), &|_| 0.0);
            learner.learn(key, &target, &link, evidence, Relevance::new((key % 4) as f64 / 3.0));
            if key % 9 == 8 {
                learner.relabel(key - 4, Relevance::new(0.6));
            }
            if key == 30 {
                learner.take_lessons();
                snapshot = learner.to_bytes(key);
            }
        }
        let since = learner.take_lessons();
        let (_, mut again) = LinkLearner::from_bytes(&snapshot).unwrap();
        let lessons: Vec<Lesson> = postcard::from_bytes(&postcard::to_stdvec(&since).unwrap()).unwrap();
        for lesson in lessons {
            again.repeat(lesson);
        }
        assert_eq!(again.weights().map(f64::to_bits), learner.weights().map(f64::to_bits));
        let list = context("good menu", 1);
        let target = TargetFacts { file_words: [TermId(3)].into(), host_key: 2, ..TargetFacts::default() };
        let evidence =
            |learner: &LinkLearner| learner.evidence(&target, &[facts(&list, &source, &none)], Linkers::default(), &|_| 0.0);
        assert_eq!(evidence(&again), evidence(&learner));
    }

    #[test]
    fn judging_pages_anew_unteaches_what_they_taught() {
        let mut learner = LinkLearner::default();
        let (none, source, target) = (Matches::default(), SourceFacts::default(), TargetFacts::default());
        let list = context("list", 1);
        for key in 0..10 {
            let link = [facts(&list, &source, &none)];
            let evidence = learner.evidence(&target, &link, Linkers::default(), &|_| 0.0);
            learner.learn(key, &target, &link, evidence, Relevance::FULL);
        }
        assert!(learner.overall_rate() > 0.7);
        for key in 0..10 {
            learner.relabel(key, Relevance::NONE);
        }
        assert!(learner.overall_rate() < 0.1);
    }
}

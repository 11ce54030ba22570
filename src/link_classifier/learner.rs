//! The link classifier: gathers evidence, estimates, learns from outcomes.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{
    TrainedLinkModel,
    evidence::{Evidence, FEATURES, Feature},
    link_bayes::LinkBayes,
    logistic::Logistic,
    outcomes::{Outcomes, logit},
};
use crate::{
    page::{LinkContext, Relevance},
    text::TermId,
    topic::{KeywordSet, Matches},
};

/// What the page model says of a word: positive for the topic.
pub type WordWeight<'a> = &'a dyn Fn(TermId) -> f64;

/// What is known of a link's target from its URL and its place in the link graph.
#[derive(Debug, Clone, Default)]
pub struct TargetFacts {
    /// Words of the URL's last part, and of its host and directories.
    pub file_words: Box<[TermId]>,
    pub directory_words: Box<[TermId]>,
    pub file_matches: Matches,
    pub directory_matches: Matches,
    /// Hashes of host; host and first directory; and second; and third (as many as there are).
    pub host_key: u64,
    pub directory_keys: Box<[u64]>,
    /// Hash of host and URL with digits and letters made alike.
    pub shape_key: u64,
}

/// What is known of a page that links stand on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SourceFacts {
    pub relevance: f64,
    pub title_matches: Matches,
    pub url_matches: Matches,
    /// Of the anchor that led to it.
    pub anchor_matches: Matches,
    /// Steps since the last relevant page, 0 if it is one itself.
    pub distance: u8,
}

/// What the words of a link say, by Naive Bayes; within ±4.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WordScores {
    pub anchor: f32,
    pub around: f32,
}

/// The relevance of the links beside one, near ones first.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Neighbours {
    sum: f64,
    mass: f64,
}

impl Neighbours {
    /// Adds one that stands `distance` (1 or more) links away, if that is near enough to say something.
    pub fn add(&mut self, distance: u16, relevance: impl FnOnce() -> f64) {
        /// `e^(−(distance − 1) / 2.5)`.
        const WEIGHTS: [f64; 6] = [1.0, 0.670_32, 0.449_33, 0.301_19, 0.201_90, 0.135_34];
        if let Some(weight) = WEIGHTS.get(usize::from(distance).wrapping_sub(1)) {
            self.sum += weight * relevance();
            self.mass += weight;
        }
    }

    /// Their rate, drawn to the crawl's.
    fn rate(self, overall: f64) -> f64 {
        (overall + self.sum) / (1.0 + self.mass)
    }
}

/// One link to a target.
#[derive(Debug, Clone, Copy)]
pub struct InLinkFacts<'a> {
    pub context: &'a LinkContext,
    /// As [`LinkLearner::word_scores`] says.
    pub words: WordScores,
    pub anchor_matches: &'a Matches,
    pub around_matches: &'a Matches,
    pub heading_matches: &'a Matches,
    pub source: &'a SourceFacts,
    /// Identity of the page it stands on.
    pub source_key: u64,
    /// Links in the same list on that page.
    pub group_size: usize,
    /// Of the links beside it whose outcome is known.
    pub neighbours: Neighbours,
}

/// How many pages link to a target, beyond the in-links that are kept.
#[derive(Debug, Clone, Copy, Default)]
pub struct Linkers {
    /// All pages that link to it.
    pub number: u32,
    /// Relevance, added up, of those whose in-links were not kept.
    pub forgotten_relevance: f64,
}

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

const GROUP: u64 = 0x9e37_79b9_7f4a_7c15;
const TAG_PATH: u64 = 0xc2b2_ae3d_27d4_eb4f;
const PARENT: u64 = 0x1656_67b1_9e37_79f9;

fn mix(kind: u64, a: u64, b: u64) -> u64 {
    (a ^ kind).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29) ^ b.wrapping_mul(0xc4ce_b9fe_1a85_ec53)
}

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

    /// Gathers all evidence about a target from the links that lead to it.
    #[must_use]
    pub fn evidence(
        &self,
        target: &TargetFacts,
        in_links: &[InLinkFacts<'_>],
        linkers: Linkers,
        words: WordWeight<'_>,
    ) -> Evidence {
        let mut evidence = Evidence::default();
        evidence.set(Feature::UrlKeywords, self.keyword_score(&target.file_matches));
        evidence.set(Feature::DirectoryKeywords, self.keyword_score(&target.directory_matches));
        if in_links.is_empty() {
            return self.counted(evidence);
        }
        self.add_places(&mut evidence, target);
        self.add_parents(&mut evidence, in_links, linkers);
        self.add_words(&mut evidence, target, in_links, words);
        self.add_surroundings(&mut evidence, target, in_links);
        self.counted(evidence)
    }

    /// The evidence without what is not to count.
    fn counted(&self, mut evidence: Evidence) -> Evidence {
        for &feature in &self.left_out {
            evidence.set(feature, 0.0);
        }
        evidence
    }

    /// Outcomes of directory, shape and host.
    fn add_places(&self, evidence: &mut Evidence, target: &TargetFacts) {
        let overall = self.outcomes.overall();
        let base = logit(overall);
        let host = self.outcomes.rate(target.host_key, overall, 10.0);
        evidence.set(Feature::Host, logit(host) - base);
        let directory = target.directory_keys.iter().fold(overall, |rate, &key| self.outcomes.rate(key, rate, 3.0));
        evidence.set(Feature::Directory, logit(directory) - base);
        evidence.set(Feature::Shape, logit(self.outcomes.rate(target.shape_key, overall, 10.0)) - base);
    }

    fn add_parents(&self, evidence: &mut Evidence, in_links: &[InLinkFacts<'_>], linkers: Linkers) {
        let overall = self.outcomes.overall();
        let number = f64::from(linkers.number.max(in_links.len() as u32));
        let sum = linkers.forgotten_relevance + in_links.iter().map(|link| link.source.relevance).sum::<f64>();
        let best = in_links.iter().map(|link| link.source.relevance).fold(0.0, f64::max);
        evidence.set(Feature::ParentBest, best);
        evidence.set(Feature::ParentMean, logit((sum + overall) / (number + 1.0)) - logit(overall));
        evidence.set(Feature::Cocitation, sum.ln_1p());
        evidence.set(Feature::InDegree, number.ln_1p());
        let distance = in_links.iter().map(|link| link.source.distance.min(5)).min().unwrap_or(5);
        evidence.set(Feature::Distance, f64::from(distance));
    }

    fn add_words(&self, evidence: &mut Evidence, target: &TargetFacts, in_links: &[InLinkFacts<'_>], words: WordWeight<'_>) {
        let fade = self.learnt / (self.learnt + 5.0);
        let number = in_links.len() as f64;
        let (mut anchor, mut around) = (0.0, 0.0);
        for link in in_links {
            evidence.raise(Feature::AnchorKeywords, self.keyword_score(link.anchor_matches));
            evidence.raise(Feature::ContextKeywords, self.keyword_score(link.around_matches));
            evidence.raise(Feature::HeadingKeywords, self.keyword_score(link.heading_matches));
            anchor += f64::from(link.words.anchor);
            around += f64::from(link.words.around);
        }
        evidence.set(Feature::AnchorBayes, fade * anchor / number);
        evidence.set(Feature::ContextBayes, fade * around / number);
        evidence.set(Feature::UrlBayes, fade * f64::from(self.url.score(&target.file_words, words)));
    }

    fn add_surroundings(&self, evidence: &mut Evidence, target: &TargetFacts, in_links: &[InLinkFacts<'_>]) {
        let overall = self.outcomes.overall();
        let base = logit(overall);
        let number = in_links.len() as f64;
        let (mut position, mut navigation) = (0.0, 0.0);
        let mut strongest = [0.0_f64; 4];
        let mut named = false;
        for link in in_links {
            let source = link.source;
            let title = self.keyword_score(&source.title_matches);
            let own_anchor = self.keyword_score(&source.anchor_matches);
            let heading = self.keyword_score(link.heading_matches);
            evidence.raise(Feature::TitleKeywords, title);
            evidence.raise(Feature::SourceUrlKeywords, self.keyword_score(&source.url_matches));
            evidence.raise(Feature::SourceAnchorKeywords, own_anchor);
            let named_hub = title.max(own_anchor).max(heading);
            if named_hub > 0.0 {
                evidence.raise(Feature::Hub, named_hub * ((link.group_size as f64).ln_1p() / 3.0).min(1.0));
            }
            let siblings = self.outcomes.rate(parent_key(link), overall, 3.0);
            let rates = [
                self.outcomes.rate(group_key(link), siblings, 2.0),
                siblings,
                self.outcomes.rate(tag_path_key(link, target), overall, 3.0),
                link.neighbours.rate(overall),
            ];
            for (strongest, rate) in strongest.iter_mut().zip(rates) {
                *strongest = strongest.max(rate);
            }
            position += f64::from(link.context.position);
            navigation += f64::from(u8::from(link.context.navigation));
            named |= !link.context.anchor.is_empty();
        }
        let features = [Feature::Group, Feature::Siblings, Feature::TagPath, Feature::Neighbours];
        for (feature, value) in features.into_iter().zip(strongest) {
            evidence.set(feature, logit(value) - base);
        }
        evidence.set(Feature::Position, position / number);
        evidence.set(Feature::Navigation, navigation / number);
        evidence.set(Feature::NoAnchor, f64::from(u8::from(!named)));
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

fn group_key(link: &InLinkFacts<'_>) -> u64 {
    mix(GROUP, link.source_key, u64::from(link.context.group))
}

fn parent_key(link: &InLinkFacts<'_>) -> u64 {
    mix(PARENT, link.source_key, 0)
}

fn tag_path_key(link: &InLinkFacts<'_>, target: &TargetFacts) -> u64 {
    mix(TAG_PATH, target.host_key, u64::from(link.context.tag_path))
}

#[cfg(test)]
mod tests {
    use super::*;

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

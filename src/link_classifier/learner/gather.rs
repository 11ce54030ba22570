//! Gathering the evidence about a link, with what the learner knows by now.
//!
//! Never: learns.

use super::{LinkLearner, WordWeight};
use crate::link_classifier::{
    evidence::{Evidence, Feature},
    facts::{InLinkFacts, Linkers, TargetFacts, group_key, parent_key, tag_path_key},
    outcomes::logit,
};

impl LinkLearner {
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
}

//! Ingredients of the focus that a crawl can be run without, to measure what each is worth.

use serde::{Deserialize, Serialize};

use super::{Crawl, CrawlPlan};
use crate::link_classifier::Feature;

/// One ingredient of the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Ingredient {
    /// Keywords in anchors, URLs, headings, titles and context of links.
    Keywords,
    /// Relevance and number of the pages that link to a target.
    Parents,
    /// What came of links of the same list, page, tag path, directory, shape and host.
    Outcomes,
    /// Naive Bayes over the words of links.
    LinkBayes,
    /// The page model's vocabulary as that model's prior.
    LentVocabulary,
    /// Long lists under a title, heading or anchor with keywords.
    Hub,
    /// Fitting the link classifier's weights to outcomes.
    Fitting,
    /// The link term of `TopicalRank` (α = 0).
    Rank,
    /// Scoring waiting links anew as the crawl learns.
    Rescoring,
    /// Seeds that look like the topic as examples of it.
    SeedTrust,
    /// Naive Bayes over the words of pages; keywords alone judge.
    PageBayes,
    /// Looking elsewhere when the order has lost the topic.
    Widening,
    /// Trusting keywords that occur together with others more than one that occurs alone.
    KeywordTrust,
    /// Links of irrelevant pages.
    Tunnelling,
    /// Cutting tunnel depths that do not pay.
    Payback,
    /// What a page's links have led to, as a reward for the link that led to it.
    DelayedReward,
    /// The preference for hosts that little was fetched from.
    SiteDiversity,
}

impl Ingredient {
    /// The evidence about links that goes with it.
    fn features(self) -> &'static [Feature] {
        match self {
            Self::Keywords => &[
                Feature::AnchorKeywords,
                Feature::UrlKeywords,
                Feature::DirectoryKeywords,
                Feature::ContextKeywords,
                Feature::HeadingKeywords,
                Feature::TitleKeywords,
                Feature::SourceUrlKeywords,
                Feature::SourceAnchorKeywords,
                Feature::Hub,
            ],
            Self::Parents => {
                &[Feature::ParentBest, Feature::ParentMean, Feature::Cocitation, Feature::InDegree, Feature::Distance]
            }
            Self::Outcomes => &[
                Feature::Group,
                Feature::Siblings,
                Feature::TagPath,
                Feature::Directory,
                Feature::Shape,
                Feature::Host,
                Feature::Neighbours,
            ],
            Self::LinkBayes => &[Feature::AnchorBayes, Feature::UrlBayes, Feature::ContextBayes],
            Self::Hub => &[Feature::Hub],
            Self::LentVocabulary
            | Self::Fitting
            | Self::Rank
            | Self::Rescoring
            | Self::SeedTrust
            | Self::PageBayes
            | Self::Tunnelling
            | Self::Widening
            | Self::KeywordTrust
            | Self::Payback
            | Self::DelayedReward
            | Self::SiteDiversity => &[],
        }
    }
}

impl CrawlPlan {
    /// Whether the crawl is to do without an ingredient.
    pub(super) fn lacks(&self, ingredient: Ingredient) -> bool {
        self.engine.without.contains(&ingredient)
    }
}

impl Crawl {
    /// Takes out what the plan says; called once, before the first link is scored.
    pub(super) fn leave_out(&mut self) {
        for ingredient in self.plan.engine.without.clone() {
            self.links.leave_out(ingredient.features());
        }
        if self.plan.lacks(Ingredient::Fitting) {
            self.links.keep_prior_weights();
        }
        if self.plan.lacks(Ingredient::PageBayes) {
            self.pages.judge_by_keywords_only();
        }
        if self.plan.lacks(Ingredient::Tunnelling) {
            self.plan.tunnel_depth = 0;
        }
        if self.plan.lacks(Ingredient::KeywordTrust) {
            self.pages.trust_all_keywords();
        }
        if self.plan.lacks(Ingredient::SiteDiversity) {
            self.plan.engine.site_diversity = 0.0;
        }
    }
}

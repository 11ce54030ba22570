//! The pieces of evidence about a link, and the weights they have before anything is learnt.
//!
//! Prior weights are worth more than learning in the first hundred fetches, and a few
//! scale-free pieces carry over to other webs where many sparse ones do not (measured, focus.md 1).

use serde::{Deserialize, Serialize};

/// One piece of evidence; where a target has several in-links, the strongest counts unless said otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Feature {
    /// Always 1.
    Bias,
    /// Keywords in the anchor text.
    AnchorKeywords,
    /// Keywords in the last part of the URL.
    UrlKeywords,
    /// Keywords in the URL's host and directories.
    DirectoryKeywords,
    /// Keywords in the words around the link.
    ContextKeywords,
    /// Keywords in the nearest heading.
    HeadingKeywords,
    /// Keywords in the title of the page it stands on.
    TitleKeywords,
    /// Keywords in the URL of the page it stands on.
    SourceUrlKeywords,
    /// Keywords in the anchor that led to the page it stands on.
    SourceAnchorKeywords,
    /// Relevance of the most relevant page that links here.
    ParentBest,
    /// Log-odds of the mean relevance of the pages that link here, against the crawl's rate.
    ParentMean,
    /// `ln(1 + Σ relevance)` of the pages that link here.
    Cocitation,
    /// `ln(1 + number)` of pages that link here.
    InDegree,
    /// Outcomes of the same list on the same page, as log-odds against the crawl's rate.
    Group,
    /// Outcomes of the page's other links.
    Siblings,
    /// Outcomes of the same tag path on the same host.
    TagPath,
    /// Outcomes in the same directory.
    Directory,
    /// Outcomes of URLs of the same shape.
    Shape,
    /// Outcomes on the same host.
    Host,
    /// Outcomes of the links next to it.
    Neighbours,
    /// Naive Bayes over the anchor's words.
    AnchorBayes,
    /// Naive Bayes over the URL's words.
    UrlBayes,
    /// Naive Bayes over the words around.
    ContextBayes,
    /// Place on the page, 0 first to 1 last (mean).
    Position,
    /// In a navigation block (share of in-links).
    Navigation,
    /// No anchor text at all.
    NoAnchor,
    /// Stands in a long list under a title, heading or anchor with keywords.
    Hub,
    /// Steps since the last relevant page, at most 5 (least).
    Distance,
}

/// How many pieces of evidence there are.
pub const FEATURES: usize = 28;

impl Feature {
    pub const ALL: [Self; FEATURES] = [
        Self::Bias,
        Self::AnchorKeywords,
        Self::UrlKeywords,
        Self::DirectoryKeywords,
        Self::ContextKeywords,
        Self::HeadingKeywords,
        Self::TitleKeywords,
        Self::SourceUrlKeywords,
        Self::SourceAnchorKeywords,
        Self::ParentBest,
        Self::ParentMean,
        Self::Cocitation,
        Self::InDegree,
        Self::Group,
        Self::Siblings,
        Self::TagPath,
        Self::Directory,
        Self::Shape,
        Self::Host,
        Self::Neighbours,
        Self::AnchorBayes,
        Self::UrlBayes,
        Self::ContextBayes,
        Self::Position,
        Self::Navigation,
        Self::NoAnchor,
        Self::Hub,
        Self::Distance,
    ];

    /// The weight before anything is learnt, per unit of evidence, in log-odds.
    #[must_use]
    pub fn prior_weight(self) -> f64 {
        match self {
            Self::Bias => -2.5,
            Self::AnchorKeywords => 2.0,
            Self::UrlKeywords => 1.5,
            Self::DirectoryKeywords => 2.5,
            Self::HeadingKeywords | Self::ParentBest | Self::Cocitation => 0.8,
            Self::ContextKeywords
            | Self::ContextBayes
            | Self::SourceUrlKeywords
            | Self::SourceAnchorKeywords
            | Self::Neighbours => 0.3,
            Self::TitleKeywords | Self::Group => 0.4,
            Self::ParentMean => 1.0,
            Self::InDegree | Self::Navigation => -0.5,
            Self::Siblings | Self::Hub => 0.6,
            Self::TagPath | Self::Shape => 0.2,
            Self::Directory | Self::AnchorBayes | Self::UrlBayes => 0.5,
            Self::Host => 0.0,
            Self::Position | Self::Distance => -0.2,
            Self::NoAnchor => -0.3,
        }
    }

    /// What it is called in reports and by `why`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bias => "bias",
            Self::AnchorKeywords => "keywords in the anchor",
            Self::UrlKeywords => "keywords in the URL",
            Self::DirectoryKeywords => "keywords in host or directory",
            Self::ContextKeywords => "keywords around the link",
            Self::HeadingKeywords => "keywords in the heading above",
            Self::TitleKeywords => "keywords in the source's title",
            Self::SourceUrlKeywords => "keywords in the source's URL",
            Self::SourceAnchorKeywords => "keywords in the source's anchor",
            Self::ParentBest => "best parent's relevance",
            Self::ParentMean => "parents' mean relevance",
            Self::Cocitation => "relevant pages that link here",
            Self::InDegree => "pages that link here",
            Self::Group => "outcomes in the same list",
            Self::Siblings => "outcomes of the page's links",
            Self::TagPath => "outcomes of the tag path",
            Self::Directory => "outcomes in the directory",
            Self::Shape => "outcomes of the URL shape",
            Self::Host => "outcomes on the host",
            Self::Neighbours => "outcomes of the links beside it",
            Self::AnchorBayes => "words of the anchor",
            Self::UrlBayes => "words of the URL",
            Self::ContextBayes => "words around the link",
            Self::Position => "place on the page",
            Self::Navigation => "in navigation",
            Self::NoAnchor => "no anchor text",
            Self::Hub => "listed on a hub",
            Self::Distance => "steps since a relevant page",
        }
    }
}

/// The evidence about one link, indexed by [`Feature`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Evidence(pub [f32; FEATURES]);

impl Default for Evidence {
    fn default() -> Self {
        let mut evidence = Self([0.0; FEATURES]);
        evidence.set(Feature::Bias, 1.0);
        evidence
    }
}

impl Evidence {
    #[must_use]
    pub fn get(&self, feature: Feature) -> f64 {
        f64::from(self.0[feature as usize])
    }

    pub(crate) fn set(&mut self, feature: Feature, value: f64) {
        self.0[feature as usize] = value as f32;
    }

    /// Keeps the greater of what is there and `value`.
    pub(crate) fn raise(&mut self, feature: Feature, value: f64) {
        let place = &mut self.0[feature as usize];
        *place = place.max(value as f32);
    }

    /// Reads evidence back from a store row; rows of another width are refused.
    #[must_use]
    pub fn from_slice(values: &[f32]) -> Option<Self> {
        values.try_into().ok().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_listed_in_the_order_of_their_numbers() {
        for (index, feature) in Feature::ALL.into_iter().enumerate() {
            assert_eq!(feature as usize, index, "{feature:?}");
        }
    }
}

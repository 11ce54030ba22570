//! Topic and configuration → what the engine is asked to do.

use std::{collections::BTreeMap, fs, path::Path, sync::Arc};

use super::Config;
use crate::{
    engine::{CrawlPlan, Example, HarvestFloor, Limits},
    frontier::{TrapConfigError, Traps},
    models::ModelBundle,
    parse::{Document, parse},
    text::Segmenter,
    topic::{KeywordSet, Topic},
    url::Url,
};

/// An example page or a pattern that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Traps(#[from] TrapConfigError),
    #[error("example {path}: {source}")]
    Io { path: String, source: std::io::Error },
    #[error("example {path}: {reason}; give HTML or text")]
    Unreadable { path: String, reason: String },
}

impl Config {
    /// The plan of a topic's crawl that starts from `model`, if there is one; reads the topic's example pages.
    ///
    /// # Errors
    /// An example that cannot be read, a pattern of `traps.trusted` that is none.
    pub fn plan(&self, topic: &Topic, model: Option<ModelBundle>) -> Result<CrawlPlan, PlanError> {
        let segmenter = topic.segmenter();
        let mut examples = Vec::new();
        for (paths, relevant) in [(&topic.examples.positive, true), (&topic.examples.negative, false)] {
            for path in paths {
                examples.push(self.example(path, relevant, &segmenter)?);
            }
        }
        let taught = model.iter().flat_map(|model| &model.examples).map(|example| Example {
            terms: Arc::new(example.terms.clone()),
            relevant: example.relevant,
            evidence: Some(example.evidence),
        });
        examples.extend(taught);
        Ok(CrawlPlan {
            labels: BTreeMap::new(),
            keywords: Arc::new(KeywordSet::new(topic.keywords.iter().map(|keyword| keyword.terms.clone()))),
            seeds: topic.seeds.clone(),
            segmenter,
            scope: topic.scope().clone(),
            threshold: topic.threshold.get(),
            tunnel_depth: self.crawl.focus.depth(topic.tunnel_depth),
            limits: Limits {
                max_pages: topic.limits.max_pages,
                max_bytes: topic.limits.max_bytes,
                max_minutes: topic.limits.max_minutes,
                max_pages_per_host: topic.limits.max_pages_per_host,
                max_bytes_per_host: topic.limits.max_bytes_per_host,
                max_minutes_per_host: topic.limits.max_minutes_per_host,
                relevant_pages: topic.stop.relevant_pages,
                harvest_below: topic.stop.harvest_below.map(|floor| HarvestFloor { rate: floor.rate, over: floor.over }),
            },
            engine: self.crawl.clone(),
            frontier: self.frontier,
            pace: self.politeness.clone(),
            traps: Traps::new(self.traps.clone())?,
            parse: self.parse.clone(),
            rank: self.topical_rank,
            page_classifier: self.page_classifier.clone(),
            trained: model.as_ref().map(|model| Arc::clone(&model.page)),
            trained_links: model.and_then(|model| model.link),
            examples,
            agent: self.fetch.robots_agent().to_owned(),
        })
    }

    fn example(&self, path: &Path, relevant: bool, segmenter: &Segmenter) -> Result<Example, PlanError> {
        let name = path.display().to_string();
        let body = fs::read(path).map_err(|source| PlanError::Io { path: name.clone(), source })?;
        let is_text = path.extension().is_some_and(|ending| ending == "txt" || ending == "md");
        let unreadable = |reason: String| PlanError::Unreadable { path: name.clone(), reason };
        // Where the page came from does not matter: its links are not followed.
        let url = Url::parse("http://example.invalid/").map_err(|error| unreadable(error.to_string()))?;
        let content_type = Some(if is_text { "text/plain" } else { "text/html" });
        let page = parse(&Document { url: &url, content_type, body: &body }, segmenter, &self.parse)
            .map_err(|error| unreadable(error.to_string()))?;
        Ok(Example { terms: Arc::new(page.terms), relevant, evidence: None })
    }
}

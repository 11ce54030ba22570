//! The report of a crawl, from its open store.

use std::path::Path;

use super::folder::TOPIC;
use anyhow::Context;

use crate::{
    engine::{RunFacts, StopReason},
    report::{CrawlFacts, LinkWeight, Stop, Written, write_report},
    store::Store,
    text::Language,
    topic::Topic,
};

/// Writes `DIR/report/` from an open store; `language` of the page is the topic's where it is not given.
///
/// # Errors
/// Topic or rows that cannot be read, files that cannot be written.
pub fn write(store: &Store, dir: &Path, language: Option<&str>) -> anyhow::Result<Written> {
    let path = dir.join(TOPIC);
    let topic = Topic::load(&path).with_context(|| format!("{} says what the crawl was about", path.display()))?;
    let run = RunFacts::load(store)?;
    let state = store.state()?.unwrap_or_default();
    let language = language.map_or(topic.languages[0], Language::from_code);
    let stop = state.stop.as_deref().and_then(StopReason::from_name).map(|reason| Stop {
        name: reason.name().to_owned(),
        words: if language == Language::Zh { reason.in_chinese() } else { reason.in_words() }.to_owned(),
    });
    let facts = CrawlFacts {
        topic_name: topic.name.clone(),
        keywords: topic.keywords.iter().map(|keyword| keyword.text.clone()).collect(),
        seeds: topic.seeds.iter().map(ToString::to_string).collect(),
        threshold: topic.threshold.get(),
        order: run.order,
        stop,
        started: Some(run.started),
        virtual_time: run.virtual_time,
        dns: run.dns,
        model_versions: run.model_versions,
        top_terms: run.top_terms,
        link_weights: run.link_weights.into_iter().map(|(name, prior, now)| LinkWeight { name, prior, now }).collect(),
        language,
        state,
    };
    Ok(write_report(store, &facts, &dir.join("report"))?)
}

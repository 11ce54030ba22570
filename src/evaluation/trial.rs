//! One order on one task: a crawl whose fetches are compared with the labels afterwards.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use tokio::sync::watch;

use super::{OracleOrder, RecordedWeb, Score};
use crate::{
    engine::{Controls, Crawl, CrawlPlan, EngineError, Journal, Progress, Stages},
    frontier::{CrawlOrder, Order},
    models::{Metrics, Scored},
    page::Outcome,
    store::{Batch, Chosen, StoreError},
    url::Fingerprint,
};

/// An order that takes part in a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contestant {
    Order(Order),
    Oracle,
}

impl Contestant {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Order(order) => order.name(),
            Self::Oracle => "oracle",
        }
    }

    /// Whether it follows the topic's tunnelling rule; fixed orders follow every link.
    #[must_use]
    pub fn tunnels(self) -> bool {
        matches!(self, Self::Order(Order::Topical | Order::BestFirst))
    }

    /// Whether it estimates where links lead.
    #[must_use]
    pub fn learns(self) -> bool {
        self.tunnels()
    }

    /// Whether it decides by what is known when a link is found, and never learns.
    #[must_use]
    pub fn is_fixed(self) -> bool {
        matches!(self, Self::Order(order) if !order.learns())
    }
}

/// What a trial may run into.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error("no runtime for the crawl: {0}")]
    Runtime(#[from] std::io::Error),
}

/// The result of one crawl.
#[derive(Debug, Clone)]
pub struct Trial {
    pub contestant: Contestant,
    /// For each fetch in order, seeds left out: was it a target?
    pub hits: Vec<bool>,
    pub urls: Vec<String>,
    /// The link classifier's estimate for each of them, made before it was fetched.
    pub estimates: Vec<f64>,
    /// Pages the crawl itself judged relevant, seeds left out.
    pub judged_relevant: usize,
    pub budget: usize,
    pub reachable_targets: usize,
    /// Time per fetched page in microseconds, parsing included.
    pub micros_per_page: f64,
    /// Processor time of it that goes into judging, learning, ranking and scoring.
    pub stages: Stages,
    /// Pages fetched, seeds among them.
    pub pages: usize,
}

impl Trial {
    /// Scores over the whole budget.
    #[must_use]
    pub fn score(&self) -> Score {
        Score::of(&self.hits, self.budget, self.reachable_targets)
    }

    /// Processor time per page that goes into deciding, in microseconds.
    #[must_use]
    pub fn deciding_micros(&self) -> f64 {
        self.stages.total().as_secs_f64() * 1e6 / self.pages.max(1) as f64
    }

    /// How well the estimates foretold the targets: each was made before its page was fetched (test, then train).
    #[must_use]
    pub fn foresight(&self) -> Metrics {
        let scored = self.estimates.iter().zip(&self.hits);
        let scored: Vec<Scored> = scored.map(|(&probability, &relevant)| Scored { probability, relevant }).collect();
        Metrics::of(&scored)
    }
}

/// Collects the order of fetches.
#[derive(Clone, Default)]
struct Recorder {
    fetched: Arc<Mutex<Vec<Fetched>>>,
}

struct Fetched {
    page: Fingerprint,
    url: String,
    is_seed: bool,
    estimate: f64,
    relevant: bool,
}

impl Journal for Recorder {
    fn commit(&mut self, batch: Batch) -> Result<(), StoreError> {
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        for page in batch.pages {
            if page.outcome != Outcome::Excluded {
                fetched.push(Fetched {
                    page: page.fingerprint,
                    url: page.url,
                    is_seed: page.chosen == Chosen::Seed,
                    estimate: page.estimate.get(),
                    relevant: page.relevant,
                });
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), StoreError> {
        Ok(())
    }

    fn wants_captures(&self) -> bool {
        false
    }
}

/// Runs one crawl of `budget` fetches beside the seeds. `targets` are used after it has ended (and by the oracle).
///
/// # Errors
/// The crawl itself could not go on.
pub fn run_trial(
    contestant: Contestant,
    mut plan: CrawlPlan,
    web: &RecordedWeb,
    targets: &BTreeSet<Fingerprint>,
    budget: usize,
) -> Result<Trial, TrialError> {
    let seeds: BTreeSet<Fingerprint> = plan.seeds.iter().map(Fingerprint::of).collect();
    let recorded_seeds = seeds.iter().filter(|&&seed| web.url(seed).is_some()).count();
    plan.limits.max_pages = Some((budget + recorded_seeds) as u64);
    let reachable = web.reachable(&plan.seeds);
    let order: Arc<dyn CrawlOrder> = match contestant {
        Contestant::Order(order) => Arc::new(order),
        Contestant::Oracle => Arc::new(OracleOrder::new(targets.clone())),
    };
    let recorder = Recorder::default();
    let fetched = Arc::clone(&recorder.fetched);
    let started = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (_stop, stop) = watch::channel(false);
    let (progress, _) = watch::channel(Progress::default());
    let crawl = Crawl::new(plan, order, Arc::clone(&web.fetcher) as _, Box::new(recorder));
    let summary = runtime.block_on(crawl.run(Controls { stop, progress }))?;
    let spent = started.elapsed();
    let fetched = std::mem::take(&mut *fetched.lock().unwrap_or_else(PoisonError::into_inner));
    let pages = fetched.len();
    let counted: Vec<Fetched> =
        fetched.into_iter().filter(|one| !one.is_seed && !seeds.contains(&one.page)).take(budget).collect();
    Ok(Trial {
        contestant,
        hits: counted.iter().map(|one| targets.contains(&one.page)).collect(),
        estimates: counted.iter().map(|one| one.estimate).collect(),
        judged_relevant: counted.iter().filter(|one| one.relevant).count(),
        urls: counted.into_iter().map(|one| one.url).collect(),
        budget,
        reachable_targets: targets.iter().filter(|target| reachable.contains(target)).count(),
        micros_per_page: spent.as_secs_f64() * 1e6 / pages.max(1) as f64,
        stages: summary.stages,
        pages,
    })
}

//! Few labels: each labelled page is judged by a model that was trained without it.

use crate::{
    models::{LabelledExample, PageTrainer, TrainingSet, guard::at_first},
    page_classifier::TrainedPageModel,
    topic::KeywordSet,
};

/// Turns.
const FOLDS: u64 = 5;

/// Labelled pages, and a model that was trained without them.
pub(super) struct Fold {
    tested: Vec<usize>,
    model: TrainedPageModel,
}

/// The labelled pages of `train` in parts, each with a model that was trained on all else.
pub(super) fn folds(set: &TrainingSet, train: &[usize], trainer: &PageTrainer<'_>) -> Vec<Fold> {
    let of_fold = |fold: u64| {
        let is_tested = |at: usize| set.examples()[at].known && set.examples()[at].fold(FOLDS) == fold;
        let (tested, rest): (Vec<usize>, Vec<usize>) = train.iter().partition(|&&at| is_tested(at));
        // Without pages of both classes there is no model; such pages are not measured with.
        trainer.train(set, &rest).ok().map(|trained| Fold { tested, model: trained.model })
    };
    (0..FOLDS).filter_map(of_fold).collect()
}

/// What the model that was trained without a page adds to the page's log-odds; 0 where there is none.
pub(super) fn evidence_without(set: &TrainingSet, folds: &[Fold], url: &str) -> f64 {
    let of_fold = |fold: &Fold| {
        let at = fold.tested.iter().find(|&&at| set.examples()[at].key == url)?;
        Some(fold.model.evidence(&set.examples()[*at].reading))
    };
    (folds.iter().find_map(of_fold).unwrap_or_default() * 1e4).round() / 1e4
}

/// Every labelled page with what a crawl would say of it that knew all labels but those of its part.
pub(super) fn by_turns(
    folds: &[Fold],
    examples: &[LabelledExample],
    keywords: &KeywordSet,
    set: &TrainingSet,
) -> Vec<(usize, Option<f64>)> {
    let mut judged = Vec::new();
    for Fold { tested, model } in folds {
        let is_tested = |url: &str| tested.iter().any(|&at| set.examples()[at].key == url);
        let others = examples.iter().filter(|example| !is_tested(&example.url)).map(|example| example.read(keywords));
        let model = at_first(model, others, keywords.len());
        judged.extend(tested.iter().map(|&at| (at, Some(model.judge(&set.examples()[at].reading).relevance.get()))));
    }
    judged
}

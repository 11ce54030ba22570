//! Logistic regression over [`Evidence`] with a Gaussian prior around the prior weights (MAP, Newton's method).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::evidence::{Evidence, FEATURES, Feature};

/// Examples kept for refitting; older ones live on in the weights they made.
const MEMORY: usize = 1_500;
/// Precision of the prior: how hard the weights are held where they start.
const PRIOR_PRECISION: f64 = 1.0;
/// No outcome counts as more certain than this: a run of hits would push every estimate to 1 and leave nothing to order by.
const CERTAINTY: f64 = 0.9;
/// What a target one step further is worth beside the page itself (the discount of delayed reward; Rennie & `McCallum` 1999).
const DISCOUNT: f64 = 0.3;

type Vector = [f64; FEATURES];
type Matrix = [[f64; FEATURES]; FEATURES];

/// One fetched link: its evidence and what came of it.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Example {
    key: u64,
    evidence: Evidence,
    relevance: f64,
    /// What its page's own links have led to so far, 0..=1.
    beyond: f64,
}

impl Example {
    /// What the link turned out to be worth.
    fn worth(&self) -> f64 {
        (self.relevance + (1.0 - self.relevance) * DISCOUNT * self.beyond).min(CERTAINTY)
    }
}

/// The model and the examples it is refitted to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Logistic {
    weights: Vector,
    prior: Vector,
    examples: VecDeque<Example>,
    learnt: u64,
    next_fit: u64,
}

impl Default for Logistic {
    fn default() -> Self {
        Self::around(Feature::ALL.map(Feature::prior_weight))
    }
}

impl Logistic {
    /// A model that starts from `prior` and is held there until examples move it.
    pub(super) fn around(prior: Vector) -> Self {
        Self { weights: prior, prior, examples: VecDeque::new(), learnt: 0, next_fit: 0 }
    }

    /// The log-odds of a link.
    pub(super) fn log_odds(&self, evidence: &Evidence) -> f64 {
        dot(&self.weights, evidence)
    }

    pub(super) fn weights(&self) -> &Vector {
        &self.weights
    }

    /// Adds an example, of a greater key than those before, and refits: at every example while there are few, ever more rarely later.
    /// Returns whether the weights changed.
    pub(super) fn learn(&mut self, key: u64, evidence: Evidence, relevance: f64) -> bool {
        if self.examples.len() == MEMORY {
            self.examples.pop_front();
        }
        self.examples.push_back(Example { key, evidence, relevance, beyond: 0.0 });
        self.learnt += 1;
        let due = self.learnt >= self.next_fit;
        if due {
            self.fit();
            self.next_fit = self.learnt + 1 + self.learnt / 25;
        }
        due
    }

    /// Changes what came of an example, when its page was judged anew.
    pub(super) fn relabel(&mut self, key: u64, relevance: f64) {
        if let Some(example) = self.example(key) {
            example.relevance = relevance;
        }
    }

    /// Tells what the links of an example's page have led to, 0..=1.
    pub(super) fn reward(&mut self, key: u64, beyond: f64) {
        if let Some(example) = self.example(key) {
            example.beyond = beyond;
        }
    }

    /// A remembered example; keys grow from one example to the next.
    fn example(&mut self, key: u64) -> Option<&mut Example> {
        let at = self.examples.binary_search_by_key(&key, |example| example.key).ok()?;
        self.examples.get_mut(at)
    }

    /// Two Newton steps from where the weights are.
    fn fit(&mut self) {
        for _ in 0..2 {
            let examples = self.examples.iter().map(|example| (&example.evidence, example.worth()));
            if newton_step(&mut self.weights, &self.prior, examples).is_none() {
                return;
            }
        }
    }
}

/// The most likely weights for `(evidence, relevance)` around `prior`; examples that are not finite are left out.
pub(super) fn fitted(prior: Vector, examples: &[(Evidence, f64)]) -> Vector {
    const MAX_STEPS: usize = 50;
    let sound = |(evidence, relevance): &&(Evidence, f64)| evidence.0.iter().all(|x| x.is_finite()) && relevance.is_finite();
    let mut weights = prior;
    for _ in 0..MAX_STEPS {
        let all = examples.iter().filter(sound).map(|(evidence, relevance)| (evidence, *relevance));
        match newton_step(&mut weights, &prior, all) {
            Some(longest) if longest > 1e-6 => {}
            _ => break,
        }
    }
    weights
}

/// One Newton step, clipped to ±1 per weight; returns the longest, or `None` if no step could be found.
fn newton_step<'a>(weights: &mut Vector, prior: &Vector, examples: impl Iterator<Item = (&'a Evidence, f64)>) -> Option<f64> {
    let mut gradient = [0.0; FEATURES];
    let mut hessian = [[0.0; FEATURES]; FEATURES];
    for i in 0..FEATURES {
        gradient[i] = PRIOR_PRECISION * (prior[i] - weights[i]);
        hessian[i][i] = PRIOR_PRECISION;
    }
    for (evidence, relevance) in examples {
        let p = 1.0 / (1.0 + (-dot(weights, evidence)).exp());
        let (error, curvature) = (relevance - p, (p * (1.0 - p)).max(1e-4));
        let x = evidence.0.map(f64::from);
        for i in 0..FEATURES {
            if x[i] == 0.0 {
                continue;
            }
            gradient[i] += error * x[i];
            let scaled = curvature * x[i];
            for j in 0..=i {
                hessian[i][j] += scaled * x[j];
            }
        }
    }
    let step = solve(&mut hessian, gradient)?.map(|step| step.clamp(-1.0, 1.0));
    weights.iter_mut().zip(step).for_each(|(weight, step)| *weight += step);
    Some(step.into_iter().fold(0.0, |longest, step| longest.max(step.abs())))
}

pub(super) fn dot(weights: &Vector, evidence: &Evidence) -> f64 {
    weights.iter().zip(&evidence.0).map(|(w, &x)| w * f64::from(x)).sum()
}

/// Solves `matrix · x = right` by Cholesky; only the lower triangle is read. `None` if it is not positive definite.
fn solve(matrix: &mut Matrix, mut right: Vector) -> Option<Vector> {
    for i in 0..FEATURES {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            let rest = matrix[i][j] - sum;
            if i == j {
                if rest <= 0.0 || !rest.is_finite() {
                    return None;
                }
                matrix[i][i] = rest.sqrt();
            } else {
                matrix[i][j] = rest / matrix[j][j];
            }
        }
        let sum: f64 = (0..i).map(|k| matrix[i][k] * right[k]).sum();
        right[i] = (right[i] - sum) / matrix[i][i];
    }
    for i in (0..FEATURES).rev() {
        let sum: f64 = (i + 1..FEATURES).map(|k| matrix[k][i] * right[k]).sum();
        right[i] = (right[i] - sum) / matrix[i][i];
    }
    Some(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(feature: Feature, value: f64) -> Evidence {
        let mut evidence = Evidence::default();
        evidence.set(feature, value);
        evidence
    }

    #[test]
    fn it_starts_from_the_prior_weights() {
        let model = Logistic::default();
        let plain = model.log_odds(&Evidence::default());
        assert!((plain + 2.5).abs() < 1e-6);
        assert!((model.log_odds(&evidence(Feature::AnchorKeywords, 1.0)) - plain - 2.0).abs() < 1e-6);
    }

    #[test]
    fn evidence_that_keeps_failing_loses_its_weight() {
        let mut model = Logistic::default();
        for n in 0..60 {
            model.learn(n, evidence(Feature::AnchorKeywords, 0.9), 0.02);
        }
        assert!(model.weights()[Feature::AnchorKeywords as usize] < 1.0, "{:?}", model.weights());
        assert!(model.log_odds(&evidence(Feature::AnchorKeywords, 0.9)) < -2.0);
    }

    #[test]
    fn a_page_whose_links_lead_to_the_topic_makes_links_like_the_one_to_it_worth_following() {
        let (hub, other) = (evidence(Feature::Hub, 1.0), evidence(Feature::Position, 1.0));
        let mut model = Logistic::default();
        for n in 0..30 {
            model.learn(2 * n, hub, 0.05);
            model.reward(2 * n, 0.9);
            model.learn(2 * n + 1, other, 0.05);
        }
        assert!(model.log_odds(&hub) > model.log_odds(&other) + 0.5);
    }

    #[test]
    fn a_run_of_hits_leaves_links_to_be_told_apart() {
        let mut model = Logistic::default();
        (0..300).for_each(|n| {
            model.learn(n, evidence(Feature::AnchorKeywords, 0.9), 1.0);
        });
        assert!(model.log_odds(&evidence(Feature::AnchorKeywords, 0.9)) < 3.0, "{:?}", model.weights());
    }

    #[test]
    fn a_relabelled_example_teaches_its_new_outcome() {
        let mut model = Logistic::default();
        for n in 0..40 {
            model.learn(n, evidence(Feature::Shape, 1.0), 0.0);
        }
        let before = model.weights()[Feature::Shape as usize];
        (0..40).for_each(|n| model.relabel(n, 1.0));
        model.learn(99, Evidence::default(), 0.1);
        assert!(model.weights()[Feature::Shape as usize] > before + 0.5);
    }
}

//! From documents to a page model: counts, the words worth keeping, and what a score means.
//!
//! Promises: scale and calibration rest on documents that were scored by counts without them (cross-fit); the same
//! documents give the same model.

use super::{Metrics, ModelError, Scored, TrainingSet, WordCounts, training_set::Example};
use crate::page_classifier::{Calibration, Meaning, Scale, ScoredExample, TrainedPageModel, fit_calibration};

/// Parts that documents are cut into for cross-fitting.
const FOLDS: u64 = 5;
/// Weight of text that each class of each source is given where sources are balanced.
const SOURCE_WEIGHT: f64 = 10_000.0;

/// How a page model is trained.
#[derive(Debug, Clone)]
pub struct PageTrainer<'a> {
    /// Words in fewer documents are left out: they tell of documents, not of topics.
    pub min_documents: u32,
    /// Words kept at most, the most telling first.
    pub max_words: usize,
    /// Weight of common text that each class is smoothed with.
    pub smoothing: f64,
    /// Give each class of each source the same weight, so that none drowns the others.
    pub balanced: bool,
    /// An earlier model's counts to build on, and how much of them counts.
    pub parent: Option<(&'a WordCounts, f64)>,
    /// What the calibration is held at where there is little to fit it to, at even odds.
    pub calibration: Calibration,
    /// Calibrate on documents whose relevance is only believed as well, as is done anyway where one class has no others.
    pub calibrate_on_belief: bool,
}

impl Default for PageTrainer<'_> {
    fn default() -> Self {
        Self {
            min_documents: 3,
            max_words: 10_000,
            smoothing: 1_000.0,
            balanced: true,
            parent: None,
            calibration: Calibration { slope: 2.0, offset: 0.0 },
            calibrate_on_belief: false,
        }
    }
}

/// A word's weight in relevant and irrelevant documents, and how many documents hold it.
type WordTally = (f64, f64, u32);

/// A trained page model and what it is made of.
#[derive(Debug, Clone)]
pub struct TrainedPages {
    pub words: WordCounts,
    pub model: TrainedPageModel,
}

impl TrainedPages {
    /// Judges documents that it was not trained on; those whose relevance is only believed are left out.
    #[must_use]
    pub fn measure(&self, set: &TrainingSet, members: &[usize]) -> Metrics {
        let known = members.iter().map(|&at| &set.examples()[at]).filter(|example| example.known);
        let scored: Vec<Scored> = known
            .map(|example| Scored { probability: self.model.judge(&example.reading).get(), relevant: example.relevance >= 0.5 })
            .collect();
        Metrics::of(&scored)
    }
}

impl PageTrainer<'_> {
    /// Trains on the `members` of a set.
    ///
    /// # Errors
    /// A class without documents.
    pub fn train(&self, set: &TrainingSet, members: &[usize]) -> Result<TrainedPages, ModelError> {
        let examples: Vec<&Example> = members.iter().map(|&at| &set.examples()[at]).collect();
        check(&examples)?;
        let words = self.count(set, examples.iter().copied());
        let meaning = self.meaning(set, &examples)?;
        let model = words.model(meaning).map_err(ModelError::Fit)?;
        Ok(TrainedPages { words, model })
    }

    /// Word counts of the examples, on those of the parent.
    fn count<'s>(&self, set: &TrainingSet, examples: impl Iterator<Item = &'s Example> + Clone) -> WordCounts {
        let (tally, documents) = self.tally(set, examples);
        let mut words = WordCounts::new(documents, self.smoothing);
        if let Some((parent, share)) = self.parent {
            words.merge(parent, share);
        }
        for (word, &(relevant, irrelevant, documents)) in set.words().iter().zip(&tally) {
            // Numbers are years, pages and telephones: they tell of a source.
            if documents >= self.min_documents && !word.bytes().all(|byte| byte.is_ascii_digit()) {
                words.add(word, relevant, irrelevant);
            }
        }
        words.keep_telling(self.max_words);
        words.round();
        words
    }

    /// The tally of every word, and the weight of the documents themselves, relevant and not.
    fn tally<'s>(&self, set: &TrainingSet, examples: impl Iterator<Item = &'s Example> + Clone) -> (Vec<WordTally>, (f64, f64)) {
        let balance = if self.balanced { balance(set, examples.clone()) } else { vec![(1.0, 1.0); set.sources().len()] };
        let mut tally = vec![(0.0, 0.0, 0_u32); set.words().len()];
        let mut documents = (0.0, 0.0);
        for example in examples {
            let (relevant, irrelevant) = (example.weight * example.relevance, example.weight * (1.0 - example.relevance));
            documents.0 += relevant;
            documents.1 += irrelevant;
            let balance = balance[example.source];
            for &(word, x) in &example.words {
                let entry = &mut tally[word as usize];
                entry.0 += relevant * balance.0 * f64::from(x);
                entry.1 += irrelevant * balance.1 * f64::from(x);
                entry.2 += 1;
            }
        }
        (tally, documents)
    }

    /// Scale and calibration from scores of documents by counts of the other folds.
    fn meaning(&self, set: &TrainingSet, examples: &[&Example]) -> Result<Meaning, ModelError> {
        let known: Vec<&Example> = examples.iter().copied().filter(|example| example.known).collect();
        let believe = self.calibrate_on_belief || check(&known).is_err();
        let mut scored: Vec<(f64, &Example)> = Vec::new();
        for fold in 0..FOLDS {
            let (tested, rest): (Vec<&Example>, Vec<&Example>) =
                examples.iter().partition(|example| (example.known || believe) && example.fold(FOLDS) == fold);
            if tested.is_empty() || check(&rest).is_err() {
                continue;
            }
            let words = self.count(set, rest.iter().copied());
            let model = words.model(Meaning::default()).map_err(ModelError::Fit)?;
            scored.extend(tested.into_iter().map(|example| (model.score(&example.reading), example)));
        }
        let scale = Scale::of(scored.iter().map(|&(score, example)| (score, example.relevance)));
        let (relevant, all) = scored
            .iter()
            .fold((0.0, 0.0), |sum, (_, example)| (sum.0 + example.weight * example.relevance, sum.1 + example.weight));
        // One document of each class on top: no share is so sure that it is 0 or 1.
        let base_rate = (relevant + 1.0) / (all + 2.0);
        let start = Calibration { offset: self.calibration.offset + (base_rate / (1.0 - base_rate)).ln(), ..self.calibration };
        let examples: Vec<ScoredExample> = scored
            .iter()
            .map(|&(score, example)| ScoredExample {
                score: scale.apply(score),
                relevance: example.relevance,
                weight: example.weight,
            })
            .collect();
        let fitted = fit_calibration(&examples, start);
        let round = |x: f64| (x * 1e6).round() / 1e6;
        Ok(Meaning {
            scale: Scale { centre: round(scale.centre), half_gap: round(scale.half_gap) },
            calibration: Calibration { slope: round(fitted.slope), offset: round(fitted.offset) },
            base_rate: round(base_rate),
        })
    }
}

/// What each source's classes are multiplied with to weigh alike.
fn balance<'s>(set: &TrainingSet, examples: impl Iterator<Item = &'s Example>) -> Vec<(f64, f64)> {
    let mut weights = vec![(0.0, 0.0); set.sources().len()];
    for example in examples {
        let weight = example.weight * example.text_weight();
        weights[example.source].0 += example.relevance * weight;
        weights[example.source].1 += (1.0 - example.relevance) * weight;
    }
    let factor = |weight: f64| if weight > 0.0 { SOURCE_WEIGHT / weight } else { 0.0 };
    weights.into_iter().map(|(relevant, irrelevant)| (factor(relevant), factor(irrelevant))).collect()
}

fn check(examples: &[&Example]) -> Result<(), ModelError> {
    let relevant = examples.iter().filter(|example| example.relevance >= 0.5).count();
    let irrelevant = examples.len() - relevant;
    if relevant > 0 && irrelevant > 0 {
        return Ok(());
    }
    Err(ModelError::TooLittle {
        have: format!("{relevant} relevant and {irrelevant} irrelevant documents"),
        need: "A model needs documents of both classes: label more pages",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{models::Document, page::TermBag};

    /// 200 documents of two sources; words of the topic with noise, and a base rate of a quarter.
    fn documents() -> TrainingSet {
        let mut set = TrainingSet::default();
        let mut random = fastrand::Rng::with_seed(3);
        let vocabulary = |name: &str| (0..40).map(|n| format!("{name}{n}")).collect::<Vec<_>>();
        let (farm, sport, common) = (vocabulary("farm"), vocabulary("sport"), vocabulary("common"));
        for n in 0..400 {
            let relevant = n % 4 == 0;
            let mut words = Vec::new();
            for _ in 0..30 {
                let own = if relevant == random.bool() || random.u8(0..3) > 0 { relevant } else { !relevant };
                let list = if random.bool() {
                    &common
                } else if own {
                    &farm
                } else {
                    &sport
                };
                words.push(list[random.usize(0..40)].as_str());
            }
            let terms: TermBag = words.into_iter().map(|word| (word, 1.0)).collect();
            set.add(&Document {
                source: if n % 3 == 0 { "b" } else { "a" },
                key: &n.to_string(),
                terms: &terms,
                url_words: &[],
                relevance: f64::from(u8::from(relevant)),
                weight: 1.0,
                known: true,
            });
        }
        set
    }

    #[test]
    fn it_tells_held_out_documents_apart_and_knows_how_sure_it_is() {
        let set = documents();
        let (train, held_out) = set.split(0.3);
        let metrics = PageTrainer::default().train(&set, &train).unwrap().measure(&set, &held_out);
        assert!(metrics.auc.unwrap() > 0.95, "{metrics:?}");
        assert!(metrics.ece < 0.1 && metrics.f1 > 0.8, "{metrics:?}");
    }

    #[test]
    fn the_same_documents_give_the_same_model() {
        let (a, b) = (documents(), documents());
        let all: Vec<usize> = (0..a.len()).collect();
        let train = |set| PageTrainer::default().train(set, &all).unwrap();
        assert_eq!(train(&a).model, train(&b).model);
    }

    #[test]
    fn one_class_alone_is_refused() {
        let set = documents();
        let relevant: Vec<usize> = (0..set.len()).filter(|&at| set.examples()[at].relevance > 0.5).collect();
        let error = PageTrainer::default().train(&set, &relevant).unwrap_err().to_string();
        assert!(error.contains("100 relevant and 0 irrelevant documents") && error.contains("label more"), "{error}");
    }

    #[test]
    fn numbers_and_rare_words_are_left_out() {
        let mut set = documents();
        let terms: TermBag = [("1998", 1.0), ("rare", 1.0)].into_iter().collect();
        let document =
            Document { source: "a", key: "x", terms: &terms, url_words: &[], relevance: 1.0, weight: 1.0, known: true };
        set.add(&document);
        let common: TermBag = [("1998", 1.0), ("c4", 1.0)].into_iter().collect();
        for key in ["1", "2", "3"] {
            set.add(&Document { key, terms: &common, ..document });
        }
        let all: Vec<usize> = (0..set.len()).collect();
        let words = PageTrainer::default().train(&set, &all).unwrap().words;
        let has = |word: &str| words.iter().any(|known| known.0 == word);
        assert!(has("c4") && !has("1998") && !has("rare"));
    }

    #[test]
    fn a_parent_lends_its_words() {
        let set = documents();
        let all: Vec<usize> = (0..set.len()).collect();
        let mut parent = WordCounts::new((10.0, 10.0), 1.0);
        parent.add("lent", 100.0, 0.0);
        let child = PageTrainer { parent: Some((&parent, 0.5)), ..PageTrainer::default() }.train(&set, &all).unwrap();
        assert!(child.words.iter().any(|word| word == ("lent", 50.0, 0.0)));
    }
}

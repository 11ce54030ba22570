//! Does a model hold where it was not trained? Trained on some sources, tested on another.

use serde::{Deserialize, Serialize};

use super::{Metrics, ModelError, PageTrainer, TrainingSet};

/// Metrics of a model on a source's held-out documents.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Transfer {
    pub trained_on: String,
    pub tested_on: String,
    pub metrics: Metrics,
}

/// Every source that can be tested on by a model of every source alone, and by one of all the others.
///
/// `train` and `held_out` are numbers of documents; sources with one class only take part in neither.
///
/// # Errors
/// As [`PageTrainer::train`].
pub(super) fn measure(
    trainer: &PageTrainer<'_>,
    set: &TrainingSet,
    train: &[usize],
    held_out: &[usize],
) -> Result<Vec<Transfer>, ModelError> {
    let of = |members: &[usize], wanted: &dyn Fn(usize) -> bool| -> Vec<usize> {
        members.iter().copied().filter(|&at| wanted(set.examples()[at].source)).collect()
    };
    let both_classes = |members: &[usize]| {
        let relevant = members.iter().filter(|&&at| set.examples()[at].relevance >= 0.5).count();
        relevant > 0 && relevant < members.len()
    };
    let tested: Vec<(usize, Vec<usize>)> = (0..set.sources().len())
        .map(|source| (source, of(held_out, &|other| other == source)))
        .filter(|(_, members)| both_classes(members))
        .collect();
    let mut rows = Vec::new();
    for (source, name) in set.sources().iter().enumerate() {
        let members = of(train, &|other| other == source);
        if !both_classes(&members) {
            continue;
        }
        let model = trainer.train(set, &members)?;
        for (other, documents) in &tested {
            let metrics = model.measure(set, documents);
            rows.push(Transfer { trained_on: name.clone(), tested_on: set.sources()[*other].clone(), metrics });
        }
    }
    for (left_out, documents) in &tested {
        let members = of(train, &|other| other != *left_out);
        if both_classes(&members) {
            let metrics = trainer.train(set, &members)?.measure(set, documents);
            rows.push(Transfer { trained_on: "all others".to_owned(), tested_on: set.sources()[*left_out].clone(), metrics });
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{models::Document, page::TermBag};

    #[test]
    fn what_holds_at_home_need_not_hold_elsewhere() {
        let mut set = TrainingSet::default();
        // In `a` and `c` relevant documents speak of rice; in `b` all do, and irrigation tells.
        for (source, relevant_words, other_words) in
            [("a", "rice paddy", "goal team"), ("c", "rice field", "goal match"), ("b", "irrigation rice", "menu rice")]
        {
            for n in 0..60 {
                let relevant = n % 2 == 0;
                let text = if relevant { relevant_words } else { other_words };
                let terms: TermBag = text.split(' ').map(|word| (word, 1.0)).collect();
                let key = format!("{source}{n}");
                let relevance = f64::from(u8::from(relevant));
                set.add(&Document { source, key: &key, terms: &terms, url_words: &[], relevance, weight: 1.0, known: true });
            }
        }
        let (train, held_out) = set.split(0.4);
        let rows = measure(&PageTrainer::default(), &set, &train, &held_out).unwrap();
        let auc = |trained: &str, tested: &str| {
            rows.iter().find(|row| row.trained_on == trained && row.tested_on == tested).unwrap().metrics.auc.unwrap()
        };
        assert_eq!(rows.len(), 3 * 3 + 3);
        assert!(auc("a", "a") > 0.99 && auc("a", "c") > 0.99 && auc("b", "b") > 0.99);
        assert!((auc("a", "b") - 0.5).abs() < 0.01);
        assert!(auc("all others", "a") > 0.99);
    }
}

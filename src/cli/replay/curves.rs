//! Curves of a comparison as files: CSV and SVG.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::Context;

use super::race::Outcome;
use crate::evaluation::{Curve, Trial, draw_curves};

/// For each task and draw: `curve-TASK-DRAW.csv` (fetch, then hits so far by order) and an SVG of the same.
pub(super) fn write_curves(out: &Path, outcomes: &[Outcome], table: &str) -> anyhow::Result<()> {
    fs::create_dir_all(out).with_context(|| format!("{} cannot be made", out.display()))?;
    fs::write(out.join("table.txt"), table)?;
    let mut groups: BTreeMap<(&str, u64), Vec<&Trial>> = BTreeMap::new();
    for outcome in outcomes {
        groups.entry((&outcome.task, outcome.draw)).or_default().push(&outcome.trial);
    }
    for ((task, draw), trials) in groups {
        let name = format!("curve-{task}-{draw}");
        let budget = trials.iter().map(|trial| trial.budget).max().unwrap_or(0);
        let mut csv = csv::Writer::from_path(out.join(format!("{name}.csv")))?;
        csv.write_record(std::iter::once("fetched").chain(trials.iter().map(|trial| trial.contestant.name())))?;
        let mut found = vec![0_usize; trials.len()];
        for fetched in 0..budget {
            for (found, trial) in found.iter_mut().zip(&trials) {
                *found += usize::from(trial.hits.get(fetched).copied().unwrap_or(false));
            }
            csv.write_record(std::iter::once((fetched + 1).to_string()).chain(found.iter().map(usize::to_string)))?;
        }
        csv.flush()?;
        let curves: Vec<Curve> =
            trials.iter().map(|trial| Curve { name: trial.contestant.name().to_owned(), hits: trial.hits.clone() }).collect();
        fs::write(out.join(format!("{name}.svg")), draw_curves(&format!("{task}: targets found"), &curves, budget))?;
    }
    Ok(())
}

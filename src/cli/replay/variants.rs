//! Settings tried on several webs: what each gives, and what those chosen on the other webs give on each (leave one web out).

use std::{collections::BTreeMap, fmt::Write as _};

use anyhow::{Context, bail};

use super::{
    ReplayArgs,
    race::{Job, Outcome, compete},
};
use crate::{cli::progress::Show, config::Config, evaluation::Contestant};

/// A setting to try: `SECTION.KEY=VALUE,VALUE…`.
#[derive(Debug, Clone)]
pub(super) struct Vary {
    key: String,
    values: Vec<toml::Value>,
}

impl std::str::FromStr for Vary {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, values) = text.split_once('=').ok_or("give SECTION.KEY=VALUE,VALUE…")?;
        let values = values.split(',').map(parse_value).collect();
        Ok(Self { key: key.trim().to_owned(), values })
    }
}

/// A number or a truth value where it is one, else text.
fn parse_value(text: &str) -> toml::Value {
    let text = text.trim();
    text.parse::<i64>()
        .map(toml::Value::Integer)
        .or_else(|_| text.parse::<f64>().map(toml::Value::Float))
        .or_else(|_| text.parse::<bool>().map(toml::Value::Boolean))
        .unwrap_or_else(|_| toml::Value::String(text.to_owned()))
}

struct Variant {
    name: String,
    /// Mean AUC by web.
    by_web: BTreeMap<String, f64>,
}

/// Runs every variant, one setting changed at a time, and tells what they give.
pub(super) fn run(
    args: &ReplayArgs,
    config: &Config,
    jobs: &[Job],
    contestant: Contestant,
    show: Show,
) -> anyhow::Result<String> {
    let one = [contestant];
    let mut variants = vec![variant("as configured", &compete(args, config, jobs, &one, show)?)];
    for vary in &args.vary {
        for value in &vary.values {
            let changed = with(config, &vary.key, value)?;
            if changed != *config {
                variants.push(variant(&format!("{} = {value}", vary.key), &compete(args, &changed, jobs, &one, show)?));
            }
        }
    }
    Ok(told(&variants))
}

fn variant(name: &str, outcomes: &[Outcome]) -> Variant {
    let mut aucs: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for outcome in outcomes {
        aucs.entry(outcome.web.clone()).or_default().push(outcome.trial.score().auc);
    }
    let mean = |aucs: Vec<f64>| aucs.iter().sum::<f64>() / aucs.len() as f64;
    Variant { name: name.to_owned(), by_web: aucs.into_iter().map(|(web, aucs)| (web, mean(aucs))).collect() }
}

/// The configuration with one key changed.
fn with(config: &Config, key: &str, value: &toml::Value) -> anyhow::Result<Config> {
    let mut table = toml::Table::try_from(config)?;
    let Some((section, name)) = key.split_once('.') else { bail!("\"{key}\": give SECTION.KEY, as in `windrow config`") };
    let keys = table.get_mut(section).and_then(toml::Value::as_table_mut);
    let old = keys.and_then(|keys| keys.get_mut(name));
    let old = old.with_context(|| format!("there is no setting {key}; `windrow config` lists them"))?;
    // 1 is a fine way to write 1.0.
    *old = match (&*old, value) {
        (toml::Value::Float(_), toml::Value::Integer(whole)) => toml::Value::Float(*whole as f64),
        _ => value.clone(),
    };
    table.try_into().with_context(|| format!("{key} = {value}"))
}

fn told(variants: &[Variant]) -> String {
    let webs: Vec<&String> = variants
        .iter()
        .flat_map(|variant| variant.by_web.keys())
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    let width = variants.iter().map(|variant| variant.name.len()).max().unwrap_or(0).max(34);
    let mut text = format!("{:<width$}", "mean AUC by web");
    for web in &webs {
        let _ = write!(text, " {web:>20}");
    }
    text.push_str("     mean\n");
    for variant in variants {
        let _ = write!(text, "{:<width$}", variant.name);
        for web in &webs {
            let _ = write!(text, " {:>20.3}", variant.by_web.get(*web).copied().unwrap_or(0.0));
        }
        let _ = writeln!(text, "    {:.3}", mean_without(variant, None));
    }
    text.push_str("\nLeave one web out\n");
    let mut sum = 0.0;
    for web in &webs {
        let chosen = variants.iter().max_by(|a, b| mean_without(a, Some(web)).total_cmp(&mean_without(b, Some(web))));
        let Some(chosen) = chosen else { continue };
        let gives = chosen.by_web.get(*web).copied().unwrap_or(0.0);
        let configured = variants[0].by_web.get(*web).copied().unwrap_or(0.0);
        sum += gives;
        let _ = writeln!(
            text,
            "  {web}: the others choose \"{}\", which gives {gives:.3} here (as configured {configured:.3})",
            chosen.name
        );
    }
    let _ = writeln!(
        text,
        "  mean over webs: {:.3} (as configured {:.3})",
        sum / webs.len().max(1) as f64,
        mean_without(&variants[0], None)
    );
    text
}

/// Mean AUC over webs, each counted once.
fn mean_without(variant: &Variant, left_out: Option<&str>) -> f64 {
    let aucs: Vec<f64> = variant.by_web.iter().filter(|(web, _)| Some(web.as_str()) != left_out).map(|(_, &auc)| auc).collect();
    aucs.iter().sum::<f64>() / aucs.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_changed_by_its_name_and_a_wrong_name_is_told() {
        let config = Config::default();
        let changed = with(&config, "topical_rank.alpha", &parse_value("0")).unwrap();
        assert!(changed.topical_rank.alpha.abs() < 1e-12);
        assert!(with(&config, "topical_rank.alhpa", &parse_value("0")).unwrap_err().to_string().contains("alhpa"));
        assert!(with(&config, "alpha", &parse_value("0")).is_err());
    }

    #[test]
    fn what_is_chosen_on_other_webs_is_told_for_the_web_left_out() {
        let variant =
            |name: &str, a, b| Variant { name: name.to_owned(), by_web: [("a".to_owned(), a), ("b".to_owned(), b)].into() };
        // The setting that is best on `a` is worst on `b`.
        let text = told(&[variant("as configured", 0.5, 0.5), variant("x = 1", 0.9, 0.1)]);
        assert!(text.contains("a: the others choose \"as configured\", which gives 0.500"), "{text}");
        assert!(text.contains("b: the others choose \"x = 1\", which gives 0.100"), "{text}");
    }
}

//! Why URLs were excluded or failed, counted by kind of reason.
//!
//! A reason is a sentence whose end often names an address (`no connection:
//! refused by 192.0.2.1`); what stands before the first `: ` is its kind.
//!
//! Promises: at most 64 kinds, further ones share the name `…`.

use std::collections::BTreeMap;

const MAX_KINDS: usize = 64;
const FURTHER: &str = "…";

/// Counts reasons.
#[derive(Debug, Default)]
pub(super) struct Reasons(BTreeMap<String, u64>);

impl Reasons {
    pub fn add(&mut self, reason: Option<&str>) {
        let reason = reason.unwrap_or_default();
        let kind = reason.split_once(": ").map_or(reason, |(kind, _)| kind);
        let kind = if self.0.contains_key(kind) || self.0.len() < MAX_KINDS { kind } else { FURTHER };
        *self.0.entry(kind.to_owned()).or_default() += 1;
    }

    pub fn finish(self) -> BTreeMap<String, u64> {
        self.0
    }
}

/// The entries of a count, the largest first.
pub(super) fn by_count(counts: &BTreeMap<String, u64>) -> Vec<(&str, u64)> {
    let mut counts: Vec<(&str, u64)> = counts.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_differ_only_in_an_address_are_one_kind() {
        let mut reasons = Reasons::default();
        reasons.add(Some("no connection: refused by a.example"));
        reasons.add(Some("no connection: refused by b.example"));
        reasons.add(Some("robots.txt forbids it"));
        let counts = reasons.finish();
        assert_eq!(by_count(&counts), [("no connection", 2), ("robots.txt forbids it", 1)]);
    }

    #[test]
    fn kinds_beyond_the_bound_are_counted_together() {
        let mut reasons = Reasons::default();
        (0..1_000).for_each(|i| reasons.add(Some(&format!("reason {i}"))));
        let counts = reasons.finish();
        assert_eq!(counts.len(), MAX_KINDS + 1);
        assert_eq!(counts[FURTHER], 1_000 - MAX_KINDS as u64);
    }
}

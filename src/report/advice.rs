//! What to do next, as far as the figures say.
//!
//! Promises: every advice follows from figures of the summary by a rule that is written here.
//! Never: words it (that is `strings`).

use super::summary::Summary;

/// Something worth doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Advice {
    /// Nothing was fetched: look at seeds, network and rules.
    NothingFetched,
    /// Links wait and recent pages were relevant: go on.
    GoOn,
    /// Links wait, but recent pages were hardly relevant: give the crawl new starts.
    DryingUp,
    /// No link waits: more seeds or a wider scope.
    FrontierEmpty,
    /// Hardly anything was relevant: keywords or threshold are off.
    FewRelevant,
    /// Links at random were as good: the order does not pay.
    FocusNotPaying,
    /// Many requests had no usable answer.
    ManyFailures,
    /// Servers asked to slow down.
    Throttled,
    /// Relevance is the model's own judgement: read a sample, label it.
    CheckJudgement,
}

/// Below this share of relevant pages a crawl finds hardly anything.
const POOR: f64 = 0.1;
/// Pages after which a share says something.
const ENOUGH: u64 = 50;
/// The same for the control arm, which is small by design.
const ENOUGH_CONTROL: u64 = 20;
/// From this share of failed requests on something is wrong.
const MANY_FAILURES: f64 = 0.2;

/// The advice for a crawl, the most pressing first.
pub(super) fn advice(summary: &Summary) -> Vec<Advice> {
    let Some(overall) = summary.harvest.overall else { return vec![Advice::NothingFetched] };
    let enough = summary.pages.fetched >= ENOUGH;
    let recent = summary.harvest.last_100.unwrap_or(overall);
    let waiting = summary.links.waiting > 0;
    let poor_now = enough && (recent < POOR || recent < overall / 2.0);
    let failed = summary.pages.by_outcome.get("failed").copied().unwrap_or(0);
    let failure_share = failed as f64 / summary.pages.requested.max(1) as f64;
    let rules = [
        (enough && overall < POOR, Advice::FewRelevant),
        (!waiting, Advice::FrontierEmpty),
        (waiting && !poor_now, Advice::GoOn),
        (waiting && poor_now && overall >= POOR, Advice::DryingUp),
        (focus_does_not_pay(summary), Advice::FocusNotPaying),
        (failure_share > MANY_FAILURES, Advice::ManyFailures),
        (summary.hosts.throttled > 0, Advice::Throttled),
        (true, Advice::CheckJudgement),
    ];
    rules.into_iter().filter(|(holds, _)| *holds).map(|(_, advice)| advice).collect()
}

/// Links taken at random led to relevant pages as often as those taken for their promise.
fn focus_does_not_pay(summary: &Summary) -> bool {
    let (order, random) = (summary.arms.order, summary.arms.random);
    let enough = random.pages.fetched >= ENOUGH_CONTROL && order.pages.fetched >= ENOUGH;
    enough && order.share.zip(random.share).is_some_and(|(order, random)| order.harvest <= random.harvest)
}

//! Tunnelling: following links of irrelevant pages for a few steps (the customizable focused crawler, systems.md 4).
//!
//! An irrelevant page whose parent is relevant has tunnel depth 0, else its parent's plus one. A link carries
//! the depth its target would have if it turned out irrelevant.

/// The tunnel depth of a link found on a page: 0 from a relevant page, one more than the page's own from an irrelevant one.
/// Seeds are entered at depth 0.
#[must_use]
pub fn link_depth(source_is_relevant: bool, source_depth: u8) -> u8 {
    if source_is_relevant { 0 } else { source_depth.saturating_add(1) }
}

/// Depths that are told apart; deeper ones count as the last.
const DEPTHS: usize = 8;

/// What links at each tunnel depth have brought: the budget of a depth is cut where it does not pay.
#[derive(Debug, Clone, Copy, Default)]
pub struct TunnelPayback {
    /// Pages fetched by links of each depth, and their relevance added up.
    fetched: [f64; DEPTHS],
    brought: [f64; DEPTHS],
}

impl TunnelPayback {
    /// Counts a fetched page by the tunnel depth of the link that led to it.
    pub fn add(&mut self, depth: u8, relevance: f64) {
        let depth = usize::from(depth).min(DEPTHS - 1);
        self.fetched[depth] += 1.0;
        self.brought[depth] += relevance;
    }

    /// What a link's worth is multiplied by at a depth, 0.05..=1: 1 as long as the depth may bring a fifth of what links of
    /// relevant pages bring. Doubt counts for the tunnel: a few failures say little.
    #[must_use]
    pub fn factor(&self, depth: u8) -> f64 {
        const DOUBT: f64 = 5.0;
        const PAYS: f64 = 0.2;
        let depth = usize::from(depth).min(DEPTHS - 1);
        let direct = self.brought[0] / self.fetched[0].max(1.0);
        if depth == 0 || direct <= 0.0 {
            return 1.0;
        }
        let hoped = (self.brought[depth] + DOUBT * direct) / (self.fetched[depth] + DOUBT);
        (hoped / (PAYS * direct)).clamp(0.05, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tunnel_that_never_pays_is_cut_and_one_that_does_is_left_alone() {
        let mut payback = TunnelPayback::default();
        assert!((payback.factor(1) - 1.0).abs() < 1e-12);
        (0..40).for_each(|_| payback.add(0, 0.8));
        (0..10).for_each(|_| payback.add(1, 0.0));
        assert!((payback.factor(1) - 1.0).abs() < 1e-12, "ten failures say little");
        (0..200).for_each(|_| payback.add(1, 0.0));
        (0..200).for_each(|n| payback.add(2, f64::from(u8::from(n % 4 == 0))));
        assert!(payback.factor(1) < 0.2);
        assert!((payback.factor(2) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn depth_counts_irrelevant_pages_in_a_row_and_starts_anew_at_a_relevant_one() {
        let below_relevant = link_depth(true, 0);
        let below_first_irrelevant = link_depth(false, below_relevant);
        let below_second = link_depth(false, below_first_irrelevant);
        assert_eq!((below_relevant, below_first_irrelevant, below_second), (0, 1, 2));
        assert_eq!(link_depth(true, 3), 0);
        assert_eq!(link_depth(false, u8::MAX), u8::MAX);
    }
}

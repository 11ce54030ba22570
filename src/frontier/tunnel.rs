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

#[cfg(test)]
mod tests {
    use super::*;

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

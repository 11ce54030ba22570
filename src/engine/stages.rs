//! Where the engine's own time goes: what a fetched page costs to judge, learn from, rank and score.
//!
//! Processor time of the engine's thread, so that a busy machine does not blur it.

use std::time::Duration;

use crate::page::thread_time;

/// One part of what happens when a page is taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Stage {
    /// Copies looked for, page judged, its row filled.
    Judge,
    /// Its links admitted or refused, and what they say of their targets noted.
    Discover,
    /// `TopicalRank` pushed on.
    Rank,
    /// Link classifier taught.
    Learn,
    /// Pages judged anew and their link examples corrected, now and then.
    Rejudge,
    /// Links scored anew and moved in the frontier.
    Score,
}

impl Stage {
    pub const ALL: [Self; 6] = [Self::Judge, Self::Discover, Self::Rank, Self::Learn, Self::Rejudge, Self::Score];

    /// What it is called in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Judge => "page classifier",
            Self::Discover => "link features",
            Self::Rank => "TopicalRank",
            Self::Learn => "link learning",
            Self::Rejudge => "judging anew",
            Self::Score => "link scores and frontier",
        }
    }
}

/// Time spent on each stage in this session.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stages {
    spent: [Duration; Stage::ALL.len()],
    longest: [Duration; Stage::ALL.len()],
}

impl Stages {
    #[must_use]
    pub fn of(&self, stage: Stage) -> Duration {
        self.spent[stage as usize]
    }

    /// The longest that a stage took at once: nothing else is decided meanwhile.
    #[must_use]
    pub fn longest(&self, stage: Stage) -> Duration {
        self.longest[stage as usize]
    }

    /// All of them together.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.spent.iter().sum()
    }

    /// Adds the time since the lap began to a stage, and begins the next lap.
    pub(super) fn add(&mut self, stage: Stage, lap: &mut Lap) {
        let now = Lap::begin();
        let took = now.0.saturating_sub(lap.0);
        self.spent[stage as usize] += took;
        self.longest[stage as usize] = self.longest[stage as usize].max(took);
        *lap = now;
    }
}

/// Processor time of this thread when a stage began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lap(Duration);

impl Lap {
    pub(super) fn begin() -> Self {
        Self(thread_time())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_to_the_stage_that_it_was_spent_on() {
        let (mut stages, mut lap) = (Stages::default(), Lap::begin());
        let mut sum = 0_u64;
        while stages.of(Stage::Learn) < Duration::from_millis(2) {
            sum = (0..10_000).fold(sum, |sum, n| std::hint::black_box(sum.wrapping_add(n)));
            stages.add(Stage::Learn, &mut lap);
        }
        stages.add(Stage::Rank, &mut lap);
        assert!(stages.of(Stage::Learn) > stages.of(Stage::Rank));
        assert!(stages.longest(Stage::Learn) > Duration::ZERO && stages.longest(Stage::Learn) < stages.of(Stage::Learn));
        assert_eq!(stages.total(), stages.of(Stage::Learn) + stages.of(Stage::Rank));
    }
}

//! The best few of a long stream.

use std::cmp::Ordering;

/// Keeps the first `size` values in the order of `compare`; memory is twice that at most.
#[derive(Debug)]
pub(super) struct Top<T> {
    kept: Vec<T>,
    size: usize,
    compare: fn(&T, &T) -> Ordering,
}

impl<T> Top<T> {
    /// `compare` puts the better value first; values that compare equal stay in the order they came.
    pub fn new(size: usize, compare: fn(&T, &T) -> Ordering) -> Self {
        Self { kept: Vec::new(), size, compare }
    }

    pub fn add(&mut self, value: T) {
        self.kept.push(value);
        if self.kept.len() >= self.size * 2 {
            self.settle();
        }
    }

    /// The best values, the best first.
    pub fn finish(mut self) -> Vec<T> {
        self.settle();
        self.kept
    }

    fn settle(&mut self) {
        self.kept.sort_by(self.compare);
        self.kept.truncate(self.size);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_of_a_stream_come_out_best_first() {
        let mut top = Top::new(3, |a: &u32, b: &u32| b.cmp(a));
        (0..1_000).map(|i| i * 7_919 % 1_000).for_each(|value| top.add(value));
        assert_eq!(top.finish(), [999, 998, 997]);
    }

    #[test]
    fn a_short_stream_is_kept_whole() {
        let mut top = Top::new(3, |a: &u32, b: &u32| b.cmp(a));
        top.add(5);
        assert_eq!(top.finish(), [5]);
    }
}

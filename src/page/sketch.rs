//! A sketch of a set of words, by which two sets can be compared without either (minhash; Broder 1997).

/// Numbers in a sketch.
pub const SKETCH: usize = 16;

/// The smallest hashes of a set under [`SKETCH`] hash functions; a byte of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sketch([u8; SKETCH]);

impl Sketch {
    /// The sketch of a set of words, given by their ids.
    #[must_use]
    pub fn of(words: impl Iterator<Item = u32>) -> Self {
        let mut least = [u32::MAX; SKETCH];
        for word in words {
            let mut hash = u64::from(word);
            for least in &mut least {
                hash = hash.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                *least = (*least).min(((mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 32) as u32);
            }
        }
        // A word's hash decides all bits, so the lowest byte is as good as any.
        Self(least.map(|least| least as u8))
    }

    /// In how many numbers two sketches agree: about [`SKETCH`] times the Jaccard index of the sets.
    #[must_use]
    pub fn agreement(&self, other: &Self) -> usize {
        self.0.iter().zip(&other.0).filter(|(a, b)| a == b).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sketches_agree_as_far_as_the_sets_do() {
        let mean = |shared: u32| {
            let agreements = (0..200).map(|round| {
                let base = round * 10_000;
                let (a, b) = (base..base + 100, base + 100 - shared..base + 200 - shared);
                Sketch::of(a).agreement(&Sketch::of(b))
            });
            agreements.sum::<usize>() as f64 / (200 * SKETCH) as f64
        };
        for shared in [0, 50, 90, 100] {
            let jaccard = f64::from(shared) / f64::from(200 - shared);
            assert!((mean(shared) - jaccard).abs() < 0.03, "{shared} of 100 shared: {} for {jaccard}", mean(shared));
        }
    }
}

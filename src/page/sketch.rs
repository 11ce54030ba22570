//! A sketch of a set of words, by which two sets can be compared without either (minhash by one permutation; Broder 1997,
//! Li, Owen & Zhang 2012; groups left empty are filled as Shrivastava & Li 2014 do).

/// Numbers in a sketch.
pub const SKETCH: usize = 16;

/// The words are dealt out into [`SKETCH`] groups by their hash; a byte of each group's smallest. A group without
/// words borrows from the next that has some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sketch([u8; SKETCH]);

impl Sketch {
    /// The sketch of a set of words, given by their ids.
    #[must_use]
    pub fn of(words: impl Iterator<Item = u32>) -> Self {
        let mut least = [u64::MAX; SKETCH];
        for word in words {
            let mut hash = u64::from(word).wrapping_add(0x9e37_79b9_7f4a_7c15);
            hash = (hash ^ (hash >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            hash = (hash ^ (hash >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let group = (hash >> 60) as usize;
            least[group] = least[group].min(hash << 4);
        }
        // A word's hash decides all bits, so a byte below those that were compared is as good as any.
        let byte = |group: usize| {
            let filled = (0..SKETCH).find(|step| least[(group + step) % SKETCH] != u64::MAX)?;
            Some(((least[(group + filled) % SKETCH] >> 8) as u8).wrapping_add((filled as u8).wrapping_mul(37)))
        };
        Self(std::array::from_fn(|group| byte(group).unwrap_or_default()))
    }

    /// The sketch as it is written down.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; SKETCH] {
        self.0
    }

    #[must_use]
    pub const fn from_bytes(bytes: [u8; SKETCH]) -> Self {
        Self(bytes)
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
        let few = |word: u32| Sketch::of([word].into_iter());
        assert!(few(7).agreement(&few(8)) < SKETCH / 2 && few(7) == few(7));
        for shared in [0, 50, 90, 100] {
            let jaccard = f64::from(shared) / f64::from(200 - shared);
            assert!((mean(shared) - jaccard).abs() < 0.03, "{shared} of 100 shared: {} for {jaccard}", mean(shared));
        }
    }
}

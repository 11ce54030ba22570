//! Near-duplicate fingerprints: simhash over shingles of words (Charikar 2002; Manku et al. 2007).
//!
//! Promises: pages that differ in a sentence differ in few bits, whatever the
//! language; pages without words get 0. Stable across runs.
//! Never: says what to do with a duplicate.

use crate::text::TermId;

/// Words per shingle.
const SHINGLE: usize = 3;

/// Votes are kept bit-sliced: plane k holds bit k of 64 counters, so that one vote costs a handful of operations.
const PLANES: usize = 8;

/// The simhash of a text given by its words in order; 0 for no words.
pub(super) fn simhash(words: impl Iterator<Item = TermId>) -> u64 {
    let mut votes = Votes { planes: [0; PLANES], in_planes: 0, total: 0, counts: [0; 64] };
    let mut window = [0_u64; SHINGLE];
    for (at, word) in words.enumerate() {
        window[at % SHINGLE] = u64::from(word.0);
        let oldest = (at + 1) % SHINGLE;
        let shingle = (0..SHINGLE).fold(0_u64, |hash, i| mix(hash ^ window[(oldest + i) % SHINGLE]));
        votes.add(shingle);
    }
    votes.finish()
}

/// The finalizer of SplitMix64: every input bit moves every output bit.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

struct Votes {
    planes: [u64; PLANES],
    in_planes: u32,
    total: u32,
    counts: [u32; 64],
}

impl Votes {
    fn add(&mut self, hash: u64) {
        let mut carry = hash;
        for plane in &mut self.planes {
            let next = *plane & carry;
            *plane ^= carry;
            carry = next;
            if carry == 0 {
                break;
            }
        }
        self.in_planes += 1;
        if self.in_planes == (1 << PLANES) - 1 {
            self.flush();
        }
    }

    fn flush(&mut self) {
        for (bit, count) in self.counts.iter_mut().enumerate() {
            for (k, plane) in self.planes.iter().enumerate() {
                *count += ((plane >> bit & 1) as u32) << k;
            }
        }
        self.planes = [0; PLANES];
        self.total += self.in_planes;
        self.in_planes = 0;
    }

    fn finish(mut self) -> u64 {
        self.flush();
        let half = self.total / 2;
        self.counts.iter().enumerate().fold(0, |hash, (bit, &count)| hash | u64::from(count > half) << bit)
    }
}

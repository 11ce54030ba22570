//! Near-duplicate fingerprints: simhash over shingles of words (Charikar 2002; Manku et al. 2007).
//!
//! Promises: pages that differ in a sentence differ in few bits, whatever the
//! language; pages without words get 0. Stable across runs.
//! Never: says what to do with a duplicate.

use crate::text::TermId;

/// Words per shingle.
const SHINGLE: usize = 2;

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

/// The finalizer of `SplitMix64`: every input bit moves every output bit.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Segmenter;

    const EN: &str = "farm crop field wheat maize rice soil water plough harvest seed barley insect disease yield market price weather \
        rain drought river valley region trade export grain store mill bread flour machine tractor labour village season spring autumn";
    const ZH: &str = "水稻 小麦 玉米 大豆 农田 土壤 灌溉 收获 种子 病虫害 产量 市场 价格 天气 降雨 干旱 河流 山谷 地区 贸易 出口 粮食 仓库 面粉 \
        机械 拖拉机 劳动力 村庄 季节 春天 秋天 肥料 农药 品种 温室 果树 蔬菜 畜牧 渔业 林业";

    /// Fifty sentences of ten words each, drawn from a list, the first of it most often, as in real text.
    fn sentences(words: &str, random: &mut fastrand::Rng) -> Vec<String> {
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut word = || {
            let last = random.usize(..words.len());
            words[random.usize(..=last)].to_owned()
        };
        (0..50).map(|_| (0..10).map(|_| word()).collect::<Vec<_>>().join("，")).collect()
    }

    fn hash(sentences: &[String]) -> u64 {
        simhash(Segmenter::shared().term_ids(&sentences.join("\n")).into_iter())
    }

    #[test]
    fn a_changed_sentence_moves_few_bits_and_another_page_many() {
        for words in [EN, ZH] {
            let mut random = fastrand::Rng::with_seed(1);
            let page = sentences(words, &mut random);
            let other = sentences(words, &mut random);
            let mut distances: Vec<u32> = (0..50)
                .map(|changed| {
                    let mut copy = page.clone();
                    copy[changed].clone_from(&other[changed]);
                    (hash(&page) ^ hash(&copy)).count_ones()
                })
                .collect();
            distances.sort_unstable();
            // A random vote is close now and then: nine in ten must be near, none far.
            assert!(distances[45] <= 6 && distances[49] <= 10, "{}: {distances:?}", &words[..12]);
            assert!((hash(&page) ^ hash(&other)).count_ones() > 12);
        }
    }

    #[test]
    fn bit_sliced_votes_count_as_plain_ones_do() {
        let mut random = fastrand::Rng::with_seed(2);
        let hashes: Vec<u64> = (0..1_001).map(|_| random.u64(..)).collect();
        let mut votes = Votes { planes: [0; PLANES], in_planes: 0, total: 0, counts: [0; 64] };
        for &hash in &hashes {
            votes.add(hash);
        }
        let plain = (0..64).fold(0_u64, |all, bit| {
            let set = hashes.iter().filter(|&&hash| hash >> bit & 1 == 1).count();
            all | u64::from(set > hashes.len() / 2) << bit
        });
        assert_eq!(votes.finish(), plain);
        assert_eq!(simhash(std::iter::empty()), 0);
    }
}

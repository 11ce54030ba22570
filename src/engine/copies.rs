//! Copies: pages whose content, or nearly all of whose words, the crawl already has.
//!
//! Two pages are near-copies when their simhashes differ in at most three bits *and* a sketch of their vocabularies
//! agrees almost everywhere *and* their lengths are alike: simhash alone takes pages of one template for copies
//! when what is their own is short. Pages of few words must agree exactly.
//!
//! Promises: works on words, so on Chinese as well; the first page of its kind is the one that the others are
//! copies of; a lookup looks at a bounded number of pages; takes no more memory than its room, and decides the same in any.
//! Never: compares texts, which are not kept.

use std::io;

use crate::{
    page::{SKETCH, Sketch, TermBag},
    spill::{Fixed, Paged, PagedMap, Room},
};

/// Bits in which the simhashes of near-copies may differ.
const MAX_BITS: u32 = 3;

/// The same where a page itself says, by `rel=canonical`, which one it is a copy of.
const MAX_BITS_CANONICAL: u32 = 10;

/// A simhash is looked up by each of its parts: of four, one is untouched by three changed bits.
const BANDS: usize = 4;

/// Pages compared with one band at most, the latest first.
const MAX_COMPARED: usize = 128;

/// Numbers of two sketches that must agree (a Jaccard index of about 0.9).
const SKETCH_AGREES: usize = SKETCH - 2;

/// Fewer (weighted) words than this leave too much to chance.
const FEW_WORDS: f64 = 60.0;

/// What makes a page's text known again.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct TextPrint {
    /// 0 for a page without words.
    simhash: u64,
    sketch: Sketch,
    /// Weighted number of words.
    words: f64,
}

impl Fixed for TextPrint {
    const SIZE: usize = 16 + SKETCH;

    fn write(&self, bytes: &mut [u8]) {
        self.simhash.write(&mut bytes[..8]);
        self.words.to_bits().write(&mut bytes[8..16]);
        bytes[16..].copy_from_slice(&self.sketch.to_bytes());
    }

    fn read(bytes: &[u8]) -> Self {
        let mut sketch = [0; SKETCH];
        sketch.copy_from_slice(&bytes[16..]);
        Self {
            simhash: u64::read(&bytes[..8]),
            sketch: Sketch::from_bytes(sketch),
            words: f64::from_bits(u64::read(&bytes[8..16])),
        }
    }
}

/// The pages that were fetched so far; their numbers fit into 32 bits, as those of nodes do.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Content → the first page that had it.
    by_digest: PagedMap,
    /// Number and value of a band, page, and what else [`Place`] holds.
    bands: PagedMap,
    /// The pages that are no copies, by `seq`; nothing where there is none.
    originals: Paged<TextPrint>,
}

/// Where a page stands in the order of a band: a key of [`Copies::bands`] and its value, which between them hold nearly all of
/// the simhash, so that most pages need not be looked up.
///
/// The key: 2 bits for the number of the band, 16 for its value, 32 for the page, 14 of the rest of the simhash; the value: 32
/// more of the rest.
#[derive(Debug, Clone, Copy)]
struct Place {
    key: u64,
    value: u32,
}

impl Place {
    const REST: u64 = (1 << 14) - 1;

    fn of(print: &TextPrint, number: usize, seq: u64) -> Self {
        let turned = print.simhash.rotate_right(16 * number as u32);
        let key = (number as u64) << 62 | (turned & 0xffff) << 46 | (seq & 0xffff_ffff) << 14 | turned >> 48 & Self::REST;
        Self { key, value: (turned >> 16) as u32 }
    }

    fn seq(self) -> u64 {
        self.key >> 14 & 0xffff_ffff
    }

    /// Bits of the rest in which the simhashes differ: those of the whole, or up to two fewer.
    fn bits_from(self, other: Self) -> u32 {
        ((self.key ^ other.key) & Self::REST).count_ones() + (self.value ^ other.value).count_ones()
    }
}

impl TextPrint {
    pub(super) fn of(simhash: u64, terms: &TermBag) -> Self {
        Self { simhash, sketch: Sketch::of(terms.iter().map(|term| term.id.0)), words: terms.total() }
    }

    fn is_copy_of(&self, other: &Self) -> bool {
        let bits = (self.simhash ^ other.simhash).count_ones();
        if self.words.min(other.words) < FEW_WORDS {
            return bits == 0 && self.sketch == other.sketch && (self.words - other.words).abs() < 0.5;
        }
        bits <= MAX_BITS && self.sketch.agreement(&other.sketch) >= SKETCH_AGREES && self.is_as_long_as(other)
    }

    fn is_as_long_as(&self, other: &Self) -> bool {
        self.words.min(other.words) >= 0.9 * self.words.max(other.words)
    }
}

impl Copies {
    /// Keeps no more in memory than `room`.
    pub(super) fn within(room: &Room) -> Self {
        Self {
            by_digest: PagedMap::new(room.eighths(1)),
            bands: PagedMap::new(room.eighths(5)),
            originals: Paged::new(room.eighths(2)),
        }
    }

    /// The first page with this very content.
    pub(super) fn same_content(&self, digest: u64) -> Option<u64> {
        self.by_digest.get(digest).map(u64::from)
    }

    /// The first page with nearly these words; pages without words are not compared.
    pub(super) fn same_words(&self, print: &TextPrint) -> Option<u64> {
        if print.simhash == 0 {
            return None;
        }
        let near = (0..BANDS).flat_map(|number| {
            let first = Place::of(print, number, 0);
            let band = first.key & !Place::REST..=first.key | 0xffff_ffff << 14 | Place::REST;
            let latest = self.bands.last_of(band, MAX_COMPARED).into_iter().map(|(key, value)| Place { key, value });
            latest.filter(move |place| place.bits_from(first) <= MAX_BITS).map(Place::seq)
        });
        near.filter(|&seq| print.is_copy_of(&self.originals.get(seq as usize))).min()
    }

    /// Whether a page is what its `rel=canonical` says: another spelling of page `seq`.
    pub(super) fn agrees_with(&self, print: &TextPrint, seq: u64) -> bool {
        let original = self.originals.get(seq as usize);
        original.simhash != 0
            && (print.simhash ^ original.simhash).count_ones() <= MAX_BITS_CANONICAL
            && print.is_as_long_as(&original)
    }

    /// Remembers a page that is no copy.
    pub(super) fn add(&mut self, seq: u64, digest: u64, print: TextPrint) {
        self.add_content(digest, seq);
        if print.simhash == 0 {
            return;
        }
        for number in 0..BANDS {
            let Place { key, value } = Place::of(&print, number, seq);
            self.bands.insert(key, value);
        }
        self.originals.set(seq as usize, print);
    }

    /// Remembers the content of a copy, so that it is known without reading it.
    pub(super) fn add_content(&mut self, digest: u64, original: u64) {
        if self.by_digest.get(digest).is_none() {
            self.by_digest.insert(digest, original as u32);
        }
    }

    pub(super) fn resident_bytes(&self) -> usize {
        self.by_digest.resident_bytes() + self.bands.resident_bytes() + self.originals.resident_bytes()
    }

    /// The first read or write of a temporary file that failed.
    pub(super) fn check(&self) -> io::Result<()> {
        self.by_digest.check().and_then(|()| self.bands.check()).and_then(|()| self.originals.check())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        parse::{Document, ParseConfig, parse},
        text::Segmenter,
        url::Url,
    };

    fn print(text: &str) -> TextPrint {
        let url = Url::parse("http://e.com/").unwrap();
        let document = Document { url: &url, content_type: Some("text/plain; charset=utf-8"), body: text.as_bytes() };
        let page = parse(&document, &Segmenter::shared(), &ParseConfig::default()).unwrap();
        TextPrint::of(page.simhash, &page.terms)
    }

    /// Sentences out of a list of words, as different as chance makes them.
    fn text(words: &str, seed: u64, sentences: usize) -> Vec<String> {
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut random = fastrand::Rng::with_seed(seed);
        (0..sentences).map(|_| (0..10).map(|_| words[random.usize(..words.len())]).collect::<Vec<_>>().join("，")).collect()
    }

    const ZH: &str = "水稻 小麦 玉米 大豆 农田 土壤 灌溉 收获 种子 病虫害 产量 市场 价格 天气 降雨 干旱 河流 山谷 地区 贸易 出口 粮食 仓库 面粉 \
        机械 拖拉机 劳动力 村庄 季节 春天 秋天 肥料 农药 品种 温室 果树 蔬菜 畜牧 渔业 林业 合作社 补贴 政策 农民 技术 推广 检验 标准 加工";
    const EN: &str = "farm crop field wheat maize rice soil water plough harvest seed barley insect disease yield market price weather rain \
        drought river valley region trade export grain store mill bread flour machine tractor labour village season spring autumn policy";

    #[test]
    fn a_page_with_a_line_more_is_a_copy_and_another_page_of_the_same_words_is_not() {
        for words in [ZH, EN] {
            let original = text(words, 1, 60);
            let mut changed = original.clone();
            changed.push("打印本页 print this page".to_owned());
            let mut copies = Copies::default();
            copies.add(1, 10, print(&original.join("\n")));
            assert_eq!(copies.same_words(&print(&changed.join("\n"))), Some(1), "{}", &words[..6]);
            assert_eq!(copies.same_words(&print(&text(words, 2, 60).join("\n"))), None, "{}", &words[..6]);
        }
    }

    #[test]
    fn short_pages_are_copies_only_if_nothing_differs() {
        let report = |city: &str| print(&format!("{}\n{city}市场 今日价格", text(ZH, 5, 4).join("\n")));
        let mut copies = Copies::default();
        copies.add(1, 10, report("上海"));
        assert_eq!(copies.same_words(&report("上海")), Some(1));
        assert_eq!(copies.same_words(&report("北京")), None);
        copies.add(2, 11, print(""));
        assert_eq!(copies.same_words(&print("")), None, "pages without words are not compared");
    }

    #[test]
    fn pages_of_one_template_whose_own_part_is_short_are_told_apart() {
        let frame = text(EN, 3, 20).join("\n");
        let product = |seed| format!("{frame}\n{}", text(ZH, seed, 4).join("\n"));
        let mut copies = Copies::default();
        copies.add(1, 10, print(&product(1)));
        for seed in 2..30 {
            assert_eq!(copies.same_words(&print(&product(seed))), None, "product {seed}");
        }
    }

    #[test]
    fn exact_copies_are_known_by_their_content_and_canonical_ones_by_their_word() {
        let mut copies = Copies::default();
        let original = text(EN, 1, 30);
        copies.add(3, 10, print(&original.join("\n")));
        copies.add_content(11, 3);
        assert_eq!((copies.same_content(10), copies.same_content(11), copies.same_content(12)), (Some(3), Some(3), None));
        let sorted: Vec<&String> = original.iter().rev().collect();
        let sorted = print(&sorted.iter().map(|line| line.as_str()).collect::<Vec<_>>().join("\n"));
        assert!(copies.agrees_with(&sorted, 3), "the same list, sorted otherwise");
        assert!(!copies.agrees_with(&print(&text(ZH, 9, 30).join("\n")), 3));
        assert!(!copies.agrees_with(&sorted, 99));
    }

    /// What [`Copies::same_words`] says, looked up page by page.
    fn same_words_among(pages: &[(u64, TextPrint)], print: &TextPrint) -> Option<u64> {
        let band = |print: &TextPrint, number: u32| (print.simhash >> (16 * number)) as u16;
        let near = (0..4).flat_map(|number| {
            let of_band = pages.iter().rev().filter(move |(_, known)| band(known, number) == band(print, number));
            of_band.take(MAX_COMPARED)
        });
        near.filter(|(_, known)| print.is_copy_of(known)).map(|&(seq, _)| seq).min()
    }

    #[test]
    fn copies_that_do_not_fit_into_memory_are_known_as_those_are_that_do() {
        const PAGES: u64 = 20_000;
        let mut random = fastrand::Rng::with_seed(4);
        let (mut wide, mut narrow) = (Copies::default(), Copies::within(&Room { bytes: 1 << 17, ..Room::default() }));
        let mut known: Vec<(u64, TextPrint)> = Vec::new();
        let mut found = 0;
        for seq in (1..=PAGES).map(|n| 3 * n) {
            let mut print = TextPrint {
                // Few values in the lowest band, so that it is longer than what is looked at.
                simhash: random.u64(..) & !0xfff0,
                sketch: Sketch::of((0..40).map(|_| random.u32(..))),
                words: f64::from(random.u32(60..64)),
            };
            if let Some(&(_, earlier)) = known.get(random.usize(0..2 * known.len().max(1))) {
                print = TextPrint { simhash: earlier.simhash ^ 1 << random.u32(..64) ^ 1 << random.u32(..64), ..earlier };
            }
            let expected = same_words_among(&known, &print);
            assert_eq!((wide.same_words(&print), narrow.same_words(&print)), (expected, expected));
            let digest = random.u64(..PAGES);
            assert_eq!(wide.same_content(digest), narrow.same_content(digest));
            assert_eq!(wide.agrees_with(&print, seq / 2), narrow.agrees_with(&print, seq / 2));
            match expected {
                Some(original) => [&mut wide, &mut narrow].map(|copies| copies.add_content(digest, original)),
                None => [&mut wide, &mut narrow].map(|copies| copies.add(seq, digest, print)),
            };
            found += u64::from(expected.is_some());
            if expected.is_none() {
                known.push((seq, print));
            }
        }
        assert!((1_000..PAGES / 2).contains(&found), "{found}");
        assert!(wide.resident_bytes() > 1 << 20);
        assert!(narrow.resident_bytes() < 1 << 18, "{}", narrow.resident_bytes());
        narrow.check().unwrap();
    }
}

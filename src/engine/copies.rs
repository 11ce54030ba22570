//! Copies: pages whose content, or nearly all of whose words, the crawl already has.
//!
//! Two pages are near-copies when their simhashes differ in at most three bits *and* a sketch of their vocabularies
//! agrees almost everywhere *and* their lengths are alike: simhash alone takes pages of one template for copies
//! when what is their own is short. Pages of few words must agree exactly.
//!
//! Promises: works on words, so on Chinese as well; the first page of its kind is the one that the others are
//! copies of; a lookup looks at a bounded number of pages.
//! Never: compares texts, which are not kept.

use rustc_hash::FxHashMap;

use crate::page::{SKETCH, Sketch, TermBag};

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
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TextPrint {
    simhash: u64,
    sketch: Sketch,
    /// Weighted number of words.
    words: f64,
}

/// The pages that were fetched so far.
#[derive(Debug, Default)]
pub(super) struct Copies {
    by_digest: FxHashMap<u64, u64>,
    bands: [FxHashMap<u16, Vec<u32>>; BANDS],
    /// `seq` and print of the pages that are no copies.
    originals: Vec<(u64, TextPrint)>,
    by_seq: FxHashMap<u64, u32>,
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

    fn band(&self, number: usize) -> u16 {
        (self.simhash >> (16 * number)) as u16
    }
}

impl Copies {
    /// The first page with this very content.
    pub(super) fn same_content(&self, digest: u64) -> Option<u64> {
        self.by_digest.get(&digest).copied()
    }

    /// The first page with nearly these words; pages without words are not compared.
    pub(super) fn same_words(&self, print: &TextPrint) -> Option<u64> {
        if print.simhash == 0 {
            return None;
        }
        let near = (0..BANDS).filter_map(|number| self.bands[number].get(&print.band(number)));
        let candidates = near.flat_map(|band| band.iter().rev().take(MAX_COMPARED));
        let copies = candidates.map(|&at| &self.originals[at as usize]).filter(|(_, original)| print.is_copy_of(original));
        copies.map(|&(seq, _)| seq).min()
    }

    /// Whether a page is what its `rel=canonical` says: another spelling of page `seq`.
    pub(super) fn agrees_with(&self, print: &TextPrint, seq: u64) -> bool {
        let Some(&at) = self.by_seq.get(&seq) else { return false };
        let (_, original) = &self.originals[at as usize];
        (print.simhash ^ original.simhash).count_ones() <= MAX_BITS_CANONICAL && print.is_as_long_as(original)
    }

    /// Remembers a page that is no copy.
    pub(super) fn add(&mut self, seq: u64, digest: u64, print: TextPrint) {
        self.by_digest.entry(digest).or_insert(seq);
        if print.simhash == 0 {
            return;
        }
        let at = self.originals.len() as u32;
        for (number, band) in self.bands.iter_mut().enumerate() {
            band.entry(print.band(number)).or_default().push(at);
        }
        self.originals.push((seq, print));
        self.by_seq.insert(seq, at);
    }

    /// Remembers the content of a copy, so that it is known without reading it.
    pub(super) fn add_content(&mut self, digest: u64, original: u64) {
        self.by_digest.entry(digest).or_insert(original);
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
}

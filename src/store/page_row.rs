//! A finished page as a row: its words by number, the rest as it is.
//!
//! Promises: every field of [`PageRecord`] comes back as it was.

use serde::{Deserialize, Serialize};

use super::{
    PageRecord, StoreError,
    codec::{Encoder, Lexicon, body, damaged, unpack_alike},
    dictionary::Alike,
    words::{distances, numbers},
};
use crate::{
    page::{Term, TermBag},
    url::Fingerprint,
};

const KIND: &str = "page";
const VERSION: u8 = 3;

#[derive(Serialize, Deserialize)]
struct PageRow {
    /// `terms` is empty here, always, and the fingerprint 0 where it is that of the URL.
    page: PageRecord,
    words: Words,
}

#[derive(Serialize, Deserialize)]
struct Words {
    /// Distances of the numbers of those that have one.
    numbered: Vec<u32>,
    others: Vec<String>,
    /// The counts that occur, and for each word which it is; those with a number first.
    counts: Vec<f32>,
    count_of: Vec<u32>,
}

impl Words {
    fn of(terms: &TermBag, encoder: &mut Encoder) -> Self {
        let (mut numbered, mut others) = (Vec::with_capacity(terms.len()), Vec::new());
        for Term { id, word, count } in terms.iter() {
            match encoder.words.meet(id, word) {
                Some(number) => numbered.push((number, count)),
                None => others.push((word.to_owned(), count)),
            }
        }
        numbered.sort_unstable_by_key(|(number, _)| *number);
        let mut counts: Vec<f32> = Vec::new();
        let all = numbered.iter().map(|(_, count)| *count).chain(others.iter().map(|(_, count)| *count));
        for count in all.clone() {
            if let Err(place) = place_of(count, &counts) {
                counts.insert(place, count);
            }
        }
        Self {
            count_of: all.map(|count| place_of(count, &counts).unwrap_or_else(|place| place) as u32).collect(),
            numbered: distances(&numbered.iter().map(|(number, _)| *number).collect::<Vec<_>>()),
            others: others.into_iter().map(|(word, _)| word).collect(),
            counts,
        }
    }

    fn into_terms(self, lexicon: &dyn Lexicon) -> Result<TermBag, StoreError> {
        let Self { numbered, others, counts, count_of } = self;
        let numbered = numbers(&numbered).ok_or_else(|| damaged(KIND, "a word has no number"))?;
        if numbered.len() + others.len() != count_of.len() {
            return Err(damaged(KIND, "words and counts are not as many"));
        }
        let list = numbered.last().map(|&last| lexicon.words(last)).transpose()?.unwrap_or_default();
        let known =
            numbered.iter().map(|&number| list.word(number).ok_or_else(|| damaged(KIND, format!("there is no word {number}"))));
        let count = |at: &u32| counts.get(*at as usize).copied().ok_or_else(|| damaged(KIND, "a count is missing"));
        let said = known.chain(others.iter().map(|word| Ok(&**word)));
        said.zip(&count_of).map(|(word, at)| Ok((word?, count(at)?))).collect()
    }
}

/// Where a count stands among those that are known, or would stand. They are few: most words are said once or twice.
fn place_of(count: f32, known: &[f32]) -> Result<usize, usize> {
    known.binary_search_by(|other| other.total_cmp(&count))
}

/// Packs a page.
pub(super) fn encode(encoder: &mut Encoder, mut page: PageRecord) -> Result<Vec<u8>, StoreError> {
    let words = Words::of(&std::mem::take(&mut page.terms), encoder);
    if Fingerprint::of_text(&page.url) == Some(page.fingerprint) {
        page.fingerprint = Fingerprint(0);
    }
    encoder.pack_alike(Alike::Pages, KIND, VERSION, &PageRow { page, words })
}

/// Reads the row of a page.
pub(super) fn decode(bytes: &[u8], lexicon: &dyn Lexicon) -> Result<PageRecord, StoreError> {
    let raw = unpack_alike(KIND, body(KIND, VERSION, bytes)?, lexicon)?;
    let PageRow { mut page, words: own } = postcard::from_bytes(&raw).map_err(|e| damaged(KIND, e))?;
    if page.fingerprint == Fingerprint(0) {
        page.fingerprint = Fingerprint::of_text(&page.url).ok_or_else(|| damaged(KIND, "its URL is none"))?;
    }
    page.terms = own.into_terms(lexicon)?;
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        fetch::Validators,
        page::{Outcome, Relevance, Timestamp},
        store::{
            ArchivePlace, Chosen, CopyKind, CopyOf,
            codec::{NoLexicon, hex},
            words::Numbering,
        },
        text::Language,
    };

    fn page() -> PageRecord {
        PageRecord {
            seq: 1,
            url: "http://e.com/a".into(),
            fingerprint: Fingerprint(0x0123_4567_89ab_cdef),
            outcome: Outcome::Redirected,
            status: 301,
            reason: Some("r".into()),
            relevance: Relevance::new(0.5),
            relevant: true,
            priority: 0.25,
            estimate: Relevance::new(0.75),
            depth: 2,
            tunnel_depth: 3,
            host: "e.com".into(),
            source: Some(Fingerprint(7)),
            source_url: Some("s".into()),
            anchor: "a".into(),
            fetched_at: Timestamp(8),
            elapsed_ms: 9,
            bytes: 10,
            content_type: "t".into(),
            charset: "c".into(),
            language: Language::Zh,
            title: "稻".into(),
            excerpt: "x".into(),
            model_version: 11,
            digest: 12,
            simhash: 13,
            archive: Some(ArchivePlace { file: 1, offset: 14, length: 15 }),
            evidence: vec![0.5],
            terms: [("w", 2.0)].into_iter().collect(),
            rank: 0.125,
            residual: 0.0625,
            chosen: Chosen::Random,
            had_decode_errors: true,
            copy_of: Some(CopyOf { seq: 1, kind: CopyKind::Near }),
            validators: Validators { etag: Some("e".into()), last_modified: None },
        }
    }

    /// What is packed.
    fn raw(row: &[u8]) -> Vec<u8> {
        unpack_alike(KIND, body(KIND, VERSION, row).unwrap(), &NoLexicon).unwrap()
    }

    #[test]
    fn the_layout_is_the_one_of_its_version() {
        let mut encoder = Encoder::with_words(Numbering::default()).unwrap();
        let first = encode(&mut encoder, page()).unwrap();
        assert_eq!(decode(&first, &NoLexicon).unwrap(), page());
        // At its second meeting a word is a number.
        let second = raw(&encode(&mut encoder, page()).unwrap());
        assert_eq!(
            [hex(&raw(&first)), hex(&second[second.len() - 9..])],
            [
                "010e687474703a2f2f652e636f6d2f61ef9bafcdf8acd1910101ad020101720000003f01000000000000d03f0000403f020305652e636f6d0107010173016108090a017401630003e7a8bb01780b0c0d01010e0f010000003f00000000000000c03f000000000000b03f0201010101010165000001017701000000400100",
                "000001000000400100"
            ],
            "the page row has changed: raise its VERSION, or old crawls are misread"
        );
    }

    #[test]
    fn words_with_and_without_a_number_come_back() {
        let mut encoder = Encoder::with_words(Numbering::default()).unwrap();
        let terms = [("b", 1.0), ("a", 2.0), ("c", 1.0)].into_iter().collect();
        let url = "http://e.com/b".to_owned();
        let page = PageRecord { fingerprint: Fingerprint::of_text(&url).unwrap(), url, terms, ..page() };
        let row = encode(&mut encoder, page.clone()).unwrap();
        assert_eq!(decode(&row, &NoLexicon).unwrap(), page);
        let length = |page| raw(&encode(&mut Encoder::with_words(Numbering::default()).unwrap(), page).unwrap()).len();
        assert!(length(page.clone()) + 8 < length(PageRecord { fingerprint: Fingerprint(u64::MAX), ..page }));
    }

    #[test]
    fn a_row_that_lacks_a_word_is_an_error() {
        let mut encoder = Encoder::with_words(Numbering::default()).unwrap();
        encode(&mut encoder, page()).unwrap();
        let row = encode(&mut encoder, page()).unwrap();
        assert!(decode(&row, &NoLexicon).unwrap_err().to_string().contains("no word 0"));
        for cut in 0..row.len() {
            decode(&row[..cut], &NoLexicon).unwrap_err();
        }
    }
}

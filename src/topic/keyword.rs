//! Keywords: how each is cut into words, and how well a text matches it.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::{
    error::{Place, TopicError},
    file::TopicFile,
    source::{Source, read_text},
};
use crate::text::{Language, Ontology, Segmenter, TermId, UserWords};

/// The heaviest weight that a keyword may have.
const MAX_WEIGHT: f64 = 10.0;

/// One keyword of a topic.
#[derive(Debug, Clone, PartialEq)]
pub struct Keyword {
    /// As the user wrote it.
    pub text: String,
    /// Its words, distinct, in order; never empty. A Chinese compound that jieba's dictionary lacks
    /// stands first, whole, before its parts, so that the parts alone are a partial match.
    pub terms: Vec<TermId>,
    /// How much it counts, in `(0, 10]`; 1 where the file does not say.
    pub weight: f64,
}

impl Keyword {
    /// How much of the keyword a text holds, in `0..=1`: the share of its words for which `holds` is true.
    #[must_use]
    pub fn share(&self, mut holds: impl FnMut(TermId) -> bool) -> f64 {
        let held = self.terms.iter().filter(|term| holds(**term)).count();
        held as f64 / self.terms.len() as f64
    }
}

/// The segmenter to which the topic's dictionary, words and keywords are words.
pub(super) fn segmenter_of(file: &TopicFile, source: &Source) -> Result<Arc<Segmenter>, TopicError> {
    let mut words = UserWords::default();
    if let Some(name) = &file.text.user_dictionary {
        let path = source.folder.join(name);
        if !path.is_file() {
            let (place, key) = (source.place("text.user_dictionary"), "text.user_dictionary".to_owned());
            return Err(TopicError::MissingPath { place, key, path: name.clone(), full: path });
        }
        let text = read_text(&path)?;
        let place = || Place::whole(path.display().to_string());
        words.read(&mut text.as_bytes()).map_err(|error| TopicError::Dictionary { place: place(), source: error })?;
    }
    if let Some(name) = &file.ontology {
        let path = source.folder.join(name);
        if !path.is_file() {
            let (place, key) = (source.place("ontology"), "ontology".to_owned());
            return Err(TopicError::MissingPath { place, key, path: name.clone(), full: path });
        }
        let meaning = Ontology::parse(&read_text(&path)?).and_then(|ontology| words.give_meaning(&ontology));
        let place = || Place::whole(path.display().to_string());
        meaning.map_err(|error| TopicError::Ontology { place: place(), source: error })?;
    }
    for phrase in file.text.words.iter().chain(&file.keywords) {
        words.add(phrase);
    }
    Ok(Segmenter::with_words(&words))
}

/// The keywords, each once, and those that were written again.
pub(super) fn keywords_of(
    file: &TopicFile,
    source: &Source,
    segmenter: &Segmenter,
) -> Result<(Vec<Keyword>, Vec<String>), TopicError> {
    let (mut keywords, mut repeated) = (Vec::<Keyword>::new(), Vec::new());
    let mut seen = FxHashSet::default();
    for (at, text) in file.keywords.iter().map(|text| text.trim()).enumerate() {
        let mut terms = segmenter.term_ids(text);
        let mut distinct = FxHashSet::default();
        terms.retain(|term| distinct.insert(*term));
        if terms.is_empty() {
            let problem =
                format!("{text:?} holds no word: a keyword needs a letter, a digit or a Han character, and words under 40 bytes");
            return Err(TopicError::Value { place: source.place_in("keywords", at), key: "keywords".to_owned(), problem });
        }
        if seen.insert(terms.clone()) {
            let weight = file.weights.get(text).copied().unwrap_or(1.0);
            keywords.push(Keyword { text: text.to_owned(), terms, weight });
        } else {
            repeated.push(text.to_owned());
        }
    }
    if keywords.is_empty() {
        return Err(TopicError::NoKeywords { place: source.whole() });
    }
    check_weights(file, source)?;
    Ok((keywords, repeated))
}

fn check_weights(file: &TopicFile, source: &Source) -> Result<(), TopicError> {
    for (text, weight) in &file.weights {
        let wrong = |problem| {
            let place = source.place_of(&["weights", text]);
            Err(TopicError::Value { place, key: format!("weights.{text:?}"), problem })
        };
        if !file.keywords.iter().any(|keyword| keyword.trim() == text) {
            return wrong("only keywords have weights: add it to keywords, spelt the same".to_owned());
        }
        if !(*weight > 0.0 && *weight <= MAX_WEIGHT) {
            return wrong(format!("{weight} is out of range: a weight is above 0 and at most {MAX_WEIGHT}; 1 is usual"));
        }
    }
    Ok(())
}

/// The languages that the file names, or those its keywords are written in. Names with capitals
/// (SQL, Python) belong to every language and decide only where there is nothing else.
pub(super) fn languages_of(file: &TopicFile, source: &Source) -> Result<Vec<Language>, TopicError> {
    let mut languages = Vec::new();
    for (at, code) in file.language.iter().enumerate() {
        let language = Language::from_code(code);
        if language == Language::Other {
            let problem =
                format!("{code:?} is not known: write \"zh\", \"en\" or both; leave the list empty for other languages");
            return Err(TopicError::Value { place: source.place_in("language", at), key: "language".to_owned(), problem });
        }
        if !languages.contains(&language) {
            languages.push(language);
        }
    }
    if languages.is_empty() {
        languages = written_languages(&file.keywords);
    }
    Ok(languages)
}

fn written_languages(keywords: &[String]) -> Vec<Language> {
    let of = |keyword: &String| Language::of(keyword);
    let mut languages = Vec::new();
    if keywords.iter().any(|keyword| of(keyword) == Language::Zh) {
        languages.push(Language::Zh);
    }
    if keywords.iter().any(|keyword| of(keyword) == Language::En && !keyword.contains(char::is_uppercase)) {
        languages.push(Language::En);
    }
    if languages.is_empty() {
        languages.extend(keywords.first().map(of));
    }
    languages
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::{
        text::{Language, Segmenter, TermId},
        topic::{Keyword, Topic},
    };

    fn topic(text: &str) -> Topic {
        Topic::parse(&format!("seeds = [\"http://e.com/\"]\n{text}"), Path::new("t.toml")).unwrap()
    }

    fn error(text: &str) -> String {
        Topic::parse(&format!("seeds = [\"http://e.com/\"]\n{text}"), Path::new("t.toml")).unwrap_err().to_string()
    }

    /// In percent.
    fn share(keyword: &Keyword, topic: &Topic, page: &str) -> u32 {
        let held = topic.segmenter().term_ids(page);
        (100.0 * keyword.share(|term| held.contains(&term))).round() as u32
    }

    #[test]
    fn a_compound_matches_whole_and_its_parts_match_in_part() {
        let topic = topic("keywords = [\"流计算\"]");
        let keyword = &topic.keywords[0];
        let shares = ["实时流计算引擎", "流 计算", "计算", "水稻"].map(|page| share(keyword, &topic, page));
        assert_eq!(shares, [100, 67, 33, 0]);
    }

    #[test]
    fn several_words_match_by_their_share_in_any_spelling() {
        let topic = topic("keywords = [\"Crop Rotation\"]");
        let shares = ["rotations of CROPS", "rotation", "wheat"].map(|page| share(&topic.keywords[0], &topic, page));
        assert_eq!(shares, [100, 50, 0]);
    }

    #[test]
    fn keywords_of_stop_words_alone_still_match() {
        let topic = topic("keywords = [\"IT\", \"我们\", \"大数据\"]");
        let shares: Vec<u32> = topic.keywords.iter().map(|keyword| share(keyword, &topic, "IT 我们 大数据")).collect();
        assert_eq!(shares, [100, 100, 100]);
        assert_eq!(topic.keywords[2].terms, [TermId::of("大数据"), TermId::of("数据")], "大 is a stop word");
    }

    #[test]
    fn words_of_the_dictionary_share_the_one_segmenter() {
        let shared = Segmenter::shared();
        assert!(std::sync::Arc::ptr_eq(&topic("keywords = [\"水稻\", \"rice\"]").segmenter(), &shared));
        assert!(!std::sync::Arc::ptr_eq(&topic("keywords = [\"水稻\"]\n[text]\nwords = [\"稻鸭共作\"]").segmenter(), &shared));
    }

    #[test]
    fn keywords_with_the_same_words_are_one() {
        let topic = topic("keywords = [\"crop\", \"Crops\", \" crop \", \"wheat\"]");
        assert_eq!(topic.keywords.len(), 2);
    }

    #[test]
    fn a_keyword_without_a_word_is_refused_at_its_place() {
        assert!(error("keywords = [\"rice\", \"!?\"]").starts_with("t.toml:2:21: keywords: \"!?\" holds no word"));
        assert!(error("keywords = []").starts_with("t.toml: no keywords: say in a few words"));
    }

    #[test]
    fn weights_belong_to_keywords_and_have_a_range() {
        assert!((topic("keywords = [\"水稻\"]\n[weights]\n\"水稻\" = 2").keywords[0].weight - 2.0).abs() < 1e-9);
        assert!(error("keywords = [\"rice\"]\n[weights]\nwheat = 2").contains("t.toml:4:9: weights.\"wheat\": only keywords"));
        for weight in ["0", "11", "-1", "nan"] {
            assert!(error(&format!("keywords = [\"rice\"]\n[weights]\nrice = {weight}")).contains("out of range"), "{weight}");
        }
    }

    #[test]
    fn languages_are_named_or_seen_from_the_keywords() {
        let of = |keywords: &str| topic(&format!("keywords = [{keywords}]")).languages;
        assert_eq!(of("\"水稻\", \"crop rotation\""), [Language::Zh, Language::En]);
        assert_eq!(of("\"数据库\", \"SQL\""), [Language::Zh], "names in capitals belong to every language");
        assert_eq!(of("\"SQL\""), [Language::En]);
        assert_eq!(topic("language = [\"zh\"]\nkeywords = [\"rice\"]").languages, [Language::Zh]);
        assert!(error("language = [\"cn\"]\nkeywords = [\"rice\"]").contains("t.toml:2:13: language: \"cn\" is not known"));
    }

    #[test]
    fn an_ontology_makes_keywords_of_one_meaning_one_and_its_mistakes_are_placed() {
        let folder = tempfile::tempdir().unwrap();
        let text = "seeds = [\"http://e.com/\"]\nontology = \"o.txt\"\nkeywords = [\"水稻\", \"paddy\", \"soil\"]";
        let load = || Topic::parse(text, &folder.path().join("t.toml"));
        assert!(load().unwrap_err().to_string().contains("t.toml:2:12: ontology: there is no file or folder \"o.txt\""));
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("training/terms/agriculture-ontology.txt");
        std::fs::copy(example, folder.path().join("o.txt")).unwrap();
        let topic = load().unwrap();
        assert_eq!(topic.keywords.len(), 2, "paddy is 水稻");
        assert_eq!(topic.segmenter().words("rice soils"), ["水稻", "谷物", "作物", "土壤"]);
        std::fs::write(folder.path().join("o.txt"), "rice").unwrap();
        assert!(load().unwrap_err().to_string().contains("o.txt: ontology: line 1"));
    }

    #[test]
    fn a_user_dictionary_is_read_and_its_mistakes_are_placed() {
        let folder = tempfile::tempdir().unwrap();
        let text = "seeds = [\"http://e.com/\"]\nkeywords = [\"水稻\"]\n[text]\nuser_dictionary = \"words.txt\"";
        let load = || Topic::parse(text, &folder.path().join("t.toml"));
        assert!(
            load()
                .unwrap_err()
                .to_string()
                .contains("t.toml:4:19: text.user_dictionary: there is no file or folder \"words.txt\"")
        );
        std::fs::write(folder.path().join("words.txt"), "稻鸭共作\n").unwrap();
        assert!(load().unwrap().segmenter().words("稻鸭共作").contains(&"稻鸭共作".to_owned()));
        std::fs::write(folder.path().join("words.txt"), "稻鸭共作 often\n").unwrap();
        assert!(load().unwrap_err().to_string().contains("words.txt: user dictionary: line 1: the frequency"));
    }
}

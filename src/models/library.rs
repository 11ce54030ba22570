//! Where models are found: in a folder that is named, in `models/` nearby, in the binary.

use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use super::{ModelBundle, ModelError};

/// A model's name and its files, by name.
type Embedded = (&'static str, &'static [(&'static str, &'static [u8])]);

/// Models that are part of windrow.
const EMBEDDED: &[Embedded] = &[(
    "agriculture",
    &[
        ("card.json", include_bytes!("../../models/agriculture/card.json")),
        ("page.json", include_bytes!("../../models/agriculture/page.json")),
    ],
)];

/// Where the models of a topic are looked for: `models/` beside the topic file, then in the current folder.
#[must_use]
pub fn search_path(topic_file: Option<&Path>) -> Vec<PathBuf> {
    let beside = topic_file.map(|file| file.parent().unwrap_or(Path::new("")).join("models"));
    let here = PathBuf::from("models");
    match beside {
        Some(beside) if beside != here => vec![beside, here],
        _ => vec![here],
    }
}

/// Loads a model by its folder, or by a bare name from the folders of `search` or, failing these, from the binary.
///
/// # Errors
/// No such model, with the places looked at; or one that is damaged.
pub fn load(name_or_path: &str, search: &[PathBuf]) -> Result<ModelBundle, ModelError> {
    let is_path = name_or_path.contains(['/', MAIN_SEPARATOR]) || name_or_path.starts_with('.');
    let folders: Vec<PathBuf> =
        if is_path { vec![name_or_path.into()] } else { search.iter().map(|folder| folder.join(name_or_path)).collect() };
    if let Some(folder) = folders.iter().find(|folder| folder.join("card.json").is_file()) {
        return ModelBundle::open(folder);
    }
    if let Some((name, files)) = EMBEDDED.iter().find(|(name, _)| *name == name_or_path) {
        return ModelBundle::read(&format!("{name} (part of windrow)"), |file| {
            let found = files.iter().find(|(known, _)| *known == file);
            found.map(|(_, bytes)| bytes.to_vec()).ok_or_else(|| ModelError::Damaged {
                model: (*name).to_owned(),
                file: file.to_owned(),
                what: "it is not in the binary".to_owned(),
            })
        });
    }
    let list = |names: Vec<String>| names.join(", ");
    Err(ModelError::NotFound {
        name: name_or_path.to_owned(),
        looked: list(folders.iter().map(|folder| folder.display().to_string()).collect()),
        embedded: list(EMBEDDED.iter().map(|(name, _)| (*name).to_owned()).collect()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        models::{Card, WordCounts},
        page::TermBag,
        page_classifier::{Meaning, PageClassifierConfig, PageLearner, Reading},
        text::Segmenter,
        topic::KeywordSet,
    };

    fn save(folder: &Path, rice: f64) {
        let mut words = WordCounts::new((1.0, 1.0), 1.0);
        words.add("rice", rice, 0.0);
        ModelBundle::new(words, Meaning::default(), None, Card::default()).unwrap().save(folder).unwrap();
    }

    fn rice(bundle: &ModelBundle) -> f64 {
        bundle.words.iter().find(|word| word.0 == "rice").unwrap().1
    }

    #[test]
    fn a_name_is_looked_for_in_order_and_last_in_the_binary() {
        let folder = tempfile::tempdir().unwrap();
        let search = [folder.path().join("a"), folder.path().join("b")];
        assert!(load("agriculture", &search).unwrap().words.len() > 1_000, "the one in the binary");
        save(&search[1].join("agriculture"), 2.0);
        assert!((rice(&load("agriculture", &search).unwrap()) - 2.0).abs() < 1e-9);
        save(&search[0].join("agriculture"), 1.0);
        assert!((rice(&load("agriculture", &search).unwrap()) - 1.0).abs() < 1e-9);
        let path = search[1].join("agriculture");
        assert!((rice(&load(path.to_str().unwrap(), &[]).unwrap()) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_model_that_is_nowhere_is_said_to_be_nowhere() {
        let said = load("nowhere", &["x/models".into(), "models".into()]).unwrap_err().to_string();
        assert!(said.contains("looked in x/models/nowhere, models/nowhere; part of windrow are agriculture"), "{said}");
        assert!(load("./agriculture", &[]).is_err(), "a path is not looked up in the binary");
    }

    #[test]
    fn a_damaged_model_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        save(&folder.path().join("agriculture"), 1.0);
        std::fs::write(folder.path().join("agriculture/page.json"), "{").unwrap();
        assert!(load("agriculture", &[folder.path().to_owned()]).is_err());
    }

    /// What a crawl that starts from the agriculture model thinks of a text on its first page, beside a few keywords.
    fn first_judgement(text: &str) -> f64 {
        let segmenter = Segmenter::shared();
        let keywords = KeywordSet::new(["水稻", "小麦", "crop rotation", "livestock"].map(|keyword| segmenter.term_ids(keyword)));
        let model = load("agriculture", &[]).unwrap();
        let learner = PageLearner::new(&PageClassifierConfig::default(), keywords.len(), Some(&model.page));
        let words = segmenter.words(text);
        let terms: TermBag = words.iter().map(|word| (word.as_str(), 1.0)).collect();
        learner.model().judge(&Reading::of(&terms, &[], &keywords)).relevance.get()
    }

    #[test]
    fn a_fresh_crawl_knows_farming_from_sport_in_chinese_even_without_its_keywords() {
        let farm = "今年春天雨水偏少，合作社提前组织农户整地起垄，选用抗病品种的甘薯苗，覆盖地膜后移栽。\
            技术员到田间指导追肥和防治地下害虫，预计每亩可增产三百斤，农民收入会比去年高。";
        let sport = "主队在下半场连进两球逆转取胜，前锋头球破门后球迷欢呼，教练称赞队员的体能和拼抢。\
            下一轮联赛他们将在客场迎战上届冠军，门将因伤可能缺阵。";
        assert!(first_judgement(farm) > 0.7, "{}", first_judgement(farm));
        assert!(first_judgement(sport) < 0.2, "{}", first_judgement(sport));
    }

    #[test]
    fn a_fresh_crawl_knows_farming_from_sport_in_english_even_without_its_keywords() {
        let farm = "After two dry seasons the growers in the valley changed how they till their fields. They sow a cover crop \
            after the harvest, spread compost instead of fertilizer and irrigate the orchard at night. Weeds and aphids are \
            fewer, and the yield of potatoes has risen although less pesticide is sprayed.";
        let sport = "The home team scored twice in the second half to win the match. The striker headed the winning goal in front \
            of forty thousand fans, and the coach praised his players for a fine season. Next week they meet the champions of \
            the league in a stadium where they have not won since their promotion.";
        assert!(first_judgement(farm) > 0.7, "{}", first_judgement(farm));
        assert!(first_judgement(sport) < 0.2, "{}", first_judgement(sport));
    }

    #[test]
    fn models_lie_beside_the_topic_or_here() {
        let paths = |file: &str| search_path(Some(Path::new(file)));
        assert_eq!(paths("farm/topic.toml"), [PathBuf::from("farm/models"), PathBuf::from("models")]);
        assert_eq!(paths("topic.toml"), [PathBuf::from("models")]);
        assert_eq!(search_path(None), [PathBuf::from("models")]);
    }
}

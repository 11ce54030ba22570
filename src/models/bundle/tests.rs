//! Models that come back as they were written, and damaged ones that are refused.

use std::path::PathBuf;

use super::*;

fn bundle(rice: f64) -> ModelBundle {
    let mut words = WordCounts::new((3.0, 4.5), 10.0);
    words.add("rice", rice, 0.0);
    words.add("goal \"quoted\"", 0.125, 7.0);
    let card = Card { name: "farm".to_owned(), ..Card::default() };
    ModelBundle::new(words, Meaning { base_rate: 0.25, ..Meaning::default() }, Some(TrainedLinkModel::default()), card).unwrap()
}

fn saved() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("models/farm");
    bundle(12.5).save(&path).unwrap();
    (folder, path)
}

fn refusal(path: &Path) -> String {
    ModelBundle::open(path).unwrap_err().to_string()
}

#[test]
fn a_model_comes_back_as_it_was_written() {
    let (_folder, path) = saved();
    let (written, read) = (bundle(12.5), ModelBundle::open(&path).unwrap());
    assert_eq!((&read.words, &read.link, &read.card), (&written.words, &written.link, &written.card));
    assert_eq!(read.page, written.page);
    assert!(fs::read_to_string(path.join("card.md")).unwrap().starts_with("# farm, version 1"));
    assert_eq!(fs::read_to_string(path.join(PAGE)).unwrap().lines().count(), 5, "one word a line");
}

#[test]
fn every_file_cut_short_or_changed_is_refused_by_name() {
    for file in [PAGE, LINK, CARD] {
        let (_folder, path) = saved();
        let whole = fs::read(path.join(file)).unwrap();
        for length in [0, 1, whole.len() / 2, whole.len() - 2] {
            fs::write(path.join(file), &whole[..length]).unwrap();
            let said = refusal(&path);
            assert!(said.contains(file) && said.contains("train it again"), "{file} {length}: {said}");
        }
        fs::remove_file(path.join(file)).unwrap();
        assert!(refusal(&path).contains(file));
    }
    let (_folder, path) = saved();
    let changed = fs::read_to_string(path.join(PAGE)).unwrap().replace("12.5", "92.5");
    fs::write(path.join(PAGE), changed).unwrap();
    assert!(refusal(&path).contains("page.json of model"));
}

#[test]
fn a_model_of_another_format_is_refused_clearly() {
    let (_folder, path) = saved();
    let card = fs::read_to_string(path.join(CARD)).unwrap();
    fs::write(path.join(CARD), card.replace("\"format\": 1", "\"format\": 7")).unwrap();
    assert!(refusal(&path).contains("is of format 7, this windrow reads format 1"));
}

#[test]
fn counts_that_no_model_can_have_are_refused_even_with_a_right_checksum() {
    let (_folder, path) = saved();
    let page = fs::read_to_string(path.join(PAGE)).unwrap().replace("[12.5,", "[-12.5,");
    let card = fs::read_to_string(path.join(CARD)).unwrap().replace(&bundle(12.5).card.files[PAGE], &sha256(page.as_bytes()));
    fs::write(path.join(PAGE), page).unwrap();
    fs::write(path.join(CARD), card).unwrap();
    assert!(refusal(&path).contains("the counts of \"rice\" are -12.5 and 0"));
}

fn bytes_of(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    files.map(|file| (file.file_name().to_string_lossy().into_owned(), fs::read(file.path()).unwrap())).collect()
}

#[test]
fn rolling_back_restores_byte_identical_files_and_every_version_is_kept() {
    let (_folder, path) = saved();
    let first = bytes_of(&path);
    bundle(2.0).save(&path).unwrap();
    let second = bytes_of(&path);
    assert_ne!(first, second);
    assert_eq!(roll_back(&path).unwrap().id, bundle(12.5).card.id);
    assert_eq!(bytes_of(&path), first);
    bundle(3.0).save(&path).unwrap();
    let kept: Vec<_> = fs::read_dir(sibling(&path, ".versions")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1, "{kept:?}");
    assert_eq!(bytes_of(&kept[0]), second);
}

#[test]
fn a_damaged_model_names_its_file_and_the_version_that_still_works() {
    let (_folder, path) = saved();
    bundle(2.0).save(&path).unwrap();
    fs::write(path.join(PAGE), "{").unwrap();
    let said = refusal(&path);
    let works = format!("version 1 ({}) in {}", bundle(12.5).card.id, sibling(&path, ".previous").display());
    assert!(said.contains("page.json of model") && said.contains(&works) && said.contains("--rollback"), "{said}");
    roll_back(&path).unwrap();
    assert!(ModelBundle::open(&path).is_ok());
    assert!(roll_back(&path).is_err(), "the damaged one is not put back");
    assert!(ModelBundle::open(&path).is_ok());
}

#[test]
fn examples_travel_with_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("farm");
    let example = |url: &str| LabelledExample {
        url: url.to_owned(),
        relevant: true,
        evidence: 0.25,
        terms: [("稻 \"q\"", 2.5)].into_iter().collect(),
    };
    let examples = vec![example("http://e.com/1"), example("http://e.com/2")];
    bundle(1.0).with_examples(examples.clone()).save(&path).unwrap();
    assert_eq!(ModelBundle::open(&path).unwrap().examples, examples);
    fs::write(path.join(EXAMPLES), "[]").unwrap();
    assert!(refusal(&path).contains("examples.json of model"));
}

#[test]
fn the_model_before_is_kept_and_can_be_put_back() {
    let (_folder, path) = saved();
    assert!(roll_back(&path).unwrap_err().to_string().contains("no earlier version"));
    bundle(99.0).save(&path).unwrap();
    let rice = || ModelBundle::open(&path).unwrap().words.iter().find(|word| word.0 == "rice").unwrap().1;
    assert!((rice() - 99.0).abs() < 1e-9);
    roll_back(&path).unwrap();
    assert!((rice() - 12.5).abs() < 1e-9);
    roll_back(&path).unwrap();
    assert!((rice() - 99.0).abs() < 1e-9, "rolling back twice is not rolling back");
    bundle(1.0).save(&path).unwrap();
    fs::remove_dir_all(&path).unwrap();
    roll_back(&path).unwrap();
    assert!((rice() - 99.0).abs() < 1e-9, "after a save that was cut short");
}

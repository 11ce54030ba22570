//! Grammars: word lists that unfold into prose.
//!
//! A file holds lists; an entry may name other lists in braces. `{main}` takes
//! a random entry, `{=subject}` the one that the page has settled on,
//! `{3-12}` a number. A list that a topic lacks is looked up in `general`.
//!
//! Promises: the same seed says the same words, everywhere; a list is dealt
//! like a deck, so nothing repeats on a page before all of it has been used.
//! Never: knows about pages or hosts.

use std::{collections::BTreeMap, fs, path::Path};

use super::{Error, Language};

/// Lists by name.
type Lists = BTreeMap<String, Vec<String>>;

/// The lists of one topic and the class its pages belong to.
#[derive(Debug, Default)]
pub struct Topic {
    pub label: String,
    lists: Lists,
}

/// All topics of one language.
#[derive(Debug)]
pub struct Grammar {
    pub language: Language,
    topics: BTreeMap<String, Topic>,
}

impl Grammar {
    /// Reads every `*.txt` below `folder`.
    ///
    /// # Errors
    /// A file that cannot be read, or a line outside any list.
    pub fn load(folder: &Path, language: Language) -> Result<Self, Error> {
        let mut texts = BTreeMap::new();
        for entry in fs::read_dir(folder).map_err(|e| Error::read(folder, &e))? {
            let path = entry.map_err(|e| Error::read(folder, &e))?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            texts.insert(name, fs::read_to_string(&path).map_err(|e| Error::read(&path, &e))?);
        }
        let mut topics = BTreeMap::new();
        for (name, text) in &texts {
            topics.insert(name.clone(), read_topic(name, text, &texts)?);
        }
        let grammar = Self { language, topics };
        grammar.check()?;
        Ok(grammar)
    }

    /// Every slot of every topic is a number, the name of the site, or a list that exists.
    fn check(&self) -> Result<(), Error> {
        for name in self.topics() {
            let lists = self.topics[name].lists.values().chain(self.topics["general"].lists.values());
            for entry in lists.flatten() {
                let known = |slot: &str| {
                    slot == "=site" || range(slot).is_some() || self.list(name, slot.trim_start_matches('=')).is_some()
                };
                if let Some(slot) = slots(entry).find(|slot| !known(slot)) {
                    return Err(Error::Plan(format!("{name}.txt: nothing is known of {{{slot}}} in `{entry}`")));
                }
            }
        }
        Ok(())
    }

    /// The class of a topic's pages.
    ///
    /// # Errors
    /// A topic without a file.
    pub fn label(&self, topic: &str) -> Result<&str, Error> {
        let known = self.topics.get(topic).ok_or_else(|| Error::Plan(format!("no word list for the topic `{topic}`")))?;
        Ok(&known.label)
    }

    /// Topics with pages of their own, in order of their names.
    fn topics(&self) -> Vec<&str> {
        self.topics.keys().map(String::as_str).filter(|name| !matches!(*name, "general" | "agriculture")).collect()
    }

    /// A list, and the topic that it really belongs to.
    fn list<'a>(&'a self, topic: &'a str, list: &str) -> Option<(&'a str, &'a [String])> {
        let of = |owner: &'a str| Some((owner, self.topics.get(owner)?.lists.get(list)?.as_slice()));
        of(topic).or_else(|| of("general"))
    }
}

fn read_topic(name: &str, text: &str, texts: &BTreeMap<String, String>) -> Result<Topic, Error> {
    let mut topic = Topic::default();
    let mut list = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(label) = line.strip_prefix("label: ") {
            label.clone_into(&mut topic.label);
        } else if let Some(parent) = line.strip_prefix("inherits: ") {
            let text =
                texts.get(parent).ok_or_else(|| Error::Plan(format!("{name}.txt inherits `{parent}`, which is no file")))?;
            topic.lists = read_topic(parent, text, &BTreeMap::new())?.lists;
        } else if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).filter(|n| is_name(n)) {
            list = Some(name.to_owned());
        } else {
            let list = list.clone().ok_or_else(|| Error::Plan(format!("{name}.txt: `{line}` stands before the first list")))?;
            topic.lists.entry(list).or_default().extend(line.split(" | ").map(|entry| entry.trim().to_owned()));
        }
    }
    Ok(topic)
}

/// The bounds of a slot like `3-12`.
fn range(slot: &str) -> Option<(u32, u32)> {
    let (low, high) = slot.split_once('-')?;
    Some((low.parse().ok()?, high.parse().ok()?)).filter(|(low, high)| low <= high)
}

/// The slots of an entry: what stands between braces.
fn slots(entry: &str) -> impl Iterator<Item = &str> {
    entry.split('{').skip(1).map(|after| after.split_once('}').map_or(after, |(slot, _)| slot))
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
}

/// One page's voice: what it has settled on, and what it has already said.
pub struct Speaker<'a> {
    grammar: &'a Grammar,
    topic: &'a str,
    /// A second topic that the page keeps coming back to.
    blend: Option<&'a str>,
    settled: BTreeMap<(String, String), String>,
    decks: BTreeMap<(String, String), Vec<usize>>,
    pub rng: fastrand::Rng,
}

impl<'a> Speaker<'a> {
    pub fn new(grammar: &'a Grammar, topic: &'a str, seed: u64) -> Self {
        let rng = fastrand::Rng::with_seed(seed);
        Self { grammar, topic, blend: None, settled: BTreeMap::new(), decks: BTreeMap::new(), rng }
    }

    /// Decides what `{=list}` will say on this page, whatever the topic.
    pub fn settle(&mut self, list: &str, text: &str) {
        self.settled.insert((String::new(), list.to_owned()), text.to_owned());
    }

    /// Lets a second topic into the page's paragraphs.
    pub fn blend(&mut self, topic: Option<&'a str>) {
        self.blend = topic;
    }

    /// One entry of a list, unfolded; of the page's own topic or, failing that, of `general`.
    pub fn say(&mut self, list: &str) -> String {
        self.say_of(self.topic, list)
    }

    /// A sentence of the page's topic, sometimes a remark that fits any topic.
    pub fn sentence(&mut self) -> String {
        self.sentence_of(self.topic)
    }

    fn sentence_of(&mut self, topic: &'a str) -> String {
        let list = if self.rng.u8(..100) < 24 { "aside" } else { "sentence" };
        let said = self.say_of(topic, list);
        finish(&said, self.grammar.language)
    }

    /// A headline, from the list that holds them.
    pub fn title(&mut self, list: &str) -> String {
        let said = self.say(list);
        finish(&said, self.grammar.language)
    }

    /// A paragraph of `sentences` sentences. The first keeps to the topic; later ones may stray, as on real pages.
    pub fn paragraph(&mut self, sentences: usize) -> String {
        let topics = self.grammar.topics();
        let mut said = Vec::new();
        for at in 0..sentences {
            let topic = match (self.rng.u8(..100), self.blend) {
                _ if at == 0 => self.topic,
                (0..6, _) => topics[self.rng.usize(..topics.len())],
                (6..34, Some(blend)) => blend,
                _ => self.topic,
            };
            said.push(self.sentence_of(topic));
        }
        said.join(self.grammar.language.between_sentences())
    }

    fn say_of(&mut self, topic: &'a str, list: &str) -> String {
        let entry = self.deal(topic, list);
        self.unfold(topic, &entry)
    }

    fn deal(&mut self, topic: &'a str, list: &str) -> String {
        // Loading proved that every list that is named exists.
        let Some((owner, entries)) = self.grammar.list(topic, list) else { return String::new() };
        let deck = self.decks.entry((owner.to_owned(), list.to_owned())).or_default();
        if deck.is_empty() {
            deck.extend(0..entries.len());
            self.rng.shuffle(deck);
        }
        deck.pop().map_or_else(String::new, |at| entries[at].clone())
    }

    fn unfold(&mut self, topic: &'a str, entry: &str) -> String {
        let mut out = String::new();
        let mut rest = entry;
        while let Some((before, after)) = rest.split_once('{') {
            let (slot, behind) = after.split_once('}').unwrap_or((after, ""));
            out.push_str(before);
            out.push_str(&self.fill(topic, slot));
            rest = behind;
        }
        out.push_str(rest);
        out
    }

    fn fill(&mut self, topic: &'a str, slot: &str) -> String {
        if let Some((low, high)) = range(slot) {
            return self.rng.u32(low..=high).to_string();
        }
        let Some(list) = slot.strip_prefix('=') else { return self.say_of(topic, slot) };
        let key = (topic.to_owned(), list.to_owned());
        let known = self.settled.get(&key).or_else(|| self.settled.get(&(String::new(), list.to_owned())));
        if let Some(known) = known {
            return known.clone();
        }
        let chosen = self.say_of(topic, list);
        self.settled.insert(key, chosen.clone());
        chosen
    }
}

/// Settles what templates cannot know: capitals at the start, `an` before a vowel.
fn finish(text: &str, language: Language) -> String {
    if language == Language::Chinese {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    let mut at_start = true;
    for c in text.chars() {
        out.extend(if at_start { c.to_uppercase().collect::<Vec<_>>() } else { vec![c] });
        at_start = at_start && !c.is_alphanumeric();
    }
    for vowel in ["a", "e", "i", "o"] {
        out = out.replace(&format!(" a {vowel}"), &format!(" an {vowel}"));
    }
    out
}

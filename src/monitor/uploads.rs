//! A crawl as it comes by request, checked.
//!
//! Promises: a topic that comes from outside leads nowhere in the file system: what it names (seeds, examples, a dictionary, an
//! ontology) is the plain name of a file in the server's folder `files`, a model the name of one of its models, and a
//! recording the name of one of its recordings; anything else is refused.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::{
    options::Options,
    problem::Problem,
    schedule,
    tokens::hex,
    wire::{CreateCrawl, Schedule, Source, TopicFields},
};
use crate::{
    config::Config,
    frontier::Order,
    models::load,
    session::DEMO_TOPIC,
    topic::{NewTopic, Topic},
};

/// Bytes of a topic, at most.
const MAX_TOPIC: usize = 1 << 20;
/// Keys of a topic file that name a file, as paths of keys.
const FILES: &[&[&str]] = &[&["seeds_file"], &["ontology"], &["text", "user_dictionary"]];
/// Keys that hold lists of files.
const LISTS: &[&[&str]] = &[&["examples", "positive"], &["examples", "negative"]];

/// A crawl that can be made.
pub struct Upload {
    pub name: String,
    pub topic: Topic,
    pub config: Config,
    pub source: Source,
    pub model: Option<String>,
    pub max_pages: Option<u64>,
    pub pages_per_second: Option<f64>,
    pub schedule: Option<Schedule>,
    /// Key and digest of the request.
    pub made_by: Option<(String, String)>,
}

impl Upload {
    /// Checks a request; `key` makes it idempotent. Blocking.
    pub fn check(request: CreateCrawl, key: Option<String>, options: &Options) -> Result<Self, Problem> {
        let made_by = key.map(|key| (key, digest(&request)));
        let CreateCrawl {
            name,
            topic,
            topic_fields,
            source,
            model,
            order,
            max_pages,
            delay_ms,
            workers,
            memory,
            pages_per_second,
            schedule,
            ..
        } = request;
        check_source(&source, options)?;
        let (given, field) = match (topic, topic_fields, &source) {
            (Some(_), Some(_), _) => return Err(Problem::field("topic", "give topic or topic_fields, not both")),
            (Some(text), None, _) => (text, "topic"),
            (None, Some(fields), _) => (text_of(fields, name.as_deref())?, "topic_fields"),
            (None, None, Source::Demo) => (DEMO_TOPIC.to_owned(), "topic"),
            (None, None, _) => return Err(Problem::field("topic", "is missing; give the text of a topic file, or topic_fields")),
        };
        let topic = topic_of(&given, field, &options.dir.join("files"))?;
        let models = options.dir.join("models");
        for (name, field) in [(&model, "model"), (&topic.model, "topic")] {
            if let Some(name) = name {
                check_name(name).map_err(|message| Problem::field(field, format!("model: {message}")))?;
                load(name, std::slice::from_ref(&models)).map_err(|error| Problem::field(field, error.to_string()))?;
            }
        }
        let mut config = Config::default();
        if let Some(order) = order {
            config.crawl.order = order_of(&order)?;
        }
        if let Some(delay) = delay_ms {
            bounded("delay_ms", delay, 0, 3_600_000)?;
            config.politeness.delay_ms = delay;
        }
        if let Some(workers) = workers {
            bounded("workers", u64::from(workers), 1, 500)?;
            config.crawl.workers = workers as usize;
        }
        if let Some(memory) = memory {
            config.crawl.memory = memory.parse().map_err(|error: String| Problem::field("memory", error))?;
        }
        if max_pages == Some(0) {
            return Err(Problem::field("max_pages", "must be 1 or more; leave it out for no limit"));
        }
        if pages_per_second.is_some_and(|rate| !(0.01..=10_000.0).contains(&rate)) {
            return Err(Problem::field("pages_per_second", "must be 0.01 to 10000"));
        }
        let schedule = schedule.map(|schedule| schedule::checked(schedule, "schedule")).transpose()?;
        let name = match name {
            Some(name) if name.trim().is_empty() || name.chars().count() > 100 => {
                return Err(Problem::field("name", "must have 1 to 100 characters"));
            }
            Some(name) => name,
            None => topic.name.chars().take(100).collect(),
        };
        let max_pages = max_pages.or(topic.limits.max_pages);
        Ok(Self { name, topic, config, source, model, max_pages, pages_per_second, schedule, made_by })
    }
}

/// What a request says, as a number that another request does not have.
pub fn digest(request: &CreateCrawl) -> String {
    let bytes = serde_json::to_vec(request).unwrap_or_default();
    hex(&Sha256::digest(&bytes))
}

/// The name of a file or model of the server's own: no way out of its folder, and nothing hidden.
pub fn check_name(name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ' ');
    if name.is_empty() || name.len() > 200 || name.starts_with(['.', ' ', '-']) || !name.chars().all(is_plain) {
        return Err(format!("{name:?} is not a plain name; files, models and recordings are named without folders"));
    }
    Ok(())
}

fn check_source(source: &Source, options: &Options) -> Result<(), Problem> {
    let Source::Recording(name) = source else { return Ok(()) };
    check_name(name).map_err(|message| Problem::field("source", message))?;
    if !is_file(&options.recordings().join(name)) {
        return Err(Problem::field("source", format!("there is no recording {name:?}; GET /api/v1/settings lists them")));
    }
    Ok(())
}

/// A file of its own: no link that leads elsewhere.
fn is_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|file| file.is_file())
}

fn text_of(fields: TopicFields, name: Option<&str>) -> Result<String, Problem> {
    let TopicFields { keywords, seeds, language } = fields;
    let name = name.unwrap_or("crawl").to_owned();
    let languages = language.into_iter().collect();
    let topic = NewTopic { name, keywords, seeds, languages, ..NewTopic::default() };
    topic.render().map_err(|error| Problem::field("topic_fields", error.to_string()))
}

/// A topic whose files are those of the server.
fn topic_of(text: &str, field: &str, files: &Path) -> Result<Topic, Problem> {
    if text.len() > MAX_TOPIC {
        return Err(Problem::field(field, format!("has {} bytes; {MAX_TOPIC} are allowed", text.len())));
    }
    let place = files.join("topic.toml");
    // What is no TOML is told by the topic itself, with its place; it names no files.
    if let Ok(table) = text.parse::<toml::Table>() {
        for name in named_files(&table) {
            check_name(name).map_err(|message| Problem::field(field, message))?;
            if !is_file(&files.join(name)) {
                return Err(Problem::field(field, format!("there is no file {name:?} in the server's folder `files`")));
            }
        }
    }
    let topic = Topic::parse(text, &place);
    let without_folder = |said: String| said.replace(&format!("{}/", files.display()), "");
    topic.map_err(|error| Problem::field(field, without_folder(error.to_string())))
}

/// All texts of a topic that name files.
fn named_files(table: &toml::Table) -> Vec<&str> {
    fn at<'t>(table: &'t toml::Table, path: &[&str]) -> Option<&'t toml::Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(table.get(*first)?, |value, key| value.as_table()?.get(*key))
    }
    let single = FILES.iter().filter_map(|path| at(table, path)).filter_map(toml::Value::as_str);
    let lists = LISTS.iter().filter_map(|path| at(table, path)).filter_map(toml::Value::as_array);
    single.chain(lists.flatten().filter_map(toml::Value::as_str)).collect()
}

fn order_of(name: &str) -> Result<Order, Problem> {
    use clap::ValueEnum;
    Order::from_str(name, false).map_err(|_| {
        let known: Vec<String> = orders();
        Problem::field("order", format!("there is no order {name:?}; known are {}", known.join(", ")))
    })
}

/// The names of all crawl orders.
pub fn orders() -> Vec<String> {
    use clap::ValueEnum;
    Order::value_variants().iter().filter_map(ValueEnum::to_possible_value).map(|value| value.get_name().to_owned()).collect()
}

fn bounded(field: &str, value: u64, least: u64, most: u64) -> Result<(), Problem> {
    if (least..=most).contains(&value) { Ok(()) } else { Err(Problem::field(field, format!("must be {least} to {most}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(toml: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("seeds.txt"), "http://e.com/\n").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link.txt")).unwrap();
        let text = format!("name = \"x\"\nkeywords = [\"rice\"]\n{toml}");
        topic_of(&text, "topic", folder.path()).map(|topic| topic.name).map_or_else(|problem| problem.detail, |_| String::new())
    }

    #[test]
    fn a_topic_from_outside_names_files_of_the_server_only() {
        assert_eq!(refused("seeds_file = \"seeds.txt\""), "");
        let seeds = "seeds = [\"http://e.com/\"]\n";
        for bad in [
            "seeds_file = \"/etc/passwd\"",
            "seeds_file = \"../secret\"",
            "seeds_file = \"link.txt\"",
            "seeds_file = \"missing.txt\"",
            "seeds = [\"http://e.com/\"]\nontology = \"/etc/passwd\"",
            "seeds = [\"http://e.com/\"]\ntext.user_dictionary = \"a/b\"",
            "seeds = [\"http://e.com/\"]\ntext = { user_dictionary = \"~/x\" }",
            "seeds = [\"http://e.com/\"]\n[examples]\npositive = [\"*.html\"]",
            "seeds = [\"http://e.com/\"]\n[examples]\nnegative = [\"..\"]",
            "seeds = [\"http://e.com/\"]\nexamples.\"positive\" = [\"/\"]",
        ] {
            let said = refused(bad);
            assert!(said.contains("plain name") || said.contains("there is no file"), "{bad}: {said:?}");
            assert!(!said.contains("root:"), "{bad}: {said}");
        }
        assert_eq!(refused(seeds), "");
    }

    #[test]
    fn a_topic_that_is_wrong_is_told_with_its_place_and_not_with_the_servers() {
        let said = refused("seed = 1");
        assert!(said.contains("topic.toml:3:1: unknown key \"seed\""), "{said}");
        assert!(!said.contains("/tmp"), "{said}");
        assert!(refused("seeds = [").contains("not valid TOML"));
    }
}

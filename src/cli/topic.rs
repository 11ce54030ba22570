//! `windrow topic`: write a topic file, and say how it is understood.
//!
//! Promises: a file that a person wrote is never overwritten unasked, and
//! nothing is written that `topic check` would refuse.
//! Exit codes: 0 all well, 2 a topic that cannot be used.

use std::{
    fmt::Write as _,
    fs::OpenOptions,
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::{columns, suggest};
use crate::topic::{Confidence, Findings, KeywordFinding, NewTopic, Place, SeedFindings, Topic, TopicError};

/// Exit code for a topic that cannot be used.
const INVALID: u8 = 2;
/// Pages of a new topic's crawl, where the user does not say: enough to see whether it finds anything.
const FIRST_CRAWL: u32 = 1_000;
/// Longest lists that are printed in full; `--json` prints all.
const MAX_ROWS: usize = 12;

/// Keywords and seeds: what a crawl is about.
#[derive(Debug, Args)]
pub struct TopicArgs {
    #[command(subcommand)]
    command: TopicCommand,
}

#[derive(Debug, Subcommand)]
enum TopicCommand {
    /// Write a topic file, every key of it explained
    New(NewArgs),
    /// Say how a topic file is understood, and what would help it
    Check(CheckArgs),
    /// Propose words that pages on the topic share, to make keywords of
    Suggest(suggest::SuggestArgs),
}

#[derive(Debug, Args)]
struct NewArgs {
    /// What reports call the topic
    name: String,
    /// Words of the topic, separated by commas (, ， 、); may be given again
    #[arg(long, short, required = true, value_name = "WORDS")]
    keywords: Vec<String>,
    /// Pages to start from
    #[arg(long, short, num_args = 1.., value_name = "URL", required_unless_present = "seeds_file")]
    seeds: Vec<String>,
    /// A file with more of them, one URL a line
    #[arg(long, value_name = "FILE")]
    seeds_file: Option<PathBuf>,
    /// Languages of the topic, zh or en; seen from the keywords if left out
    #[arg(long, value_delimiter = ',', value_name = "CODE")]
    language: Vec<String>,
    /// Pages after which the crawl stops; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = FIRST_CRAWL)]
    max_pages: u32,
    /// Where to write it [default: NAME.toml]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite a file that is there
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
struct CheckArgs {
    /// The topic file
    file: PathBuf,
}

/// Runs the command; `json` prints results for machines.
///
/// # Errors
/// What the user must hear that is no fault of a topic: a file that is in the way, or output that cannot be written.
pub fn run(args: &TopicArgs, json: bool) -> anyhow::Result<ExitCode> {
    execute(args, json, &mut io::stdout().lock(), &mut io::stderr().lock()).map(ExitCode::from)
}

fn execute(args: &TopicArgs, json: bool, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<u8> {
    match &args.command {
        TopicCommand::New(args) => new(args, json, out, err),
        TopicCommand::Check(args) => check(args, json, out, err),
        TopicCommand::Suggest(args) => match suggest::run(args, json, out) {
            Err(error) => match error.downcast_ref::<TopicError>() {
                Some(unusable) => refuse(unusable, json, out, err),
                None => Err(error),
            },
            code => code,
        },
    }
}

/// The answer for machines where a topic cannot be used.
#[derive(Serialize)]
struct Refused<'a> {
    valid: bool,
    error: String,
    place: &'a Place,
}

fn refuse(error: &TopicError, json: bool, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<u8> {
    if json {
        print_json(&Refused { valid: false, error: error.to_string(), place: error.place() }, out)?;
    } else {
        writeln!(err, "error: {error}")?;
    }
    Ok(INVALID)
}

fn print_json(value: &impl Serialize, out: &mut dyn Write) -> anyhow::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)?;
    Ok(())
}

fn new(args: &NewArgs, json: bool, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<u8> {
    let path = args.out.clone().unwrap_or_else(|| file_name(&args.name).into());
    let folder = path.parent().unwrap_or(Path::new(""));
    let topic = NewTopic {
        name: args.name.trim().to_owned(),
        keywords: split_keywords(&args.keywords),
        seeds: args.seeds.clone(),
        seeds_file: args.seeds_file.as_deref().map(|file| relative_to(file, folder)).transpose()?,
        languages: args.language.clone(),
        max_pages: args.max_pages,
    };
    // What is written is what `check` accepts: the text is read back before it reaches the disk.
    let text = match topic.render().and_then(|text| Topic::parse(&text, &path).map(|_| text)) {
        Ok(text) => text,
        Err(error) => return refuse(&error, json, out, err),
    };
    write_new(&path, &text, args.force)?;
    let next = format!("windrow topic check {}", quoted(&path));
    if json {
        print_json(&serde_json::json!({ "file": path, "next": next }), out)?;
    } else {
        writeln!(out, "wrote {}: {}", path.display(), contents_in_words(&topic))?;
        writeln!(out, "next: {next}")?;
    }
    Ok(0)
}

fn contents_in_words(topic: &NewTopic) -> String {
    let counted = |n: usize, thing: &str| format!("{n} {thing}{}", if n == 1 { "" } else { "s" });
    let file = topic.seeds_file.as_ref().map(|file| format!(", more seeds in {file}"));
    format!("{}, {}{}", counted(topic.keywords.len(), "keyword"), counted(topic.seeds.len(), "seed"), file.unwrap_or_default())
}

fn split_keywords(given: &[String]) -> Vec<String> {
    let words = given.iter().flat_map(|words| words.split([',', '，', '、']));
    words.map(str::trim).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

fn file_name(name: &str) -> String {
    let safe = |c: char| if c.is_whitespace() || c.is_control() || r#"/\:*?"<>|"#.contains(c) { '-' } else { c };
    format!("{}.toml", name.trim().chars().map(safe).collect::<String>())
}

/// How a file is named from `folder`: by a relative path where it lies in it, else by an absolute one.
fn relative_to(file: &Path, folder: &Path) -> anyhow::Result<String> {
    let absolute = |path: &Path| std::path::absolute(path).with_context(|| format!("{}: cannot be resolved", path.display()));
    let (file, folder) = (absolute(file)?, absolute(&Path::new(".").join(folder))?);
    Ok(file.strip_prefix(&folder).unwrap_or(&file).to_string_lossy().into_owned())
}

fn write_new(path: &Path, text: &str, force: bool) -> anyhow::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let mut file = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{} is there already: choose another name with --out, or overwrite it with --force", path.display())
        }
        opened => opened.with_context(|| format!("{}: cannot be written", path.display()))?,
    };
    file.write_all(text.as_bytes()).with_context(|| format!("{}: cannot be written", path.display()))
}

/// A path as it is typed into a shell.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    if plain { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// The answer for machines where a topic is valid.
#[derive(Serialize)]
struct Accepted<'a> {
    valid: bool,
    file: &'a Path,
    #[serde(flatten)]
    findings: Findings,
}

fn check(args: &CheckArgs, json: bool, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<u8> {
    let findings = match Topic::load(&args.file) {
        Ok(topic) => Findings::of(&topic),
        Err(error) => return refuse(&error, json, out, err),
    };
    if json {
        print_json(&Accepted { valid: true, file: &args.file, findings }, out)?;
    } else {
        out.write_all(in_words(&findings, &args.file)?.as_bytes())?;
    }
    Ok(0)
}

fn in_words(findings: &Findings, file: &Path) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    writeln!(text, "{} ({})\n", findings.name, findings.languages.join(", "))?;
    keywords_in_words(&mut text, &findings.keywords, &findings.repeated_keywords)?;
    text.push('\n');
    seed_hosts_in_words(&mut text, &findings.seeds)?;
    text.push('\n');
    let or = |list: &[String], none: &str| if list.is_empty() { none.to_owned() } else { list.join("; ") };
    let model = findings.model.as_deref().unwrap_or("none: the crawl learns from keywords, seeds and examples");
    for (label, value) in [
        ("Relevant", format!("from {:.2} on", findings.threshold)),
        ("Tunnel", format!("up to {} irrelevant pages in a row", findings.tunnel_depth)),
        ("Scope", or(&findings.scope, "every page on the web")),
        ("Stops after", or(&findings.limits, "nothing: you end it")),
        ("Model", model.to_owned()),
        ("Examples", format!("{} positive, {} negative", findings.positive_examples, findings.negative_examples)),
    ] {
        writeln!(text, "{label:<12} {value}")?;
    }
    let sure = match findings.confidence {
        Confidence::Low => "low",
        Confidence::Fair => "fair",
        Confidence::High => "high",
    };
    writeln!(text, "{:<12} {sure}: {}", "Confidence", findings.confidence_because)?;
    if !findings.advice.is_empty() {
        writeln!(text, "\nWhat would help most")?;
        for (at, advice) in findings.advice.iter().enumerate() {
            writeln!(text, "  {}. {advice}", at + 1)?;
        }
    }
    writeln!(text, "\nThe topic is valid. Next: windrow crawl {}", quoted(file))?;
    Ok(text)
}

fn keywords_in_words(text: &mut String, keywords: &[KeywordFinding], repeated: &[String]) -> std::fmt::Result {
    writeln!(text, "Keywords: {}", keywords.len())?;
    let rows: Vec<[String; 3]> = keywords
        .iter()
        .map(|keyword| {
            let weight =
                if (keyword.weight - 1.0).abs() < f64::EPSILON { String::new() } else { format!("weight {}", keyword.weight) };
            let weak = keyword.weakness.map(|weakness| format!("weak: {}", weakness.reason()));
            [keyword.text.clone(), keyword.words.join(" | "), [weight, weak.unwrap_or_default()].join("  ").trim().to_owned()]
        })
        .collect();
    write_columns(text, &rows)?;
    write_list(text, "said twice", repeated)
}

fn seed_hosts_in_words(text: &mut String, seeds: &SeedFindings) -> std::fmt::Result {
    writeln!(text, "Seeds: {} on {} {}", seeds.count, seeds.hosts.len(), if seeds.hosts.len() == 1 { "host" } else { "hosts" })?;
    let rows: Vec<[String; 2]> =
        seeds.hosts.iter().take(MAX_ROWS).map(|host| [host.host.clone(), host.seeds.to_string()]).collect();
    write_columns(text, &rows)?;
    if seeds.hosts.len() > MAX_ROWS {
        writeln!(text, "  … and {} more hosts", seeds.hosts.len() - MAX_ROWS)?;
    }
    write_list(text, "home pages", &seeds.site_roots)?;
    write_list(text, "the same page again", &seeds.repeated)?;
    let outside: Vec<String> = seeds.out_of_scope.iter().map(|outside| format!("{} ({})", outside.seed, outside.rule)).collect();
    write_list(text, "kept out by the scope", &outside)
}

/// A labelled list, shortened; nothing where it is empty.
fn write_list(text: &mut String, label: &str, items: &[String]) -> std::fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    writeln!(text, "  {label} ({}):", items.len())?;
    for item in items.iter().take(MAX_ROWS) {
        writeln!(text, "    {item}")?;
    }
    if items.len() > MAX_ROWS { writeln!(text, "    … and {} more", items.len() - MAX_ROWS) } else { Ok(()) }
}

fn write_columns<const N: usize>(text: &mut String, rows: &[[String; N]]) -> std::fmt::Result {
    text.write_str(&columns(rows))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use unicode_width::UnicodeWidthStr;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        topic: TopicArgs,
    }

    /// Exit code, standard output and standard error of `windrow topic …`.
    fn windrow(line: &[&str], json: bool) -> (u8, String, String) {
        let args = CommandLine::try_parse_from(["topic"].iter().chain(line)).unwrap().topic;
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = execute(&args, json, &mut out, &mut err).unwrap();
        (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
    }

    fn path_in(folder: &tempfile::TempDir, name: &str) -> String {
        folder.path().join(name).to_str().unwrap().to_owned()
    }

    #[test]
    fn a_new_topic_can_be_checked_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = path_in(&folder, "farm.toml");
        let (code, out, _) = windrow(
            &["new", "farm", "-k", "水稻，病虫害、crop rotation", "-k", "soil", "-s", "http://e.com/rice", "-o", &file],
            false,
        );
        assert_eq!(code, 0);
        assert!(out.contains(": 4 keywords, 1 seed\n") && out.ends_with(&format!("next: windrow topic check {file}\n")), "{out}");
        let (code, out, _) = windrow(&["check", &file], false);
        assert_eq!(code, 0);
        for said in ["farm (zh, en)", "crop | rotation", "Stops after  1000 pages", &format!("Next: windrow crawl {file}")] {
            assert!(out.contains(said), "{said} in {out}");
        }
    }

    #[test]
    fn a_file_that_is_there_is_overwritten_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let file = path_in(&folder, "farm.toml");
        std::fs::write(&file, "mine").unwrap();
        let line = ["new", "farm", "-k", "rice", "-s", "http://e.com/rice", "-o", &file, "--force"];
        let args = CommandLine::try_parse_from(["topic"].iter().chain(&line[..line.len() - 1])).unwrap().topic;
        let error = execute(&args, false, &mut Vec::new(), &mut Vec::new()).unwrap_err().to_string();
        assert!(error.ends_with("is there already: choose another name with --out, or overwrite it with --force"), "{error}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
        assert_eq!(windrow(&line, false).0, 0);
        assert!(Topic::load(Path::new(&file)).is_ok());
    }

    #[test]
    fn nothing_is_written_that_could_not_be_crawled() {
        let folder = tempfile::tempdir().unwrap();
        let file = path_in(&folder, "farm.toml");
        let (code, out, err) = windrow(&["new", "farm", "-k", "rice", "-s", "e.com", "-o", &file], false);
        assert_eq!((code, out.as_str()), (2, ""));
        assert!(err.contains("did you mean \"https://e.com\"?"), "{err}");
        assert!(!Path::new(&file).exists());
    }

    #[test]
    fn a_seeds_file_beside_the_topic_is_named_from_there() {
        let folder = tempfile::tempdir().unwrap();
        let (file, seeds) = (path_in(&folder, "farm.toml"), path_in(&folder, "my seeds.txt"));
        std::fs::write(&seeds, "http://e.com/rice\n").unwrap();
        assert_eq!(windrow(&["new", "farm", "-k", "rice", "--seeds-file", &seeds, "-o", &file], false).0, 0);
        assert!(std::fs::read_to_string(&file).unwrap().contains("\nseeds_file = \"my seeds.txt\"\n"));
    }

    #[test]
    fn an_invalid_topic_exits_with_2_and_says_where_in_words_and_for_machines() {
        let folder = tempfile::tempdir().unwrap();
        let file = path_in(&folder, "t.toml");
        std::fs::write(&file, "keyword = []\n").unwrap();
        let (code, out, err) = windrow(&["check", &file], false);
        assert_eq!(
            (code, out.as_str(), err),
            (2, "", format!("error: {file}:1:1: unknown key \"keyword\": did you mean \"keywords\"?\n"))
        );
        let (code, out, _) = windrow(&["check", &file], true);
        let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!((code, &answer["valid"], &answer["place"]["line"]), (2, &false.into(), &1.into()));
    }

    #[test]
    fn a_valid_topic_answers_machines_with_all_findings() {
        let folder = tempfile::tempdir().unwrap();
        let file = path_in(&folder, "t.toml");
        std::fs::write(&file, "keywords = [\"流计算\", \"表\"]\nseeds = [\"http://e.com\"]\n").unwrap();
        let answer: serde_json::Value = serde_json::from_str(&windrow(&["check", &file], true).1).unwrap();
        assert_eq!(answer["valid"], true);
        assert_eq!(answer["keywords"][0]["words"], serde_json::json!(["流计算", "流", "计算"]));
        assert_eq!(answer["keywords"][1]["weakness"], "single-character");
        assert_eq!(answer["seeds"]["site_roots"][0], "http://e.com/");
    }

    #[test]
    fn columns_line_up_under_wide_characters() {
        let mut text = String::new();
        let row = |a: &str, b: &str| [a.to_owned(), b.to_owned()];
        write_columns(&mut text, &[row("病虫害", "1"), row("rice", "2"), row("HTML5画布", "3")]).unwrap();
        let starts: Vec<usize> = text.lines().map(|line| line[..line.len() - 1].width()).collect();
        assert_eq!(starts, [13, 13, 13], "{text}");
    }

    #[test]
    fn names_become_safe_file_names() {
        assert_eq!(file_name(" 智慧 农业/zh "), "智慧-农业-zh.toml");
        assert_eq!(quoted(Path::new("a b'c.toml")), r"'a b'\''c.toml'");
    }
}

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
use unicode_width::UnicodeWidthStr;

use crate::topic::{Findings, KeywordFinding, NewTopic, Place, SeedFindings, Topic, TopicError};

/// Exit code for a topic that cannot be used.
const INVALID: u8 = 2;
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
    }
}

/// The answer for machines where a topic cannot be used.
#[derive(Serialize)]
struct Invalid<'a> {
    valid: bool,
    error: String,
    place: &'a Place,
}

fn refuse(error: &TopicError, json: bool, out: &mut dyn Write, err: &mut dyn Write) -> anyhow::Result<u8> {
    if json {
        print_json(&Invalid { valid: false, error: error.to_string(), place: error.place() }, out)?;
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
    };
    // What is written is what `check` accepts: the text is read back before it reaches the disk.
    let text = match topic.render().and_then(|text| Topic::parse(text.clone(), &path).map(|_| text)) {
        Ok(text) => text,
        Err(error) => return refuse(&error, json, out, err),
    };
    write_new(&path, &text, args.force)?;
    let next = format!("windrow topic check {}", quoted(&path));
    if json {
        print_json(&serde_json::json!({ "file": path, "next": next }), out)?;
    } else {
        writeln!(out, "wrote {}: {} keywords, {} seeds", path.display(), topic.keywords.len(), seeds_in_words(&topic))?;
        writeln!(out, "next: {next}")?;
    }
    Ok(0)
}

fn seeds_in_words(topic: &NewTopic) -> String {
    match &topic.seeds_file {
        Some(file) if topic.seeds.is_empty() => format!("those in {file} as"),
        Some(file) => format!("{} and those in {file} as", topic.seeds.len()),
        None => topic.seeds.len().to_string(),
    }
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
struct Valid<'a> {
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
        print_json(&Valid { valid: true, file: &args.file, findings }, out)?;
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

/// Rows in columns; a Han character is two columns wide on a terminal.
fn write_columns<const N: usize>(text: &mut String, rows: &[[String; N]]) -> std::fmt::Result {
    let widths: [usize; N] = std::array::from_fn(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or_default());
    for row in rows {
        let mut line = String::from(" ");
        for (cell, width) in row.iter().zip(widths) {
            write!(line, " {cell}{}", " ".repeat(width - cell.width() + 1))?;
        }
        writeln!(text, "{}", line.trim_end())?;
    }
    Ok(())
}

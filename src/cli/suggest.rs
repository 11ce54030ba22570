//! `windrow topic suggest`: which words the pages on a topic have in common, for the user to take or leave (step 4 of the
//! customizable focused crawler's topic definition, systems.md 4).
//!
//! Promises: pages of the web are fetched by a crawl of their own, under the same robots.txt and pace; the topic file keeps
//! its comments, and is written only if it still is a topic; all of it works without a terminal.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{IsTerminal, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, ensure};
use clap::Args;
use dialoguer::{MultiSelect, theme::ColorfulTheme};
use serde::Serialize;

use super::{columns, crawl::crawl, progress::Show, shortened};
use crate::{
    config::Config,
    page::{Outcome, Outlink, TermBag},
    parse::{Document, ParseConfig, parse},
    session::{Start, fetcher_of},
    store::Store,
    text::Segmenter,
    topic::{Suggestion, Topic, TopicEditor, suggest},
    url::{Url, site_of},
};

#[derive(Debug, Args)]
pub(super) struct SuggestArgs {
    /// The topic file
    file: PathBuf,
    /// Pages to look at: addresses, HTML or text files, folders of them, or folders of crawls [default: the topic's seeds]
    #[arg(value_name = "PAGES")]
    pages: Vec<String>,
    /// Take the pages that a search-results page names: the page as your browser saved it (HTML)
    #[arg(long, value_name = "HTML")]
    results: Vec<PathBuf>,
    /// Of these pages, those that are not about the topic: what they have in common does not count
    #[arg(long, value_name = "PAGE", value_delimiter = ',')]
    off: Vec<String>,
    /// Take addresses from a recorded web instead of the live one; may be given again
    #[arg(long, value_name = "WARC", num_args = 1..)]
    replay: Vec<PathBuf>,
    /// Words to propose
    #[arg(long, short, value_name = "N", default_value_t = 30)]
    number: usize,
    /// Make keywords of these words, proposed or not
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    accept: Vec<String>,
    /// Propose these words no more, and take them out of the keywords
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    reject: Vec<String>,
    /// Never cut these words apart ([text] words)
    #[arg(long, value_name = "WORDS", value_delimiter = ',')]
    word: Vec<String>,
    /// Configuration file (`windrow config` prints one)
    #[arg(long, value_name = "TOML")]
    config: Option<PathBuf>,
}

/// A page that words are taken from.
#[derive(Debug, Clone, Serialize)]
struct Page {
    name: String,
    title: String,
    on_topic: bool,
    #[serde(skip)]
    terms: TermBag,
}

/// The answer for machines.
#[derive(Serialize)]
struct Answer<'a> {
    file: &'a Path,
    pages: &'a [Page],
    suggestions: &'a [Suggestion],
    keywords_added: usize,
    keywords_removed: usize,
    words_added: usize,
}

pub(super) fn run(args: &SuggestArgs, json: bool, out: &mut dyn Write) -> anyhow::Result<u8> {
    let topic = Topic::load(&args.file)?;
    let mut pages = gather(args, &topic)?;
    ensure!(!pages.is_empty(), "no page could be read: give addresses, files, a folder of HTML, or the folder of a crawl");
    let mut choice = Choice { accepted: args.accept.clone(), rejected: args.reject.clone(), words: args.word.clone() };
    let asked = choice.is_empty() && !json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let found =
        if asked { choose(&mut pages, &topic, args.number, &mut choice)? } else { propose(&pages, &topic, &choice, args.number) };
    let counts = choice.write(&args.file)?;
    let [keywords_added, keywords_removed, words_added] = counts;
    if json {
        let answer =
            Answer { file: &args.file, pages: &pages, suggestions: &found, keywords_added, keywords_removed, words_added };
        serde_json::to_writer_pretty(&mut *out, &answer)?;
        writeln!(out)?;
    } else {
        if !asked {
            out.write_all(table(&found).as_bytes())?;
        }
        writeln!(
            out,
            "{}: {keywords_added} keywords added, {keywords_removed} removed, {words_added} words for the segmenter",
            args.file.display()
        )?;
    }
    Ok(0)
}

/// What the user wants of the words.
#[derive(Debug, Default)]
struct Choice {
    accepted: Vec<String>,
    rejected: Vec<String>,
    words: Vec<String>,
}

impl Choice {
    fn is_empty(&self) -> bool {
        self.accepted.is_empty() && self.rejected.is_empty() && self.words.is_empty()
    }

    /// Changes the file; how many keywords were added and removed, and how many words added.
    fn write(&self, file: &Path) -> anyhow::Result<[usize; 3]> {
        let mut editor = TopicEditor::open(file)?;
        let counts =
            [editor.add_keywords(&self.accepted)?, editor.remove_keywords(&self.rejected)?, editor.add_words(&self.words)?];
        if counts != [0; 3] {
            Topic::parse(&editor.to_string(), file).context("with these words it would be no topic; nothing was changed")?;
            editor.save(file)?;
        }
        Ok(counts)
    }
}

/// The words that pages on the topic share, without those that were rejected.
fn propose(pages: &[Page], topic: &Topic, choice: &Choice, number: usize) -> Vec<Suggestion> {
    let of = |on_topic: bool| pages.iter().filter(move |page| page.on_topic == on_topic).map(|page| &page.terms);
    let (interesting, background): (Vec<&TermBag>, Vec<&TermBag>) = (of(true).collect(), of(false).collect());
    let mut found = suggest(&interesting, &background, &topic.keywords, number + choice.rejected.len());
    found.retain(|suggestion| !choice.rejected.contains(&suggestion.word));
    found.truncate(number);
    found
}

/// Lists of pages and words at the terminal, over and over until the user takes no further word.
fn choose(pages: &mut [Page], topic: &Topic, number: usize, choice: &mut Choice) -> anyhow::Result<Vec<Suggestion>> {
    let theme = ColorfulTheme::default();
    loop {
        let names: Vec<String> =
            pages.iter().map(|page| format!("{}  {}", shortened(&page.title, 40), shortened(&page.name, 60))).collect();
        let marked: Vec<bool> = pages.iter().map(|page| page.on_topic).collect();
        let prompt = "Pages about the topic (space marks, enter goes on, escape ends)";
        let Some(on_topic) = list(&theme, prompt, &names, &marked)? else { return Ok(Vec::new()) };
        for (at, page) in pages.iter_mut().enumerate() {
            page.on_topic = on_topic.contains(&at);
        }
        let mut found = propose(pages, topic, choice, number);
        found.retain(|suggestion| !suggestion.is_keyword && !choice.accepted.contains(&suggestion.word));
        if found.is_empty() {
            return Ok(found);
        }
        let rows: Vec<String> = table(&found).lines().map(|line| line.trim().to_owned()).collect();
        let prompt = "Words to make keywords of; those not marked are proposed no more";
        let Some(taken) = list(&theme, prompt, &rows, &vec![false; rows.len()])? else { return Ok(found) };
        if taken.is_empty() {
            return Ok(found);
        }
        for (at, suggestion) in found.into_iter().enumerate() {
            if taken.contains(&at) { choice.accepted.push(suggestion.word) } else { choice.rejected.push(suggestion.word) }
        }
    }
}

fn list(theme: &ColorfulTheme, prompt: &str, items: &[String], marked: &[bool]) -> anyhow::Result<Option<Vec<usize>>> {
    let select = MultiSelect::with_theme(theme).with_prompt(prompt).items(items).defaults(marked).report(false);
    select.interact_opt().context("the terminal cannot be read")
}

fn table(found: &[Suggestion]) -> String {
    let rows: Vec<[String; 5]> = found
        .iter()
        .map(|suggestion| {
            [
                suggestion.word.clone(),
                format!("tf-idf {:.3}", suggestion.tfidf),
                format!("log-odds {:.1}", suggestion.log_odds),
                format!("on {} pages, {} others", suggestion.pages, suggestion.background_pages),
                if suggestion.is_keyword { "keyword".to_owned() } else { String::new() },
            ]
        })
        .collect();
    columns(&rows)
}

/// All pages that were named, or the topic's seeds, with its examples.
fn gather(args: &SuggestArgs, topic: &Topic) -> anyhow::Result<Vec<Page>> {
    let segmenter = topic.segmenter();
    let (mut pages, mut addresses) = (Vec::new(), Vec::new());
    for name in args.pages.iter().chain(&args.off) {
        let path = Path::new(name);
        if path.exists() && Store::exists(path) {
            pages.extend(of_crawl(path)?);
        } else if path.exists() {
            pages.extend(of_files(path, &segmenter)?);
        } else {
            addresses.push(name.clone());
        }
    }
    for results in &args.results {
        let found = results_of(results, &segmenter)?;
        ensure!(
            !found.is_empty(),
            "{} names no page of another site: save the page of results itself, as HTML",
            results.display()
        );
        addresses.extend(found);
    }
    if args.pages.is_empty() && args.results.is_empty() {
        addresses.extend(topic.seeds.iter().map(Url::to_string));
        for (paths, on_topic) in [(&topic.examples.positive, true), (&topic.examples.negative, false)] {
            for path in paths {
                pages.extend(of_files(path, &segmenter)?.into_iter().map(|page| Page { on_topic, ..page }));
            }
        }
    }
    if !addresses.is_empty() {
        pages.extend(of_web(&addresses, args, topic)?);
    }
    let off: BTreeSet<&str> = args.off.iter().map(String::as_str).collect();
    for page in &mut pages {
        let is_off = off.contains(page.name.as_str()) || args.off.iter().any(|off| Path::new(&page.name).starts_with(off));
        page.on_topic &= !is_off;
    }
    Ok(pages)
}

/// Results taken of one page of them.
const RESULTS: usize = 30;

/// The pages that a saved search-results page names, in its order. The search engine's own, which most of its links lead to, and
/// those in its menus are left out.
fn results_of(file: &Path, segmenter: &Segmenter) -> anyhow::Result<Vec<String>> {
    let body = fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    // Links within the engine's site are mostly relative, and so stay on this host.
    let url = Url::parse("http://engine.invalid/")?;
    let document = Document { url: &url, content_type: Some("text/html"), body: &body };
    let page = parse(&document, segmenter, &ParseConfig::default()).with_context(|| file.display().to_string())?;
    let named = |outlink: &Outlink| page.canonical.as_ref().is_none_or(|own| site_of(own) != site_of(&outlink.url));
    let mut sites: BTreeMap<&str, usize> = BTreeMap::new();
    for outlink in &page.outlinks {
        *sites.entry(site_of(&outlink.url)).or_default() += 1;
    }
    let half = page.outlinks.len() / 2;
    let results = page.outlinks.iter().filter(|outlink| !outlink.context.navigation && named(outlink));
    let results = results.filter(|outlink| {
        let site = site_of(&outlink.url);
        site != site_of(&url) && (sites.len() < 3 || sites.get(site).is_none_or(|&links| links <= half))
    });
    let mut seen = BTreeSet::new();
    Ok(results.map(|outlink| outlink.url.to_string()).filter(|url| seen.insert(url.clone())).take(RESULTS).collect())
}

/// The pages of a crawl; its judgement says which are on the topic, a person's label where there is one.
fn of_crawl(dir: &Path) -> anyhow::Result<Vec<Page>> {
    let store = Store::open(dir)?;
    let labels = store.labels()?;
    let mut pages = Vec::new();
    for page in store.pages(1)? {
        let page = page?;
        if page.outcome == Outcome::Fetched {
            pages.push(Page {
                on_topic: labels.get(page.fingerprint).unwrap_or(page.relevant),
                terms: page.terms,
                name: page.url,
                title: page.title,
            });
        }
    }
    Ok(pages)
}

/// The pages of a file, or of all HTML and text files in a folder, by name.
fn of_files(path: &Path, segmenter: &Segmenter) -> anyhow::Result<Vec<Page>> {
    let is_page = |path: &PathBuf| {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        ending.is_some_and(|ending| ["html", "htm", "xhtml", "txt", "md"].contains(&ending.as_str()))
    };
    let mut files = vec![path.to_owned()];
    if path.is_dir() {
        let entries = fs::read_dir(path).with_context(|| format!("{} cannot be read", path.display()))?;
        files = entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>()?;
        files.retain(is_page);
        files.sort_unstable();
    }
    // Where the page came from does not matter: its links are not followed.
    let url = Url::parse("http://example.invalid/")?;
    files
        .into_iter()
        .map(|file| {
            let body = fs::read(&file).with_context(|| format!("{} cannot be read", file.display()))?;
            let is_text = file.extension().is_some_and(|ending| ending == "txt" || ending == "md");
            let document =
                Document { url: &url, content_type: Some(if is_text { "text/plain" } else { "text/html" }), body: &body };
            let page = parse(&document, segmenter, &ParseConfig::default()).with_context(|| file.display().to_string())?;
            Ok(Page { name: file.display().to_string(), title: page.title, on_topic: true, terms: page.terms })
        })
        .collect()
}

/// Pages of the web, or of a recorded one, by a crawl of nothing but them.
fn of_web(addresses: &[String], args: &SuggestArgs, topic: &Topic) -> anyhow::Result<Vec<Page>> {
    let config = args.config.as_deref().map(Config::load).transpose()?.unwrap_or_default();
    let fetcher = fetcher_of(&config, &args.replay, false)?;
    let quoted = |texts: Vec<&str>| serde_json::to_string(&texts).unwrap_or_default();
    let keywords = quoted(topic.keywords.iter().map(|keyword| keyword.text.as_str()).collect());
    let seeds = quoted(addresses.iter().map(String::as_str).collect());
    let text = format!("name = \"pages\"\nkeywords = {keywords}\nseeds = {seeds}\n[tunnel]\ndepth = 0\n[scope]\nmax_depth = 0\n");
    let pages = Topic::parse(&text, &args.file)?;
    let folder = tempfile::tempdir().context("no temporary folder can be made")?;
    let start = Start { topic: &pages, config: &config, model: None, max_pages: None, accept_changes: false };
    crawl(start, fetcher, folder.path(), None, Show::new(false, false))?;
    let mut found = of_crawl(folder.path())?;
    for page in &mut found {
        page.on_topic = true;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct CommandLine {
        #[command(flatten)]
        suggest: SuggestArgs,
    }

    const TOPIC: &str = "# mine\nname = \"t\"\nkeywords = [\n    \"水稻\", # the grain\n]\nseeds = [\"http://e.com/x\"]\n";

    fn folder() -> (tempfile::TempDir, String, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (topic, pages) = (path("t.toml"), path("pages"));
        fs::write(&topic, TOPIC).unwrap();
        fs::create_dir(&pages).unwrap();
        for (name, text) in [
            ("a.html", "水稻 病虫害 防治 技术"),
            ("b.html", "小麦 病虫害 防治"),
            ("c.txt", "病虫害 水稻 育秧"),
            ("d.html", "足球 比赛 技术"),
        ] {
            fs::write(folder.path().join("pages").join(name), format!("<title>{name}</title><p>{text}</p>")).unwrap();
        }
        (folder, topic, pages)
    }

    fn suggest_to(line: &[&str]) -> (serde_json::Value, String) {
        let args = CommandLine::try_parse_from(["suggest"].iter().chain(line)).unwrap().suggest;
        let mut out = Vec::new();
        run(&args, true, &mut out).unwrap();
        (serde_json::from_slice(&out).unwrap(), fs::read_to_string(line[0]).unwrap())
    }

    #[test]
    fn words_are_proposed_from_a_folder_and_nothing_is_written_unasked() {
        let (_folder, topic, pages) = folder();
        let off = format!("{pages}/d.html");
        let (answer, text) = suggest_to(&[&topic, &pages, "--off", &off]);
        let words: Vec<&str> = answer["suggestions"].as_array().unwrap().iter().map(|s| s["word"].as_str().unwrap()).collect();
        assert!(words.contains(&"病虫害") && !words.contains(&"足球"), "{words:?}");
        assert_eq!(text, TOPIC);
    }

    #[test]
    fn results_are_what_a_saved_page_of_them_names_on_other_sites() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("results.html");
        let result =
            |n: u32| format!("<div><h3><a href='https://farm{n}.example/rice'>水稻 {n}</a></h3><p>水稻病虫害防治</p></div>");
        let own: Vec<String> = (0..12).map(|n| format!("<a href='https://engine.example/more{n}'>more {n}</a> ")).collect();
        let own = own.concat();
        let html = format!(
            "<nav><a href='https://ads.example/'>ads</a></nav>{}{}<p><a href='/next'>next</a> {own}</p>",
            result(1),
            result(2)
        );
        fs::write(&file, html).unwrap();
        let found = results_of(&file, &Segmenter::shared()).unwrap();
        assert_eq!(found, ["https://farm1.example/rice", "https://farm2.example/rice"]);
    }

    #[test]
    fn accepted_words_become_keywords_and_comments_stay() {
        let (_folder, topic, pages) = folder();
        let line = [topic.as_str(), &pages, "--accept", "病虫害,小麦", "--reject", "水稻", "--word", "育秧盘"];
        let (answer, text) = suggest_to(&line);
        assert_eq!((&answer["keywords_added"], &answer["keywords_removed"]), (&2.into(), &1.into()));
        assert!(text.starts_with("# mine\n") && text.contains("病虫害") && text.contains("育秧盘"), "{text}");
        assert!(Topic::load(Path::new(&topic)).is_ok());
    }

    #[test]
    fn words_that_would_leave_no_topic_are_refused_and_nothing_is_changed() {
        let (_folder, topic, pages) = folder();
        let args = CommandLine::try_parse_from(["suggest", &topic, &pages, "--reject", "水稻"]).unwrap().suggest;
        let error = run(&args, true, &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("nothing was changed"), "{error}");
        assert_eq!(fs::read_to_string(&topic).unwrap(), TOPIC);
    }
}

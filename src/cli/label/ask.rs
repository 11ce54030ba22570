//! Asking for labels, page by page, at a terminal or from a file of keys.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use crate::{
    session::Question,
    store::PageLabels,
    url::{Fingerprint, canonicalize},
};
use anyhow::Context;
use console::{Key, Term, style};

/// What a person answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    Skip,
    Undo,
    Quit,
}

impl Answer {
    fn of(key: char) -> Option<Self> {
        Some(match key.to_ascii_lowercase() {
            'y' => Self::Yes,
            'n' => Self::No,
            's' => Self::Skip,
            'u' => Self::Undo,
            'q' => Self::Quit,
            _ => return None,
        })
    }
}

/// What was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tally {
    pub(super) yes: usize,
    pub(super) no: usize,
    pub(super) skipped: usize,
}

/// Where answers come from; `None` when there are no more.
pub(super) type Answers<'a> = dyn FnMut() -> anyhow::Result<Option<Answer>> + 'a;

/// Puts the questions one after the other, and writes each label to disk as it is given.
pub(super) fn ask(
    questions: &[Question],
    labels: &mut PageLabels,
    answers: &mut Answers<'_>,
    screen: &mut dyn Write,
) -> anyhow::Result<Tally> {
    let mut given: Vec<Answer> = Vec::new();
    let mut before: Vec<Option<bool>> = Vec::new();
    while let Some(question) = questions.get(given.len()) {
        show(question, given.len() + 1, questions.len(), screen)?;
        match answers()? {
            None | Some(Answer::Quit) => break,
            Some(Answer::Undo) => {
                let Some(last) = given.pop() else { continue };
                let page = &questions[given.len()];
                if let (Answer::Yes | Answer::No, Some(earlier)) = (last, before.pop()) {
                    put(labels, page, earlier)?;
                }
            }
            Some(Answer::Skip) => {
                before.push(None);
                given.push(Answer::Skip);
            }
            Some(answer) => {
                before.push(page_of(question).and_then(|page| labels.get(page)));
                put(labels, question, Some(answer == Answer::Yes))?;
                given.push(answer);
            }
        }
    }
    let count = |answer: Answer| given.iter().filter(|&&one| one == answer).count();
    Ok(Tally { yes: count(Answer::Yes), no: count(Answer::No), skipped: count(Answer::Skip) })
}

fn page_of(question: &Question) -> Option<Fingerprint> {
    canonicalize(&question.url, None).ok().map(|url| Fingerprint::of(&url))
}

fn put(labels: &mut PageLabels, question: &Question, label: Option<bool>) -> anyhow::Result<()> {
    match label {
        Some(relevant) => labels.set(&question.url, relevant).map_err(anyhow::Error::msg)?,
        None => page_of(question).into_iter().for_each(|page| labels.remove(page)),
    }
    Ok(labels.save()?)
}

fn show(question: &Question, at: usize, of: usize, screen: &mut dyn Write) -> io::Result<()> {
    let marked = |(text, marked): &(String, bool)| {
        if *marked { style(text).for_stderr().bold().yellow().to_string() } else { text.clone() }
    };
    let passage: String = question.pieces.iter().map(marked).collect();
    let title = style(&question.title).for_stderr().bold();
    writeln!(screen, "\n[{at}/{of}] {title}\n{}\n{passage}", question.url)?;
    write!(screen, "About the topic? (y)es (n)o (s)kip (u)ndo (q)uit; the crawl says {:.2} ", question.relevance)?;
    screen.flush()
}

/// Single keys of the terminal; other keys than the five are passed over.
pub(super) fn keys_of_terminal() -> Box<Answers<'static>> {
    let terminal = Term::stderr();
    Box::new(move || {
        loop {
            match terminal.read_key().context("the terminal cannot be read")? {
                Key::Char(key) => {
                    if let Some(answer) = Answer::of(key) {
                        return Ok(Some(answer));
                    }
                }
                Key::Escape | Key::CtrlC => return Ok(None),
                _ => {}
            }
        }
    })
}

/// Keys from a file, one a line; empty lines are passed over.
pub(super) fn keys_of_file(path: &Path) -> anyhow::Result<Box<Answers<'static>>> {
    let text = fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let mut keys = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let answer = line.trim().chars().next().and_then(Answer::of);
        let wrong = || format!("{}, line {}: {line:?} is none of y, n, s, u, q", path.display(), at + 1);
        keys.push(answer.with_context(wrong)?);
    }
    let mut keys = keys.into_iter();
    Ok(Box::new(move || Ok(keys.next())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::WhyLabel;

    fn question(url: &str) -> Question {
        Question {
            seq: 1,
            url: url.to_owned(),
            title: "t".to_owned(),
            relevance: 0.5,
            why: WhyLabel::Unsure,
            passage: String::new(),
            words: Vec::new(),
            pieces: vec![("rice".to_owned(), true), (" field".to_owned(), false)],
        }
    }

    fn labelled(keys: &str) -> (Tally, String) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys");
        fs::write(&file, keys.chars().map(String::from).collect::<Vec<_>>().join("\n")).unwrap();
        let mut labels = PageLabels::load(folder.path()).unwrap();
        let questions = ["http://e.com/a", "http://e.com/b", "http://e.com/c"].map(question);
        let tally = ask(&questions, &mut labels, &mut keys_of_file(&file).unwrap(), &mut io::sink()).unwrap();
        (tally, PageLabels::load(folder.path()).unwrap().to_tsv())
    }

    #[test]
    fn every_answer_is_on_disk_and_the_last_one_can_be_taken_back() {
        assert_eq!(labelled("yn"), (Tally { yes: 1, no: 1, skipped: 0 }, "http://e.com/a\tyes\nhttp://e.com/b\tno\n".into()));
        assert_eq!(labelled("yunq"), (Tally { yes: 0, no: 1, skipped: 0 }, "http://e.com/a\tno\n".into()));
        assert_eq!(labelled("ysuuq"), (Tally::default(), String::new()));
        assert_eq!(labelled("usy"), (Tally { yes: 1, no: 0, skipped: 1 }, "http://e.com/b\tyes\n".into()));
    }

    #[test]
    fn a_key_that_means_nothing_is_named_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("keys");
        fs::write(&file, "y\nmaybe\n").unwrap();
        let error = keys_of_file(&file).map(drop).unwrap_err().to_string();
        assert!(error.contains("line 2: \"maybe\""), "{error}");
    }
}

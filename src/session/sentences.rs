//! [`Why`] in plain sentences, in English or Chinese, for readers who do not want tables.
//!
//! Promises: a sentence says only what the value says.

use super::{Why, WhyPage};
use crate::{
    engine::{LinkReasons, PageReasons, TermPart},
    page::Outcome,
};

/// Words named on each side.
const WORDS: usize = 6;

/// The sentences, the most telling first.
#[must_use]
pub fn sentences(why: &Why, chinese: bool) -> Vec<String> {
    let mut said = Vec::new();
    match (&why.page, &why.link) {
        (Some(page), _) => of_page(why, page, chinese, &mut said),
        (None, Some(link)) => of_link(link, chinese, &mut said),
        (None, None) => said.push(pick(
            chinese,
            || "这个网址从未进入爬取：没有页面链接到它，或者被规则拒绝。".to_owned(),
            || "The crawl never took this URL in: no page links to it, or a rule refused it.".to_owned(),
        )),
    }
    if let Some(rule) = why.rules.scope {
        said.push(pick(chinese, || format!("范围规则 {rule} 拒绝它。"), || format!("The scope's rule {rule} refuses it.")));
    }
    if why.rules.quarantined {
        let template = &why.rules.template;
        said.push(pick(
            chinese,
            || format!("它的网址模板 {template} 已被隔离。"),
            || format!("Its URL template {template} is in quarantine."),
        ));
    }
    let links = why.links;
    said.push(match links {
        0 => pick(chinese, || "没有已抓取的页面链接到它。".to_owned(), || "No fetched page links to it.".to_owned()),
        _ => pick(chinese, || format!("有 {links} 个链接指向它。"), || format!("{links} links lead to it.")),
    });
    if let Some(first) = why.path.first() {
        let (steps, url) = (why.path.len(), &first.url);
        said.push(pick(
            chinese,
            || format!("从种子 {url} 出发经过 {steps} 步到达它。"),
            || format!("It was reached from the seed {url} in {steps} steps."),
        ));
    }
    said
}

fn pick(chinese: bool, zh: impl FnOnce() -> String, en: impl FnOnce() -> String) -> String {
    if chinese { zh() } else { en() }
}

fn of_page(why: &Why, page: &WhyPage, chinese: bool, said: &mut Vec<String>) {
    if let Some(reasons) = &page.reasons {
        judged(why, page, reasons, chinese, said);
    } else {
        let reason = page.reason.clone().unwrap_or_default();
        let outcome = page.outcome;
        said.push(pick(
            chinese,
            || format!("这个网址的结果是 {outcome}：{reason}。"),
            || format!("What became of it: {outcome}. {reason}"),
        ));
    }
    if let Some(copy) = &page.copy_of {
        said.push(pick(chinese, || format!("它与 {} 的内容相同或几乎相同。", copy.url), || format!("It repeats {}.", copy.url)));
    }
    if let Some(relevant) = page.label {
        said.push(pick(
            chinese,
            || format!("有人标注它{}主题。", if relevant { "属于" } else { "不属于" }),
            || format!("A person said that it is {}about the topic.", if relevant { "" } else { "not " }),
        ));
    }
    if page.outcome == Outcome::Fetched && !page.evidence.is_empty() {
        let expected = page.estimate;
        said.push(pick(
            chinese,
            || format!("抓取之前，链接分类器预期它的相关度为 {expected:.2}。"),
            || format!("Before it was fetched, the link classifier expected {expected:.2} of it."),
        ));
    }
}

fn judged(why: &Why, page: &WhyPage, reasons: &PageReasons, chinese: bool, said: &mut Vec<String>) {
    let (relevance, threshold) = (reasons.relevance, why.threshold);
    let relevant = relevance >= threshold;
    said.push(pick(
        chinese,
        || format!("相关度 {relevance:.2}，{}（阈值 {threshold:.2}）。", if relevant { "算作相关" } else { "算作不相关" }),
        || {
            format!(
                "Its relevance is {relevance:.2}: {} from {threshold:.2} on a page counts.",
                if relevant { "relevant, since" } else { "not relevant;" }
            )
        },
    ));
    if page.keywords.is_empty() {
        said.push(pick(chinese, || "它不含任何关键词。".to_owned(), || "It holds none of the keywords.".to_owned()));
    } else {
        let list = page.keywords.join(if chinese { "、" } else { ", " });
        said.push(pick(chinese, || format!("它含有关键词：{list}。"), || format!("It holds the keywords {list}.")));
    }
    for (parts, zh, en) in [(&reasons.for_it, "支持", "for"), (&reasons.against_it, "反对", "against")] {
        let words: Vec<&str> = parts.iter().take(WORDS).map(|TermPart { word, .. }| word.as_str()).collect();
        if !words.is_empty() {
            let list = words.join(if chinese { "、" } else { ", " });
            said.push(pick(chinese, || format!("{zh}它的词：{list}。"), || format!("Words that speak {en} it: {list}.")));
        }
    }
}

fn of_link(link: &LinkReasons, chinese: bool, said: &mut Vec<String>) {
    let (place, of, estimate) = (link.place, link.of, link.estimate);
    said.push(pick(
        chinese,
        || format!("它在等待抓取：队列中第 {place} 位，共 {of} 个；预期相关度 {estimate:.2}。"),
        || format!("It waits: place {place} of {of} in the queue; {estimate:.2} is expected of it."),
    ));
    let parts: Vec<&str> = link.evidence.iter().filter(|part| part.part > 0.0).take(3).map(|part| part.name).collect();
    if !parts.is_empty() {
        let list = parts.join(if chinese { "、" } else { ", " });
        said.push(pick(chinese, || format!("最有力的依据：{list}。"), || format!("What speaks most for it: {list}.")));
    }
    if link.tries > 0 {
        let tries = link.tries;
        said.push(pick(chinese, || format!("已尝试 {tries} 次。"), || format!("It was tried {tries} times in vain.")));
    }
}

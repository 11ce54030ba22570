//! What windrow understands of a topic, and what would help it most.
//!
//! Promises: looks at nothing but the topic; every piece of advice says what to do.

use serde::Serialize;

use super::{background::Background, definition::Topic, keyword::Keyword};
use crate::{
    text::{Segmenter, is_stop_word},
    url::{ScopeConfig, Url, authority, host_of, same_page_key},
};

/// A keyword this common in general text tells one topic from another hardly at all: about the 300 most common words.
const COMMON: f64 = 3e-4;
/// Fewer keywords than this leave too much to chance.
const FEW_KEYWORDS: usize = 3;
/// Fewer example pages than this teach the classifier little.
const FEW_EXAMPLES: usize = 5;

/// All that `topic check` reports.
#[derive(Debug, Clone, Serialize)]
pub struct Findings {
    pub name: String,
    /// ISO 639-1 codes.
    pub languages: Vec<&'static str>,
    pub keywords: Vec<KeywordFinding>,
    pub repeated_keywords: Vec<String>,
    pub seeds: SeedFindings,
    pub threshold: f64,
    pub tunnel_depth: u8,
    /// The scope's rules as sentences; empty where every page may be fetched.
    pub scope: Vec<String>,
    /// The limits and stop rules as sentences; empty where nothing but the user stops the crawl.
    pub limits: Vec<String>,
    pub model: Option<String>,
    pub positive_examples: usize,
    pub negative_examples: usize,
    /// How well pages can be judged before anything is crawled or labelled, and from what.
    pub confidence: Confidence,
    pub confidence_because: String,
    /// What would help, the most important first.
    pub advice: Vec<String>,
}

/// How well a crawl can judge its first pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    Low,
    Fair,
    High,
}

/// How one keyword was understood.
#[derive(Debug, Clone, Serialize)]
pub struct KeywordFinding {
    pub text: String,
    /// The words it is matched by.
    pub words: Vec<String>,
    pub weight: f64,
    pub weakness: Option<Weakness>,
}

/// Why a keyword helps little.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weakness {
    SingleCharacter,
    StopWords,
    Common,
}

impl Weakness {
    /// The reason in words.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::SingleCharacter => "one character: it means too many things",
            Self::StopWords => "only stop words: nearly every page holds them",
            Self::Common => "very common: pages on any topic hold it",
        }
    }
}

/// What is to be said of the seeds.
#[derive(Debug, Clone, Serialize)]
pub struct SeedFindings {
    pub count: usize,
    /// Hosts with their seeds, most seeds first.
    pub hosts: Vec<HostSeeds>,
    /// Written seeds that name a page named before.
    pub repeated: Vec<String>,
    /// Seeds that are the home page of their host.
    pub site_roots: Vec<String>,
    /// Seeds that the scope keeps out, with the rule that does.
    pub out_of_scope: Vec<OutOfScope>,
}

/// One host and how many seeds it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostSeeds {
    pub host: String,
    pub seeds: usize,
}

/// A seed that the scope keeps out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutOfScope {
    pub seed: String,
    pub rule: &'static str,
}

impl Findings {
    /// Looks through a topic.
    #[must_use]
    pub fn of(topic: &Topic) -> Self {
        let segmenter = topic.segmenter();
        let keywords: Vec<KeywordFinding> = topic.keywords.iter().map(|keyword| look_at(keyword, &segmenter)).collect();
        let mut findings = Self {
            name: topic.name.clone(),
            languages: topic.languages.iter().map(|language| language.code()).collect(),
            keywords,
            repeated_keywords: topic.repeated().keywords.clone(),
            seeds: SeedFindings::of(topic),
            // A relevance has seven digits; the rest is noise of the conversion.
            threshold: (topic.threshold.get() * 1e6).round() / 1e6,
            tunnel_depth: topic.tunnel_depth,
            scope: scope_in_words(topic.scope_config()),
            limits: limits_in_words(topic),
            model: topic.model.clone(),
            positive_examples: topic.examples.positive.len(),
            negative_examples: topic.examples.negative.len(),
            confidence: Confidence::Low,
            confidence_because: String::new(),
            advice: Vec::new(),
        };
        (findings.confidence, findings.confidence_because) = findings.judge();
        findings.advice = findings.give_advice();
        findings
    }

    fn judge(&self) -> (Confidence, String) {
        let strong = self.keywords.iter().filter(|keyword| keyword.weakness.is_none()).count();
        let (positive, negative) = (self.positive_examples, self.negative_examples);
        if let Some(model) = &self.model {
            return (Confidence::High, format!("a trained model, {model}, knows the topic; its card says how well"));
        }
        if positive >= FEW_EXAMPLES && negative >= FEW_EXAMPLES {
            return (Confidence::High, format!("{positive} pages on the topic and {negative} off it show where it ends"));
        }
        let pages = self.seeds.count - self.seeds.site_roots.len();
        if strong >= FEW_KEYWORDS && pages > 0 {
            let because = format!(
                "{strong} keywords that tell the topic from others and {pages} seeds that are pages of it; \
                 label thirty pages of the first crawl before you trust its figures"
            );
            return (Confidence::Fair, because);
        }
        let because =
            format!("only {strong} keywords tell the topic from others, and {pages} seeds are pages rather than home pages");
        (Confidence::Low, because)
    }

    fn give_advice(&self) -> Vec<String> {
        let weak = self.keywords.iter().filter(|keyword| keyword.weakness.is_some()).count();
        let strong = self.keywords.len() - weak;
        let seeds = &self.seeds;
        let rules = [
            (!seeds.out_of_scope.is_empty(), "widen [scope], or drop the seeds that it keeps out".to_owned()),
            (
                seeds.site_roots.len() == seeds.count,
                "add a seed that is a page about the topic itself: every seed is a home page, and home pages are often off topic"
                    .to_owned(),
            ),
            (
                strong < FEW_KEYWORDS,
                format!(
                    "add keywords that only pages on the topic would use: {strong} of {} tell it from others; five to twenty work well",
                    self.keywords.len()
                ),
            ),
            (
                self.model.is_none() && self.positive_examples < FEW_EXAMPLES,
                "add example pages under [examples]: ten on the topic and ten near it but off it teach more than any keyword"
                    .to_owned(),
            ),
            (
                self.positive_examples >= FEW_EXAMPLES && self.negative_examples == 0,
                "add negative examples: pages that hold some of the keywords and are off the topic all the same".to_owned(),
            ),
            (
                weak > 0 && strong >= FEW_KEYWORDS,
                "make weak keywords more special, with a second word: \"crop rotation\" rather than \"rotation\"".to_owned(),
            ),
            (
                seeds.hosts.len() == 1 && self.scope.is_empty(),
                "add seeds from other sites, or say in [scope] that one site is enough (stay_on_seed_sites = true)".to_owned(),
            ),
            (self.limits.is_empty(), "set a limit under [limits], such as max_pages: nothing but you ends this crawl".to_owned()),
        ];
        rules.into_iter().filter(|(applies, _)| *applies).map(|(_, advice)| advice).collect()
    }
}

fn look_at(keyword: &Keyword, segmenter: &Segmenter) -> KeywordFinding {
    let mut words: Vec<String> = Vec::new();
    segmenter.for_each_word(&keyword.text, |word| {
        if !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    });
    let common = |word: &String| Background::shared().frequency(word) >= COMMON;
    let weakness = if words.iter().all(|word| is_stop_word(word)) {
        Some(Weakness::StopWords)
    } else if keyword.text.chars().nth(1).is_none() {
        Some(Weakness::SingleCharacter)
    } else if words.iter().all(common) {
        Some(Weakness::Common)
    } else {
        None
    };
    KeywordFinding { text: keyword.text.clone(), words, weight: keyword.weight, weakness }
}

impl SeedFindings {
    fn of(topic: &Topic) -> Self {
        let mut hosts: Vec<HostSeeds> = Vec::new();
        let mut names: Vec<&str> = topic.seeds.iter().map(host_of).collect();
        names.sort_unstable();
        for chunk in names.chunk_by(|a, b| a == b) {
            hosts.push(HostSeeds { host: chunk[0].to_owned(), seeds: chunk.len() });
        }
        hosts.sort_by_key(|host| std::cmp::Reverse(host.seeds));
        let refusal = |seed: &Url| topic.scope().admits(seed, 0).err();
        Self {
            count: topic.seeds.len(),
            hosts,
            repeated: topic.repeated().seeds.clone(),
            site_roots: topic.seeds.iter().filter(|seed| is_site_root(seed)).map(Url::to_string).collect(),
            out_of_scope: topic
                .seeds
                .iter()
                .filter_map(|seed| refusal(seed).map(|refusal| OutOfScope { seed: seed.to_string(), rule: refusal.name() }))
                .collect(),
        }
    }
}

/// Whether a page is the front door of its host, under whatever name.
fn is_site_root(seed: &Url) -> bool {
    same_page_key(seed) == authority(seed)
}

fn scope_in_words(scope: &ScopeConfig) -> Vec<String> {
    let open = ScopeConfig::default();
    let list = |items: &[String]| items.join(", ");
    let rules = [
        (!scope.hosts.is_empty(), format!("only the hosts {}", list(&scope.hosts))),
        (!scope.sites.is_empty(), format!("only the sites {}, with all their hosts", list(&scope.sites))),
        (scope.stay_on_seed_sites, "only the sites of the seeds, with all their hosts".to_owned()),
        (!scope.contains.is_empty(), format!("only URLs that hold {}", list(&scope.contains))),
        (!scope.include.is_empty(), format!("only URLs that match {}", list(&scope.include))),
        (!scope.exclude.is_empty(), format!("no URL that matches {}", list(&scope.exclude))),
        (scope.max_depth != open.max_depth, format!("at most {} links away from a seed", scope.max_depth)),
        (scope.max_path_depth != open.max_path_depth, format!("at most {} folders in the path", scope.max_path_depth)),
        (scope.max_repeats != open.max_repeats, format!("no folder more than {} times in a path", scope.max_repeats)),
        (
            scope.exclude_extensions != open.exclude_extensions,
            format!("no file that ends in {}", list(&scope.exclude_extensions)),
        ),
    ];
    rules.into_iter().filter(|(applies, _)| *applies).map(|(_, rule)| rule).collect()
}

fn limits_in_words(topic: &Topic) -> Vec<String> {
    let (limits, stop) = (&topic.limits, &topic.stop);
    let mut rules = Vec::new();
    let mut rule = |limit: Option<u64>, words: &str| rules.extend(limit.map(|limit| format!("{limit} {words}")));
    rule(limits.max_pages, "pages");
    rule(limits.max_bytes, "bytes");
    rule(limits.max_minutes, "minutes");
    rule(limits.max_pages_per_host, "pages of one host");
    rule(limits.max_bytes_per_host, "bytes of one host");
    rule(limits.max_minutes_per_host, "minutes with one host");
    rule(stop.relevant_pages, "relevant pages");
    if let Some(floor) = stop.harvest_below {
        rules.push(format!("fewer than {:.0} relevant among the last {} pages", floor.rate * floor.over as f64, floor.over));
    }
    rules
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn findings(text: &str) -> Findings {
        Findings::of(&Topic::parse(text, Path::new("t.toml")).unwrap())
    }

    #[test]
    fn weak_keywords_are_told_from_strong_ones() {
        let found = findings(
            "keywords = [\"表\", \"IT\", \"公司\", \"system\", \"流计算\", \"agronomy\", \"大数据\"]\nseeds = [\"http://e.com/x\"]",
        );
        let weaknesses: Vec<Option<Weakness>> = found.keywords.iter().map(|keyword| keyword.weakness).collect();
        let common = Some(Weakness::Common);
        assert_eq!(weaknesses, [Some(Weakness::SingleCharacter), Some(Weakness::StopWords), common, common, None, None, None]);
        assert_eq!(found.keywords[4].words, ["流计算", "流", "计算"]);
    }

    #[test]
    fn how_sure_a_topic_is_follows_from_keywords_seeds_examples_and_model() {
        let sure = |text: &str| findings(text).confidence;
        assert_eq!(sure("keywords = [\"rice\"]\nseeds = [\"http://e.com/x\"]"), Confidence::Low);
        let three = "keywords = [\"paddy\", \"agronomy\", \"病虫害\"]\n";
        assert_eq!(sure(&format!("{three}seeds = [\"http://e.com/\"]")), Confidence::Low, "a home page is no page of the topic");
        assert_eq!(sure(&format!("{three}seeds = [\"http://e.com/x\"]")), Confidence::Fair);
        assert_eq!(sure(&format!("{three}seeds = [\"http://e.com/\"]\n[model]\nname = \"agriculture\"")), Confidence::High);
    }

    #[test]
    fn home_pages_and_seeds_out_of_scope_are_found() {
        let found = findings(
            "keywords = [\"rice\"]\nseeds = [\"http://e.com\", \"http://e.com/index.html\", \"http://f.com/a?b\", \"http://e.com/rice\"]\n\
             [scope]\nsites = [\"e.com\"]",
        );
        assert_eq!(found.seeds.site_roots, ["http://e.com/"]);
        assert_eq!(found.seeds.repeated, ["http://e.com/index.html"]);
        assert_eq!(found.seeds.out_of_scope, [OutOfScope { seed: "http://f.com/a?b".to_owned(), rule: "scope.sites" }]);
        assert_eq!(found.seeds.hosts[0], HostSeeds { host: "e.com".to_owned(), seeds: 2 });
        assert!(found.advice[0].starts_with("widen [scope]"), "{:?}", found.advice);
    }

    #[test]
    fn advice_comes_most_important_first_and_ends_when_all_is_well() {
        let found = findings("keywords = [\"rice\"]\nseeds = [\"http://e.com\"]");
        let starts =
            ["add a seed that is a page", "add keywords", "add example pages", "add seeds from other sites", "set a limit"];
        assert_eq!(found.advice.len(), starts.len());
        assert!(found.advice.iter().zip(starts).all(|(advice, start)| advice.starts_with(start)), "{:?}", found.advice);
        let well = "keywords = [\"rice\", \"wheat\", \"barley\"]\nseeds = [\"http://e.com/rice\", \"http://f.com/wheat\"]\n\
                    [limits]\nmax_pages = 10\n[model]\nname = \"models/grain\"";
        assert!(findings(well).advice.is_empty());
    }

    #[test]
    fn scope_and_limits_are_said_in_words() {
        let found = findings(
            "keywords = [\"rice\"]\nseeds = [\"http://e.com/x\"]\n[scope]\nhosts = [\"e.com\"]\nexclude = [\"login\"]\nmax_depth = 4\n\
             [limits]\nmax_minutes = 10\n[stop]\nrelevant_pages = 50\nharvest_below = { rate = 0.05, over = 500 }",
        );
        assert_eq!(found.scope, ["only the hosts e.com", "no URL that matches login", "at most 4 links away from a seed"]);
        assert_eq!(found.limits, ["10 minutes", "50 relevant pages", "fewer than 25 relevant among the last 500 pages"]);
    }
}

//! Scope: which discovered URLs may enter the frontier at all, and which rule said no.

use regex::RegexSet;
use serde::{Deserialize, Serialize};

use super::{Url, host_of, site_of, template::most_repeats};

/// The `[scope]` section of a topic file. Empty lists do not restrict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScopeConfig {
    /// Only these hosts (exact names).
    pub hosts: Vec<String>,
    /// Only hosts of these registrable domains ("site words", systems.md 2).
    pub sites: Vec<String>,
    /// Stay on the sites of the seeds.
    pub stay_on_seed_sites: bool,
    /// Every one of these must occur in the URL (host word *and* section word, systems.md 1).
    pub contains: Vec<String>,
    /// At least one of these regular expressions must match the URL.
    pub include: Vec<String>,
    /// None of these regular expressions may match the URL.
    pub exclude: Vec<String>,
    /// Links away from a seed, at most.
    pub max_depth: u16,
    /// Segments in the path, at most.
    pub max_path_depth: usize,
    /// Times that one segment may occur in the path, at most.
    pub max_repeats: usize,
    /// File endings that are never pages.
    pub exclude_extensions: Vec<String>,
}

const NOT_PAGES: &str = "css js json xml-rpc ico png jpg jpeg gif bmp webp svg tif tiff avif mp3 mp4 m4a m4v avi mov wmv flv webm ogg wav mkv \
    zip gz tgz bz2 xz 7z rar tar exe dmg msi deb rpm apk iso bin jar swf woff woff2 ttf eot otf ps eps dvi doc docx xls xlsx ppt pptx z";

impl Default for ScopeConfig {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            sites: Vec::new(),
            stay_on_seed_sites: false,
            contains: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            max_depth: 64,
            max_path_depth: 16,
            max_repeats: 3,
            exclude_extensions: NOT_PAGES.split_whitespace().map(str::to_owned).collect(),
        }
    }
}

/// A scope that cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum ScopeError {
    #[error("scope.{key}: {source}")]
    Pattern { key: &'static str, source: regex::Error },
}

/// The rule that kept a URL out of the frontier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    Host,
    Site,
    Contains,
    Include,
    Exclude,
    Depth,
    PathDepth,
    Extension,
    /// Links that a server resolves against the wrong folder: `/a/b/a/b/a/b`.
    Repeats,
}

impl Refusal {
    /// The name by which reports and `why` call the rule.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Host => "scope.hosts",
            Self::Site => "scope.sites",
            Self::Contains => "scope.contains",
            Self::Include => "scope.include",
            Self::Exclude => "scope.exclude",
            Self::Depth => "scope.max_depth",
            Self::PathDepth => "scope.max_path_depth",
            Self::Extension => "scope.exclude_extensions",
            Self::Repeats => "scope.max_repeats",
        }
    }
}

/// A compiled scope.
#[derive(Debug, Clone)]
pub struct Scope {
    config: ScopeConfig,
    include: RegexSet,
    exclude: RegexSet,
}

impl Scope {
    /// Compiles the rules; `seeds` give the sites for `stay_on_seed_sites`.
    ///
    /// # Errors
    /// A regular expression that does not compile, with its key.
    pub fn new(mut config: ScopeConfig, seeds: &[Url]) -> Result<Self, ScopeError> {
        if config.stay_on_seed_sites {
            config.sites.extend(seeds.iter().map(|seed| site_of(seed).to_owned()));
        }
        let set = |key, patterns: &[String]| RegexSet::new(patterns).map_err(|source| ScopeError::Pattern { key, source });
        Ok(Self { include: set("include", &config.include)?, exclude: set("exclude", &config.exclude)?, config })
    }

    /// Whether a URL found at `depth` links from a seed may enter; `Err` names the rule that keeps it out.
    ///
    /// # Errors
    /// The first [`Refusal`] that applies, in the order of the fields of [`ScopeConfig`].
    pub fn admits(&self, url: &Url, depth: u16) -> Result<(), Refusal> {
        let config = &self.config;
        let text = url.as_str();
        let rules = [
            (config.hosts.is_empty() || config.hosts.iter().any(|host| host == host_of(url)), Refusal::Host),
            (config.sites.is_empty() || config.sites.iter().any(|site| site == site_of(url)), Refusal::Site),
            (config.contains.iter().all(|word| text.contains(word.as_str())), Refusal::Contains),
            (self.include.is_empty() || self.include.is_match(text), Refusal::Include),
            (!self.exclude.is_match(text), Refusal::Exclude),
            (depth <= config.max_depth, Refusal::Depth),
            (url.path().split('/').count() <= config.max_path_depth + 1, Refusal::PathDepth),
            (most_repeats(url) <= config.max_repeats, Refusal::Repeats),
            (!self.has_excluded_extension(url), Refusal::Extension),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, refusal)| Err(refusal))
    }

    fn has_excluded_extension(&self, url: &Url) -> bool {
        let file = url.path().rsplit('/').next().unwrap_or_default();
        let Some((_, extension)) = file.rsplit_once('.') else { return false };
        self.config.exclude_extensions.iter().any(|excluded| excluded.eq_ignore_ascii_case(extension))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(config: ScopeConfig, url: &str) -> Option<Refusal> {
        let seed = Url::parse("http://www.seed.com/").unwrap();
        Scope::new(config, &[seed]).unwrap().admits(&Url::parse(url).unwrap(), 1).err()
    }

    #[test]
    fn an_open_scope_refuses_only_what_is_no_page() {
        assert_eq!(refusal(ScopeConfig::default(), "http://any.where/x.html"), None);
        assert_eq!(refusal(ScopeConfig::default(), "http://any.where/x.ZIP"), Some(Refusal::Extension));
    }

    #[test]
    fn each_rule_names_itself() {
        let config = |edit: fn(&mut ScopeConfig)| {
            let mut config = ScopeConfig::default();
            edit(&mut config);
            config
        };
        assert_eq!(refusal(config(|c| c.stay_on_seed_sites = true), "http://other.com/"), Some(Refusal::Site));
        assert_eq!(refusal(config(|c| c.stay_on_seed_sites = true), "http://bbs.seed.com/"), None);
        assert_eq!(refusal(config(|c| c.contains = vec!["/news/".into()]), "http://a.com/x"), Some(Refusal::Contains));
        assert_eq!(refusal(config(|c| c.exclude = vec!["login".into()]), "http://a.com/login"), Some(Refusal::Exclude));
        assert_eq!(refusal(config(|c| c.max_depth = 0), "http://a.com/"), Some(Refusal::Depth));
        assert_eq!(refusal(config(|c| c.max_path_depth = 1), "http://a.com/b/c"), Some(Refusal::PathDepth));
        assert_eq!(refusal(ScopeConfig::default(), "http://a.com/b/c/b/c/b/c/b"), Some(Refusal::Repeats));
    }

    #[test]
    fn a_bad_pattern_is_named_with_its_key() {
        let config = ScopeConfig { include: vec!["(".into()], ..ScopeConfig::default() };
        assert!(Scope::new(config, &[]).unwrap_err().to_string().starts_with("scope.include"));
    }
}

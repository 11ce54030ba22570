//! What the rules say of one URL; nothing is fetched.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    config::Config,
    politeness::Robots,
    store::{Known, Store},
    topic::Topic,
    url::{Fingerprint, Refusal, Url, authority, templates},
};

/// What each rule makes of a URL.
#[derive(Debug, Serialize)]
pub struct Rules {
    /// The scope's rule that refuses it, if one does.
    pub scope: Option<&'static str>,
    /// The word of the host's robots.txt, with the rule.
    pub robots: String,
    /// Its template, and whether that is in quarantine.
    pub template: String,
    pub quarantined: bool,
}

impl Rules {
    /// The rules for `url` as a link that is `depth` links away from a seed.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn of(url: &Url, depth: u16, topic: &Topic, config: &Config, store: Option<&Store>) -> anyhow::Result<Self> {
        let [narrow, wide] = templates(url);
        let held = match store {
            Some(store) => store.state()?.unwrap_or_default().quarantined,
            None => BTreeMap::new(),
        };
        let template = if !held.contains_key(&narrow) && held.contains_key(&wide) { wide } else { narrow };
        Ok(Self {
            scope: topic.scope().admits(url, depth).err().map(Refusal::name),
            robots: robots(url, config, store)?,
            quarantined: held.contains_key(&template),
            template,
        })
    }

    /// A line for each rule.
    #[must_use]
    pub fn in_words(&self) -> [String; 3] {
        let scope = self.scope.map_or("admitted, as a link of a seed".to_owned(), |rule| format!("refused by {rule}"));
        let held = if self.quarantined { "in quarantine; --release takes it out" } else { "not in quarantine" };
        [format!("scope      {scope}"), format!("robots     {}", self.robots), format!("template   {}: {held}", self.template)]
    }
}

fn robots(url: &Url, config: &Config, store: Option<&Store>) -> anyhow::Result<String> {
    if !config.politeness.obey_robots {
        return Ok("not obeyed (politeness.obey_robots)".to_owned());
    }
    let host = store.map(|store| store.host(&authority(url))).transpose()?.flatten();
    let Some(known) = host.and_then(|host| host.robots) else { return Ok("not fetched yet".to_owned()) };
    let verdict = Robots::parse(known.status, known.text.as_bytes(), config.fetch.robots_agent()).allows(url);
    let word = if verdict.allowed { "allowed" } else { "forbidden" };
    let rule = verdict.rule.unwrap_or_else(|| "no rule applies".to_owned());
    Ok(format!("{word}: {rule} (status {}, fetched {})", known.status, known.fetched_at))
}

/// What became of a URL in the crawl, in words.
///
/// # Errors
/// The store cannot be read.
pub fn fate(url: &Url, store: Option<&Store>) -> anyhow::Result<String> {
    let Some(store) = store else { return Ok("there is no crawl yet".to_owned()) };
    let fingerprint = Fingerprint::of(url);
    Ok(match store.known(fingerprint)? {
        None => "never admitted: no page links to it, or a rule above refused it".to_owned(),
        Some(Known::Waiting) => match store.waiting_one(fingerprint)? {
            Some(link) => format!("waits; {} links lead to it; tries so far: {}", link.in_degree, link.tries),
            None => "waits".to_owned(),
        },
        Some(Known::Finished(seq)) => match store.page(seq)? {
            Some(page) => format!("page {seq}: {}; {}", page.outcome, page.reason.unwrap_or_else(|| "no remark".to_owned())),
            None => format!("page {seq}"),
        },
    })
}

//! Traps: URL templates whose pages stopped paying are quarantined, and released when they pay again.
//!
//! A page pays if it is relevant and says something that its template's earlier pages did not say, or if a link
//! of it led to such a page. Two rules close a template. *Stale*: so many fetches in a row brought nothing new
//! (copies, dead links, pages that have no new word and nearly the words of one before): an endless calendar, session
//! ids, soft 404s. *Dry*: new pages,
//! but by the crawl's own rate of relevant pages three should have come from a tenth of what was fetched, and
//! none did.
//!
//! Promises: no number here depends on the size of a site or crawl; a URL that is held back is never lost; a
//! quarantined template gets a probe each time the crawl has grown fourfold, and is opened again if the probe
//! pays; memory is bounded: of templates by their number, of held links by a room. When there are too many quarantined
//! templates, those that hold the fewest links are opened, and have to be found out again.
//! Never: decides what is relevant or a copy (the caller says), or looks at words as such (hashes only).

mod held;

use std::{
    collections::{BTreeMap, VecDeque},
    io,
};

use held::{HeldLinks, Pile};

use regex::RegexSet;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::{
    page::{SKETCH, Sketch},
    spill::Room,
    topical_rank::NodeId,
    url::{Url, templates},
};

/// Templates that are watched at a time.
const MAX_TEMPLATES: usize = 8_192;

/// Words that a page must be the first of its template to have, to say something new.
const NEW_WORDS: usize = 2;

/// Earlier pages of its template that a page is compared with, and the agreement of sketches from which it repeats one.
const REMEMBERED: usize = 32;
const REPEATS: usize = SKETCH - 2;

/// Times as many fetches in a row close a wide template: one narrow template alone must not.
const WIDE: u32 = 3;

/// Fewest fetches without a relevant page that make a template dry.
const LEAST_DRY: f64 = 60.0;

/// A template is dry when its yield is likely to be less than a tenth of the crawl's: 3 in 1/10.
const DRY_SHARE: f64 = 30.0;

/// Fetches of a crawl before it probes a quarantined template; four times as many before the next probe.
const FIRST_PROBE: u64 = 64;

/// The `[traps]` section.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrapConfig {
    /// Hold back links of URL templates that stopped paying.
    pub quarantine: bool,
    /// Fetches in a row that bring nothing new before a template is held back.
    pub stale_fetches: u32,
    /// Regular expressions; URLs that match one are never held back.
    pub trusted: Vec<String>,
}

impl Default for TrapConfig {
    fn default() -> Self {
        Self { quarantine: true, stale_fetches: 30, trusted: Vec::new() }
    }
}

/// A pattern of `traps.trusted` that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("traps.trusted: {0}; give regular expressions")]
pub struct TrapConfigError(#[from] regex::Error);

/// What a fetch brought, as far as traps go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Brought<'a> {
    /// A page with these words (hashes, those of its URL and numbers left out).
    Page { words: &'a [u32], relevant: bool },
    /// A copy of a known page, a dead link, a redirect to its like.
    Nothing,
}

/// Whether a link may be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    Open,
    /// Its template is quarantined; it is kept until [`Traps::released`] gives it back.
    Held,
}

/// Every watched template, and the links that are held back.
#[derive(Debug, Clone, Default)]
pub struct Traps {
    config: TrapConfig,
    trusted: RegexSet,
    known: FxHashMap<String, Template>,
    held: HeldLinks,
    /// Links to be put back into their queues.
    released: Vec<NodeId>,
    /// Held links that may pass once.
    probes: FxHashSet<NodeId>,
    quarantined: usize,
    /// Fetches so far, and relevant pages among them.
    fetched: u64,
    relevant: u64,
}

#[derive(Debug, Clone, Default)]
struct Template {
    /// Fetches in a row that brought nothing new, and that brought nothing relevant.
    stale: u32,
    dry: u32,
    words: Words,
    recent: VecDeque<Sketch>,
    quarantine: Option<Quarantine>,
    /// Fetches of all time, and those that paid.
    fetched: u64,
    paid: u64,
}

/// A URL template in quarantine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HeldTemplate {
    pub template: String,
    /// It brought new pages, but none that is relevant; otherwise it brought nothing new.
    pub is_dry: bool,
    /// Fetches since it was first met, and those that paid.
    pub fetched: u64,
    pub paid: u64,
    /// Waiting links that are held back.
    pub held: u64,
}

#[derive(Debug, Clone)]
struct Quarantine {
    is_dry: bool,
    /// Pages that the crawl will have fetched when a link is let through.
    probe_at: u64,
    held: Pile,
}

impl Traps {
    /// Watches nothing yet.
    ///
    /// # Errors
    /// A trusted pattern that is no regular expression.
    pub fn new(config: TrapConfig) -> Result<Self, TrapConfigError> {
        Ok(Self { trusted: RegexSet::new(&config.trusted)?, config, ..Self::default() })
    }

    /// Keeps no more of the list of held links in memory than `room`.
    #[must_use]
    pub fn within(self, room: Room) -> Self {
        Self { held: HeldLinks::within(room), ..self }
    }

    /// Takes in what a fetch brought; whether it pays.
    pub fn observe(&mut self, url: &Url, brought: Brought<'_>) -> bool {
        self.fetched += 1;
        self.relevant += u64::from(matches!(brought, Brought::Page { relevant: true, .. }));
        let fetched = self.fetched;
        let rate = (self.relevant as f64 + 1.0) / (fetched as f64 + 2.0);
        let dry_from = (DRY_SHARE / rate).max(LEAST_DRY);
        let mut any_pays = false;
        for (name, width) in templates(url).into_iter().zip([1, WIDE]) {
            if !self.known.contains_key(&name) {
                self.make_room();
            }
            let template = self.known.entry(name).or_default();
            let pays = template.take(brought);
            template.fetched += 1;
            template.paid += u64::from(pays);
            any_pays |= pays;
            let is_stale = template.stale >= self.config.stale_fetches.saturating_mul(width);
            if pays {
                if let Some(quarantine) = template.quarantine.take() {
                    self.quarantined -= 1;
                    self.released.extend(self.held.take_all(quarantine.held));
                }
            } else if template.quarantine.is_none() && (is_stale || f64::from(template.dry) >= dry_from) {
                self.quarantined += 1;
                let probe_at = fetched + FIRST_PROBE;
                template.quarantine = Some(Quarantine { is_dry: !is_stale, probe_at, held: Pile::default() });
            }
        }
        any_pays
    }

    /// A page that a link of `url` led to pays: so does `url`.
    pub fn credit(&mut self, url: &Url) {
        for name in templates(url) {
            if let Some(template) = self.known.get_mut(&name) {
                template.dry = 0;
            }
        }
    }

    /// Whether a link may be fetched now; one that may not is held until it is given back.
    pub fn gate(&mut self, node: NodeId, url: &Url) -> Gate {
        if self.quarantined == 0 || !self.config.quarantine || self.probes.remove(&node) {
            return Gate::Open;
        }
        if self.trusted.is_match(url.as_str()) {
            return Gate::Open;
        }
        for name in templates(url) {
            let quarantine = self.known.get_mut(&name).and_then(|template| template.quarantine.as_mut());
            if let Some(quarantine) = quarantine {
                self.held.push(&mut quarantine.held, node);
                return Gate::Held;
            }
        }
        Gate::Open
    }

    /// Links that need no longer be held, those of due probes among them. The last one that was held goes first: it was the
    /// best when it was held, and what a trap makes is all alike.
    pub fn released(&mut self) -> Vec<NodeId> {
        if self.quarantined > 0 {
            let fetched = self.fetched;
            let due = self.known.values_mut().filter_map(|template| template.quarantine.as_mut());
            let mut probes: Vec<NodeId> = due
                .filter(|quarantine| fetched >= quarantine.probe_at)
                .filter_map(|quarantine| {
                    let node = self.held.pop(&mut quarantine.held)?;
                    quarantine.probe_at = fetched.saturating_mul(4);
                    Some(node)
                })
                .collect();
            probes.sort_unstable();
            self.probes.extend(&probes);
            self.released.append(&mut probes);
        }
        std::mem::take(&mut self.released)
    }

    /// When nothing else is left to fetch: the links of dry templates, which are poor but no traps, are given back, and
    /// their templates have to run dry again. Whether there were any.
    pub fn release_dry(&mut self) -> bool {
        let before = self.released.len();
        for template in self.known.values_mut() {
            if let Some(quarantine) = template.quarantine.take_if(|quarantine| quarantine.is_dry) {
                template.dry = 0;
                self.quarantined -= 1;
                self.released.extend(self.held.take_all(quarantine.held));
            }
        }
        self.released[before..].sort_unstable();
        self.released.len() > before
    }

    /// Lets the links of a template out of quarantine; it has to go stale or dry again before it is closed again. How many
    /// links that were, `None` where it is not in quarantine.
    pub fn release(&mut self, name: &str) -> Option<u64> {
        let template = self.known.get_mut(name)?;
        let quarantine = template.quarantine.take()?;
        (template.stale, template.dry) = (0, 0);
        self.quarantined -= 1;
        let before = self.released.len();
        self.released.extend(self.held.take_all(quarantine.held));
        self.released[before..].sort_unstable();
        Some((self.released.len() - before) as u64)
    }

    /// All that is in quarantine, by name.
    #[must_use]
    pub fn held_templates(&self) -> Vec<HeldTemplate> {
        let held = |(name, template): (&String, &Template)| {
            let quarantine = template.quarantine.as_ref()?;
            Some(HeldTemplate {
                template: name.clone(),
                is_dry: quarantine.is_dry,
                fetched: template.fetched,
                paid: template.paid,
                held: quarantine.held.len(),
            })
        };
        let mut all: Vec<HeldTemplate> = self.known.iter().filter_map(held).collect();
        all.sort_unstable_by(|a, b| a.template.cmp(&b.template));
        all
    }

    /// The quarantined templates, with the number of links that are held for each.
    #[must_use]
    pub fn quarantined(&self) -> BTreeMap<String, u64> {
        let held = |template: &Template| template.quarantine.as_ref().map(|quarantine| quarantine.held.len());
        self.known.iter().filter_map(|(name, template)| Some((name.clone(), held(template)?))).collect()
    }

    /// Forgets templates that give no cause for suspicion, when there are too many; then those not in quarantine; then, where
    /// most are in quarantine, half of these.
    fn make_room(&mut self) {
        if self.known.len() < MAX_TEMPLATES {
            return;
        }
        let half = self.config.stale_fetches / 2;
        self.known.retain(|_, template| template.quarantine.is_some() || template.stale > half);
        if self.known.len() >= MAX_TEMPLATES {
            self.known.retain(|_, template| template.quarantine.is_some());
        }
        if self.known.len() > MAX_TEMPLATES / 4 * 3 {
            let mut by_held: Vec<(u64, String)> = self.quarantined().into_iter().map(|(name, held)| (held, name)).collect();
            by_held.sort_unstable();
            for (_, name) in by_held.into_iter().take(MAX_TEMPLATES / 2) {
                self.release(&name);
                self.known.remove(&name);
            }
        }
    }

    /// Bytes in memory of the list of held links.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        self.held.resident_bytes()
    }

    /// # Errors
    /// As for [`Paged::check`](crate::spill::Paged::check).
    pub fn check(&self) -> io::Result<()> {
        self.held.check()
    }
}

impl Template {
    /// Whether the fetch pays.
    fn take(&mut self, brought: Brought<'_>) -> bool {
        let (is_new, is_relevant) = match brought {
            Brought::Page { words, relevant } => (self.is_new(words), relevant),
            Brought::Nothing => (false, false),
        };
        let pays = is_new && is_relevant;
        self.stale = if is_new { 0 } else { self.stale.saturating_add(1) };
        self.dry = if pays { 0 } else { self.dry.saturating_add(1) };
        pays
    }

    /// Whether a page says something that earlier ones did not; it is remembered.
    fn is_new(&mut self, words: &[u32]) -> bool {
        let sketch = Sketch::of(words.iter().copied());
        let repeats = self.recent.iter().any(|known| known.agreement(&sketch) >= REPEATS);
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(sketch);
        self.words.add(words) >= NEW_WORDS || !repeats
    }
}

/// The words that the pages of a template had, as a Bloom filter that starts anew when a quarter of it is full: a
/// vocabulary too rich for it is no trap's.
#[derive(Debug, Clone, Default)]
struct Words {
    bits: Vec<u64>,
    set: usize,
}

impl Words {
    const BITS: usize = 16_384;

    /// Adds words; says how many of them were not there.
    fn add(&mut self, words: &[u32]) -> usize {
        if self.bits.is_empty() || self.set > Self::BITS / 4 {
            self.bits = vec![0; Self::BITS / 64];
            self.set = 0;
        }
        words.iter().filter(|&&word| self.insert(word)).count()
    }

    fn insert(&mut self, word: u32) -> bool {
        let hash = u64::from(word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut is_new = false;
        for place in [hash >> 50, (hash >> 30) & 0x3fff] {
            let (at, bit) = (place as usize / 64, 1 << (place % 64));
            if self.bits[at] & bit == 0 {
                self.bits[at] |= bit;
                self.set += 1;
                is_new = true;
            }
        }
        is_new
    }
}

#[cfg(test)]
mod tests;

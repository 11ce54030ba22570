//! A made-up crawl on beekeeping: 320 URLs of 14 hosts, with all outcomes, in English and Chinese.

use std::collections::{BTreeMap, HashMap};

use fastrand::Rng;

use crate::{
    fetch::{DnsCounts, Validators},
    page::{Outcome, Relevance, Timestamp},
    report::{CrawlFacts, LinkWeight, RowError, RowStream, Rows, Stop},
    store::{Chosen, CrawlState, HostRecord, OutlinkFate, OutlinkRecord, PageRecord, RobotsRecord},
    text::Language,
    url::{Fingerprint, Refusal, Url},
};

const START: u64 = 1_795_219_200_000;
const HOSTS: [(&str, f64, Language); 14] = [
    ("www.apiary-notes.example", 0.85, Language::En),
    ("bees.county-museum.example", 0.7, Language::En),
    ("yangfeng.nongye.example", 0.8, Language::Zh),
    ("orchard-and-hive.example", 0.6, Language::En),
    ("mifeng.baike.example", 0.75, Language::Zh),
    ("blog.smallholder.example", 0.4, Language::En),
    ("forum.garden.example", 0.3, Language::En),
    ("shop.honey-jars.example", 0.25, Language::En),
    ("xinwen.xianji.example", 0.3, Language::Zh),
    ("library.agri-school.example", 0.5, Language::En),
    ("www.wildflower-seeds.example", 0.2, Language::En),
    ("old.weather-records.example", 0.05, Language::Other),
    ("linyuan.shuju.example", 0.35, Language::Zh),
    ("cdn.pictures.example", 0.0, Language::Other),
];
const EN_TITLES: [&str; 8] = [
    "Wintering a colony in a wooden hive",
    "Feeding before the frost",
    "Varroa counts: the sugar roll step by step",
    "Reading brood frames for beginners",
    "Swarm season: what the bees are telling you",
    "When a hive divides",
    "Letters from our members",
    "The skep collection, and our open Sundays",
];
const EN_TEXTS: [&str; 4] = [
    "Our association keeps forty colonies on the edge of the moor. This page describes how we feed them before the first frost, how much honey to leave in the hive, and when a weak colony should be united with a strong one. Beekeepers who visit us often ask about insulation; our answer is that dry bees survive and damp bees do not.",
    "Count mites before you treat. Take three hundred bees from a brood frame, shake them in icing sugar, and count the varroa that fall through the mesh. The table below gives thresholds for each month of the year and says which treatment suits which hive.",
    "A swarm is a colony that divides. The old queen leaves with half of the workers, and the hive raises a new queen from a cell. We explain the signs, the equipment, and how neighbours can be told in time.",
    "Members' letters of the season: a hive on a school roof, a lecture about queen rearing, and an exhibition of skeps and smokers from the county collection. The apiary is open on the first Sunday of each month.",
];
const ZH_TITLES: [&str; 6] =
    ["中蜂越冬管理要点", "蜂箱的摆放与保温", "蜂螨的识别与防治", "怎样给蜂群计数查螨", "春季繁殖期的饲喂", "分蜂前的征兆与处理"];
const ZH_TEXTS: [&str; 3] = [
    "越冬前要检查蜂群的存蜜和蜂王状况，弱群应当合并。蜂箱放在背风向阳、地势较高的地方，巢门缩小，箱内保持干燥。本页介绍山区养蜂户多年的做法，并附有逐月的管理日程。",
    "蜂螨寄生在封盖子脾和成蜂体表。取三百只蜜蜂用糖粉摇落法计数，超过阈值时再用药。采蜜期不得用药，以免蜂蜜残留。养蜂合作社每月组织一次检查。",
    "春季气温稳定后开始奖励饲喂，促使蜂王产卵。糖浆比例为一比一，傍晚饲喂，避免盗蜂。蜂群发展到八框以上时加继箱，并注意分蜂征兆。",
];

/// Rows in memory.
#[derive(Default)]
pub(super) struct MemoryRows {
    pub pages: Vec<PageRecord>,
    pub outlinks: HashMap<u64, Vec<OutlinkRecord>>,
    pub hosts: Vec<HostRecord>,
}

impl Rows for MemoryRows {
    fn pages(&self) -> RowStream<'_, PageRecord> {
        Box::new(self.pages.iter().cloned().map(Ok))
    }

    fn hosts(&self) -> RowStream<'_, HostRecord> {
        Box::new(self.hosts.iter().cloned().map(Ok))
    }

    fn outlinks(&self, seq: u64) -> Result<Vec<OutlinkRecord>, RowError> {
        Ok(self.outlinks.get(&seq).cloned().unwrap_or_default())
    }

    fn page_by_fingerprint(&self, fingerprint: Fingerprint) -> Result<Option<PageRecord>, RowError> {
        Ok(self.pages.iter().find(|page| page.fingerprint == fingerprint).cloned())
    }
}

/// A fetched page with plain values, for tests to change.
pub(in crate::report) fn page(seq: u64, url: &str) -> PageRecord {
    let parsed = Url::parse(url).unwrap();
    PageRecord {
        seq,
        url: url.to_owned(),
        fingerprint: Fingerprint::of(&parsed),
        outcome: Outcome::Fetched,
        status: 200,
        reason: None,
        relevance: Relevance::NONE,
        relevant: false,
        priority: 0.5,
        estimate: Relevance::NONE,
        depth: 0,
        tunnel_depth: 0,
        host: parsed.host_str().unwrap().to_owned(),
        source: None,
        source_url: None,
        anchor: String::new(),
        fetched_at: Timestamp(START + seq * 1_400),
        elapsed_ms: 180,
        bytes: 20_000,
        content_type: "text/html".to_owned(),
        charset: "utf-8".to_owned(),
        language: Language::En,
        title: String::new(),
        excerpt: String::new(),
        model_version: 1,
        digest: 0,
        simhash: 0,
        archive: None,
        evidence: vec![0.0; 27],
        terms: [("bee", 1.0)].into_iter().collect(),
        rank: 0.0,
        residual: 0.0,
        chosen: Chosen::Order,
        had_decode_errors: false,
        copy_of: None,
        validators: Validators::default(),
    }
}

/// The whole made-up crawl.
pub(super) fn crawl() -> MemoryRows {
    let mut rng = Rng::with_seed(7);
    let mut rows = MemoryRows::default();
    for seq in 1..=320 {
        let next = next_page(seq, &rows.pages, &mut rng);
        rows.outlinks.insert(seq, outlinks_of(&next, &mut rng));
        rows.pages.push(next);
    }
    rows.hosts = hosts_of(&rows.pages);
    rows
}

fn next_page(seq: u64, before: &[PageRecord], rng: &mut Rng) -> PageRecord {
    let is_seed = seq <= 3;
    // The crawl gets better, then the topic runs low.
    let skill = if seq < 180 { 0.5 + seq as f64 / 360.0 } else { 1.0 - (seq - 180) as f64 / 220.0 };
    let chosen = if is_seed {
        Chosen::Seed
    } else if seq.is_multiple_of(12) {
        Chosen::Random
    } else {
        Chosen::Order
    };
    let reach = if chosen == Chosen::Random { HOSTS.len() } else { 4 + rng.usize(0..10) };
    let (host, quality, language) = HOSTS[if is_seed { seq as usize - 1 } else { rng.usize(0..reach.min(HOSTS.len())) }];
    let mut page = page(seq, &format!("https://{host}/{}/{seq}.html", ["guide", "notes", "2026", "archive"][seq as usize % 4]));
    page.chosen = chosen;
    page.language = language;
    let promise = if chosen == Chosen::Random { quality * 0.45 } else { quality * skill * 1.15 };
    page.relevant = is_seed || rng.f64() < promise;
    page.relevance = Relevance::new(if page.relevant { 0.55 + rng.f64() * 0.44 } else { rng.f64() * 0.45 });
    page.estimate = Relevance::new(promise * 0.9 + rng.f64() * 0.1);
    page.rank = rng.f64();
    page.bytes = rng.u64(3_000..90_000);
    page.model_version = 1 + (seq / 60) as u32;
    page.simhash = rng.u64(1..);
    let at = rng.usize(..);
    (page.title, page.excerpt) = match language {
        Language::Zh => (ZH_TITLES[at % 6].to_owned(), ZH_TEXTS[at % 6 / 2].to_owned()),
        _ => (EN_TITLES[at % 8].to_owned(), EN_TEXTS[at % 8 / 2].to_owned()),
    };
    if language == Language::Zh && at.is_multiple_of(3) {
        page.charset = "gbk".to_owned();
    }
    if let Some(source) = source_of(before, rng).filter(|_| !is_seed) {
        page.source = Some(source.fingerprint);
        page.source_url = Some(source.url.clone());
        page.depth = source.depth + 1;
        page.tunnel_depth = if source.relevant { 0 } else { (source.tunnel_depth + 1).min(3) };
        page.anchor = if seq.is_multiple_of(9) { String::new() } else { page.title.chars().take(24).collect() };
    }
    give_outcome(&mut page, rng);
    page
}

/// Mostly a relevant page, as a focused crawl has it.
fn source_of<'a>(before: &'a [PageRecord], rng: &mut Rng) -> Option<&'a PageRecord> {
    let wanted = rng.u8(0..10) < 7;
    let fit: Vec<&PageRecord> =
        before.iter().filter(|page| page.outcome == Outcome::Fetched && (page.relevant || !wanted) && page.depth < 9).collect();
    rng.choice(fit)
}

fn give_outcome(page: &mut PageRecord, rng: &mut Rng) {
    let (outcome, status, reason) = match rng.u8(0..100) {
        0..4 if page.seq > 3 => (Outcome::Failed, 0, "timed out while waiting for the answer"),
        4..6 if page.seq > 3 => (Outcome::Failed, 503, "the server answers 503"),
        6..9 if page.seq > 3 => (Outcome::Gone, 404, "the server answers 404"),
        9..13 if page.seq > 3 => (Outcome::Redirected, 301, "to another address"),
        13..18 if page.seq > 3 => (Outcome::Duplicate, 200, "https://www.apiary-notes.example/guide/1.html"),
        18..22 if page.seq > 3 => (Outcome::Excluded, 0, "robots.txt forbids it"),
        _ => return,
    };
    page.outcome = outcome;
    page.status = status;
    page.reason = Some(reason.to_owned());
    if outcome != Outcome::Duplicate {
        page.bytes = 0;
        page.relevant = false;
        page.relevance = Relevance::NONE;
    }
}

fn outlinks_of(page: &PageRecord, rng: &mut Rng) -> Vec<OutlinkRecord> {
    let count = if page.outcome == Outcome::Fetched { rng.usize(1..8) } else { 0 };
    (0..count)
        .map(|at| {
            let url = format!("https://{}/next/{}-{at}", page.host, page.seq);
            let fate = match rng.u8(0..12) {
                0..6 => OutlinkFate::Queued,
                6..9 => OutlinkFate::Known,
                9 => OutlinkFate::NoFollow,
                10 => OutlinkFate::Refused(Refusal::Extension),
                _ => OutlinkFate::TunnelEnd,
            };
            OutlinkRecord { target: Fingerprint::of(&Url::parse(&url).unwrap()), url, anchor: "next".to_owned(), fate }
        })
        .collect()
}

fn hosts_of(pages: &[PageRecord]) -> Vec<HostRecord> {
    let mut hosts: BTreeMap<&str, HostRecord> = BTreeMap::new();
    for page in pages {
        let number = hosts.len() as u64;
        let host = hosts.entry(&page.host).or_insert_with(|| HostRecord {
            name: page.host.clone(),
            requests: 1,
            delay_ms: 1_000 + number * 250,
            crawl_delay_ms: (number % 4 == 2).then_some(2_000),
            throttled: u64::from(number == 5) * 3,
            robots: (number != 8).then(|| RobotsRecord {
                status: [200, 404, 200, 503][number as usize % 4],
                fetched_at: Timestamp(START),
                text: "User-agent: *".to_owned(),
                unreachable_since: None,
                failures: 0,
                validators: Validators::default(),
            }),
            ..HostRecord::default()
        });
        host.requests += u64::from(page.outcome != Outcome::Excluded);
        host.fetched += u64::from(page.outcome == Outcome::Fetched);
        host.relevant += u64::from(page.outcome == Outcome::Fetched && page.relevant);
        host.failures += u64::from(page.outcome == Outcome::Failed);
        host.bytes += page.bytes;
    }
    hosts.into_values().collect()
}

/// The facts of the made-up crawl.
pub(super) fn facts(language: Language) -> CrawlFacts {
    let zh = language == Language::Zh;
    let pick = |en: &str, other: &str| if zh { other.to_owned() } else { en.to_owned() };
    let terms = "hive colony 蜂群 queen varroa 蜂王 bee brood swarm 蜂箱 honey apiary 养蜂 beekeeper 蜂螨 frame comb 蜂蜜 pollen nectar 越冬 smoker drone 饲喂 wax skep";
    let weight = |en: &str, other: &str, prior, now| LinkWeight { name: pick(en, other), prior, now };
    CrawlFacts {
        topic_name: pick("Beekeeping", "养蜂"),
        keywords: ["bee", "hive", "varroa", "养蜂", "蜂群", "蜂螨"].map(str::to_owned).to_vec(),
        seeds: (0..8).map(|at| format!("https://{}/", HOSTS[at].0)).collect(),
        threshold: 0.5,
        order: "topical".to_owned(),
        state: CrawlState {
            discovered: 2_914,
            waiting: 2_380,
            refused: BTreeMap::from([("scope.exclude_extensions".to_owned(), 412), ("scope.max_path_depth".to_owned(), 9)]),
            now: Timestamp(START + 460_000),
            elapsed_ms: 460_000,
            ..CrawlState::default()
        },
        stop: Some(Stop {
            name: "max-pages".to_owned(),
            words: pick("the limit of 320 URLs was reached.", "已达到 320 个网址的上限。"),
        }),
        started: Some(Timestamp(START)),
        virtual_time: true,
        dns: Some(DnsCounts { hits: 611, misses: 9, failures: 1, lookup_ms: 360 }),
        model_versions: 6,
        top_terms: terms.split(' ').enumerate().map(|(at, word)| (word.to_owned(), 3.2 / (1.0 + at as f64 * 0.12))).collect(),
        link_weights: vec![
            weight("keywords in the anchor", "锚文本中的关键词", 2.0, 2.61),
            weight("keywords in the address", "网址中的关键词", 1.5, 0.92),
            weight("keywords in the nearest heading", "最近标题中的关键词", 0.8, 1.17),
            weight("relevance of the best parent", "最佳父页面的相关度", 0.8, 1.42),
            weight("mean relevance of the parents", "父页面的平均相关度", 1.0, 0.85),
            weight("links in the same list", "同一列表中的其他链接", 0.4, 0.77),
            weight("inside a navigation block", "位于导航区", -0.5, -1.08),
            weight("link without text", "无文字的链接", -0.3, -0.12),
            weight("distance from the last relevant page", "距上一个相关网页的距离", -0.2, -0.46),
        ],
        language,
    }
}

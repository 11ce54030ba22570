//! Crawls whose evidence misleads them must notice and recover. Constructed webs, judged by labels the crawl cannot see.

use std::{collections::BTreeSet, fmt::Write as _, io::Write as _, path::Path};

use windrow::{
    config::Config,
    evaluation::{Contestant, RecordedWeb, Trial, run_trial},
    frontier::Order,
    politeness::PaceConfig,
    topic::Topic,
    url::{Fingerprint, Url},
};

const TOWN: &str = "council tax road permit parking meeting budget office waste school police mayor housing library fee form";
const GARDEN: &str = "soil compost mulch worm humus leaf manure loam seedling bed root straw nitrogen heap moisture spade";
const CLUBS: &str = "club member association annual hall choir chess football evening contact chair treasurer brass band";

struct Page {
    url: String,
    html: String,
}

/// A web that is written down as it is made up.
struct MadeUp {
    pages: Vec<Page>,
    random: fastrand::Rng,
}

impl MadeUp {
    fn new(seed: u64) -> Self {
        Self { pages: Vec::new(), random: fastrand::Rng::with_seed(seed) }
    }

    fn text(&mut self, words: &str, number: usize) -> String {
        let words: Vec<&str> = words.split(' ').collect();
        (0..number).map(|_| words[self.random.usize(0..words.len())]).collect::<Vec<_>>().join(" ")
    }

    /// Text of `words`, every second one met nowhere else: real pages are no copies of each other.
    fn body(&mut self, words: &str) -> String {
        let known = self.text(words, 100);
        let mut rare = || (0..7).map(|_| self.random.lowercase()).collect::<String>();
        known.split(' ').map(|word| format!("{word} {}", rare())).collect::<Vec<_>>().join(" ")
    }

    /// A page of `words` with a menu and links `(url, anchor)`.
    fn page(&mut self, url: &str, title: &str, words: &str, menu: &[(String, String)], links: &[(String, String)]) {
        let body = self.body(words);
        let mut html = format!("<html><head><title>{title}</title></head><body><ul class=menu>");
        for (to, anchor) in menu {
            write!(html, "<li><a href=\"{to}\">{anchor}</a></li>").unwrap();
        }
        write!(html, "</ul><h1>{title}</h1><p>{body}</p><ul>").unwrap();
        for (to, anchor) in links {
            write!(html, "<li><a href=\"{to}\">{anchor}</a></li>").unwrap();
        }
        html.push_str("</ul></body></html>");
        self.pages.push(Page { url: url.to_owned(), html });
    }

    /// `number` pages about gardens at `host`, each linking to a few others; the first lists them all.
    fn garden(&mut self, host: &str, number: usize) -> BTreeSet<Fingerprint> {
        let url = |n: usize| format!("http://{host}/p{n}.html");
        let names: Vec<String> = (0..number).map(|_| self.text(GARDEN, 2)).collect();
        for (n, name) in names.iter().enumerate() {
            let near: Vec<(String, String)> = if n == 0 {
                (1..number).map(|m| (url(m), names[m].clone())).collect()
            } else {
                (1..4).map(|step| (n + step) % number).map(|m| (url(m), names[m].clone())).collect()
            };
            self.page(&url(n), name, GARDEN, &[], &near);
        }
        (0..number).map(|n| Fingerprint::of(&Url::parse(&url(n)).unwrap())).collect()
    }

    fn open(&self, folder: &Path) -> RecordedWeb {
        let path = folder.join("web.warc.gz");
        let mut file = std::fs::File::create(&path).unwrap();
        for page in &self.pages {
            let http = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n{}", page.html);
            let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            write!(
                member,
                "WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:{:032x}>\r\nWARC-Date: 2026-01-01T00:00:00Z\r\n\
                 WARC-Target-URI: {}\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
                self.pages.len(),
                page.url,
                http.len()
            )
            .unwrap();
            file.write_all(&member.finish().unwrap()).unwrap();
        }
        file.sync_all().unwrap();
        RecordedWeb::open(&[path]).unwrap()
    }
}

fn crawl(
    web: &RecordedWeb,
    keywords: &[&str],
    seeds: &[&str],
    targets: &BTreeSet<Fingerprint>,
    budget: usize,
    order: Order,
) -> Trial {
    let quoted = |texts: &[&str]| texts.iter().map(|text| format!("{text:?}")).collect::<Vec<_>>().join(", ");
    let toml = format!("name = \"t\"\nkeywords = [{}]\nseeds = [{}]\n", quoted(keywords), quoted(seeds));
    let topic = Topic::parse(&toml, Path::new("t.toml")).unwrap();
    let mut config = Config::default();
    config.crawl.workers = 1;
    config.politeness =
        PaceConfig { obey_robots: false, delay_ms: 0, response_factor: 0.0, slow_start_requests: 0, ..PaceConfig::default() };
    let mut plan = config.plan(&topic, None).unwrap();
    if order != Order::Topical {
        plan.tunnel_depth = u8::MAX;
    }
    run_trial(Contestant::Order(order), plan, web, targets, budget).unwrap()
}

fn hits(trial: &Trial, part: std::ops::Range<usize>) -> usize {
    part.filter(|&at| trial.hits.get(at).copied().unwrap_or(false)).count()
}

/// Says what each order found, where a test fails.
fn told(topical: &Trial, breadth_first: &Trial) -> String {
    let tenths = |trial: &Trial| (0..10).map(|n| hits(trial, n * 20..n * 20 + 20)).collect::<Vec<_>>();
    format!("targets by twenties: topical {:?}, breadth-first {:?}\n{:#?}", tenths(topical), tenths(breadth_first), topical.urls)
}

/// A town whose menu, titles and directories all say "service", and gardens two off-topic pages away.
fn town_of_services() -> (MadeUp, BTreeSet<Fingerprint>) {
    let mut web = MadeUp::new(1);
    let service = |n: usize| format!("http://www.town.example/service/{n}.html");
    let mut menu: Vec<(String, String)> = (0..12).map(|n| (service(n), format!("Service {n}"))).collect();
    menu.push(("http://www.town.example/links.html".to_owned(), "Links".to_owned()));
    web.page("http://www.town.example/", "Town service", TOWN, &menu, &[]);
    for n in 0..400 {
        let near: Vec<(String, String)> =
            (1..6).map(|step| (service((n * 5 + step) % 400), format!("service no. {step}"))).collect();
        let words = format!("{TOWN} service service");
        web.page(&service(n), &format!("Town service {n}"), &words, &menu, &near);
    }
    let clubs: Vec<(String, String)> = (0..15).map(|n| (format!("http://clubs.example/{n}.html"), format!("Club {n}"))).collect();
    web.page("http://www.town.example/links.html", "Links of the town", CLUBS, &menu, &clubs);
    for n in 0..15 {
        let friends = (format!("http://garden{}.example/p0.html", n % 3), "Friends".to_owned());
        web.page(&format!("http://clubs.example/{n}.html"), "Club", CLUBS, &[], &[friends]);
    }
    let mut targets = BTreeSet::new();
    for n in 0..3 {
        targets.extend(web.garden(&format!("garden{n}.example"), 40));
    }
    (web, targets)
}

#[test]
fn a_keyword_that_is_a_menu_word_and_a_directory_does_not_capture_the_crawl() {
    let folder = tempfile::tempdir().unwrap();
    let (made_up, targets) = town_of_services();
    let web = made_up.open(folder.path());
    let run = |order| crawl(&web, &["soil", "compost", "service"], &["http://www.town.example/"], &targets, 200, order);
    let (topical, breadth_first) = (run(Order::Topical), run(Order::BreadthFirst));
    let told = told(&topical, &breadth_first);
    assert!(hits(&topical, 0..200) > hits(&breadth_first, 0..200) + 50, "{told}");
    // It notices within fifty fetches, looks elsewhere, and then stays with what it found.
    assert!(hits(&topical, 60..160) >= 60, "{told}");
}

#[test]
fn seeds_that_are_portals_lead_to_the_topic_behind_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut made_up = MadeUp::new(2);
    let section = |n: usize| format!("http://portal.example/section{n}/");
    let sections: Vec<(String, String)> = (0..20).map(|n| (section(n), format!("Section {n}"))).collect();
    made_up.page("http://portal.example/", "Portal: soil, sports, money and more", TOWN, &sections, &[]);
    for n in 0..20 {
        let item = |m: usize| (format!("http://portal.example/section{n}/{m}.html"), format!("News {n} {m}"));
        let mut items: Vec<(String, String)> = (0..15).map(item).collect();
        if n == 13 {
            items.push(("http://land.example/".to_owned(), "Country".to_owned()));
        }
        made_up.page(&section(n), &format!("Section {n}"), TOWN, &sections, &items);
        for m in 0..15 {
            made_up.page(&item(m).0, "News", TOWN, &sections, &[]);
        }
    }
    made_up.page(
        "http://land.example/",
        "Country",
        CLUBS,
        &[],
        &[("http://garden.example/p0.html".to_owned(), "Gardens".to_owned())],
    );
    let targets = made_up.garden("garden.example", 80);
    let web = made_up.open(folder.path());
    let run = |order| crawl(&web, &["soil", "compost", "mulch"], &["http://portal.example/"], &targets, 200, order);
    let (topical, breadth_first) = (run(Order::Topical), run(Order::BreadthFirst));
    let told = told(&topical, &breadth_first);
    assert!(hits(&topical, 0..200) >= hits(&breadth_first, 0..200), "{told}");
    assert!(hits(&topical, 0..200) >= 70, "{told}");
}

#[test]
fn a_seed_that_fails_leaves_the_others_to_find_the_topic() {
    let folder = tempfile::tempdir().unwrap();
    let (made_up, targets) = town_of_services();
    let web = made_up.open(folder.path());
    let seeds = ["http://gone.example/", "http://clubs.example/4.html"];
    let topical = crawl(&web, &["soil", "compost"], &seeds, &targets, 100, Order::Topical);
    assert!(hits(&topical, 0..100) >= 35, "{:#?}", topical.urls);
}

//! A made-up web of many hosts with few pages each, one after the other as they are asked for.
//!
//! Promises: a page is the same whenever it is asked for; every host can be reached from the first.

use std::fmt::Write;

use fastrand::Rng;

pub const SEEDS: &str = "http://site0.wide.test/0";

/// Pages of a host.
const PAGES: u32 = 4;
/// Links of a page to other hosts.
const AWAY: usize = 20;
/// Words of a page.
const WORDS: usize = 400;

const TOPIC: [&str; 6] = ["crop", "soil", "irrigation", "wheat", "harvest", "manure"];
const OTHER: [&str; 12] =
    ["goal", "team", "market", "bank", "film", "music", "engine", "river", "school", "ticket", "garden", "price"];

/// The page at an address; `None` where there is none.
pub fn page(host: &str, path: &str, hosts: u32) -> Option<String> {
    let host: u32 = host.strip_prefix("site")?.strip_suffix(".wide.test")?.parse().ok().filter(|&host| host < hosts)?;
    let page: u32 = path.strip_prefix('/')?.parse().ok().filter(|&page| page < PAGES)?;
    let mut random = Rng::with_seed(u64::from(host) << 8 | u64::from(page));
    let is_relevant = host.is_multiple_of(4);
    let mut word = || match random.u8(..8) {
        0 if is_relevant => TOPIC[random.usize(..TOPIC.len())],
        _ => OTHER[random.usize(..OTHER.len())],
    };
    let mut html = format!("<!doctype html><title>{} {} {host}/{page}</title><body>", word(), word());
    for paragraph in 0..10 {
        let text: Vec<&str> = (0..WORDS / 10).map(|_| word()).collect();
        let _ = write!(html, "<div class=\"p{paragraph}\"><h2>{}</h2><p>{}</p></div>", word(), text.join(" "));
    }
    html.push_str("<ul>");
    for other in 0..PAGES {
        let _ = write!(html, "<li><a href=\"/{other}\">{} {}</a>", word(), word());
    }
    for _ in 0..AWAY {
        let (anchor, to) = (word(), random_host(&mut Rng::with_seed(html.len() as u64 ^ u64::from(host) << 32), hosts));
        let _ = write!(html, "<li><a href=\"http://site{to}.wide.test/{}\">{anchor}</a>", to % PAGES);
    }
    // The next host: so that all can be reached.
    let _ = write!(html, "<li><a href=\"http://site{}.wide.test/0\">{}</a></ul>", (host + 1) % hosts, word());
    Some(html)
}

fn random_host(random: &mut Rng, hosts: u32) -> u32 {
    random.u32(..hosts)
}

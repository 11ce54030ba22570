//! Traps that are to be held back, and honest pages that are not.

use super::*;

fn url(text: &str) -> Url {
    Url::parse(text).unwrap()
}

fn page(words: &[u32], relevant: bool) -> Brought<'_> {
    Brought::Page { words, relevant }
}

/// Shows a day of a calendar that says nothing new, so many times.
fn calendar(traps: &mut Traps, days: u32) {
    for day in 0..days {
        traps.observe(&url(&format!("http://e.com/calendar/{day}")), page(&[1, 2, 3], true));
    }
}

#[test]
fn an_endless_calendar_is_held_back_and_its_neighbours_are_not() {
    let mut traps = Traps::default();
    calendar(&mut traps, 30);
    assert_eq!(traps.gate(NodeId(1), &url("http://e.com/calendar/77")), Gate::Open, "not before it is sure");
    calendar(&mut traps, 2);
    assert_eq!(traps.gate(NodeId(1), &url("http://e.com/calendar/77")), Gate::Held);
    assert_eq!(traps.gate(NodeId(2), &url("http://e.com/calendar/x?month=5")), Gate::Open);
    assert_eq!(traps.gate(NodeId(3), &url("http://e.com/news/77")), Gate::Open);
    assert_eq!(traps.gate(NodeId(4), &url("http://f.com/calendar/77")), Gate::Open);
    assert_eq!(traps.quarantined(), BTreeMap::from([("e.com/calendar/#".into(), 1)]));
}

#[test]
fn pages_that_say_something_new_never_make_a_trap_whatever_their_number() {
    let mut traps = Traps::default();
    let mut random = fastrand::Rng::with_seed(1);
    for n in 0..5_000_u64 {
        // Words are drawn as in real text: most are known, some are rare.
        let words: Vec<u32> = (0..200).map(|_| (random.f64().powi(4) * 1e6) as u32).collect();
        traps.observe(&url(&format!("http://e.com/news/{n}.html")), page(&words, n % 10 == 0));
    }
    assert_eq!(traps.quarantined(), BTreeMap::new());
}

#[test]
fn a_template_that_never_pays_is_held_back_by_the_rate_of_the_crawl_and_released_when_nothing_else_is_left() {
    let poor = |fetched: u64, relevant: u64| {
        let mut traps = Traps { fetched, relevant, ..Traps::default() };
        for n in 0..200 {
            let words = [4 * n, 4 * n + 1, 4 * n + 2];
            traps.observe(&url(&format!("http://e.com/forum/{n}")), page(&words, false));
        }
        traps
    };
    let mut rich_crawl = poor(10_000, 5_000);
    assert_eq!(rich_crawl.gate(NodeId(7), &url("http://e.com/forum/1")), Gate::Held);
    assert!(rich_crawl.release_dry());
    assert_eq!(rich_crawl.released(), [NodeId(7)]);
    assert_eq!(rich_crawl.gate(NodeId(7), &url("http://e.com/forum/1")), Gate::Open);
    let mut poor_crawl = poor(10_000, 100);
    assert_eq!(poor_crawl.gate(NodeId(7), &url("http://e.com/forum/1")), Gate::Open);
    let mut traps = Traps::default();
    calendar(&mut traps, 35);
    traps.gate(NodeId(1), &url("http://e.com/calendar/77"));
    assert!(!traps.release_dry(), "a calendar stays shut");
}

#[test]
fn what_its_links_lead_to_counts_for_a_template() {
    let mut traps = Traps { fetched: 10_000, relevant: 9_000, ..Traps::default() };
    for n in 0..1_000 {
        let list = url(&format!("http://e.com/list/{n}"));
        traps.observe(&list, page(&[2 * n, 2 * n + 1], false));
        if n % 30 == 0 {
            traps.credit(&list);
        }
    }
    assert_eq!(traps.quarantined(), BTreeMap::new());
}

#[test]
fn a_probe_that_pays_opens_the_template_again() {
    let mut traps = Traps::default();
    calendar(&mut traps, 35);
    for node in 0..3 {
        traps.gate(NodeId(node), &url("http://e.com/calendar/77"));
    }
    assert_eq!(traps.released(), []);
    let elsewhere = |traps: &mut Traps, fetches: u32| {
        for n in 0..fetches {
            let words = [7 * n + 9, 11 * n + 9, 13 * n + 9];
            traps.observe(&url(&format!("http://news.com/{n}")), page(&words, true));
        }
    };
    elsewhere(&mut traps, 64);
    assert_eq!(traps.released(), [NodeId(2)]);
    assert_eq!(traps.gate(NodeId(2), &url("http://e.com/calendar/77")), Gate::Open);
    assert!(!traps.observe(&url("http://e.com/calendar/77"), Brought::Nothing));
    elsewhere(&mut traps, 64);
    assert_eq!(traps.released(), [], "the next probe waits for four times as many pages");
    elsewhere(&mut traps, 300);
    assert_eq!(traps.released(), [NodeId(1)]);
    assert!(traps.observe(&url("http://e.com/calendar/78"), page(&[90, 91], true)));
    assert_eq!(traps.released(), [NodeId(0)]);
    assert_eq!(traps.quarantined(), BTreeMap::new());
}

#[test]
fn a_script_with_ever_new_parameters_is_held_back_as_a_whole() {
    let mut traps = Traps::default();
    let facets = ["red", "blue", "green", "big", "small", "new"];
    for n in 0..95 {
        let facet = url(&format!("http://e.com/list?{}={}", facets[n % 6], facets[n / 6 % 6]));
        traps.observe(&facet, page(&[1, 2, 3], true));
    }
    assert_eq!(traps.gate(NodeId(1), &url("http://e.com/list?colour=grey")), Gate::Held);
    assert_eq!(traps.gate(NodeId(2), &url("http://e.com/list")), Gate::Open);
}

#[test]
fn a_reference_whose_pages_use_the_same_words_in_other_choices_is_no_trap() {
    let mut traps = Traps::default();
    for n in 0..500_u32 {
        let words: Vec<u32> = (0..60).map(|k| (n * 37 + k * k * 11) % 300).collect();
        traps.observe(&url(&format!("http://e.com/ref/f{n}.html")), page(&words, false));
    }
    let stale = traps.known.values().map(|template| template.stale).max();
    assert!(stale < Some(10), "{stale:?}");
}

#[test]
fn a_user_can_trust_what_looks_like_a_trap_or_do_without() {
    let config = TrapConfig { trusted: vec!["/calendar/".into()], ..TrapConfig::default() };
    for config in [config, TrapConfig { quarantine: false, ..TrapConfig::default() }] {
        let mut traps = Traps::new(config).unwrap();
        calendar(&mut traps, 50);
        assert_eq!(traps.gate(NodeId(1), &url("http://e.com/calendar/77")), Gate::Open);
    }
    let broken = Traps::new(TrapConfig { trusted: vec!["(".into()], ..TrapConfig::default() });
    assert!(broken.unwrap_err().to_string().starts_with("traps.trusted"));
}

#[test]
fn memory_is_bounded_and_quarantine_outlives_the_rest() {
    let mut traps = Traps::default();
    calendar(&mut traps, 35);
    for n in 0..2 * MAX_TEMPLATES as u32 {
        traps.observe(&url(&format!("http://h{n}.com/x")), page(&[1, 2], true));
    }
    assert!(traps.known.len() <= MAX_TEMPLATES + 1);
    assert_eq!(traps.gate(NodeId(1), &url("http://e.com/calendar/77")), Gate::Held);
}

#[test]
fn templates_in_quarantine_are_bounded_too_and_every_link_that_they_held_is_given_back() {
    let config = TrapConfig { stale_fetches: 1, ..TrapConfig::default() };
    let mut traps = Traps::new(config).unwrap().within(Room { bytes: 0, ..Room::default() });
    let (mut held, mut back) = (0, Vec::new());
    for n in 0..3 * MAX_TEMPLATES as u32 {
        let page = url(&format!("http://h{n}.com/x"));
        traps.observe(&page, Brought::Nothing);
        for link in 0..=n % 3 {
            assert_eq!(traps.gate(NodeId(3 * n + link), &page), Gate::Held);
            held += 1;
        }
        assert!(traps.known.len() <= MAX_TEMPLATES + 1);
        if n % 1_000 == 0 {
            back.extend(traps.released());
        }
    }
    assert!(back.len() > MAX_TEMPLATES, "{}", back.len());
    let names: Vec<String> = traps.quarantined().into_keys().collect();
    for name in &names {
        traps.release(name);
    }
    back.extend(traps.released());
    back.sort_unstable();
    back.dedup();
    assert_eq!(back.len(), held);
    assert!(traps.held_bytes() < 1 << 16, "{}", traps.held_bytes());
    traps.check().unwrap();
}

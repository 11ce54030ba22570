use super::*;
use crate::{frontier::Priority, link_classifier::Evidence, page::Relevance, url::Url};

fn link(frontier: &mut Frontier, number: u64, priority: f64) -> Link {
    let url = Url::parse(&format!("http://host{}.test/{number}", number * number % 97)).unwrap();
    Link {
        host: frontier.host(&crate::url::authority(&url)),
        fingerprint: Fingerprint::of(&url),
        url,
        discovered: number,
        depth: 1,
        tunnel_depth: 0,
        facts: crate::link_classifier::TargetFacts::default(),
        in_links: vec![crate::frontier::InLinkNote::default()],
        in_degree: 1,
        forgotten_relevance: 0.0,
        evidence: Evidence::default(),
        estimate: Relevance::NONE,
        priority: Priority(priority),
        filed: None,
        tries: 0,
        not_before: Timestamp::default(),
    }
}

/// Takes everything, a few links at a time in memory; returns the order.
fn crawl(mut frontier: Frontier) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(8);
    let mut disk: FxHashMap<NodeId, Link> = FxHashMap::default();
    let mut order = Vec::new();
    let mut number = 0;
    while order.len() < 3_000 {
        if number < 3_000 {
            for _ in 0..10 {
                let link = link(&mut frontier, number, random.f64());
                frontier.push(NodeId(number as u32), link);
                number += 1;
            }
        }
        for (node, link) in frontier.overflow() {
            disk.insert(node, link);
        }
        frontier.make_room(Timestamp(0));
        assert_eq!(frontier.unfinished(), number as usize - order.len());
        loop {
            match frontier.take(Timestamp(0)) {
                Taken::Link(node, host) => {
                    order.extend(frontier.remove(node).map(|link| link.discovered));
                    frontier.release(host, Timestamp(0));
                    break;
                }
                Taken::Restock(host) => {
                    let mut stock: Vec<(NodeId, Priority)> =
                        disk.iter().filter(|(_, link)| link.host == host).map(|(&node, link)| (node, link.priority)).collect();
                    stock.sort_by_key(|&(node, priority)| (Reverse(priority), node));
                    assert_eq!(frontier.shelf_top(host), stock.first().map(|&(_, priority)| priority));
                    for &(node, _) in stock.iter().take(5) {
                        frontier.unshelve(node, disk.remove(&node).unwrap());
                    }
                    frontier.restocked(host, stock.get(5).map(|&(_, priority)| priority), Priority(f64::MAX));
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!((frontier.unfinished(), disk.len()), (0, 0));
    order
}

#[test]
fn links_leave_in_the_same_order_whether_they_fit_in_memory_or_not() {
    let none = || Room { bytes: 0, ..Room::default() };
    let narrow = FrontierRooms { seen: none(), shelf: none(), hosts: none() };
    let plain = || Frontier::new(FrontierConfig::default(), 1);
    assert_eq!(crawl(plain().within(100, narrow)), crawl(plain()));
}

#[test]
fn what_is_in_memory_stays_below_the_capacity_and_seeds_never_leave() {
    let mut frontier = Frontier::new(FrontierConfig::default(), 1).within(200, FrontierRooms::default());
    for number in 0..1_000 {
        let mut link = link(&mut frontier, number, 0.5);
        if number < 20 {
            link.in_links.clear();
        }
        frontier.push(NodeId(number as u32), link);
        frontier.overflow();
        assert!(frontier.links().count() <= 200);
    }
    assert!((0..20).all(|seed| frontier.link(NodeId(seed)).is_some()));
    assert_eq!(frontier.len(), 1_000);
}

#[test]
fn the_head_has_the_best_hosts_first_and_no_more_of_one_than_is_asked_for() {
    let mut frontier = Frontier::new(FrontierConfig::default(), 1);
    for number in 0..40_u32 {
        let mut link = link(&mut frontier, 0, f64::from(number));
        link.host = frontier.host(&format!("host{}.test", number % 4));
        frontier.push(NodeId(number), link);
    }
    let head = |number, per_host| frontier.head(number, per_host).into_iter().map(|node| node.0).collect::<Vec<_>>();
    assert_eq!(head(5, 2), [39, 35, 38, 34, 37]);
    assert_eq!(head(100, 1), [39, 38, 37, 36]);
    assert_eq!(frontier.head_of("host1.test", 3), [37, 33, 29].map(NodeId));
    assert!(frontier.head_of("host9.test", 3).is_empty());
}

//! Ranks against the exact solution, and what they are to tell apart.

use super::*;

/// Jacobi iteration to convergence.
fn exact(graph: &LinkGraph) -> Vec<f64> {
    let own: Vec<f64> = graph.all().map(|(_, node)| graph.config.beta * f64::from(node.relevance)).collect();
    let mut ranks = own.clone();
    for _ in 0..100 {
        let mut next = own.clone();
        for ((id, node), rank) in graph.all().zip(&ranks) {
            let outlinks = graph.outlinks(id);
            let share = graph.config.alpha * rank / f64::from(votes(outlinks.len()));
            for target in outlinks {
                next[target.index()] += share / graph.sharers(&node, target);
            }
        }
        ranks = next;
    }
    ranks
}

fn random_crawl(steps: u32) -> LinkGraph {
    random_crawl_on(LinkGraph::new(RankConfig::default()), steps)
}

fn random_crawl_on(mut graph: LinkGraph, steps: u32) -> LinkGraph {
    let mut random = fastrand::Rng::with_seed(7);
    let mut touched = Vec::new();
    graph.add(1.0, 0);
    for step in 0..steps {
        let outlinks: Vec<NodeId> = (0..random.usize(1..12))
            .map(|_| {
                if random.bool() { graph.add(random.f64(), random.u32(0..3)) } else { NodeId(random.u32(0..graph.len() as u32)) }
            })
            .collect();
        graph.fetch(NodeId(step), random.f64(), &outlinks, &mut touched);
        if step % 7 == 0 {
            graph.set_relevance(NodeId(random.u32(0..graph.len() as u32)), random.f64(), &mut touched);
        }
    }
    graph
}

#[test]
fn pushed_ranks_stay_close_to_the_exact_solution() {
    let graph = random_crawl(400);
    let worst =
        exact(&graph).iter().enumerate().map(|(index, rank)| (rank - graph.rank(NodeId(index as u32))).abs()).fold(0.0, f64::max);
    assert!(worst < 0.02, "{worst}");
    assert!(graph.identity_error() < 1e-4, "{}", graph.identity_error());
}

#[test]
fn a_graph_that_does_not_fit_in_memory_ranks_as_one_that_does() {
    let narrow = Room { bytes: 0, ..Room::default() };
    let (spilled, whole) = (random_crawl_on(LinkGraph::default().within(&narrow), 2_000), random_crawl(2_000));
    assert!(spilled.nodes.loads() > 100 && spilled.edges.loads() > 100, "nothing was spilled");
    let ranks = |graph: &LinkGraph| -> Vec<(f64, f64)> { graph.all().map(|(id, _)| graph.state(id)).collect() };
    assert_eq!(ranks(&spilled), ranks(&whole));
    spilled.check().unwrap();
}

#[test]
fn a_page_that_many_relevant_pages_link_to_ranks_above_its_equals() {
    let mut graph = LinkGraph::new(RankConfig::default());
    let mut touched = Vec::new();
    let (a, b) = (graph.add(0.9, 1), graph.add(0.9, 2));
    let (cited_twice, cited_once) = (graph.add(0.3, 3), graph.add(0.3, 3));
    graph.fetch(a, 0.9, &[cited_twice, cited_once], &mut touched);
    graph.fetch(b, 0.9, &[cited_twice], &mut touched);
    assert!(graph.rank(cited_twice) > graph.rank(cited_once));
    assert!(graph.rank(cited_twice) > 0.5 * 0.3);
    assert!(touched.contains(&cited_twice));
}

#[test]
fn a_menu_that_every_page_of_a_site_repeats_votes_once() {
    let mut graph = LinkGraph::new(RankConfig::default());
    let mut touched = Vec::new();
    let pages: Vec<NodeId> = (0..30).map(|_| graph.add(0.9, 0)).collect();
    let (menu, article) = (graph.add(0.1, 0), graph.add(0.2, 0));
    for (number, &page) in pages.iter().enumerate() {
        let links = if number == 0 { vec![menu, article] } else { vec![menu] };
        graph.fetch(page, 0.9, &links, &mut touched);
    }
    assert!(graph.rank(article) > graph.rank(menu));
    assert!(graph.identity_error() < 1e-5, "{}", graph.identity_error());
}

#[test]
fn a_graph_that_is_put_together_again_ranks_as_before() {
    let graph = random_crawl(400);
    let mut restored = LinkGraph::new(RankConfig::default());
    for (id, node) in graph.all() {
        restored.add(graph.relevance(id), node.site);
    }
    for (id, node) in graph.all() {
        if node.is_fetched() {
            restored.restore(id, &graph.outlinks(id));
        }
    }
    restored.settle_all();
    let worst = graph.all().map(|(id, _)| (graph.rank(id) - restored.rank(id)).abs()).fold(0.0, f64::max);
    assert!(worst < 0.02, "{worst}");
    assert!(restored.identity_error() < 1e-4, "{}", restored.identity_error());
}

#[test]
fn a_page_that_has_changed_ranks_others_as_if_it_had_always_been_so() {
    let (mut graph, mut random) = (random_crawl(400), fastrand::Rng::with_seed(9));
    let mut touched = Vec::new();
    let changed: Vec<NodeId> = (0..60).map(|_| NodeId(random.u32(0..400))).collect();
    for &node in &changed {
        let links: Vec<NodeId> = (0..random.usize(0..12)).map(|_| NodeId(random.u32(0..graph.len() as u32))).collect();
        touched.clear();
        let before = graph.outlinks(node);
        graph.renew(node, random.f64(), &links, &mut touched);
        assert_eq!(graph.outlinks(node), links);
        let all_told = before.iter().chain(&links).all(|link| graph.is_fetched(*link) || touched.contains(link));
        assert!(all_told, "a link that waits has another rank, and nobody is told");
        assert!(!touched.iter().any(|link| graph.is_fetched(*link)));
    }
    let worst =
        exact(&graph).iter().enumerate().map(|(index, rank)| (rank - graph.rank(NodeId(index as u32))).abs()).fold(0.0, f64::max);
    assert!(worst < 0.02, "{worst}");
    assert!(graph.identity_error() < 1e-4, "{}", graph.identity_error());
}

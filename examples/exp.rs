use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};
use windrow::{
    engine::*, evaluation::*, frontier::*, page_classifier::*, parse::*, politeness::*, text::*, topic::*, topical_rank::*,
    url::*,
};
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let orders: Vec<&str> = args[0].split(',').collect();
    let draws: usize = args.get(1).map_or(0, |a| a.parse().unwrap());
    let mult: usize = args.get(2).map_or(1, |a| a.parse().unwrap());
    let only = args.get(3).cloned().unwrap_or_default();
    let tasks = load_tasks(&PathBuf::from(std::env::var("TASKS").unwrap_or("/work/shared/corpora/tasks.json".into()))).unwrap();
    let mut webs: BTreeMap<String, Vec<Task>> = BTreeMap::new();
    for t in tasks {
        if t.corpus != "blogs" || only.contains("flink") {
            if only.is_empty() || only.split(',').any(|o| o == t.id || o == t.corpus) {
                webs.entry(t.corpus.clone()).or_default().push(t);
            }
        }
    }
    let mut table: BTreeMap<String, Vec<(String, Score)>> = BTreeMap::new();
    for (_, tasks) in webs {
        let web = RecordedWeb::open(&[tasks[0].web_path()]).unwrap();
        let labels = Labels::load(&tasks[0].labels_path()).unwrap();
        let jobs: Vec<(usize, usize, &str)> = (0..tasks.len())
            .flat_map(|t| (0..=draws).map(move |d| (t, d)))
            .filter(|&(_, d)| draws == 0 || d > 0)
            .flat_map(|(t, d)| orders.iter().map(move |&o| (t, d, o)))
            .collect();
        let next = std::sync::atomic::AtomicUsize::new(0);
        let results = std::sync::Mutex::new(Vec::new());
        std::thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    loop {
                        let i = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        let Some(&(t, d, o)) = jobs.get(i) else { break };
                        let task = &tasks[t];
                        let mut targets = labels.pages(&task.label).unwrap();
                        let mut seeds = parse_seeds(&task.seeds);
                        if d > 0 {
                            let all: Vec<Fingerprint> = targets.iter().copied().filter(|&t| web.url(t).is_some()).collect();
                            let mut r = fastrand::Rng::with_seed(d as u64 * 1000 + 7);
                            seeds = (0..3).map(|_| web.url(all[r.usize(0..all.len())]).unwrap().clone()).collect();
                        }
                        for s in &seeds {
                            targets.remove(&Fingerprint::of(s));
                        }
                        let reach = web.reachable(&seeds);
                        let n = targets.iter().filter(|t| reach.contains(t)).count();
                        let budget = n.max(100) * mult;
                        let seg = Segmenter::shared();
                        let kw = Arc::new(KeywordSet::new(task.keywords.iter().map(|k| seg.term_ids(k))));
                        let plan = CrawlPlan {
                            keywords: kw,
                            seeds,
                            segmenter: seg,
                            scope: Scope::new(ScopeConfig::default(), &[]).unwrap(),
                            threshold: 0.5,
                            tunnel_depth: std::env::var("TUNNEL").map_or(3, |t| t.parse().unwrap()),
                            limits: Limits::default(),
                            engine: EngineConfig {
                                workers: std::env::var("WORKERS").map_or(1, |t| t.parse().unwrap()),
                                rescore_budget: std::env::var("BUDGET").map_or(400, |t| t.parse().unwrap()),
                                ..EngineConfig::default()
                            },
                            frontier: FrontierConfig::default(),
                            pace: PaceConfig { delay_ms: 0, obey_robots: false, ..PaceConfig::default() },
                            parse: ParseConfig::default(),
                            rank: RankConfig {
                                alpha: std::env::var("ALPHA").map_or(0.5, |t| t.parse().unwrap()),
                                ..RankConfig::default()
                            },
                            page_classifier: PageClassifierConfig::default(),
                            trained: None,
                            examples: vec![],
                            agent: "windrow".into(),
                        };
                        let c = match o {
                            "oracle" => Contestant::Oracle,
                            o => Contestant::Order(<Order as clap::ValueEnum>::from_str(o, true).unwrap()),
                        };
                        let trial = run_trial(c, plan, &web, &targets, budget).unwrap();
                        if std::env::var("SHOW").is_ok() {
                            for (i, u) in trial.urls.iter().enumerate() {
                                println!("{} {} {}", i, if trial.hits[i] { "+" } else { " " }, u);
                            }
                        }
                        results.lock().unwrap().push((
                            task.id.clone(),
                            d,
                            o.to_string(),
                            trial.score(),
                            trial.micros_per_page,
                            n,
                            reach.len(),
                        ));
                    }
                });
            }
        });
        let mut r = results.into_inner().unwrap();
        r.sort_by(|a, b| (&a.0, a.1, &a.2).cmp(&(&b.0, b.1, &b.2)));
        for (id, d, o, s, us, n, reach) in r {
            if std::env::var("Q").is_err() {
                println!(
                    "{id:10} {d} {o:14} {:.3}/{:.3} recall {:.3}  {us:.0} us/page  targets {n} reach {reach}",
                    s.harvest, s.auc, s.recall
                );
            }
            table.entry(o).or_default().push((id, s));
        }
    }
    for (o, s) in table {
        let m = Score::mean(&s.iter().map(|x| x.1).collect::<Vec<_>>());
        println!("MEAN {o:14} {:.3}/{:.3} recall {:.3}", m.harvest, m.auc, m.recall);
    }
    let _ = BTreeSet::<u8>::new();
}

//! Crawls run again by themselves: on schedule, from a watched folder, at the edge.

use reqwest::Method;
use serde_json::{Value, json};
use windrow::monitor::Options;

use super::here::Here;

/// Makes a schedule due by setting the clock of its file back.
fn make_due(dir: &std::path::Path, id: &str) {
    let path = dir.join(format!("crawls/{id}/monitor/job.json"));
    let mut job: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    assert!(job["schedule"]["next"].is_string(), "{job}");
    job["schedule"]["next"] = "2020-01-01T00:00:00Z".into();
    std::fs::write(&path, job.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_that_came_due_while_the_server_was_down_is_made_up_for_and_counted_by_day() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let id = here.demo(json!({ "name": "again" })).await;
    let first = here.until_state(&id, "finished").await;
    let schedule = json!({ "cron": "0 3 * * *", "time_zone": "Asia/Shanghai", "recrawl": "refresh" });
    let told = here.expect(Method::PUT, "/api/v1/crawls/again/schedule", Some(schedule), 200).await;
    assert!(told["schedule"]["next"].as_str().unwrap().ends_with("19:00:00.000Z"), "{told}");
    here.stop().await;
    make_due(folder.path(), &id);
    let here = Here::start(folder.path()).await;
    let crawl = here.until(&id, |crawl| crawl["stop_reason"] == "refreshed" && crawl["state"] == "finished").await;
    let metrics = here.get("/crawls/again/metrics").await;
    let day = metrics["by_day"].as_array().unwrap().last().unwrap();
    let relevant = first["relevant"].as_u64().unwrap();
    // A recorded web never changes.
    assert_eq!(day["unchanged"].as_u64(), Some(relevant), "{metrics}");
    assert_eq!((day["changed"].as_u64(), day["gone"].as_u64()), (Some(0), Some(0)));
    assert_eq!((crawl["fetched"].as_u64(), crawl["relevant"].as_u64()), (Some(60), Some(relevant)));
    assert_eq!(crawl["runs"].as_array().unwrap().len(), 2);
    assert!(!crawl["schedule"]["next"].as_str().unwrap().starts_with("2020"));
    here.expect(Method::PUT, "/api/v1/crawls/again/schedule", Some(Value::Null), 200).await;
    assert!(here.get("/crawls/again").await["schedule"].is_null());
    here.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_continued_on_schedule_fetches_as_many_pages_more() {
    let folder = tempfile::tempdir().unwrap();
    let here = Here::start(folder.path()).await;
    let schedule = json!({ "every_minutes": 60, "recrawl": "continue" });
    let id = here.demo(json!({ "name": "more", "max_pages": 20, "schedule": schedule })).await;
    here.until_state(&id, "finished").await;
    here.stop().await;
    make_due(folder.path(), &id);
    let here = Here::start(folder.path()).await;
    let crawl = here.until(&id, |crawl| crawl["fetched"] == 40 && crawl["state"] == "finished").await;
    assert_eq!(crawl["max_pages"], 40);
    here.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_topic_file_in_the_watched_folder_is_crawled_once() {
    let folder = tempfile::tempdir().unwrap();
    let watch = folder.path().join("topics");
    std::fs::create_dir(&watch).unwrap();
    std::fs::write(watch.join("broken.toml"), "keywords = 1").unwrap();
    let options =
        || Options { watch: Some(watch.clone()), ..Options::new(folder.path().join("server"), "127.0.0.1:0".parse().unwrap()) };
    let here = Here::with(options()).await;
    // An address of this machine, which a crawl refuses to ask: nothing leaves it.
    let topic = "name = \"found\"\nkeywords = [\"rice\"]\nseeds = [\"http://127.0.0.1:1/\"]\n";
    std::fs::write(watch.join("found.toml"), topic).unwrap();
    let started = std::time::Instant::now();
    while here.get("/crawls").await["items"].as_array().unwrap().is_empty() {
        assert!(started.elapsed() < super::here::PATIENCE);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    here.until("found", |crawl| crawl["runs"].as_array().unwrap().len() == 1).await;
    here.stop().await;
    let here = Here::with(options()).await;
    assert_eq!(here.get("/crawls").await["items"].as_array().unwrap().len(), 1, "known files are not taken again");
    here.stop().await;
}

//! Crawls that are killed at random moments, and what must be true of them afterwards.
//!
//! A moment is chosen by how far the crawl has come, not by the clock, so that the kills strike at work and not at start-up, however
//! busy the machine is.
//!
//! Promises: panics where a URL was lost, a page recorded twice, or a store left unclean.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

/// A crawl that does not come further in this time is stuck.
const DEADLINE: Duration = Duration::from_mins(5);

fn crawl(out: &Path) -> Command {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora");
    let mut command = Command::new(env!("CARGO_BIN_EXE_windrow"));
    command.arg("crawl").arg(corpora.join("demo.toml")).arg("--replay").arg(corpora.join("demo.warc.gz"));
    command.arg("--out").arg(out).args(["--order", "breadth-first", "--max-pages", "500"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn urls(out: &Path) -> Vec<String> {
    let mut reader = csv::Reader::from_path(out.join("report/pages.csv")).unwrap();
    reader.records().map(|row| row.unwrap()[1].to_owned()).collect()
}

/// Bytes in the archive: how far a crawl has come.
fn archived(out: &Path) -> u64 {
    let files = fs::read_dir(out.join("archive")).into_iter().flatten();
    files.map(|file| file.and_then(|file| file.metadata()).map_or(0, |metadata| metadata.len())).sum()
}

fn assert_consistent(out: &Path) {
    let verify = Command::new(env!("CARGO_BIN_EXE_windrow")).arg("verify").arg(out).output().unwrap();
    assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
}

/// Waits until a crawl has archived so many bytes, or has ended; whether it has ended.
fn has_ended_before(child: &mut Child, out: &Path, bytes: u64) -> bool {
    let started = Instant::now();
    while archived(out) < bytes {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "a crawl that went on after a kill failed");
            return true;
        }
        assert!(started.elapsed() < DEADLINE, "the crawl is stuck");
        sleep(Duration::from_millis(1));
    }
    false
}

/// Kills crawls of the demo web so many times in all, each time at another moment; each goes on until it ends. Returns how many
/// crawls that took.
pub fn kill_again_and_again(kills: u32) -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole");
    assert!(crawl(&whole).status().unwrap().success());
    let (all, bytes) = (urls(&whole), archived(&whole));
    let mut random = fastrand::Rng::with_seed(9);
    let (mut left, mut crawls) = (kills, 0);
    while left > 0 {
        crawls += 1;
        let killed = folder.path().join(format!("killed-{crawls}"));
        loop {
            let mut child = crawl(&killed).spawn().unwrap();
            let before = archived(&killed);
            // Now and then while it starts, or reads back what it knew.
            let at_start = random.u32(0..8) == 0;
            let goal = if at_start { 0 } else { before + 1 + random.u64(0..bytes / 8) };
            if has_ended_before(&mut child, &killed, if left > 0 { goal } else { u64::MAX }) {
                break;
            }
            sleep(Duration::from_micros(random.u64(0..if at_start { 300_000 } else { 10_000 })));
            child.kill().unwrap();
            if child.wait().unwrap().success() {
                break;
            }
            left = left.saturating_sub(1);
            if killed.join("store.redb").exists() && killed.join("config.toml").exists() {
                assert_consistent(&killed);
            }
        }
        assert_consistent(&killed);
        let urls_of_killed = urls(&killed);
        let unique: BTreeSet<&String> = urls_of_killed.iter().collect();
        assert_eq!(unique.len(), urls_of_killed.len(), "a page was recorded twice");
        assert_eq!(unique, all.iter().collect(), "another set of pages");
    }
    crawls
}

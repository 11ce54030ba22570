//! A crawl that is killed at random moments, and what must be true of it afterwards.
//!
//! Promises: panics where a URL was lost, a page recorded twice, or a store left unclean.

use std::{
    collections::BTreeSet,
    path::Path,
    process::{Command, Stdio},
    thread::sleep,
    time::Duration,
};

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

fn assert_consistent(out: &Path) {
    let verify = Command::new(env!("CARGO_BIN_EXE_windrow")).arg("verify").arg(out).output().unwrap();
    assert!(verify.status.success(), "{}", String::from_utf8_lossy(&verify.stdout));
}

/// Kills a crawl of the demo web so many times, each time at another moment, and lets it end then.
pub fn kill_again_and_again(kills: u32) {
    let folder = tempfile::tempdir().unwrap();
    let (killed, whole) = (folder.path().join("killed"), folder.path().join("whole"));
    let mut random = fastrand::Rng::with_seed(9);
    for _ in 0..kills {
        let mut child = crawl(&killed).spawn().unwrap();
        sleep(Duration::from_millis(random.u64(60..400)));
        child.kill().unwrap();
        child.wait().unwrap();
        if killed.join("store.redb").exists() && killed.join("config.toml").exists() {
            assert_consistent(&killed);
        }
    }
    for out in [&killed, &whole] {
        let ended = crawl(out).stderr(Stdio::piped()).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert_consistent(&killed);
    let urls_of_killed = urls(&killed);
    let unique: BTreeSet<&String> = urls_of_killed.iter().collect();
    assert_eq!(unique.len(), urls_of_killed.len(), "a page was recorded twice");
    assert_eq!(unique, urls(&whole).iter().collect(), "another set of pages");
}

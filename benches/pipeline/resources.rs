//! Time, processor time and memory of this process, from `/proc`.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

/// What a number of pages has cost.
pub struct Cost {
    pub pages: usize,
    seconds: f64,
    cpu_seconds: f64,
    /// Memory in use at the end.
    pub resident_mib: u64,
}

impl Cost {
    pub fn pages_per_second(&self) -> f64 {
        self.pages as f64 / self.seconds
    }

    pub fn micros_per_page(&self) -> f64 {
        self.cpu_seconds * 1e6 / self.pages as f64
    }
}

/// Runs from its start to its stop.
pub struct Meter {
    started: Instant,
    cpu_seconds: f64,
}

impl Meter {
    pub fn start() -> Self {
        Self { started: Instant::now(), cpu_seconds: cpu_seconds() }
    }

    pub fn stop(self, pages: usize) -> Cost {
        Cost {
            pages,
            seconds: self.started.elapsed().as_secs_f64(),
            cpu_seconds: cpu_seconds() - self.cpu_seconds,
            resident_mib: resident_mib(),
        }
    }
}

/// User and system time of all threads, in steps of 10 ms.
fn cpu_seconds() -> f64 {
    seconds_of(Path::new("/proc/self/stat"))
}

fn seconds_of(stat: &Path) -> f64 {
    const TICKS: f64 = 100.0;
    let stat = fs::read_to_string(stat).unwrap();
    // Fields are counted from behind the name, which may hold anything.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / TICKS
}

/// Memory in use.
pub fn resident_mib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
}

/// Processor time of the thread of this name, while it runs.
pub fn thread_time(name: &str) -> Option<Duration> {
    let mut threads = fs::read_dir("/proc/self/task").ok()?.flatten();
    let of_name = |thread: &fs::DirEntry| fs::read_to_string(thread.path().join("comm")).is_ok_and(|comm| comm.trim() == name);
    let thread = threads.find(of_name)?;
    Some(Duration::from_secs_f64(seconds_of(&thread.path().join("stat"))))
}

/// Lets this thread, and those that it starts from now on, run on so many processors; all where 0.
pub fn keep_to(cores: usize) {
    if cores > 0 {
        let mut allowed = rustix::thread::CpuSet::new();
        (0..cores).for_each(|core| allowed.set(core));
        rustix::thread::sched_setaffinity(None, &allowed).unwrap();
    }
}

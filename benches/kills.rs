//! `kill -9` of real crawls 200 times at random moments; `cargo bench --bench kills -- 500` for more.
//!
//! What `tests/kill.rs` does 20 times: each time the store must be clean, and at its end each crawl has fetched what one that
//! was left alone fetches, each page once.

#[path = "../tests/support/kills.rs"]
mod kills;

fn main() {
    let kills = std::env::args().skip(1).find_map(|number| number.parse().ok()).unwrap_or(200);
    let crawls = kills::kill_again_and_again(kills);
    println!("{crawls} crawls killed {kills} times: clean each time, nothing lost, nothing doubled");
}

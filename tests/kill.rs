//! `kill -9` of a real crawl at random moments: nothing is lost, nothing doubled, and it ends where it would have ended.

#[path = "support/kills.rs"]
mod kills;

#[test]
fn a_crawl_killed_again_and_again_fetches_what_an_uninterrupted_one_does() {
    // 200 times: `cargo bench --bench kills`.
    kills::kill_again_and_again(20);
}

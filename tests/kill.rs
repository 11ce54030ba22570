//! `kill -9` of real crawls at random moments: nothing is lost, nothing doubled, and each ends where it would have ended.

#[path = "support/kills.rs"]
mod kills;

#[test]
fn crawls_killed_again_and_again_fetch_what_an_uninterrupted_one_does() {
    // 200 times: `cargo bench --bench kills`.
    kills::kill_again_and_again(20);
}

//! The demo web that comes with windrow, and the topic to crawl it for.

/// A recorded web of 2,000 pages on 40 hosts that do not exist: agriculture, in Chinese and English, among other things.
pub const DEMO_WEB: &[u8] = include_bytes!("../../corpora/demo.warc.gz");
/// Its topic file.
pub const DEMO_TOPIC: &str = include_str!("../../corpora/demo.toml");

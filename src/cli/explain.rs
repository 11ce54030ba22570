//! `windrow crawl TOPIC --explain URL`: what the rules say of one URL; nothing is fetched.

use std::path::Path;

use crate::{
    config::Config,
    session::{Rules, fate},
    store::Store,
    topic::Topic,
    url::{MAX_URL_BYTES, canonicalize},
};

/// Prints the explanation, line by line: the URL's canonical form, scope, robots.txt, template, and its fate in the crawl
/// in `out`, if there is one.
pub(super) fn explain(text: &str, topic: &Topic, config: &Config, out: &Path) -> anyhow::Result<()> {
    let url = match canonicalize(text, None) {
        Ok(url) => url,
        Err(error) => {
            println!("refused    {error} (addresses are http or https, up to {MAX_URL_BYTES} bytes)");
            return Ok(());
        }
    };
    println!("canonical  {url}");
    let store = Store::exists(out).then(|| Store::open(out)).transpose()?;
    Rules::of(&url, 1, topic, config, store.as_ref())?.in_words().iter().for_each(|line| println!("{line}"));
    println!("crawl      {}", fate(&url, store.as_ref())?);
    Ok(())
}

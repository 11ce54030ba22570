//! The words of a URL: what its host, its directories and its last part say.

use percent_encoding::percent_decode_str;

use super::{Segmenter, TermId, stop::is_url_noise};
use crate::url::{Url, host_of};

/// Words of a URL, in order, with repeats.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UrlWords {
    /// Of the host (without `www`) and the directories.
    pub directory: Vec<TermId>,
    /// Of the last part of the path, without its ending, and of the query.
    pub file: Vec<TermId>,
}

/// Cuts a URL into words, escapes decoded.
#[must_use]
pub fn url_words(url: &Url, segmenter: &Segmenter) -> UrlWords {
    let path = decoded(url.path());
    let path = path.trim_end_matches('/');
    let (directories, file) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let mut words = UrlWords {
        directory: segmenter.term_ids(&host_of(url).trim_start_matches("www.").replace('.', " ")),
        file: segmenter.term_ids(&stem.replace('_', " ")),
    };
    words.directory.extend(segmenter.term_ids(&directories.replace('_', " ")));
    if let Some(query) = url.query() {
        words.file.extend(segmenter.term_ids(&decoded(query).replace('_', " ")));
    }
    words.directory.retain(|&word| !is_url_noise(word));
    words.file.retain(|&word| !is_url_noise(word));
    words
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_read_as_words() {
        let segmenter = Segmenter::shared();
        let url = Url::parse("http://www.nongye.com/zaipei/%E6%B0%B4%E7%A8%BB/Rice_pests.html?kind=leaf").unwrap();
        let words = url_words(&url, &segmenter);
        assert_eq!(words.file, segmenter.term_ids("rice pest kind leaf"));
        assert_eq!(words.directory, segmenter.term_ids("nongye com zaipei 水稻"));
        let script = url_words(&Url::parse("http://e.com/index.php/html/list.asp.bak").unwrap(), &segmenter);
        assert_eq!((script.directory, script.file), (segmenter.term_ids("e index"), segmenter.term_ids("list")));
        assert!(url_words(&Url::parse("http://e.com/").unwrap(), &segmenter).file.is_empty());
    }
}

//! Which language a page is written in, as far as segmentation and reports need to know.

use serde::{Deserialize, Serialize};

use super::segment::is_han;

/// A page's language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Chinese: a tenth of the letters or more are Han and no kana stand among them.
    Zh,
    En,
    #[default]
    Other,
}

/// How much of a page is looked at, in characters.
const SAMPLE: usize = 4_000;

impl Language {
    /// The language of a text, from its script and, where that is Latin, from its words.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let (mut han, mut kana, mut latin, mut other) = (0_usize, 0_usize, 0_usize, 0_usize);
        for c in text.chars().take(SAMPLE) {
            match c {
                c if c.is_ascii() => latin += usize::from(c.is_ascii_alphabetic()),
                '\u{3040}'..='\u{30ff}' => kana += 1,
                c if is_han(c) => han += 1,
                '\u{c0}'..='\u{24f}' => latin += 1,
                c if c.is_alphabetic() => other += 1,
                _ => {}
            }
        }
        // A Han character says about as much as a word of five letters.
        if kana * 10 > han && kana > 4 {
            Self::Other
        } else if han > 0 && han * 5 >= usize::midpoint(latin, other) {
            Self::Zh
        } else if latin > other && looks_english(text) {
            Self::En
        } else {
            Self::Other
        }
    }

    /// The ISO 639-1 code, or `und`.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Zh => "zh",
            Self::En => "en",
            Self::Other => "und",
        }
    }

    /// The reverse of [`Language::code`]; whatever is not known is `Other`.
    #[must_use]
    pub fn from_code(code: &str) -> Self {
        match code {
            "zh" => Self::Zh,
            "en" => Self::En,
            _ => Self::Other,
        }
    }
}

/// Short texts get the benefit of the doubt; long ones must hold English function words.
fn looks_english(text: &str) -> bool {
    const COMMON: &[&str] =
        &["the", "of", "and", "to", "in", "is", "for", "a", "on", "this", "with", "by", "or", "at", "from", "are"];
    const LONGEST: usize = 4;
    let mut words = 0_usize;
    let mut common = 0_usize;
    for word in text.split(|c: char| !c.is_alphabetic()).filter(|w| !w.is_empty()).take(600) {
        words += 1;
        common += usize::from(word.len() <= LONGEST && COMMON.iter().any(|known| word.eq_ignore_ascii_case(known)));
    }
    words < 12 || common * 25 >= words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_pages_go_to_the_language_that_carries_them() {
        assert_eq!(Language::of("用 Python 编写一个主题爬虫 focused crawler"), Language::Zh);
        assert_eq!(Language::of("The crops of the region are wheat and 大豆 (soy), grown in rotation by farmers"), Language::En);
        assert_eq!(Language::of("これは日本語のページです。農業について"), Language::Other);
        assert_eq!(
            Language::of("Die Ernte wurde durch das schlechte Wetter stark verringert und die Bauern klagen sehr"),
            Language::Other
        );
        assert_eq!(Language::of(""), Language::Other);
    }
}

//! A page's visible text as it grows: whitespace collapsed, one line per block.
//!
//! Promises: never two separators in a row, none at either end.
//! Never: knows elements or words.

/// Collects text, and cuts it into runs to segment.
#[derive(Default)]
pub(super) struct TextBuffer {
    text: String,
    /// What will part the next text from what stands already.
    separator: Option<char>,
    run_start: usize,
    anchor_end: usize,
}

impl TextBuffer {
    /// Adds text, each stretch of whitespace as one blank.
    pub(super) fn push(&mut self, text: &str) {
        let mut rest = text;
        loop {
            let blank = blank_at(rest);
            self.push_piece(&rest[..blank]);
            rest = &rest[blank..];
            if rest.is_empty() {
                return;
            }
            self.separator.get_or_insert(' ');
            rest = rest.trim_start();
        }
    }

    fn push_piece(&mut self, piece: &str) {
        if piece.is_empty() {
            return;
        }
        if let Some(separator) = self.separator.take()
            && !self.text.is_empty()
        {
            self.text.push(separator);
        }
        self.text.push_str(piece);
    }

    /// What follows stands on a new line.
    pub(super) fn break_line(&mut self) {
        self.separator = Some('\n');
    }

    /// Remembers that an anchor ended here.
    pub(super) fn end_anchor(&mut self) {
        self.anchor_end = self.text.len();
    }

    /// Parts an anchor from another that ended right here, as their boxes do on the screen.
    pub(super) fn part_anchors(&mut self) {
        if self.anchor_end == self.text.len() && self.separator.is_none() {
            self.separator = Some(' ');
        }
    }

    /// The text added since the last call.
    pub(super) fn take_run(&mut self) -> &str {
        let start = std::mem::replace(&mut self.run_start, self.text.len());
        &self.text[start..]
    }

    /// Where the next text will stand, in bytes, its separator included.
    pub(super) fn position(&self) -> u32 {
        self.text.len() as u32
    }

    pub(super) fn into_string(self) -> String {
        self.text
    }
}

/// Where the first stretch of whitespace begins that is not one blank between words: single blanks may stay as they are.
fn blank_at(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        if at > 0 && starts_evenly(&bytes[at..]) {
            at += EIGHT;
            continue;
        }
        let is_single = byte == b' ' && at > 0 && bytes.get(at + 1).is_some_and(u8::is_ascii_graphic);
        if byte.is_ascii_graphic() || is_single {
            at += 1;
        } else if byte.is_ascii() {
            if char::from(byte).is_whitespace() {
                return at;
            }
            at += 1;
        } else {
            let Some(c) = text[at..].chars().next() else { return at };
            if c.is_whitespace() {
                return at;
            }
            at += c.len_utf8();
        }
    }
    at
}

/// Bytes looked at in one step.
const EIGHT: usize = 8;

/// Whether text that follows a character other than a blank begins with eight printable ASCII characters and nothing among them
/// but single blanks. It may say no where it is so: after a blank, next to `!`.
fn starts_evenly(bytes: &[u8]) -> bool {
    const ONES: u64 = u64::from_le_bytes([1; EIGHT]);
    const TOPS: u64 = ONES << 7;
    const BLANKS: u64 = ONES * 0x20;
    let Some((eight, after)) = bytes.split_first_chunk::<EIGHT>() else { return false };
    let all = u64::from_le_bytes(*eight);
    let holds_zero = |x: u64| x.wrapping_sub(ONES) & !x & TOPS;
    let is_printable = (all | (all.wrapping_sub(BLANKS) & !all) | holds_zero(all ^ (ONES * 0x7f))) & TOPS == 0;
    let blanks = holds_zero(all ^ BLANKS);
    is_printable && blanks & blanks << 8 == 0 && (eight[EIGHT - 1] != b' ' || after.first().is_some_and(u8::is_ascii_graphic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_collapses_and_blocks_stand_on_lines() {
        let mut buffer = TextBuffer::default();
        buffer.break_line();
        buffer.push("  a \u{3000}\n b");
        buffer.push("c ");
        buffer.break_line();
        buffer.break_line();
        buffer.push(" d");
        assert_eq!(buffer.take_run(), "a bc\nd");
        assert_eq!(buffer.take_run(), "");
        buffer.push("e f  g h \u{a0} i");
        assert_eq!(buffer.into_string(), "a bc\nde f g h i");
    }

    #[test]
    fn text_comes_out_as_if_looked_at_word_by_word() {
        let mut random = fastrand::Rng::with_seed(3);
        let drawn: Vec<char> = "aZ~! !  \n\t\u{7f}\u{0}é稻\u{3000}".chars().collect();
        for _ in 0..2_000 {
            let text: String = (0..40).map(|_| drawn[random.usize(..drawn.len())]).collect();
            let mut buffer = TextBuffer::default();
            buffer.push(&text);
            let words = text.split(char::is_whitespace).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            assert_eq!(buffer.into_string(), words, "{text:?}");
        }
    }
}

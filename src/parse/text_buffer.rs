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
        for (at, piece) in text.split(char::is_whitespace).enumerate() {
            if at > 0 && self.separator.is_none() {
                self.separator = Some(' ');
            }
            if piece.is_empty() {
                continue;
            }
            if let Some(separator) = self.separator.take()
                && !self.text.is_empty()
            {
                self.text.push(separator);
            }
            self.text.push_str(piece);
        }
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
        assert_eq!(buffer.into_string(), "a bc\nd");
    }
}

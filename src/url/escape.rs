//! Addresses in bytes that are no UTF-8.

use std::fmt::Write;

/// Bytes as text. Where they are no UTF-8 (a path in GBK, say), all that are not ASCII are percent escapes, as browsers send them.
#[must_use]
pub fn escape_bytes(bytes: &[u8]) -> String {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.to_owned();
    }
    bytes.iter().fold(String::with_capacity(bytes.len() + 16), |mut text, &byte| {
        if byte.is_ascii() {
            text.push(char::from(byte));
        } else {
            let _ = write!(text, "%{byte:02X}");
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_another_charset_are_escaped_and_utf8_stays() {
        assert_eq!(escape_bytes(b"/\xd0\xc2\xce\xc5/1.html"), "/%D0%C2%CE%C5/1.html");
        assert_eq!(escape_bytes("/新闻/1.html".as_bytes()), "/新闻/1.html");
    }
}

//! Reading WARC files: one record after the other from any buffered source.
//!
//! Promises: reads WARC 0.17 to 1.1 as any tool writes it (folded headers,
//! missing or extra blank lines, `<…>` around addresses); memory is bounded by
//! the header limit and the body limit that the caller names.
//! Never: looks into a record's body, knows of gzip (`members`) or HTTP
//! (`message`), writes.

use std::io::{self, BufRead, Read};

/// Most bytes of a record's headers; real ones have about 500.
const MAX_HEAD_BYTES: u64 = 256 * 1024;

/// Why a record cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum WarcError {
    #[error("cannot read on: {0}")]
    Read(#[from] io::Error),
    #[error("expected `WARC/1.0` or `WARC/1.1`, found `{0}`")]
    NotWarc(String),
    #[error("the headers are longer than {MAX_HEAD_BYTES} bytes")]
    HeadTooLong,
    #[error("no Content-Length, so the record's end is unknown")]
    NoLength,
    #[error("the file ends inside the record")]
    Truncated,
}

/// One record: its headers and as much of its body as was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarcRecord {
    /// `1.0`, `1.1`, as written.
    pub version: String,
    /// Names in lower case, in the order they came.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// The body was longer than the limit and was cut there.
    pub truncated: bool,
}

impl WarcRecord {
    /// The first header of a name given in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// `WARC-Type` in lower case; empty where it is missing.
    #[must_use]
    pub fn kind(&self) -> String {
        self.header("warc-type").unwrap_or_default().to_ascii_lowercase()
    }

    /// An address header without the angle brackets that some tools put around it.
    #[must_use]
    pub fn address(&self, name: &str) -> Option<&str> {
        let value = self.header(name)?;
        Some(value.strip_prefix('<').and_then(|inner| inner.strip_suffix('>')).unwrap_or(value))
    }
}

/// Reads records from `R`, which yields plain (not gzipped) WARC.
///
/// As an iterator it yields whole records, bodies cut at the limit; step by
/// step ([`next_head`](Self::next_head), [`read_body`](Self::read_body)) it
/// reads only what is wanted and skips the rest.
#[derive(Debug)]
pub struct WarcReader<R> {
    inner: R,
    body_limit: u64,
    /// Bytes of the present record's body that were not read yet.
    rest: u64,
}

impl<R: BufRead> WarcReader<R> {
    /// Reads from `inner`; the iterator cuts bodies at `body_limit` bytes.
    pub fn new(inner: R, body_limit: u64) -> Self {
        Self { inner, body_limit, rest: 0 }
    }

    /// The source; where it stands is the start of a record after [`seek_record`](Self::seek_record).
    pub fn get_ref(&self) -> &R {
        &self.inner
    }

    /// Goes to the start of the next record; false at the end.
    ///
    /// # Errors
    /// [`WarcError::Truncated`] where the present record's body ends early, [`WarcError::Read`] from the source.
    pub fn seek_record(&mut self) -> Result<bool, WarcError> {
        while self.rest > 0 {
            let available = self.inner.fill_buf()?.len();
            if available == 0 {
                self.rest = 0;
                return Err(WarcError::Truncated);
            }
            let step = available.min(usize::try_from(self.rest).unwrap_or(usize::MAX));
            self.inner.consume(step);
            self.rest -= step as u64;
        }
        loop {
            let buffer = self.inner.fill_buf()?;
            let blank = buffer.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let (ended, found) = (buffer.is_empty(), blank < buffer.len());
            self.inner.consume(blank);
            if ended || found {
                return Ok(found);
            }
        }
    }

    /// The next record's headers, with an empty body; `None` at the end.
    ///
    /// # Errors
    /// Any [`WarcError`]; [`resync`](Self::resync) finds the next record after one that is not [`WarcError::Read`].
    pub fn next_head(&mut self) -> Result<Option<WarcRecord>, WarcError> {
        if !self.seek_record()? {
            return Ok(None);
        }
        let mut left = MAX_HEAD_BYTES;
        let first = self.line(&mut left)?;
        let Some(version) = first.strip_prefix("WARC/") else {
            return Err(WarcError::NotWarc(first.chars().take(40).collect()));
        };
        let version = version.trim().to_owned();
        let headers = self.headers(&mut left)?;
        let mut record = WarcRecord { version, headers, body: Vec::new(), truncated: false };
        self.rest = record.header("content-length").and_then(|n| n.parse().ok()).ok_or(WarcError::NoLength)?;
        record.truncated = record.header("warc-truncated").is_some();
        Ok(Some(record))
    }

    /// Reads up to `limit` bytes of the present record's body, going on where the last call stopped.
    ///
    /// # Errors
    /// [`WarcError::Truncated`] where the file ends first, [`WarcError::Read`] from the source.
    pub fn read_body(&mut self, limit: u64) -> Result<Vec<u8>, WarcError> {
        let wanted = limit.min(self.rest);
        let mut body = Vec::new();
        let read = (&mut self.inner).take(wanted).read_to_end(&mut body);
        self.rest -= body.len() as u64;
        read?;
        if (body.len() as u64) < wanted {
            self.rest = 0;
            return Err(WarcError::Truncated);
        }
        Ok(body)
    }

    /// Bytes of the present record's body that were not read yet.
    pub fn body_left(&self) -> u64 {
        self.rest
    }

    /// Skips lines up to one that starts a record; false at the end.
    ///
    /// # Errors
    /// [`WarcError::Read`] from the source.
    pub fn resync(&mut self) -> Result<bool, WarcError> {
        self.rest = 0;
        let mut at_line_start = true;
        loop {
            let buffer = self.inner.fill_buf()?;
            if buffer.is_empty() {
                return Ok(false);
            }
            // A mark that straddles two buffers is missed; the record after it is found.
            if at_line_start && (buffer.starts_with(b"WARC/1.") || buffer.starts_with(b"WARC/0.")) {
                return Ok(true);
            }
            let newline = buffer.iter().position(|&byte| byte == b'\n');
            let step = newline.map_or(buffer.len(), |at| at + 1);
            at_line_start = newline.is_some();
            self.inner.consume(step);
        }
    }

    fn headers(&mut self, left: &mut u64) -> Result<Vec<(String, String)>, WarcError> {
        let mut headers: Vec<(String, String)> = Vec::new();
        loop {
            let line = self.line(left)?;
            if line.is_empty() {
                return Ok(headers);
            }
            if let (true, Some((_, value))) = (line.starts_with([' ', '\t']), headers.last_mut()) {
                value.push(' ');
                value.push_str(line.trim());
            } else if let Some((name, value)) = line.split_once(':') {
                headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
    }

    /// One line without its end; counts against what is `left` of the header limit.
    fn line(&mut self, left: &mut u64) -> Result<String, WarcError> {
        let mut line = Vec::new();
        let read = (&mut self.inner).take(*left).read_until(b'\n', &mut line)?;
        *left -= read as u64;
        if line.last() != Some(&b'\n') {
            return Err(if *left == 0 { WarcError::HeadTooLong } else { WarcError::Truncated });
        }
        Ok(String::from_utf8_lossy(&line).trim_end().to_owned())
    }
}

impl<R: BufRead> Iterator for WarcReader<R> {
    type Item = Result<WarcRecord, WarcError>;

    /// The next whole record; after an error it is `None` unless [`resync`](WarcReader::resync) found another.
    fn next(&mut self) -> Option<Self::Item> {
        let mut record = match self.next_head() {
            Ok(record) => record?,
            Err(error) => return Some(Err(error)),
        };
        match self.read_body(self.body_limit) {
            Ok(body) => record.body = body,
            Err(error) => return Some(Err(error)),
        }
        record.truncated |= self.rest > 0;
        Some(Ok(record))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(text: &str) -> WarcReader<&[u8]> {
        WarcReader::new(text.as_bytes(), 1_000)
    }

    #[test]
    fn records_are_read_whatever_stands_between_them() {
        let text = "\r\nWARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: <http://e.com/\r\n >\r\nContent-Length: 3\r\n\r\nabc\n\
                    WARC/1.1\nWARC-TYPE: Metadata\nContent-Length: 0\n\n\r\n\r\n\r\n";
        let records: Vec<WarcRecord> = reader(text).map(Result::unwrap).collect();
        assert_eq!(records.len(), 2);
        assert_eq!((records[0].version.as_str(), records[0].body.as_slice()), ("1.0", b"abc".as_slice()));
        assert_eq!(records[0].header("warc-target-uri"), Some("<http://e.com/ >"));
        assert_eq!(records[1].kind(), "metadata");
    }

    #[test]
    fn bodies_are_cut_at_the_limit_and_the_next_record_is_found() {
        let text = "WARC/1.0\r\nContent-Length: 5\r\n\r\nhello\r\n\r\nWARC/1.0\r\nContent-Length: 2\r\n\r\nok\r\n\r\n";
        let records: Vec<WarcRecord> = WarcReader::new(text.as_bytes(), 4).map(Result::unwrap).collect();
        assert_eq!((records[0].body.as_slice(), records[0].truncated), (b"hell".as_slice(), true));
        assert_eq!((records[1].body.as_slice(), records[1].truncated), (b"ok".as_slice(), false));
    }

    #[test]
    fn faults_are_named() {
        assert!(matches!(reader("<!doctype html>\n").next(), Some(Err(WarcError::NotWarc(found))) if found == "<!doctype html>"));
        assert!(matches!(reader("WARC/1.0\r\n\r\n").next(), Some(Err(WarcError::NoLength))));
        assert!(matches!(reader("WARC/1.0\r\nContent-Length: 9\r\n\r\nabc").next(), Some(Err(WarcError::Truncated))));
        assert!(matches!(reader("WARC/1.0\r\nContent").next(), Some(Err(WarcError::Truncated))));
        let endless = format!("WARC/1.0\r\nX: {}", "x".repeat(300_000));
        assert!(matches!(reader(&endless).next(), Some(Err(WarcError::HeadTooLong))));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_come_to_an_end(text in "(WARC/1\\.[01]\r?\n|[A-Za-z-]{0,20}: ?[0-9<>a-z]{0,9}\r?\n|\r?\n|\\PC{0,30}){0,40}") {
            let mut records = reader(&text);
            let mut steps = 0;
            loop {
                steps += 1;
                proptest::prop_assert!(steps <= text.len() + 2, "no step without a byte");
                match records.next() {
                    None => break,
                    Some(Err(_)) if !records.resync().unwrap() => break,
                    Some(_) => {}
                }
            }
        }
    }

    #[test]
    fn after_a_broken_record_the_next_one_is_found() {
        let mut records = reader("WARC/1.0\r\n\r\njunk\r\nmore junk\r\nWARC/1.1\r\nContent-Length: 1\r\n\r\nx");
        assert!(records.next_head().is_err());
        assert!(records.resync().unwrap());
        assert_eq!(records.next_head().unwrap().unwrap().version, "1.1");
    }
}

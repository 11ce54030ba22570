//! Where a reader stands in its file, through gzip or zstd or not.
//!
//! Promises: the bytes of all gzip members and zstd frames as one stream, and at any point a
//! [`Place`] from which reading can start again: a member's offset in the file
//! and the inflated bytes to skip from there.
//! Never: seeks or opens files itself.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

/// How a packed file starts: a gzip member, or a zstd frame.
pub(super) fn is_packed(start: &[u8]) -> bool {
    matches!(start, [GZIP, 0x8b, ..] | [ZSTD, 0xb5, 0x2f, 0xfd, ..])
}

/// First bytes of the two.
const GZIP: u8 = 0x1f;
const ZSTD: u8 = 0x28;
/// Largest window of a frame that is unpacked, as a power of two: 128 MiB, as `zstd --long` writes at most by default.
const WINDOW_LOG: u32 = 27;

/// Where to start reading again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// Byte of the file: the start of a gzip member, or the very place in a plain file.
    pub offset: u64,
    /// Inflated bytes to skip from there; 0 in a plain file.
    pub inside: u64,
}

/// A source that knows where it stands.
pub(super) trait Placed: BufRead {
    fn place(&self) -> Place;
}

/// Counts the bytes consumed.
#[derive(Debug)]
pub(super) struct Counted<R> {
    inner: R,
    offset: u64,
}

impl<R: BufRead> Counted<R> {
    /// `offset` is where `inner` stands already.
    pub fn new(inner: R, offset: u64) -> Self {
        Self { inner, offset }
    }
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.offset += read as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.inner.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.inner.consume(amount);
        self.offset += amount as u64;
    }
}

impl<R: BufRead> Placed for Counted<R> {
    fn place(&self) -> Place {
        Place { offset: self.offset, inside: 0 }
    }
}

/// Inflates members one after the other.
pub(super) struct Members<R: BufRead> {
    /// Between two members there is only the source.
    state: State<R>,
    place: Place,
}

enum State<R: BufRead> {
    Between(Counted<R>),
    Inside(Box<BufReader<GzDecoder<Counted<R>>>>),
    InFrame(Box<BufReader<ZstdDecoder<'static, Counted<R>>>>),
    /// Only while one becomes the other.
    Moving,
}

impl<R: BufRead> Members<R> {
    /// `source` stands at the start of a member.
    pub fn new(source: Counted<R>) -> Self {
        let place = source.place();
        Self { state: State::Between(source), place }
    }

    /// Makes sure there is inflated data, or that the file has ended.
    fn advance(&mut self) -> io::Result<()> {
        loop {
            match std::mem::replace(&mut self.state, State::Moving) {
                State::Inside(mut inflating) => {
                    let ended = inflating.fill_buf().map(<[u8]>::is_empty);
                    if matches!(ended, Ok(true)) {
                        self.state = State::Between(inflating.into_inner().into_inner());
                    } else {
                        self.state = State::Inside(inflating);
                        return ended.map(|_| ());
                    }
                }
                State::InFrame(mut inflating) => {
                    let ended = inflating.fill_buf().map(<[u8]>::is_empty);
                    if matches!(ended, Ok(true)) {
                        self.state = State::Between(inflating.into_inner().finish());
                    } else {
                        self.state = State::InFrame(inflating);
                        return ended.map(|_| ());
                    }
                }
                State::Between(mut source) => {
                    let start = source.fill_buf().map(|buffer| buffer.first().copied());
                    self.place = Place { offset: source.offset, inside: 0 };
                    if matches!(start, Ok(Some(GZIP))) {
                        self.state = State::Inside(Box::new(BufReader::new(GzDecoder::new(source))));
                        continue;
                    }
                    if matches!(start, Ok(Some(ZSTD))) {
                        let mut decoder = ZstdDecoder::with_buffer(source)?.single_frame();
                        decoder.window_log_max(WINDOW_LOG)?;
                        self.state = State::InFrame(Box::new(BufReader::new(decoder)));
                        continue;
                    }
                    self.state = State::Between(source);
                    return match start? {
                        None => Ok(()),
                        Some(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "what follows is neither gzip nor zstd")),
                    };
                }
                State::Moving => return Err(io::Error::other("the reader failed before")),
            }
        }
    }
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(out)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Members<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.advance()?;
        match &mut self.state {
            State::Inside(inflating) => inflating.fill_buf(),
            State::InFrame(inflating) => inflating.fill_buf(),
            _ => Ok(&[]),
        }
    }

    fn consume(&mut self, amount: usize) {
        match &mut self.state {
            State::Inside(inflating) => inflating.consume(amount),
            State::InFrame(inflating) => inflating.consume(amount),
            _ => return,
        }
        self.place.inside += amount as u64;
    }
}

impl<R: BufRead> Placed for Members<R> {
    fn place(&self) -> Place {
        self.place
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn member(data: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn members_read_as_one_stream_that_can_be_entered_at_any_place() {
        let first = member(b"hello ");
        let file = [first.clone(), member(b"wide "), member(b"world")].concat();
        let mut members = Members::new(Counted::new(file.as_slice(), 0));
        let mut start = [0; 8];
        members.read_exact(&mut start).unwrap();
        assert_eq!(&start, b"hello wi");
        assert_eq!(members.place(), Place { offset: first.len() as u64, inside: 2 });
        let mut rest = String::new();
        Members::new(Counted::new(&file[first.len()..], first.len() as u64)).read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "wide world");
    }

    #[test]
    fn zstd_frames_are_members_too() {
        let frame = |data: &[u8]| zstd::encode_all(data, 3).unwrap();
        let first = frame(b"hello ");
        let file = [first.clone(), member(b"wide "), frame(b"world")].concat();
        let mut members = Members::new(Counted::new(file.as_slice(), 0));
        let mut start = [0; 8];
        members.read_exact(&mut start).unwrap();
        assert_eq!(members.place(), Place { offset: first.len() as u64, inside: 2 });
        let mut rest = String::new();
        members.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "de world");
        assert!(Members::new(Counted::new(&frame(&b"grain ".repeat(100))[..20], 0)).read_to_end(&mut Vec::new()).is_err());
    }

    #[test]
    fn a_cut_member_and_trailing_garbage_are_errors_after_what_was_readable() {
        let whole = member(&b"grain ".repeat(1_000));
        let file = [whole.as_slice(), &whole[..whole.len() / 2]].concat();
        let mut read = Vec::new();
        assert!(Members::new(Counted::new(file.as_slice(), 0)).read_to_end(&mut read).is_err());
        assert!(read.len() >= 6_000);
        let mut read = Vec::new();
        let file = [whole.as_slice(), b"junk"].concat();
        assert!(Members::new(Counted::new(file.as_slice(), 0)).read_to_end(&mut read).is_err());
        assert_eq!(read.len(), 6_000);
    }
}

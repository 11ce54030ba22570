//! Undoing a body's content encoding, chunk by chunk, counting both sides.
//!
//! Promises: never more than the limit in memory, whatever a body unpacks to;
//! a bomb is told from a page by its ratio; a header that lies about the
//! encoding does not cost the page.
//! Never: reads from a connection (`http`) or a file (`replay`).

use std::io::{self, Write};

use brotli_decompressor::DecompressorWriter;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

use super::Failure;

/// A body of up to this many decoded bytes is never a bomb.
const BOMB_FREE_BYTES: usize = 1024 * 1024;

/// Bytes fed at once, so that the two sides of the ratio never drift far apart.
const SLICE: usize = 4 * 1024;

/// Bytes that tell the encodings apart.
const SIGNATURE: usize = 4;

/// Largest window of a zstd frame, as RFC 9659 allows for HTTP: 8 MiB.
const ZSTD_WINDOW_LOG: u32 = 23;

/// What bounds a decoded body.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Decoded bytes to keep.
    pub body: usize,
    /// Decoded bytes per compressed byte above which a body of over 1 MiB is a bomb.
    pub ratio: u64,
}

/// What is left when the body ended.
#[derive(Debug, Default)]
pub(super) struct Decoded {
    pub body: Vec<u8>,
    /// Cut at the limit, or the encoded stream broke off.
    pub truncated: bool,
}

/// Takes raw chunks, gives the decoded body.
pub(super) struct BodyDecoder {
    coding: Coding,
    /// The first bytes, until there are enough to know whether the header tells the truth.
    start: Vec<u8>,
    stage: Option<Stage>,
    limits: Limits,
    /// The stream broke; what was decoded before is kept.
    broken: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Coding {
    Identity,
    Gzip,
    Deflate,
    Brotli,
    Zstd,
}

impl BodyDecoder {
    /// A decoder for a `Content-Encoding` header's value; empty where there was none.
    ///
    /// Codings that were not asked for are nearly always a misuse of the header (`utf-8`, `none`) and are ignored.
    pub fn new(content_encoding: &str, limits: Limits) -> Result<Self, Failure> {
        let mut codings: Vec<Coding> = content_encoding.split(',').map(coding_of).filter(|&c| c != Coding::Identity).collect();
        codings.dedup();
        if codings.len() > 1 {
            return Err(Failure::Protocol(format!("more than one content encoding: {content_encoding}")));
        }
        let coding = codings.first().copied().unwrap_or(Coding::Identity);
        Ok(Self { coding, start: Vec::new(), stage: None, limits, broken: false })
    }

    /// Takes the next raw bytes; false when no more are wanted.
    pub fn push(&mut self, raw: &[u8]) -> Result<bool, Failure> {
        if self.stage.is_some() {
            return self.feed(raw);
        }
        self.start.extend_from_slice(raw);
        if self.start.len() < SIGNATURE { Ok(true) } else { self.begin() }
    }

    /// The body, once the source has ended.
    pub fn finish(mut self) -> Result<Decoded, Failure> {
        if self.stage.is_none() {
            self.begin()?;
        }
        let Some(stage) = self.stage else { return Ok(Decoded::default()) };
        let (sink, is_whole) = stage.finish();
        self.broken |= !is_whole && !sink.full;
        if sink.bomb {
            return Err(Failure::Bomb);
        }
        if self.broken && sink.out.is_empty() {
            return Err(Failure::Protocol(format!("the body is not {} as its header says", self.coding.name())));
        }
        Ok(Decoded { body: sink.out, truncated: sink.full || self.broken })
    }

    fn begin(&mut self) -> Result<bool, Failure> {
        let start = std::mem::take(&mut self.start);
        self.coding = self.coding.if_true(&start);
        let sink = Sink { limits: self.limits, ..Sink::default() };
        self.stage = Some(Stage::new(self.coding, &start, sink).map_err(|e| Failure::Protocol(e.to_string()))?);
        self.feed(&start)
    }

    fn feed(&mut self, raw: &[u8]) -> Result<bool, Failure> {
        let Some(stage) = &mut self.stage else { return Ok(true) };
        for slice in raw.chunks(SLICE) {
            stage.sink().raw += slice.len() as u64;
            let written = stage.write_all(slice);
            let sink = stage.sink();
            if sink.bomb {
                return Err(Failure::Bomb);
            }
            if sink.full || written.is_err() {
                self.broken = !sink.full;
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn coding_of(name: &str) -> Coding {
    match name.trim().to_ascii_lowercase().as_str() {
        "gzip" | "x-gzip" => Coding::Gzip,
        "deflate" => Coding::Deflate,
        "br" => Coding::Brotli,
        "zstd" => Coding::Zstd,
        _ => Coding::Identity,
    }
}

impl Coding {
    /// Itself, or identity where the body's first bytes show that nothing is encoded.
    fn if_true(self, start: &[u8]) -> Self {
        let lies = match self {
            Self::Gzip => !start.starts_with(&[0x1f, 0x8b]),
            Self::Zstd => !start.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) && !is_zstd_skippable(start),
            Self::Deflate | Self::Brotli => start.starts_with(b"<!") || start.starts_with(b"<h") || start.starts_with(b"<?xm"),
            Self::Identity => false,
        };
        if lies { Self::Identity } else { self }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
            Self::Brotli => "br",
            Self::Zstd => "zstd",
        }
    }
}

fn is_zstd_skippable(start: &[u8]) -> bool {
    matches!(start, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// `deflate` is zlib by RFC 9110, and raw deflate by what many servers send.
fn is_zlib(start: &[u8]) -> bool {
    matches!(start, [first, second, ..] if first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)) % 31 == 0)
}

enum Stage {
    Identity(Sink),
    Gzip(Box<MultiGzDecoder<Sink>>),
    Zlib(Box<ZlibDecoder<Sink>>),
    Deflate(Box<DeflateDecoder<Sink>>),
    Brotli(Box<DecompressorWriter<Sink>>),
    Zstd(Box<zstd::stream::write::Decoder<'static, Sink>>),
}

impl Stage {
    fn new(coding: Coding, start: &[u8], sink: Sink) -> io::Result<Self> {
        Ok(match coding {
            Coding::Identity => Self::Identity(sink),
            Coding::Gzip => Self::Gzip(Box::new(MultiGzDecoder::new(sink))),
            Coding::Deflate if is_zlib(start) => Self::Zlib(Box::new(ZlibDecoder::new(sink))),
            Coding::Deflate => Self::Deflate(Box::new(DeflateDecoder::new(sink))),
            Coding::Brotli => Self::Brotli(Box::new(DecompressorWriter::new(sink, SLICE))),
            Coding::Zstd => {
                let mut decoder = zstd::stream::write::Decoder::new(sink)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Self::Zstd(Box::new(decoder))
            }
        })
    }

    fn write_all(&mut self, raw: &[u8]) -> io::Result<()> {
        match self {
            Self::Identity(sink) => sink.write_all(raw),
            Self::Gzip(decoder) => decoder.write_all(raw),
            Self::Zlib(decoder) => decoder.write_all(raw),
            Self::Deflate(decoder) => decoder.write_all(raw),
            Self::Brotli(decoder) => decoder.write_all(raw),
            Self::Zstd(decoder) => decoder.write_all(raw),
        }
    }

    /// What was decoded, and whether the encoded stream ended where it should.
    fn finish(mut self) -> (Sink, bool) {
        let ended = match &mut self {
            Self::Identity(_) | Self::Brotli(_) => Ok(()),
            Self::Gzip(decoder) => decoder.try_finish(),
            Self::Zlib(decoder) => decoder.try_finish(),
            Self::Deflate(decoder) => decoder.try_finish(),
            Self::Zstd(decoder) => decoder.do_finish(),
        };
        match self {
            // Looks at its end only when it is given up.
            Self::Brotli(decoder) => decoder.into_inner().map_or_else(|sink| (sink, false), |sink| (sink, true)),
            mut other => (std::mem::take(other.sink()), ended.is_ok()),
        }
    }

    fn sink(&mut self) -> &mut Sink {
        match self {
            Self::Identity(sink) => sink,
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zlib(decoder) => decoder.get_mut(),
            Self::Deflate(decoder) => decoder.get_mut(),
            Self::Brotli(decoder) => decoder.get_mut(),
            Self::Zstd(decoder) => decoder.get_mut(),
        }
    }
}

/// Keeps decoded bytes up to the limit, then refuses.
#[derive(Debug)]
struct Sink {
    out: Vec<u8>,
    raw: u64,
    limits: Limits,
    full: bool,
    bomb: bool,
}

impl Default for Sink {
    fn default() -> Self {
        Self { out: Vec::new(), raw: 0, limits: Limits { body: 0, ratio: 0 }, full: false, bomb: false }
    }
}

impl Write for Sink {
    fn write(&mut self, decoded: &[u8]) -> io::Result<usize> {
        let kept = decoded.len().min(self.limits.body - self.out.len());
        self.out.extend_from_slice(&decoded[..kept]);
        self.bomb |= self.out.len() > BOMB_FREE_BYTES && self.out.len() as u64 > self.raw.saturating_mul(self.limits.ratio);
        self.full |= kept < decoded.len();
        if self.full || self.bomb { Err(io::Error::other("no more is wanted")) } else { Ok(kept) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use flate2::{
        Compression,
        write::{DeflateEncoder, GzEncoder, ZlibEncoder},
    };

    use super::*;

    const LIMITS: Limits = Limits { body: 4 * 1024 * 1024, ratio: 200 };

    fn decode(encoding: &str, raw: &[u8], limits: Limits) -> Result<Decoded, Failure> {
        let mut decoder = BodyDecoder::new(encoding, limits)?;
        for chunk in raw.chunks(1_000) {
            if !decoder.push(chunk)? {
                break;
            }
        }
        decoder.finish()
    }

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn brotli(data: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        brotli::CompressorWriter::new(&mut out, 4096, 5, 22).write_all(data).unwrap();
        out
    }

    fn encoded(data: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
        zlib.write_all(data).unwrap();
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
        deflate.write_all(data).unwrap();
        vec![
            ("", data.to_vec()),
            ("gzip", gzip(data)),
            ("X-GZIP, identity", gzip(data)),
            ("deflate", zlib.finish().unwrap()),
            ("deflate", deflate.finish().unwrap()),
            ("br", brotli(data)),
            ("zstd", zstd::encode_all(data, 3).unwrap()),
        ]
    }

    fn text(bytes: usize) -> Vec<u8> {
        (0..).flat_map(|i: u32| format!("row {}, ", i.wrapping_mul(2_654_435_761)).into_bytes()).take(bytes).collect()
    }

    #[test]
    fn every_coding_is_undone() {
        for size in [0, 1, 100_000] {
            for (name, raw) in encoded(&text(size)) {
                let decoded = decode(name, &raw, LIMITS).unwrap();
                assert_eq!((decoded.body == text(size), decoded.truncated), (true, false), "{name} {size}");
            }
        }
    }

    #[test]
    fn long_bodies_are_cut_at_the_limit() {
        for (name, raw) in encoded(&text(100_000)) {
            let decoded = decode(name, &raw, Limits { body: 60_000, ratio: 200 }).unwrap();
            assert_eq!((decoded.body == text(60_000), decoded.truncated), (true, true), "{name}");
            let whole = decode(name, &raw, Limits { body: 100_000, ratio: 200 }).unwrap();
            assert!(!whole.truncated, "{name}: a body of exactly the limit is whole");
        }
    }

    #[test]
    fn bombs_are_told_from_pages() {
        for (name, raw) in encoded(&vec![b'a'; 16 * 1024 * 1024]).into_iter().skip(1) {
            assert_eq!(decode(name, &raw, LIMITS).map(|d| d.body.len()), Err(Failure::Bomb), "{name}");
        }
        assert_eq!(decode("gzip", &gzip(&vec![b' '; 900_000]), LIMITS).unwrap().body.len(), 900_000);
    }

    #[test]
    fn headers_that_lie_do_not_cost_the_page() {
        for name in ["gzip", "zstd", "br", "deflate", "utf-8", "none", "gzip, gzip"] {
            assert_eq!(decode(name, b"<html>plain", LIMITS).unwrap().body, b"<html>plain", "{name}");
        }
        assert!(matches!(decode("br", &[0xff; 500], LIMITS), Err(Failure::Protocol(_))));
        assert!(matches!(decode("gzip, br", b"x", LIMITS), Err(Failure::Protocol(_))));
    }

    #[test]
    fn streams_that_break_off_keep_what_was_decoded() {
        for (name, raw) in encoded(&text(300_000)).into_iter().skip(1) {
            let decoded = decode(name, &raw[..raw.len() / 2], LIMITS).unwrap();
            assert!(decoded.truncated && decoded.body.len() > 50_000, "{name} {}", decoded.body.len());
        }
        let mut damaged = gzip(&text(300_000));
        let middle = damaged.len() / 2;
        damaged[middle..middle + 64].fill(0);
        assert!(decode("gzip", &damaged, LIMITS).unwrap().truncated);
    }
}

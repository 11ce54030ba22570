//! Bytes → text, whatever encoding they are in and whatever they claim to be in.
//!
//! Order of belief: byte order mark, the server's header, the document's own
//! declaration, detection. A declaration that the bytes contradict is
//! overruled: pages that declare GB2312 and are UTF-8, or the reverse, are
//! common. GB2312 and GBK are read as GB18030, which holds both.
//!
//! Promises: always gives a text; says whether bytes had to be replaced.
//! Never: looks at what the text says.

use std::{borrow::Cow, str};

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{BIG5, EUC_JP, EUC_KR, Encoding, GB18030, GBK, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::prescan::{Prescan, charset_of_content_type, prescan};
use crate::url::{Url, host_of};

/// Bytes searched for a declaration, and fed to the detector.
const SAMPLE: usize = 64 * 1024;

/// A declared encoding in which more than this share of the characters that are not ASCII are errors is doubted.
const DOUBTFUL: f64 = 0.1;

/// The top-level domain that hints at no language.
const GENERIC: &[u8] = b"com";

/// Fewer bytes than this that are not ASCII do not tell one East Asian encoding from another.
const FEW_BYTES: usize = 32;

/// Bytes looked at to tell broken UTF-8 from legacy encodings; in those nearly every character breaks it.
const UTF_8_SAMPLE: usize = 4 * 1024;

/// Bytes looked at to tell UTF-16 by its zeros.
const UTF_16_SAMPLE: usize = 512;

/// A decoded document.
#[derive(Debug)]
pub(super) struct Decoded<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) encoding: &'static Encoding,
    /// Bytes that are not valid in the encoding were replaced by U+FFFD.
    pub(super) had_errors: bool,
}

/// Decodes a document that was served from `url` with this `Content-Type`.
pub(super) fn decode<'a>(body: &'a [u8], content_type: Option<&str>, url: &Url) -> Decoded<'a> {
    if let Some((encoding, mark)) = Encoding::for_bom(body) {
        return decode_as(encoding, &body[mark..]);
    }
    if let Some(encoding) = utf_16_by_zeros(body) {
        return decode_as(encoding, body);
    }
    let header = content_type.and_then(|value| charset_of_content_type(value.as_bytes()));
    if header == Some(UTF_8) && str::from_utf8(body).is_ok() {
        return decode_as(UTF_8, body);
    }
    let declared = prescan(&body[..body.len().min(SAMPLE)]);
    let claims = claims(header, declared.charset);
    let ascii = Encoding::ascii_valid_up_to(body);
    if ascii == body.len() && !body.contains(&0x1b) {
        return decode_as(claims.first().copied().unwrap_or(UTF_8), body);
    }
    if is_utf_8(&body[ascii..], &claims) {
        return decode_as(UTF_8, body);
    }
    let detect = || detect(body, ascii, &declared, url);
    choose(body, &claims, detect)
}

/// The WHATWG name of an encoding, in lower case.
pub(super) fn name_of(encoding: &'static Encoding) -> &'static str {
    const NAMES: &[&str] = &[
        "utf-8",
        "gb18030",
        "gbk",
        "big5",
        "euc-jp",
        "euc-kr",
        "iso-2022-jp",
        "shift_jis",
        "utf-16be",
        "utf-16le",
        "ibm866",
        "iso-8859-2",
        "iso-8859-3",
        "iso-8859-4",
        "iso-8859-5",
        "iso-8859-6",
        "iso-8859-7",
        "iso-8859-8",
        "iso-8859-8-i",
        "iso-8859-10",
        "iso-8859-13",
        "iso-8859-14",
        "iso-8859-15",
        "iso-8859-16",
        "koi8-r",
        "koi8-u",
        "macintosh",
        "windows-874",
        "windows-1250",
        "windows-1251",
        "windows-1252",
        "windows-1253",
        "windows-1254",
        "windows-1255",
        "windows-1256",
        "windows-1257",
        "windows-1258",
        "x-mac-cyrillic",
    ];
    NAMES.iter().find(|name| name.eq_ignore_ascii_case(encoding.name())).copied().unwrap_or(encoding.name())
}

/// UTF-16 without a byte order mark: Latin mark-up has a zero in every second byte.
pub(super) fn utf_16_by_zeros(body: &[u8]) -> Option<&'static Encoding> {
    let sample = &body[..body.len().min(UTF_16_SAMPLE)];
    let zeros = |parity: usize| sample.iter().skip(parity).step_by(2).filter(|&&byte| byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    let many = sample.len() / 4;
    // Some other characters have a zero too.
    if sample.len() >= 8 && odd > many && even * 8 < odd {
        Some(UTF_16LE)
    } else if sample.len() >= 8 && even > many && odd * 8 < even {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// What is claimed, in the order of belief.
fn claims(header: Option<&'static Encoding>, declared: Option<&'static Encoding>) -> Vec<&'static Encoding> {
    // Servers send ISO-8859-1 for everything by default; who wrote the page knows better.
    let order = if header == Some(WINDOWS_1252) { [declared, header] } else { [header, declared] };
    let mut claims: Vec<&'static Encoding> = Vec::with_capacity(2);
    for claim in order.into_iter().flatten() {
        let claim = if claim == GBK { GB18030 } else { claim };
        if !claims.contains(&claim) {
            claims.push(claim);
        }
    }
    claims
}

/// Whether the bytes are UTF-8 beyond doubt, perhaps with a few broken ones among them. Two or three
/// legacy characters can be valid UTF-8 by chance; then the claim decides.
fn is_utf_8(bytes: &[u8], claims: &[&'static Encoding]) -> bool {
    if let Some(text) = intact_utf_8(bytes) {
        let claims_other = claims.first().is_some_and(|&claim| claim != UTF_8);
        let others = || text.chars().filter(|c| !c.is_ascii());
        return !claims_other || others().nth(3).is_some() || others().any(|c| c.len_utf8() > 2);
    }
    let sample = String::from_utf8_lossy(&bytes[..bytes.len().min(UTF_8_SAMPLE)]);
    let intact = sample.chars().filter(|c| !c.is_ascii() && *c != char::REPLACEMENT_CHARACTER).count();
    intact >= FEW_BYTES && error_share(&sample) <= DOUBTFUL
}

/// The text, where all is valid UTF-8 but for a last character that was cut.
fn intact_utf_8(bytes: &[u8]) -> Option<&str> {
    match str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => str::from_utf8(&bytes[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

/// The first claim that the bytes do not contradict, else what decodes best.
fn choose<'a>(body: &'a [u8], claims: &[&'static Encoding], detect: impl Fn() -> &'static Encoding) -> Decoded<'a> {
    let mut best: Option<(f64, Decoded<'a>)> = None;
    let mut tried: Vec<&'static Encoding> = Vec::with_capacity(3);
    for claim in claims.iter().copied().map(Some).chain([None]) {
        let encoding = claim.unwrap_or_else(&detect);
        if tried.contains(&encoding) {
            continue;
        }
        tried.push(encoding);
        let decoded = decode_as(encoding, body);
        let errors = if decoded.had_errors { error_share(&decoded.text) } else { 0.0 };
        if errors <= DOUBTFUL && claim.is_some() {
            return decoded;
        }
        // What comes later must be clearly better to be believed over what was claimed.
        if best.as_ref().is_none_or(|(least, _)| errors < least / 4.0) {
            best = Some((errors, decoded));
        }
    }
    best.map_or_else(|| decode_as(UTF_8, body), |(_, decoded)| decoded)
}

/// The share of errors among the characters that are not ASCII.
fn error_share(text: &str) -> f64 {
    let (mut errors, mut others) = (0_u32, 0_u32);
    for c in text.chars().filter(|c| !c.is_ascii()) {
        others += 1;
        errors += u32::from(c == char::REPLACEMENT_CHARACTER);
    }
    f64::from(errors) / f64::from(others.max(1))
}

fn decode_as<'a>(encoding: &'static Encoding, bytes: &'a [u8]) -> Decoded<'a> {
    let (text, had_errors) = encoding.decode_without_bom_handling(bytes);
    Decoded { text, encoding, had_errors }
}

/// The encoding by statistics, from the first bytes that tell (those before are ASCII).
fn detect(body: &[u8], ascii: usize, declared: &Prescan<'_>, url: &Url) -> &'static Encoding {
    let sample = &body[ascii..body.len().min(ascii + SAMPLE)];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, ascii + sample.len() == body.len());
    let hint = hint(declared.lang, url);
    let mut guess = detector.guess(Some(hint), Utf8Detection::Allow);
    // A few characters fit all East Asian encodings; without a hint, Chinese is the likeliest.
    if hint == GENERIC && is_east_asian(guess) && sample.iter().filter(|byte| !byte.is_ascii()).count() < FEW_BYTES {
        guess = detector.guess(Some(b"cn"), Utf8Detection::Allow);
    }
    if guess == GBK { GB18030 } else { guess }
}

/// The top-level domain that the detector takes for a hint; the document's language goes before it.
fn hint<'u>(lang: Option<&[u8]>, url: &'u Url) -> &'u [u8] {
    let lang = lang.unwrap_or_default().to_ascii_lowercase();
    let (primary, rest) = lang.split_at(lang.iter().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(lang.len()));
    let traditional = ["tw", "hk", "mo", "hant"].iter().any(|region| rest.get(1..) == Some(region.as_bytes()));
    match primary {
        b"zh" if traditional => b"tw",
        b"zh" => b"cn",
        b"ja" => b"jp",
        b"ko" => b"kr",
        b"ru" => b"ru",
        _ => {
            let label = host_of(url).rsplit('.').next().unwrap_or_default().as_bytes();
            let says_nothing = label.is_empty() || !label.iter().all(u8::is_ascii_lowercase) || matches!(label, b"net" | b"org");
            if says_nothing { GENERIC } else { label }
        }
    }
}

fn is_east_asian(encoding: &'static Encoding) -> bool {
    [BIG5, EUC_JP, EUC_KR, SHIFT_JIS].contains(&encoding)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ZH: &str = "<p>水稻病虫害防治技术，农业科学院植物保护研究所发布的最新消息</p>";

    fn decoded(body: &[u8], content_type: Option<&str>) -> (String, &'static str, bool) {
        let url = Url::parse("http://e.com/").unwrap();
        let Decoded { text, encoding, had_errors } = decode(body, content_type, &url);
        (text.into_owned(), name_of(encoding), had_errors)
    }

    fn gbk(text: &str) -> Vec<u8> {
        GBK.encode(text).0.into_owned()
    }

    #[test]
    fn marks_go_before_headers_and_headers_before_declarations() {
        let marked = [&b"\xef\xbb\xbf"[..], ZH.as_bytes()].concat();
        assert_eq!(decoded(&marked, Some("text/html; charset=gbk")), (ZH.to_owned(), "utf-8", false));
        let page = gbk(&format!("<meta charset=big5>{ZH}"));
        assert_eq!(decoded(&page, Some("text/html; charset=GB2312")).1, "gb18030");
    }

    #[test]
    fn claims_that_the_bytes_contradict_are_overruled() {
        let utf_8 = format!("<meta charset=gb2312>{ZH}");
        assert_eq!(decoded(utf_8.as_bytes(), None), (utf_8, "utf-8", false));
        let said_utf_8 = format!("<meta charset=utf-8>{ZH}");
        assert_eq!(decoded(&gbk(&said_utf_8), Some("text/html; charset=utf-8")), (said_utf_8, "gb18030", false));
        let behind_apache = format!("<meta charset=gb2312>{ZH}");
        assert_eq!(decoded(&gbk(&behind_apache), Some("text/html; charset=iso-8859-1")), (behind_apache, "gb18030", false));
    }

    #[test]
    fn a_few_broken_bytes_do_not_overrule_a_claim() {
        let page = [format!("<meta charset=utf-8>{ZH}").as_bytes(), &[0xe5, b'<']].concat();
        let (text, encoding, had_errors) = decoded(&page, None);
        assert_eq!((encoding, had_errors), ("utf-8", true));
        assert!(text.contains("水稻") && text.contains('\u{fffd}'));
        assert_eq!(decoded(&[ZH.as_bytes(), ZH.as_bytes(), &[0xff, b'<']].concat(), None).1, "utf-8");
    }

    #[test]
    fn utf_16_is_read_with_and_without_a_mark() {
        let units = |order: fn(u16) -> [u8; 2]| ZH.encode_utf16().flat_map(order).collect::<Vec<u8>>();
        let markup = "<html><body><p>plain words 一</p>";
        let plain: Vec<u8> = markup.encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decoded(&plain, None), (markup.to_owned(), "utf-16le", false));
        let marked = [&[0xfe, 0xff][..], &units(u16::to_be_bytes)].concat();
        assert_eq!(decoded(&marked, None), (ZH.to_owned(), "utf-16be", false));
    }

    #[test]
    fn undeclared_pages_are_told_by_their_bytes() {
        assert_eq!(decoded(&gbk(ZH), None), (ZH.to_owned(), "gb18030", false));
        assert_eq!(decoded(&gbk("<title>登录</title>"), None).1, "gb18030");
        let big5 = format!("<html lang=zh-TW>{}", "臺灣農業試驗所水稻病蟲害防治");
        assert_eq!(decoded(&BIG5.encode(&big5).0, None), (big5, "big5", false));
        assert_eq!(decoded("Das Gemüse wächst über Nacht".as_bytes(), None).1, "utf-8");
        assert_eq!(
            decoded(b"Das Gem\xfcse w\xe4chst \xfcber Nacht", None),
            ("Das Gemüse wächst über Nacht".to_owned(), "windows-1252", false)
        );
    }

    #[test]
    fn every_encoding_has_a_name_in_lower_case() {
        for label in
            ["utf-8", "gbk", "big5", "iso-8859-8-i", "koi8-u", "x-mac-cyrillic", "windows-1252", "iso-2022-jp", "utf-16le"]
        {
            let name = name_of(Encoding::for_label(label.as_bytes()).unwrap());
            assert_eq!(name, name.to_ascii_lowercase());
        }
    }
}

//! The recorded web: answers from WARC files instead of servers.
//!
//! Promises: the same files give the same answers, in virtual time; a URL is
//! found across scheme, default port, trailing slash and index file; failures
//! that were recorded (429, 503, redirects) are served as recorded.
//! Never: touches the network; closed unless told otherwise, so that a crawl
//! sees nothing that was not recorded.

mod index;
mod message;

use std::{collections::BTreeMap, io, path::PathBuf, time::Duration};

use futures_util::future::{BoxFuture, FutureExt, ready};

use self::index::{Entry, Index, Spot};
use super::{
    DEFAULT_BODY_LIMIT, Failure, Fetched, Fetcher, Request, Response,
    warc::{WarcError, WarcReader, WarcRecord},
};
use crate::{
    page::Timestamp,
    url::{Url, same_page_key},
};

/// Bytes of HTTP headers and chunk marks that may come on top of a body.
const HEAD_ROOM: usize = 256 * 1024;

/// A recorded answer without a recorded time takes this long, and 1 ms more for each 10 KB.
const BASE_TIME: Duration = Duration::from_millis(50);

/// Why a recorded web cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    #[error("no WARC file was named; give one or more .warc or .warc.gz files")]
    NoFiles,
    #[error("cannot open {}: {source}; name a .warc or .warc.gz file that can be read", path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("{} is not a WARC file: {what}", path.display())]
    NotWarc { path: PathBuf, what: &'static str },
    #[error("{}: record 1 near byte {offset}: {source}; nothing of the file is readable, fetch or record it anew", path.display())]
    Unreadable { path: PathBuf, offset: u64, source: WarcError },
    #[error("{} holds no page: there is no response, resource or revisit record of an http address; record pages first", path.display())]
    NoPages { path: PathBuf },
}

/// Serves recorded webs.
#[derive(Debug)]
pub struct ReplayFetcher {
    paths: Vec<PathBuf>,
    index: Index,
    open_web: bool,
}

impl ReplayFetcher {
    /// Reads the headers of all records; bodies are read when they are asked for.
    ///
    /// With `open_web` a URL that was not recorded answers 404; without, the web ends where the recording ends.
    ///
    /// # Errors
    /// [`ReplayError`] where a file is no WARC or nothing of it can be read. Damage after readable records is a
    /// [warning](Self::warnings).
    pub fn open(paths: &[PathBuf], open_web: bool) -> Result<Self, ReplayError> {
        if paths.is_empty() {
            return Err(ReplayError::NoFiles);
        }
        Ok(Self { paths: paths.to_vec(), index: Index::read(paths)?, open_web })
    }

    /// Distinct pages recorded.
    pub fn len(&self) -> usize {
        self.index.entries.len()
    }

    /// Never true: a web without pages does not open.
    pub fn is_empty(&self) -> bool {
        self.index.entries.is_empty()
    }

    /// The recorded URLs in canonical form, in the order of the files.
    pub fn urls(&self) -> impl Iterator<Item = &str> {
        self.index.entries.iter().map(|entry| &*entry.url)
    }

    /// When the first record was made: the time at which a replay starts. Zero where no record has a date.
    pub fn recorded_at(&self) -> Timestamp {
        self.index.recorded_at.unwrap_or_default()
    }

    /// What could not be read, and what was done about it; the first hundred.
    pub fn warnings(&self) -> &[String] {
        &self.index.warnings
    }

    /// Warnings beyond those kept.
    pub fn warnings_dropped(&self) -> usize {
        self.index.warnings_dropped
    }

    /// Records that are no page, by type.
    pub fn skipped(&self) -> &BTreeMap<String, u64> {
        &self.index.skipped
    }

    fn answer(&self, request: &Request) -> Fetched {
        let Some(entry) = self.index.find(&same_page_key(&request.url)) else {
            let is_404 = self.open_web || request.url.path() == "/robots.txt";
            let result = if is_404 { Ok(bare(404)) } else { Err(Failure::NotRecorded) };
            return Fetched { elapsed: BASE_TIME, address: None, result };
        };
        let limit = if request.body_limit == 0 { DEFAULT_BODY_LIMIT } else { request.body_limit };
        let (result, address) = match self.serve(entry, limit) {
            Ok((response, address)) => (Ok(unless_unchanged(request, response)), address),
            Err(error) => (Err(Failure::Broken(format!("{}: {error}", entry.url))), None),
        };
        let kilobytes = result.as_ref().map_or(0, |response| response.body.len()) as u64 / 10_000;
        let elapsed =
            entry.fetch_time_ms.map_or(BASE_TIME + Duration::from_millis(kilobytes), |ms| Duration::from_millis(ms.into()));
        Fetched { elapsed, address, result }
    }

    fn serve(&self, entry: &Entry, limit: usize) -> Result<(Response, Option<std::net::IpAddr>), WarcError> {
        let record = self.record(&entry.spot, limit)?;
        let address = record.header("warc-ip-address").and_then(|address| address.parse().ok());
        let Some(original) = &entry.original else { return Ok((read(&record, limit), address)) };
        let mut repeated = read(&self.record(original, limit)?, limit);
        // A revisit has headers of its own, if any, and the body of what it repeats; 304 says that the headers hold, too.
        if let Some((status, headers, _)) = message::parse(&record.body).filter(|(status, ..)| *status != 304) {
            (repeated.status, repeated.headers) = (status, headers);
        }
        Ok((repeated, address))
    }

    fn record(&self, spot: &Spot, limit: usize) -> Result<WarcRecord, WarcError> {
        let source = index::reader_at(spot, &self.paths)?;
        let mut reader = WarcReader::new(source, limit.saturating_add(HEAD_ROOM) as u64);
        reader.next().unwrap_or(Err(WarcError::Truncated))
    }
}

/// The answer in a record; a `resource` record is its own body.
fn read(record: &WarcRecord, limit: usize) -> Response {
    let mut response = if record.kind() == "resource" {
        let kind = record.header("content-type").unwrap_or_default().to_owned();
        message::response(200, vec![("content-type".to_owned(), kind)], &record.body, limit)
    } else {
        message::parse(&record.body)
            .map_or_else(|| bare(502), |(status, headers, raw)| message::response(status, headers, raw, limit))
    };
    response.truncated |= record.truncated;
    response
}

fn bare(status: u16) -> Response {
    Response { status, headers: Vec::new(), body: Vec::new(), truncated: false }
}

/// A recorded page never changes: whoever names its validators gets 304.
fn unless_unchanged(request: &Request, response: Response) -> Response {
    let same = |asked: &Option<String>, name: &str| asked.is_some() && asked.as_deref() == response.header(name);
    if response.status == 200
        && (same(&request.validators.etag, "etag") || same(&request.validators.last_modified, "last-modified"))
    {
        return Response { status: 304, body: Vec::new(), truncated: false, ..response };
    }
    response
}

impl Fetcher for ReplayFetcher {
    /// Answers at once. A URL that is not recorded ends in [`Failure::NotRecorded`], or 404 in an open web; robots.txt
    /// may always be asked for and is 404 where none was recorded.
    fn fetch(&self, request: Request) -> BoxFuture<'_, Fetched> {
        ready(self.answer(&request)).boxed()
    }

    fn holds(&self, url: &Url) -> bool {
        self.open_web || self.index.find(&same_page_key(url)).is_some()
    }

    fn recorded_at(&self) -> Option<Timestamp> {
        Some(Self::recorded_at(self))
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write, path::Path};

    use flate2::{Compression, write::GzEncoder};
    use tempfile::TempDir;

    use super::*;

    fn record(kind: &str, headers: &str, body: &str) -> String {
        format!("WARC/1.1\r\nWARC-Type: {kind}\r\n{headers}Content-Length: {}\r\n\r\n{body}\r\n\r\n", body.len())
    }

    fn page(url: &str, http: &str) -> String {
        let headers = format!("WARC-Target-URI: {url}\r\nWARC-Record-ID: <urn:{url}>\r\nWARC-Date: 2024-05-06T07:08:09Z\r\n");
        record("response", &headers, http)
    }

    fn html(url: &str, body: &str) -> String {
        page(url, &format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"v1\"\r\n\r\n{body}"))
    }

    fn gzip(data: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    fn write(dir: &TempDir, name: &str, bytes: &[u8]) -> PathBuf {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Each way to lay out the same records in a file.
    fn layouts(dir: &TempDir, records: &[String]) -> Vec<PathBuf> {
        let whole = records.concat();
        let members: Vec<u8> = records.iter().flat_map(|record| gzip(record.as_bytes())).collect();
        let unaligned: Vec<u8> = whole.as_bytes().chunks(700).flat_map(gzip).collect();
        vec![
            write(dir, "plain.warc", whole.as_bytes()),
            write(dir, "members.warc.gz", &members),
            write(dir, "stream.warc.gz", &gzip(whole.as_bytes())),
            write(dir, "unaligned.warc.gz", &unaligned),
        ]
    }

    fn open(path: &Path) -> ReplayFetcher {
        ReplayFetcher::open(&[path.to_owned()], false).unwrap()
    }

    fn ask(web: &ReplayFetcher, url: &str) -> Fetched {
        web.answer(&Request::get(Url::parse(url).unwrap()))
    }

    fn body(web: &ReplayFetcher, url: &str) -> String {
        String::from_utf8(ask(web, url).result.unwrap().body).unwrap()
    }

    #[test]
    fn every_layout_of_a_file_serves_the_same_pages() {
        let dir = TempDir::new().unwrap();
        let long = "grain and hay ".repeat(200_000);
        let records = [
            record("warcinfo", "", "software: test"),
            html("http://e.com/a/", "first"),
            html("http://e.com/long", &long),
            record("request", "", "GET / HTTP/1.1"),
            html("<http://e.com/b?x=1>", "second"),
        ];
        for path in layouts(&dir, &records) {
            let web = open(&path);
            assert_eq!(web.urls().collect::<Vec<_>>(), ["http://e.com/a/", "http://e.com/long", "http://e.com/b?x=1"]);
            assert_eq!(body(&web, "https://e.com/a/index.html"), "first", "{}", path.display());
            assert_eq!(body(&web, "http://e.com/long"), long, "{}", path.display());
            assert_eq!(body(&web, "http://e.com/b?x=1"), "second", "{}", path.display());
            assert_eq!(web.recorded_at().to_string(), "2024-05-06T07:08:09Z");
            assert_eq!((web.skipped()["warcinfo"], web.skipped()["request"], web.warnings().len()), (1, 1, 0));
        }
    }

    #[test]
    fn a_closed_web_ends_where_the_recording_ends() {
        let dir = TempDir::new().unwrap();
        let path = write(&dir, "w.warc", html("http://e.com/", "x").as_bytes());
        let (closed, open_web) = (open(&path), ReplayFetcher::open(&[path], true).unwrap());
        let missing = Url::parse("http://e.com/missing").unwrap();
        assert!(!closed.holds(&missing) && open_web.holds(&missing));
        assert_eq!(ask(&closed, missing.as_str()).result.unwrap_err(), Failure::NotRecorded);
        assert_eq!(ask(&open_web, missing.as_str()).result.unwrap().status, 404);
        assert_eq!(ask(&closed, "http://e.com/robots.txt").result.unwrap().status, 404);
    }

    #[test]
    fn the_first_record_of_a_url_wins_but_a_redirect_to_itself_loses() {
        let dir = TempDir::new().unwrap();
        let redirect = |url, to| page(url, &format!("HTTP/1.1 301 Moved\r\nLocation: {to}\r\n\r\n"));
        let records = [
            html("http://e.com/a", "old"),
            html("http://e.com/a", "new"),
            redirect("http://e.com/b", "http://e.com/b/"),
            html("http://e.com/b/", "b"),
            redirect("http://e.com/c", "http://e.com/d"),
            page("http://e.com/down", "HTTP/1.1 503 Down\r\nRetry-After: 9\r\n\r\n"),
        ];
        let web = open(&write(&dir, "w.warc", records.concat().as_bytes()));
        assert_eq!((body(&web, "http://e.com/a"), body(&web, "http://e.com/b")), ("old".into(), "b".into()));
        let moved = ask(&web, "http://e.com/c").result.unwrap();
        assert_eq!((moved.status, moved.header("location")), (301, Some("http://e.com/d")));
        assert_eq!(ask(&web, "http://e.com/down").result.unwrap().header("retry-after"), Some("9"));
    }

    #[test]
    fn resources_revisits_and_fetch_times_are_understood() {
        let dir = TempDir::new().unwrap();
        let revisit =
            |url: &str, refers: &str, http: &str| record("revisit", &format!("WARC-Target-URI: {url}\r\n{refers}"), http);
        let records = [
            revisit("http://e.com/early", "WARC-Refers-To: <urn:http://e.com/a>\r\n", "HTTP/1.1 203 Again\r\nX-Own: 1\r\n\r\n"),
            html("http://e.com/a", "original"),
            record("resource", "WARC-Target-URI: http://e.com/r\r\nContent-Type: text/plain\r\n", "resource body"),
            record("metadata", "WARC-Refers-To: <urn:http://e.com/a>\r\n", "via: x\r\nfetchTimeMs: 1234\r\n"),
            revisit("http://e.com/same", "WARC-Refers-To-Target-URI: http://e.com/a\r\n", "HTTP/1.1 304 Not Modified\r\n\r\n"),
            revisit("http://e.com/lost", "WARC-Refers-To: <urn:nowhere>\r\n", ""),
            record("response", "WARC-Target-URI: dns:e.com\r\n", "20240506 e.com. 5 IN A 10.0.0.1"),
        ];
        for path in layouts(&dir, &records) {
            let web = open(&path);
            let early = ask(&web, "http://e.com/early").result.unwrap();
            assert_eq!((early.status, early.header("x-own"), early.body.as_slice()), (203, Some("1"), b"original".as_slice()));
            let same = ask(&web, "http://e.com/same").result.unwrap();
            assert_eq!((same.status, same.header("content-type")), (200, Some("text/html")));
            assert_eq!(body(&web, "http://e.com/r"), "resource body");
            assert_eq!(ask(&web, "http://e.com/a").elapsed.as_millis(), 1_234);
            assert_eq!(ask(&web, "http://e.com/r").elapsed.as_millis(), 50);
            assert!(!web.holds(&Url::parse("http://e.com/lost").unwrap()));
            assert!(web.warnings()[0].contains("http://e.com/lost"), "{:?}", web.warnings());
        }
    }

    #[test]
    fn bodies_are_cut_at_the_requests_limit_and_validators_answer_304() {
        let dir = TempDir::new().unwrap();
        let web = open(&write(&dir, "w.warc", html("http://e.com/", &"x".repeat(50_000)).as_bytes()));
        let ask = |change: fn(&mut Request)| {
            let mut request = Request::get(Url::parse("http://e.com/").unwrap());
            change(&mut request);
            web.answer(&request)
        };
        let cut = ask(|request| request.body_limit = 20_000);
        assert_eq!(cut.elapsed.as_millis(), 52);
        let cut = cut.result.unwrap();
        assert_eq!((cut.body.len(), cut.truncated), (20_000, true));
        assert_eq!(ask(|request| request.validators.etag = Some("\"v1\"".into())).result.unwrap().status, 304);
        assert_eq!(ask(|request| request.validators.etag = Some("\"v2\"".into())).result.unwrap().status, 200);
    }

    #[test]
    fn damage_costs_only_what_lies_behind_it() {
        let dir = TempDir::new().unwrap();
        let noise: String =
            (0..20_000).map(|i: u32| char::from(b'a' + (i.wrapping_mul(2_654_435_761) >> 27) as u8 % 26)).collect();
        let mut cut = gzip(html("http://e.com/a", "kept").as_bytes());
        let second = gzip(html("http://e.com/b", &noise).as_bytes());
        cut.extend(&second[..second.len() - 9]);
        let web = open(&write(&dir, "cut.warc.gz", &cut));
        assert_eq!(web.urls().collect::<Vec<_>>(), ["http://e.com/a"]);
        assert!(web.warnings()[0].contains("cut.warc.gz: record 2 near byte"), "{:?}", web.warnings());
        let broken = [html("http://e.com/a", "x"), "WARC/1.1\r\nno length\r\n\r\n".into(), html("http://e.com/b", "y")].concat();
        let web = open(&write(&dir, "broken.warc", broken.as_bytes()));
        assert_eq!((web.len(), web.warnings().len()), (2, 1));
    }

    #[test]
    fn files_that_cannot_be_read_say_why_and_what_to_do() {
        let dir = TempDir::new().unwrap();
        let says = |name: &str, bytes: &[u8]| {
            let path = write(&dir, name, bytes);
            ReplayFetcher::open(&[path], false).unwrap_err().to_string()
        };
        assert!(says("a.html", b"<!doctype html>").contains("a.html is not a WARC file"));
        assert!(says("a.wacz", b"PK\x03\x04").contains("unzip it"));
        assert!(says("a.warc.zst", &[0x5d, 0x2a, 0x4d, 0x18]).contains("zstd -d"));
        assert!(says("empty", b"").contains("it is empty"));
        assert!(says("page.gz", &gzip(b"<!doctype html>\n")).contains("record 1 near byte 0: expected `WARC/1.0`"));
        assert!(says("cut.gz", &gzip(html("http://e.com/", "x").as_bytes())[..60]).contains("nothing of the file is readable"));
        assert!(says("info.warc", record("warcinfo", "", "x").as_bytes()).contains("holds no page"));
        let missing = ReplayFetcher::open(&[dir.path().join("none.warc")], false).unwrap_err().to_string();
        assert!(missing.contains("none.warc"), "{missing}");
        assert!(matches!(ReplayFetcher::open(&[], false), Err(ReplayError::NoFiles)));
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn a_damaged_file_opens_or_says_why(at in 0_usize..600, byte in 0_u8..=255, layout in 0_usize..4, cut in 0_usize..600) {
            let dir = TempDir::new().unwrap();
            let records = [html("http://e.com/a", "kept"), html("http://e.com/b", &"hay ".repeat(100)), html("http://e.com/c", "more")];
            let path = layouts(&dir, &records).swap_remove(layout);
            let mut bytes = fs::read(&path).unwrap();
            bytes.truncate(bytes.len().saturating_sub(cut).max(40));
            let at = at % bytes.len();
            bytes[at] = byte;
            fs::write(&path, &bytes).unwrap();
            if let Ok(web) = ReplayFetcher::open(&[path], false) {
                for url in web.urls() {
                    let _ = ask(&web, url);
                }
            }
        }
    }
}

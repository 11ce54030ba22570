//! Serves a recorded web, or a made-up one, over HTTP/1.1 with keep-alive, every host at one loopback address.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashMap},
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    process::Child,
    sync::Arc,
    thread,
};

use futures_util::FutureExt;
use libdeflater::{CompressionLvl, Compressor};
use rcgen::CertifiedKey;
use rustls::{ServerConfig, ServerConnection, StreamOwned, pki_types::PrivatePkcs8KeyDer};
use windrow::{
    fetch::{Fetcher, ReplayFetcher, Request},
    url::Url,
};

use super::{arguments::Serving, wide};

/// Where pages come from.
enum Web {
    /// Whole answers, by URL: a server that unpacks them while the crawl waits would be what is measured.
    Recorded(HashMap<String, Vec<u8>>),
    /// So many hosts.
    Wide(u32),
}

/// Serves until it is killed: `[--tls] [--gzip] [--hosts N] CA.pem [WEB.warc.gz …]`; prints its address on the first line, and
/// writes the certificate to trust to the file.
pub fn serve(arguments: impl Iterator<Item = String>) {
    let (mut serving, mut hosts, mut files) = (Serving::default(), 0, Vec::new());
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--tls" => serving.tls = true,
            "--gzip" => serving.gzip = true,
            "--hosts" => hosts = arguments.next().unwrap().parse().unwrap(),
            file => files.push(PathBuf::from(file)),
        }
    }
    let (certificate, files) = files.split_first().unwrap();
    let (web, names) = if files.is_empty() {
        (Web::Wide(hosts), BTreeSet::from(["*.wide.test".to_owned()]))
    } else {
        recorded(&ReplayFetcher::open(files, true).unwrap(), serving)
    };
    let web = Arc::new(web);
    let tls = serving.tls.then(|| tls(names, certificate));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    for stream in listener.incoming().flatten() {
        let (web, tls) = (Arc::clone(&web), tls.clone());
        thread::spawn(move || match tls {
            Some(tls) => answer_all(StreamOwned::new(ServerConnection::new(tls).unwrap(), stream), &web),
            None => answer_all(stream, &web),
        });
    }
}

fn tls(names: BTreeSet<String>, certificate: &Path) -> Arc<ServerConfig> {
    let CertifiedKey { cert, signing_key } = rcgen::generate_simple_self_signed(names.into_iter().collect::<Vec<_>>()).unwrap();
    fs::write(certificate, cert.pem()).unwrap();
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key.into()).unwrap())
}

/// All answers of a recorded web, and the names of its hosts.
fn recorded(web: &ReplayFetcher, serving: Serving) -> (Web, BTreeSet<String>) {
    let mut hosts = BTreeSet::new();
    let mut answers = HashMap::new();
    for url in web.urls() {
        let Ok(url) = Url::parse(url) else { continue };
        let Some(response) = web.fetch(Request::get(url.clone())).now_or_never().and_then(|answer| answer.result.ok()) else {
            continue;
        };
        let secure = |text: &str| if serving.tls { text.replace("http://", "https://") } else { text.to_owned() };
        let kind = response.header("content-type").unwrap_or("text/html");
        let place = response.header("location").map(|to| format!("Location: {}\r\n", secure(to))).unwrap_or_default();
        let body = if serving.tls { replaced(&response.body, b"http://", b"https://") } else { response.body.clone() };
        hosts.insert(url.host_str().unwrap_or_default().to_owned());
        answers.insert(key(&url), whole(response.status, kind, &place, &body, serving.gzip));
    }
    (Web::Recorded(answers), hosts)
}

fn replaced(body: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(body.len()), body);
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

/// What a URL is asked for by over HTTP, whatever its scheme was.
fn key(url: &Url) -> String {
    format!("{}{}", url.host_str().unwrap_or_default(), &url[url::Position::BeforePath..url::Position::AfterQuery])
}

fn whole(status: u16, kind: &str, more: &str, body: &[u8], gzip: bool) -> Vec<u8> {
    let packed = gzip.then(|| {
        let mut gzip = Compressor::new(CompressionLvl::default());
        let mut packed = vec![0; gzip.gzip_compress_bound(body.len())];
        let length = gzip.gzip_compress(body, &mut packed).unwrap();
        packed.truncate(length);
        packed
    });
    let (coding, body) = packed.as_deref().map_or(("", body), |packed| ("Content-Encoding: gzip\r\n", packed));
    let length = body.len();
    let head = format!("HTTP/1.1 {status} Recorded\r\nContent-Type: {kind}\r\n{more}{coding}Content-Length: {length}\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// The address that a serving child has printed.
pub fn address_of(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

fn answer_all(stream: impl Read + Write, web: &Web) {
    let mut reader = BufReader::new(stream);
    while answer(&mut reader, web).is_some() {}
}

fn answer(reader: &mut BufReader<impl Read + Write>, web: &Web) -> Option<()> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|&length| length > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut host = String::new();
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(name) = line.to_ascii_lowercase().strip_prefix("host:") {
            name.trim().clone_into(&mut host);
        }
    }
    let absent = || Cow::Owned(whole(404, "text/plain", "", b"", false));
    let name = host.split(':').next()?;
    let answer = match web {
        Web::Recorded(answers) => answers.get(&format!("{name}{path}")).map(|answer| Cow::Borrowed(answer.as_slice())),
        Web::Wide(hosts) => {
            wide::page(name, &path, *hosts).map(|page| Cow::Owned(whole(200, "text/html", "", page.as_bytes(), false)))
        }
    };
    let answer = answer.unwrap_or_else(absent);
    let stream = reader.get_mut();
    stream.write_all(&answer).and_then(|()| stream.flush()).ok()
}

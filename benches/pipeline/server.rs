//! Serves a recorded web over HTTP/1.1 with keep-alive, every host at one loopback address.

use std::{
    collections::HashMap,
    io::{BufRead, BufReader, Write},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::Child,
    sync::Arc,
    thread,
};

use futures_util::FutureExt;
use windrow::{
    fetch::{Fetcher, ReplayFetcher, Request},
    url::Url,
};

/// Whole answers, by URL: a server that unpacks them while the crawl waits would be what is measured.
type Answers = HashMap<String, Vec<u8>>;

/// Prints its address on the first line, then serves until it is killed.
pub fn serve(web: &[PathBuf]) {
    let answers = Arc::new(answers(&ReplayFetcher::open(web, true).unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    for stream in listener.incoming().flatten() {
        let answers = Arc::clone(&answers);
        thread::spawn(move || {
            let mut reader = BufReader::new(&stream);
            while answer(&mut reader, &stream, &answers).is_some() {}
        });
    }
}

fn answers(web: &ReplayFetcher) -> Answers {
    let answer = |url: &str| {
        let url = Url::parse(url).ok()?;
        let response = web.fetch(Request::get(url.clone())).now_or_never()?.result.ok()?;
        let kind = response.header("content-type").unwrap_or("text/html");
        let place = response.header("location").map(|to| format!("Location: {to}\r\n")).unwrap_or_default();
        Some((key(&url), whole(response.status, kind, &place, &response.body)))
    };
    web.urls().filter_map(answer).collect()
}

/// What a URL is asked for by over HTTP, whatever its scheme was.
fn key(url: &Url) -> String {
    format!("{}{}", url.host_str().unwrap_or_default(), &url[url::Position::BeforePath..url::Position::AfterQuery])
}

fn whole(status: u16, kind: &str, more: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} Recorded\r\nContent-Type: {kind}\r\n{more}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// The address that a serving child has printed.
pub fn address_of(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

fn answer(reader: &mut BufReader<&TcpStream>, mut stream: &TcpStream, answers: &Answers) -> Option<()> {
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
    match answers.get(&format!("{host}{path}")) {
        Some(answer) => stream.write_all(answer).ok(),
        None => stream.write_all(&whole(404, "text/plain", "", b"")).ok(),
    }
}

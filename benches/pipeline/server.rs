//! Serves a recorded web over HTTP/1.1 with keep-alive, every host at one loopback address.

use std::{
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

/// Prints its address on the first line, then serves until it is killed.
pub fn serve(web: &[PathBuf]) {
    let web = Arc::new(ReplayFetcher::open(web, true).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap());
    for stream in listener.incoming().flatten() {
        let web = Arc::clone(&web);
        thread::spawn(move || {
            let mut reader = BufReader::new(&stream);
            while answer(&mut reader, &stream, &web).is_some() {}
        });
    }
}

/// The address that a serving child has printed.
pub fn address_of(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    line.trim().to_owned()
}

fn answer(reader: &mut BufReader<&TcpStream>, mut stream: &TcpStream, web: &ReplayFetcher) -> Option<()> {
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
    let url = Url::parse(&format!("http://{host}{path}")).ok()?;
    let found = web.fetch(Request::get(url)).now_or_never().and_then(|fetched| fetched.result.ok());
    let (status, kind, body) = found.map_or((404, "text/plain".to_owned(), Vec::new()), |response| {
        let kind = response.header("content-type").unwrap_or("text/html").to_owned();
        (response.status, kind, response.body)
    });
    let head = format!("HTTP/1.1 {status} Recorded\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body).ok()
}

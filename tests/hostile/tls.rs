//! TLS: certificates that hold, that do not, and servers that speak none.

use std::{net::SocketAddr, sync::Arc};

use rcgen::{CertifiedKey, generate_simple_self_signed};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, pki_types::PrivateKeyDer},
};
use windrow::fetch::{Failure, FetchConfig, HttpFetcher};

use crate::server::get;

/// A server with a certificate of its own for `secure.test`; its PEM file is in the directory.
async fn serve_tls() -> (SocketAddr, tempfile::TempDir) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["secure.test".to_owned()]).unwrap();
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("ca.pem"), cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(signing_key.serialize_der()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![cert.der().clone()], key).unwrap();
    let (acceptor, listener) = (TlsAcceptor::from(Arc::new(config)), TcpListener::bind("127.0.0.1:0").await.unwrap());
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            if let Ok(mut stream) = acceptor.accept(stream).await {
                let _ = stream.read(&mut [0; 4_096]).await;
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecure").await;
                let _ = stream.shutdown().await;
            }
        }
    });
    (address, directory)
}

#[tokio::test]
async fn a_certificate_is_believed_only_when_it_is_vouched_for_and_fits_the_host() {
    let (address, directory) = serve_tls().await;
    let distrusting = FetchConfig { resolve_all: Some(address), ..FetchConfig::default() };
    let trusting = FetchConfig { ca_file: Some(directory.path().join("ca.pem")), ..distrusting.clone() };
    let refused = get(&HttpFetcher::new(&distrusting).unwrap(), "https://secure.test/").await.result;
    assert!(matches!(refused, Err(Failure::Tls(_))), "{refused:?}");
    let trusting = HttpFetcher::new(&trusting).unwrap();
    let refused = get(&trusting, "https://other.test/").await.result;
    assert!(matches!(refused, Err(Failure::Tls(_))), "{refused:?}");
    assert_eq!(get(&trusting, "https://secure.test/").await.result.unwrap().body, b"secure");
}

#[tokio::test]
async fn a_server_without_tls_fails_as_tls() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = FetchConfig { resolve_all: Some(listener.local_addr().unwrap()), ..FetchConfig::default() };
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 4_096]).await;
        let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\nthis is plain http").await;
    });
    let failed = get(&HttpFetcher::new(&config).unwrap(), "https://plain.test/").await.result;
    assert!(matches!(failed, Err(Failure::Tls(_))), "{failed:?}");
}

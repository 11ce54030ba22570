//! Tokens: random secrets that let their holder read or steer; kept as hashes in a file.
//!
//! Promises: a token has 256 random bits and is shown once; the file holds its SHA-256 (as good as any slow hash for a secret
//! that nobody can guess); comparing takes the same time whatever differs.
//! Never: logs or stores a token.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// What the holder of a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, clap::ValueEnum, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// See everything.
    Read,
    /// See and change everything.
    Steer,
}

/// What is wrong with a file of tokens.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{}, line {line}: {what}; lines are written by `windrow token new`", path.display())]
    Line { path: PathBuf, line: usize, what: String },
    #[error("the system gives no random numbers: {0}")]
    Random(String),
}

/// A line of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    role: Role,
    sha256: String,
    created: String,
}

/// The tokens that a server knows, by their hashes.
#[derive(Debug, Clone, Default)]
pub struct Tokens(Vec<([u8; 32], Role)>);

/// 256 random bits as text.
pub(super) fn random_secret() -> Result<String, TokenError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| TokenError::Random(error.to_string()))?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// The hash under which a secret is known.
pub(super) fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// Makes a token and adds its hash to the file at `path`, which is made where it is missing, for its owner's eyes only.
///
/// # Errors
/// The file cannot be read or written.
pub fn new_token(path: &Path, role: Role) -> Result<String, TokenError> {
    let io = |source| TokenError::Io { path: path.to_owned(), source };
    if path.exists() {
        Tokens::load(path)?;
    }
    let token = format!("wr_{}", random_secret()?);
    let sha256 = hex(&hash(&token));
    let line = Line { role, sha256, created: jiff::Timestamp::now().to_string() };
    // Plain strings always serialise.
    let line = serde_json::to_string(&line).unwrap_or_default() + "\n";
    let mut file = OpenOptions::new().create(true).append(true).mode(0o600).open(path).map_err(io)?;
    file.write_all(line.as_bytes()).and_then(|()| file.sync_all()).map_err(io)?;
    Ok(token)
}

impl Tokens {
    /// Reads the hashes in a file.
    ///
    /// # Errors
    /// A file that cannot be read, a line that is none.
    pub fn load(path: &Path) -> Result<Self, TokenError> {
        let text = fs::read_to_string(path).map_err(|source| TokenError::Io { path: path.to_owned(), source })?;
        let mut tokens = Vec::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let fault = |what: String| TokenError::Line { path: path.to_owned(), line: at + 1, what };
            let Line { role, sha256, .. } = serde_json::from_str(line).map_err(|error| fault(error.to_string()))?;
            let hash = unhex(&sha256).ok_or_else(|| fault("sha256 is not 64 hexadecimal digits".to_owned()))?;
            tokens.push((hash, role));
        }
        Ok(Self(tokens))
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What the holder of `token` may do, if it is known. All are looked at, whichever it is.
    #[must_use]
    pub fn role(&self, token: &str) -> Option<Role> {
        self.role_of_hash(&hash(token))
    }

    /// The same for a token of which only the hash was kept.
    pub(super) fn role_of_hash(&self, given: &[u8; 32]) -> Option<Role> {
        let known = self.0.iter().filter(|(hash, _)| bool::from(hash.ct_eq(given)));
        known.map(|&(_, role)| role).max()
    }
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn unhex(text: &str) -> Option<[u8; 32]> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_is_known_by_its_hash_and_the_file_holds_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let (read, steer) = (new_token(&path, Role::Read).unwrap(), new_token(&path, Role::Steer).unwrap());
        let tokens = Tokens::load(&path).unwrap();
        assert_eq!((tokens.role(&read), tokens.role(&steer)), (Some(Role::Read), Some(Role::Steer)));
        assert_eq!((tokens.role(""), tokens.role(&read[1..])), (None, None));
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(&read) && !text.contains(&steer[3..]));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(read.len() > 40 && read != steer);
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        fs::write(&path, "{\"role\":\"steer\",\"sha256\":\"00\",\"created\":\"\"}\n").unwrap();
        assert!(Tokens::load(&path).unwrap_err().to_string().contains("line 1"));
        assert!(new_token(&path, Role::Read).is_err(), "a file that is something else is not written to");
    }
}

//! Who is asking: tokens, sessions of browsers, failed logins.
//!
//! Promises: a session is a random secret of which only the hash is kept; it ends after twelve hours, or when its token is
//! taken out of the file; who fails to log in too often waits.
//! Never: logs a secret.

use std::{
    net::IpAddr,
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use rustc_hash::FxHashMap;
use subtle::ConstantTimeEq;

use super::{
    problem::Problem,
    tokens::{Role, Tokens, hash, random_secret},
};

/// How long a login holds.
pub const SESSION: Duration = Duration::from_hours(12);
/// Sessions at a time; the oldest gives way.
const MAX_SESSIONS: usize = 1_000;
/// Failed logins of one address, and of all, in one window.
const TRIES: u32 = 10;
const TRIES_OF_ALL: u32 = 200;
const WINDOW: Duration = Duration::from_mins(1);

/// Who is asking, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub role: Role,
    pub via: Via,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Via {
    /// No login is needed.
    Open,
    /// The browser's cookie; holds the session's own CSRF token.
    Cookie(String),
    Bearer,
}

struct Session {
    /// The hash of the token it was opened with, so that it ends with it.
    token: [u8; 32],
    csrf: String,
    since: Instant,
}

/// Knows who may ask.
pub struct Auth {
    /// Where tokens are; without, no login is needed.
    file: Option<PathBuf>,
    tokens: Mutex<(Tokens, Option<SystemTime>)>,
    sessions: Mutex<FxHashMap<[u8; 32], Session>>,
    failures: Mutex<FxHashMap<Option<IpAddr>, (u32, Instant)>>,
    /// For browsers without a session.
    csrf: String,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Auth {
    pub fn new(file: Option<PathBuf>) -> anyhow::Result<Self> {
        let auth = Self {
            file,
            tokens: Mutex::default(),
            sessions: Mutex::default(),
            failures: Mutex::default(),
            csrf: random_secret()?,
        };
        auth.reload();
        Ok(auth)
    }

    pub fn login_required(&self) -> bool {
        self.file.is_some()
    }

    /// Reads the file of tokens again if it has changed. One that cannot be read leaves what was.
    pub fn reload(&self) {
        let Some(path) = &self.file else { return };
        let changed = path.metadata().and_then(|file| file.modified()).ok();
        if locked(&self.tokens).1 == changed && changed.is_some() {
            return;
        }
        match Tokens::load(path) {
            Ok(tokens) => *locked(&self.tokens) = (tokens, changed),
            Err(error) => tracing::error!("{error}"),
        }
    }

    /// Who holds a token.
    pub fn bearer(&self, token: &str) -> Option<Identity> {
        let role = locked(&self.tokens).0.role(token)?;
        Some(Identity { role, via: Via::Bearer })
    }

    /// Who holds a session's secret.
    pub fn session(&self, secret: &str) -> Option<Identity> {
        let sessions = locked(&self.sessions);
        let session = sessions.get(&hash(secret)).filter(|session| session.since.elapsed() < SESSION)?;
        let role = locked(&self.tokens).0.role_of_hash(&session.token)?;
        Some(Identity { role, via: Via::Cookie(session.csrf.clone()) })
    }

    /// Opens a session for the holder of a token: its secret.
    pub fn log_in(&self, token: &str, from: Option<IpAddr>) -> Result<(String, Identity), Problem> {
        self.may_try(from)?;
        let Some(identity) = self.bearer(token) else {
            self.note_failure(from);
            return Err(Problem::unauthorized());
        };
        let random = || random_secret().map_err(|error| Problem::internal(&error.into()));
        let (secret, csrf) = (random()?, random()?);
        let mut sessions = locked(&self.sessions);
        sessions.retain(|_, session| session.since.elapsed() < SESSION);
        if sessions.len() >= MAX_SESSIONS
            && let Some(oldest) = sessions.iter().min_by_key(|(_, session)| session.since).map(|(&key, _)| key)
        {
            sessions.remove(&oldest);
        }
        let session = Session { token: hash(token), csrf: csrf.clone(), since: Instant::now() };
        sessions.insert(hash(&secret), session);
        Ok((secret, Identity { via: Via::Cookie(csrf), ..identity }))
    }

    pub fn log_out(&self, secret: &str) {
        locked(&self.sessions).remove(&hash(secret));
    }

    /// What a browser has to send with everything that changes something.
    pub fn csrf(&self, identity: Option<&Identity>) -> String {
        match identity {
            Some(Identity { via: Via::Cookie(csrf), .. }) => csrf.clone(),
            _ => self.csrf.clone(),
        }
    }

    /// Whether a request carries what its sender must have asked for.
    pub fn knows_csrf(&self, identity: &Identity, given: Option<&str>) -> bool {
        let wanted = match &identity.via {
            Via::Bearer => return true,
            Via::Open => &self.csrf,
            Via::Cookie(csrf) => csrf,
        };
        given.is_some_and(|given| bool::from(given.as_bytes().ct_eq(wanted.as_bytes())))
    }

    fn may_try(&self, from: Option<IpAddr>) -> Result<(), Problem> {
        let mut failures = locked(&self.failures);
        failures.retain(|_, (_, since)| since.elapsed() < WINDOW);
        for (who, most) in [(from, TRIES), (None, TRIES_OF_ALL)] {
            if let Some((_, since)) = failures.get(&who).filter(|(number, _)| *number >= most) {
                return Err(Problem::too_many((WINDOW.saturating_sub(since.elapsed())).as_secs() + 1));
            }
        }
        Ok(())
    }

    fn note_failure(&self, from: Option<IpAddr>) {
        let mut failures = locked(&self.failures);
        for who in [from, None] {
            failures.entry(who).or_insert((0, Instant::now())).0 += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::new_token;

    #[test]
    fn a_session_ends_with_its_token_and_guessing_is_slowed_down() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tokens");
        let token = new_token(&path, Role::Read).unwrap();
        let auth = Auth::new(Some(path.clone())).unwrap();
        let here = Some(IpAddr::from([10, 0, 0, 1]));
        let (secret, identity) = auth.log_in(&token, here).unwrap();
        assert_eq!(identity.role, Role::Read);
        let known = auth.session(&secret).unwrap();
        assert!(auth.knows_csrf(&known, Some(&auth.csrf(Some(&known)))));
        assert!(!auth.knows_csrf(&known, Some(&auth.csrf(None))) && !auth.knows_csrf(&known, None));
        for _ in 0..TRIES {
            assert_eq!(auth.log_in("wr_wrong", here).unwrap_err().status, 401);
        }
        assert_eq!(auth.log_in(&token, here).unwrap_err().status, 429);
        assert!(auth.log_in(&token, Some(IpAddr::from([10, 0, 0, 2]))).is_ok(), "another address is not to blame");
        std::fs::write(&path, "").unwrap();
        *locked(&auth.tokens) = (Tokens::load(&path).unwrap(), None);
        assert!(auth.session(&secret).is_none() && auth.bearer(&token).is_none());
    }
}

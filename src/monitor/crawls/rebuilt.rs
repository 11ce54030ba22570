//! Stopped crawls that were read back to be asked, kept for the next question.
//!
//! Promises: at most [`MOST`] are kept, the one asked least recently goes first, and none that nobody has asked for a while;
//! what is kept is used only while it follows from what lies on disk ([`Basis`]); questions that come at a time to one crawl
//! read it back once.
//! Never: holds the store of a crawl, or changes one.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use super::locked;
use crate::{
    engine::Crawl,
    session::{Basis, CrawlFolder},
    store::Store,
};

/// Crawls kept at most: each may take the memory that its configuration allows.
const MOST: usize = 2;
/// How long one is kept that nobody asks.
const LINGER: Duration = Duration::from_mins(10);

/// Crawls that were read back, of a whole server.
pub type Rebuilt = Keep<Basis, Crawl>;

impl Rebuilt {
    /// Asks the crawl in `folder`, which does not run; it is read back first where it is not at hand. Blocking.
    pub fn ask<R>(&self, id: &str, folder: &CrawlFolder, store: &Store, question: impl FnOnce(&Crawl) -> R) -> anyhow::Result<R> {
        let read_back = || Ok(Crawl::read_back(folder.plan(store)?, store)?);
        self.with(id, folder.basis(store)?, read_back, question)
    }
}

/// Things made of something by name, a few of them.
pub struct Keep<B, T> {
    /// The last one asked comes last.
    kept: Mutex<Vec<Named<B, T>>>,
    made: AtomicU64,
}

struct Named<B, T> {
    id: String,
    asked: Instant,
    place: Arc<Mutex<Option<Made<B, T>>>>,
}

/// A thing, and what it was made of.
struct Made<B, T> {
    of: B,
    thing: T,
}

impl<B, T> Default for Keep<B, T> {
    fn default() -> Self {
        Self { kept: Mutex::default(), made: AtomicU64::default() }
    }
}

impl<B: PartialEq, T> Keep<B, T> {
    /// Looks at the thing `id`, which is made first unless it is at hand and was made of the same.
    fn with<R>(
        &self,
        id: &str,
        of: B,
        build: impl FnOnce() -> anyhow::Result<T>,
        look: impl FnOnce(&T) -> R,
    ) -> anyhow::Result<R> {
        let place = self.place(id);
        let mut made = locked(&place);
        if let Some(made) = made.as_ref().filter(|made| made.of == of) {
            return Ok(look(&made.thing));
        }
        // Let go of the old one first: there is room for one.
        *made = None;
        self.made.fetch_add(1, Ordering::Relaxed);
        let made = made.insert(Made { of, thing: build()? });
        Ok(look(&made.thing))
    }

    fn place(&self, id: &str) -> Arc<Mutex<Option<Made<B, T>>>> {
        let mut kept = locked(&self.kept);
        let known = kept.iter().position(|named| named.id == id).map(|at| kept.remove(at).place);
        let place = known.unwrap_or_default();
        kept.push(Named { id: id.to_owned(), asked: Instant::now(), place: Arc::clone(&place) });
        let too_many = kept.len().saturating_sub(MOST);
        let gone: Vec<_> = kept.drain(..too_many).collect();
        drop(kept);
        // Outside of the lock: giving much memory back takes a while.
        drop(gone);
        place
    }
}

impl<B, T> Keep<B, T> {
    /// Lets go of `id`.
    pub fn forget(&self, id: &str) {
        self.let_go(|named| named.id == id);
    }

    /// Lets go of those that nobody has asked for a while.
    pub fn forget_unused(&self) {
        self.let_go(|named| named.asked.elapsed() > LINGER);
    }

    fn let_go(&self, goes: impl Fn(&Named<B, T>) -> bool) {
        let mut kept = locked(&self.kept);
        let gone: Vec<_> = kept.extract_if(.., |named| goes(named)).collect();
        drop(kept);
        drop(gone);
    }

    /// How many were made since the server started.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Barrier, thread};

    use super::*;

    /// Asks for `id` as it is made of `of`; says whether it was made for that.
    fn is_made(keep: &Keep<u32, String>, id: &str, of: u32) -> bool {
        let before = keep.made();
        let seen = keep.with(id, of, || Ok(format!("{id}{of}")), String::clone).unwrap();
        assert_eq!(seen, format!("{id}{of}"));
        keep.made() > before
    }

    #[test]
    fn a_thing_is_made_once_while_it_follows_from_the_same() {
        let keep = Keep::default();
        assert!(is_made(&keep, "a", 1) && !is_made(&keep, "a", 1));
        assert!(is_made(&keep, "a", 2) && is_made(&keep, "a", 1), "what it is made of has changed");
        keep.forget("a");
        assert!(is_made(&keep, "a", 1));
        keep.forget_unused();
        assert!(!is_made(&keep, "a", 1), "it was asked just now");
    }

    #[test]
    fn the_one_that_was_asked_least_recently_goes() {
        let keep = Keep::default();
        let asked = ["a", "b", "a", "c", "a", "b"].map(|id| is_made(&keep, id, 1));
        assert_eq!(asked, [true, true, false, true, false, true], "c took the place of b, and b that of c");
        assert_eq!(keep.kept.lock().unwrap().len(), MOST);
    }

    #[test]
    fn what_cannot_be_made_is_an_error_and_tried_again() {
        let keep = Keep::<u32, String>::default();
        keep.with("a", 1, || anyhow::bail!("damaged"), String::clone).unwrap_err();
        assert!(is_made(&keep, "a", 1));
    }

    #[test]
    fn questions_that_come_at_a_time_make_it_once() {
        let (keep, together) = (Keep::<u32, u64>::default(), Barrier::new(8));
        let ask = || {
            together.wait();
            keep.with("a", 1, || Ok(keep.made()), |&number| number).unwrap()
        };
        let answers: Vec<u64> = thread::scope(|scope| {
            let asked: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            asked.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        assert_eq!((answers, keep.made()), (vec![1; 8], 1));
    }
}

//! Storage that loses power, breaks, or fills up, at a chosen moment.
//!
//! Promises: after a power cut the image holds what was synced, and of what was
//! not, as much as the chosen [`Cut`] lets through.
//! Never: loses what a completed sync covered, but for [`Cut::SyncsDoNothing`].

use std::{
    io::{Error, ErrorKind, Result},
    sync::{Arc, Mutex, MutexGuard},
};

use fastrand::Rng;
use redb::StorageBackend;

/// What a power cut during a sync leaves of the writes since the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    Nothing,
    Everything,
    /// Each sector of 512 bytes is written or not, by chance.
    Torn(u64),
    /// This sync and all later ones claim to have worked and did not.
    SyncsDoNothing,
}

/// The moment at which storage fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fault {
    #[default]
    None,
    /// The n-th sync from now is cut off by a power failure, and nothing works after.
    PowerCut(u64, Cut),
    /// The n-th write from now fails, and every later one.
    BrokenWrites(u64),
    /// There is room for this many bytes.
    Full(u64),
}

#[derive(Debug, Default)]
struct State {
    /// What the running process sees.
    live: Vec<u8>,
    /// What has been synced.
    durable: Vec<u8>,
    unsynced: Vec<Change>,
    fault: Fault,
    syncs: u64,
    writes: u64,
    dead: bool,
}

#[derive(Debug)]
enum Change {
    Length(usize),
    Write(usize, Vec<u8>),
}

/// A database file in memory; clones are the same file.
#[derive(Debug, Clone, Default)]
pub struct Storage(Arc<Mutex<State>>);

impl Storage {
    /// Arms a fault; counts of syncs and writes start over.
    pub fn arm(&self, fault: Fault) {
        let mut state = self.state();
        (state.fault, state.syncs, state.writes) = (fault, 0, 0);
    }

    /// Syncs and writes since the last fault was armed.
    pub fn counts(&self) -> (u64, u64) {
        let state = self.state();
        (state.syncs, state.writes)
    }

    pub fn length(&self) -> u64 {
        self.state().live.len() as u64
    }

    /// The file as the next process finds it.
    pub fn image(&self) -> Vec<u8> {
        let state = self.state();
        let Fault::PowerCut(_, cut) = state.fault else { return state.live.clone() };
        let mut image = state.durable.clone();
        let mut rng = match cut {
            Cut::Nothing | Cut::SyncsDoNothing => return image,
            Cut::Everything => None,
            Cut::Torn(seed) => Some(Rng::with_seed(seed)),
        };
        for change in &state.unsynced {
            let mut survives = || rng.as_mut().is_none_or(Rng::bool);
            match change {
                Change::Length(length) if survives() => image.resize(*length, 0),
                Change::Length(_) => {}
                Change::Write(offset, data) => {
                    for (at, sector) in data.chunks(512).enumerate().filter(|_| survives()) {
                        let offset = offset + at * 512;
                        image.resize(image.len().max(offset + sector.len()), 0);
                        image[offset..offset + sector.len()].copy_from_slice(sector);
                    }
                }
            }
        }
        image
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }

    /// The state, unless storage is dead.
    fn alive(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.state();
        if state.dead { Err(Error::other("the power is gone")) } else { Ok(state) }
    }
}

impl State {
    fn change(&mut self, change: Change) -> Result<()> {
        let end = match &change {
            Change::Length(length) => *length,
            Change::Write(offset, data) => offset + data.len(),
        };
        match self.fault {
            Fault::Full(room) if end as u64 > room => return Err(Error::from(ErrorKind::StorageFull)),
            Fault::BrokenWrites(last) if self.writes >= last => return Err(Error::other("the disk is broken")),
            _ => {}
        }
        self.writes += 1;
        match &change {
            Change::Length(length) => self.live.resize(*length, 0),
            Change::Write(offset, data) => {
                self.live.resize(self.live.len().max(end), 0);
                self.live[*offset..end].copy_from_slice(data);
            }
        }
        self.unsynced.push(change);
        Ok(())
    }
}

impl StorageBackend for Storage {
    fn len(&self) -> Result<u64> {
        Ok(self.alive()?.live.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<()> {
        let state = self.alive()?;
        let offset = offset as usize;
        let bytes = state.live.get(offset..offset + out.len()).ok_or(ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, length: u64) -> Result<()> {
        self.alive()?.change(Change::Length(length as usize))
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<()> {
        self.alive()?.change(Change::Write(offset as usize, data.to_vec()))
    }

    fn sync_data(&self) -> Result<()> {
        let mut state = self.alive()?;
        state.syncs += 1;
        match state.fault {
            Fault::PowerCut(n, Cut::SyncsDoNothing) if state.syncs >= n => return Ok(()),
            Fault::PowerCut(n, _) if state.syncs >= n => {
                state.dead = true;
                return Err(Error::other("the power is gone"));
            }
            _ => {}
        }
        let State { live, durable, unsynced, .. } = &mut *state;
        durable.clone_from(live);
        unsynced.clear();
        Ok(())
    }
}

//! Byte strings in a file, found by their place.

use std::{cell::RefCell, io};

use super::{Fault, Room, TemporaryFile};

/// Byte strings that were put away; `Room::bytes` does not matter, none of them is in memory.
#[derive(Debug)]
pub struct SpillLog {
    room: Room,
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    file: TemporaryFile,
    end: u64,
    fault: Option<Fault>,
}

impl Default for SpillLog {
    fn default() -> Self {
        Self::new(Room::default())
    }
}

impl SpillLog {
    #[must_use]
    pub fn new(room: Room) -> Self {
        Self { room, state: RefCell::default() }
    }

    /// Puts a string away; returns its place, `None` where it cannot be written: then it should be kept.
    pub fn put(&self, bytes: &[u8]) -> Option<u64> {
        let state = &mut *self.state.borrow_mut();
        let place = state.end;
        match state.write(bytes, &self.room) {
            Ok(()) => Some(place),
            Err(error) => {
                state.fault.get_or_insert_with(|| Fault::of(&error, &self.room.folder));
                None
            }
        }
    }

    /// The string at a place that [`SpillLog::put`] returned.
    #[must_use]
    pub fn get(&self, place: u64) -> Option<Vec<u8>> {
        let state = &mut *self.state.borrow_mut();
        match state.read(place) {
            Ok(bytes) => Some(bytes),
            Err(error) => {
                state.fault.get_or_insert_with(|| Fault::of(&error, &self.room.folder));
                None
            }
        }
    }

    /// # Errors
    /// As for [`Paged::check`](super::Paged::check).
    pub fn check(&self) -> io::Result<()> {
        Fault::as_result(self.state.borrow().fault.as_ref())
    }
}

impl State {
    fn write(&mut self, bytes: &[u8], room: &Room) -> io::Result<()> {
        let whole = [&(bytes.len() as u32).to_le_bytes(), bytes].concat();
        self.file.made_at(self.end, room)?.write_all(&whole)?;
        self.end += whole.len() as u64;
        Ok(())
    }

    fn read(&mut self, place: u64) -> io::Result<Vec<u8>> {
        let file = self.file.at(place)?;
        let mut length = [0; 4];
        file.read_exact(&mut length)?;
        let mut bytes = vec![0; u32::from_le_bytes(length) as usize];
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_away_comes_back() {
        let log = SpillLog::default();
        let places: Vec<u64> = (0..100_u8).map(|n| log.put(&vec![n; usize::from(n)]).unwrap()).collect();
        for (n, place) in places.into_iter().enumerate().rev() {
            assert_eq!(log.get(place).unwrap(), vec![n as u8; n]);
        }
        log.check().unwrap();
    }
}

//! Byte strings in a file that are found by their place and may be replaced.
//!
//! A string lies in a slot of 64 bytes times a power of two. One that outgrows its slot moves to another, and the slot is taken
//! by the next string of its size.

use std::{cell::RefCell, io};

use super::{Fault, Fixed, Room, TemporaryFile};

/// Bytes of the least slot; places are multiples of it, and the size of the slot stands in what is left of them.
const LEAST: u64 = 64;
/// Bytes of a slot that say how long its string is.
const LENGTH: usize = 4;
/// Sizes of slots: the largest is 64 GiB.
const SIZES: usize = 31;

/// Byte strings that were put away; `Room::bytes` does not matter, none of them is in memory.
#[derive(Debug)]
pub struct SpillSlots {
    room: Room,
    state: RefCell<State>,
}

#[derive(Debug, Default)]
struct State {
    file: TemporaryFile,
    end: u64,
    /// The slot of each size that was given up last, plus one; the one before is written in it. 0 where there is none.
    free: [u64; SIZES],
    fault: Option<Fault>,
}

impl Default for SpillSlots {
    fn default() -> Self {
        Self::new(Room::default())
    }
}

impl SpillSlots {
    #[must_use]
    pub fn new(room: Room) -> Self {
        Self { room, state: RefCell::default() }
    }

    /// Puts a string away, in place of another where there is one; returns its place, `None` where it cannot be written: then it
    /// should be kept, and the other one is lost.
    pub fn put(&self, other: Option<u64>, bytes: &[u8]) -> Option<u64> {
        let state = &mut *self.state.borrow_mut();
        match state.write(other, bytes, &self.room) {
            Ok(place) => Some(place),
            Err(error) => {
                state.fault.get_or_insert_with(|| Fault::of(&error, &self.room.folder));
                None
            }
        }
    }

    /// The string at a place that [`SpillSlots::put`] returned last for it.
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

/// Number of the least size that holds so many bytes.
fn size_for(bytes: usize) -> u64 {
    let whole = (bytes + LENGTH) as u64;
    u64::from(whole.div_ceil(LEAST).next_power_of_two().trailing_zeros())
}

/// Where a slot begins.
fn start(place: u64) -> u64 {
    place - place % LEAST
}

impl State {
    fn write(&mut self, other: Option<u64>, bytes: &[u8], room: &Room) -> io::Result<u64> {
        let size = size_for(bytes.len());
        let place = match other {
            Some(other) if other % LEAST == size => other,
            other => {
                if let Some(other) = other {
                    self.give_up(other, room)?;
                }
                self.take(size)?
            }
        };
        let mut whole = [&(bytes.len() as u32).to_le_bytes(), bytes].concat();
        whole.resize(whole.len().max(LEAST as usize), 0);
        self.file.write(start(place), &whole, room)?;
        Ok(place)
    }

    fn read(&mut self, place: u64) -> io::Result<Vec<u8>> {
        // Most strings are short: one call brings length and string.
        let mut least = [0; LEAST as usize];
        self.file.read(start(place), &mut least)?;
        let (length, rest) = least.split_at(LENGTH);
        let mut bytes = vec![0; u32::read(length) as usize];
        let here = bytes.len().min(rest.len());
        let (first, further) = bytes.split_at_mut(here);
        first.copy_from_slice(&rest[..here]);
        if !further.is_empty() {
            self.file.read(start(place) + LEAST, further)?;
        }
        Ok(bytes)
    }

    /// A slot that is free.
    fn take(&mut self, size: u64) -> io::Result<u64> {
        let Some(place) = self.free[size as usize].checked_sub(1) else {
            let place = self.end + size;
            self.end += LEAST << size;
            return Ok(place);
        };
        let mut before = [0; 8];
        self.file.read(start(place), &mut before)?;
        self.free[size as usize] = u64::from_le_bytes(before);
        Ok(place)
    }

    fn give_up(&mut self, place: u64, room: &Room) -> io::Result<()> {
        let size = (place % LEAST) as usize;
        let before = self.free[size];
        self.file.write(start(place), &before.to_le_bytes(), room)?;
        self.free[size] = place + 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_away_last_comes_back_and_slots_are_used_again() {
        let mut random = fastrand::Rng::with_seed(8);
        let slots = SpillSlots::default();
        let mut plain: Vec<(Option<u64>, Vec<u8>)> = vec![(None, Vec::new()); 200];
        let mut whole = 0;
        for step in 0..50_000_u32 {
            let (place, bytes) = &mut plain[random.usize(..200)];
            if random.bool() {
                let most = 1 << random.u32(0..12);
                *bytes = vec![step as u8; random.usize(0..most)];
                *place = slots.put(*place, bytes);
                assert!(place.is_some());
            } else if let Some(place) = *place {
                assert_eq!(slots.get(place).as_ref(), Some(&*bytes));
            }
            whole = whole.max(plain.iter().map(|(_, bytes)| bytes.len() as u64 + 64).sum());
        }
        let end = slots.state.borrow().end;
        assert!(end < 8 * whole, "{end} bytes for {whole}");
        slots.check().unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_told() {
        let slots = SpillSlots::new(Room::new(0, std::path::Path::new("/nowhere/at/all")));
        assert_eq!(slots.put(None, b"host"), None);
        assert!(slots.check().unwrap_err().to_string().contains("/nowhere/at/all"));
    }
}

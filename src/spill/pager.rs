//! Blocks of 4 KiB, as many in memory as there is room for; the least used go to a file.

use std::{cell::RefCell, io};

use super::{Fault, Room, TemporaryFile};

/// Bytes of a block in the file.
pub(super) const BLOCK: usize = 4_096;

/// What a block holds, and how it is written down.
pub(super) trait Block: Default {
    /// Bytes of memory that a resident block takes.
    const RESIDENT: usize;
    fn write(&self, bytes: &mut [u8; BLOCK]);
    fn read(bytes: &[u8; BLOCK]) -> Self;
}

#[derive(Debug)]
struct Frame<B> {
    block: u32,
    content: B,
    changed: bool,
    /// Asked for since the clock's hand last passed.
    used: bool,
}

#[derive(Debug)]
struct Resident<B> {
    frames: Vec<Frame<B>>,
    /// Frame of each block, [`ABSENT`] where it is not in memory.
    frame_of: Vec<u32>,
    hand: usize,
    file: TemporaryFile,
    fault: Option<Fault>,
    loads: u64,
}

const ABSENT: u32 = u32::MAX;

/// All blocks of one collection, numbered from 0.
#[derive(Debug)]
pub(super) struct Pager<B> {
    /// Reading may bring a block in, too.
    resident: RefCell<Resident<B>>,
    room: Room,
    capacity: usize,
}

impl<B: Block> Pager<B> {
    pub(super) fn new(room: Room) -> Self {
        let capacity = (room.bytes / B::RESIDENT).max(4);
        let file = TemporaryFile::default();
        let resident = Resident { frames: Vec::new(), frame_of: Vec::new(), hand: 0, file, fault: None, loads: 0 };
        Self { resident: RefCell::new(resident), room, capacity }
    }

    /// Number of blocks.
    pub(super) fn len(&self) -> usize {
        self.resident.borrow().frame_of.len()
    }

    /// Adds a block; returns its number.
    pub(super) fn add(&mut self, content: B) -> usize {
        let resident = self.resident.get_mut();
        let block = resident.frame_of.len();
        resident.frame_of.push(ABSENT);
        resident.enter(block, content, true, self.capacity, &self.room);
        block
    }

    pub(super) fn read<R>(&self, block: usize, look: impl FnOnce(&B) -> R) -> R {
        let mut resident = self.resident.borrow_mut();
        let frame = resident.frame(block, self.capacity, &self.room);
        look(&resident.frames[frame].content)
    }

    pub(super) fn change<R>(&mut self, block: usize, change: impl FnOnce(&mut B) -> R) -> R {
        let resident = self.resident.get_mut();
        let frame = resident.frame(block, self.capacity, &self.room);
        resident.frames[frame].changed = true;
        change(&mut resident.frames[frame].content)
    }

    /// Blocks brought back from the file so far.
    pub(super) fn loads(&self) -> u64 {
        self.resident.borrow().loads
    }

    pub(super) fn resident_bytes(&self) -> usize {
        let resident = self.resident.borrow();
        resident.frames.len() * B::RESIDENT + resident.frame_of.capacity() * size_of::<u32>()
    }

    pub(super) fn check(&self) -> io::Result<()> {
        Fault::as_result(self.resident.borrow().fault.as_ref())
    }
}

impl<B: Block> Resident<B> {
    /// The frame of a block, which is brought in where it is not in memory.
    fn frame(&mut self, block: usize, capacity: usize, room: &Room) -> usize {
        let frame = self.frame_of[block];
        if frame != ABSENT {
            self.frames[frame as usize].used = true;
            return frame as usize;
        }
        self.loads += 1;
        let content = match self.load(block) {
            Ok(content) => content,
            Err(error) => {
                self.fault.get_or_insert_with(|| Fault::of(&error, &room.folder));
                B::default()
            }
        };
        self.enter(block, content, false, capacity, room)
    }

    fn enter(&mut self, block: usize, content: B, changed: bool, capacity: usize, room: &Room) -> usize {
        let entered = Frame { block: block as u32, content, changed, used: true };
        let left = if self.frames.len() >= capacity { self.make_room(room) } else { None };
        let frame = left.unwrap_or(self.frames.len());
        if frame < self.frames.len() {
            self.frames[frame] = entered;
        } else {
            self.frames.push(entered);
        }
        self.frame_of[block] = frame as u32;
        frame
    }

    /// Writes a block that was not asked for lately to the file (clock); `None` where that fails: then it stays.
    fn make_room(&mut self, room: &Room) -> Option<usize> {
        if self.fault.is_some() {
            return None;
        }
        loop {
            self.hand = (self.hand + 1) % self.frames.len();
            let frame = &mut self.frames[self.hand];
            if std::mem::take(&mut frame.used) {
                continue;
            }
            if frame.changed {
                let mut bytes = [0; BLOCK];
                frame.content.write(&mut bytes);
                let block = frame.block;
                if let Err(error) = self.store(block, &bytes, room) {
                    self.fault = Some(Fault::of(&error, &room.folder));
                    return None;
                }
            }
            self.frame_of[self.frames[self.hand].block as usize] = ABSENT;
            return Some(self.hand);
        }
    }

    fn store(&mut self, block: u32, bytes: &[u8; BLOCK], room: &Room) -> io::Result<()> {
        self.file.write(u64::from(block) * BLOCK as u64, bytes, room)
    }

    fn load(&mut self, block: usize) -> io::Result<B> {
        let mut bytes = [0; BLOCK];
        self.file.read(block as u64 * BLOCK as u64, &mut bytes)?;
        Ok(B::read(&bytes))
    }
}

//! Blocks of 4 KiB, as many in memory as there is room for; the least used go to a file.
//!
//! A block is its bytes, in memory as in the file: what they mean is for the collections to say.

use std::{cell::RefCell, io};

use super::{Fault, Room, TemporaryFile};

/// Bytes of a block.
pub(super) const BLOCK: usize = 4_096;

/// What a block holds; a new one holds zeros.
pub(super) type Block = [u8; BLOCK];

#[derive(Debug)]
struct Frame {
    block: u32,
    content: Box<Block>,
    changed: bool,
    /// Asked for since the clock's hand last passed.
    used: bool,
}

impl Frame {
    /// Bytes of memory that it takes.
    const RESIDENT: usize = BLOCK + size_of::<Self>();
}

#[derive(Debug)]
struct Resident {
    frames: Vec<Frame>,
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
pub(super) struct Pager {
    /// Reading may bring a block in, too.
    resident: RefCell<Resident>,
    room: Room,
    capacity: usize,
}

impl Pager {
    pub(super) fn new(room: Room) -> Self {
        let capacity = (room.bytes / Frame::RESIDENT).max(4);
        let file = TemporaryFile::default();
        let resident = Resident { frames: Vec::new(), frame_of: Vec::new(), hand: 0, file, fault: None, loads: 0 };
        Self { resident: RefCell::new(resident), room, capacity }
    }

    /// Number of blocks.
    pub(super) fn len(&self) -> usize {
        self.resident.borrow().frame_of.len()
    }

    /// Adds a block; returns its number.
    pub(super) fn add(&mut self) -> usize {
        let resident = self.resident.get_mut();
        let block = resident.frame_of.len();
        resident.frame_of.push(ABSENT);
        let frame = resident.free_frame(block, self.capacity, &self.room);
        resident.frames[frame].content.fill(0);
        resident.frames[frame].changed = true;
        block
    }

    pub(super) fn read<R>(&self, block: usize, look: impl FnOnce(&Block) -> R) -> R {
        let mut resident = self.resident.borrow_mut();
        let frame = resident.frame(block, self.capacity, &self.room);
        look(&resident.frames[frame].content)
    }

    pub(super) fn change<R>(&mut self, block: usize, change: impl FnOnce(&mut Block) -> R) -> R {
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
        resident.frames.len() * Frame::RESIDENT + resident.frame_of.capacity() * size_of::<u32>()
    }

    pub(super) fn check(&self) -> io::Result<()> {
        Fault::as_result(self.resident.borrow().fault.as_ref())
    }
}

impl Resident {
    /// The frame of a block, which is brought in where it is not in memory.
    fn frame(&mut self, block: usize, capacity: usize, room: &Room) -> usize {
        let frame = self.frame_of[block];
        if frame != ABSENT {
            self.frames[frame as usize].used = true;
            return frame as usize;
        }
        self.loads += 1;
        let frame = self.free_frame(block, capacity, room);
        let content = &mut self.frames[frame].content;
        if let Err(error) = self.file.read(block as u64 * BLOCK as u64, &mut content[..]) {
            content.fill(0);
            self.fault.get_or_insert_with(|| Fault::of(&error, &room.folder));
        }
        frame
    }

    /// A frame for a block: a new one, or that of a block that was not asked for lately. What it holds is left over.
    fn free_frame(&mut self, block: usize, capacity: usize, room: &Room) -> usize {
        let left = if self.frames.len() >= capacity { self.make_room(room) } else { None };
        let frame = left.unwrap_or_else(|| {
            self.frames.push(Frame { block: 0, content: Box::new([0; BLOCK]), changed: false, used: true });
            self.frames.len() - 1
        });
        let entered = &mut self.frames[frame];
        (entered.block, entered.changed, entered.used) = (block as u32, false, true);
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
            if frame.changed
                && let Err(error) = self.file.write(u64::from(frame.block) * BLOCK as u64, &frame.content[..], room)
            {
                self.fault = Some(Fault::of(&error, &room.folder));
                return None;
            }
            self.frame_of[self.frames[self.hand].block as usize] = ABSENT;
            return Some(self.hand);
        }
    }
}

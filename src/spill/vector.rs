//! A vector of values of one size.

use std::{io, marker::PhantomData};

use super::{
    Room,
    pager::{BLOCK, Pager},
};

/// A value of a fixed number of bytes; of zeros, the default is read.
pub trait Fixed: Copy + Default {
    const SIZE: usize;
    fn write(&self, bytes: &mut [u8]);
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! fixed_numbers {
    ($($number:ty),+) => {$(
        impl Fixed for $number {
            const SIZE: usize = size_of::<$number>();

            fn write(&self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }

            fn read(bytes: &[u8]) -> Self {
                let mut own = [0; size_of::<$number>()];
                own.copy_from_slice(bytes);
                Self::from_le_bytes(own)
            }
        }
    )+};
}

fixed_numbers!(u32, u64, f32);

/// A vector of which only a part is in memory.
#[derive(Debug)]
pub struct Paged<T: Fixed> {
    pager: Pager,
    len: usize,
    values: PhantomData<T>,
}

impl<T: Fixed> Default for Paged<T> {
    fn default() -> Self {
        Self::new(Room::default())
    }
}

impl<T: Fixed> Paged<T> {
    /// Values in a block.
    const NUMBER: usize = BLOCK / T::SIZE;

    /// Where the value at `index` lies in its block.
    fn bytes(index: usize) -> std::ops::Range<usize> {
        let start = index % Self::NUMBER * T::SIZE;
        start..start + T::SIZE
    }

    #[must_use]
    pub fn new(room: Room) -> Self {
        Self { pager: Pager::new(room), len: 0, values: PhantomData }
    }

    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn push(&mut self, value: T) {
        self.len += 1;
        self.set(self.len - 1, value);
    }

    /// The value at `index`; the default past the end.
    #[must_use]
    pub fn get(&self, index: usize) -> T {
        if index >= self.len {
            return T::default();
        }
        self.pager.read(index / Self::NUMBER, |block| T::read(&block[Self::bytes(index)]))
    }

    /// Sets the value at `index`; what lies between the end and it becomes the default.
    pub fn set(&mut self, index: usize, value: T) {
        self.update(index, |old| *old = value);
    }

    /// Changes the value at `index`, which comes to be where it was not there.
    pub fn update<R>(&mut self, index: usize, change: impl FnOnce(&mut T) -> R) -> R {
        self.len = self.len.max(index + 1);
        let block = index / Self::NUMBER;
        while self.pager.len() <= block {
            self.pager.add();
        }
        self.pager.change(block, |block| {
            let bytes = &mut block[Self::bytes(index)];
            let mut value = T::read(bytes);
            let result = change(&mut value);
            value.write(bytes);
            result
        })
    }

    /// Takes the value at `index` out; the last one takes its place.
    pub fn swap_remove(&mut self, index: usize) {
        let last = self.get(self.len.saturating_sub(1));
        if index < self.len {
            self.set(index, last);
            self.set(self.len - 1, T::default());
            self.len -= 1;
        }
    }

    /// The values of a range, which is cut at the end.
    #[must_use]
    pub fn range(&self, range: std::ops::Range<usize>) -> Vec<T> {
        let (mut at, end) = (range.start, range.end.min(self.len));
        let mut found = Vec::with_capacity(end.saturating_sub(at));
        while at < end {
            let number = (Self::NUMBER - at % Self::NUMBER).min(end - at);
            let bytes = Self::bytes(at).start..Self::bytes(at + number - 1).end;
            self.pager.read(at / Self::NUMBER, |block| found.extend(block[bytes].chunks_exact(T::SIZE).map(T::read)));
            at += number;
        }
        found
    }

    /// Blocks brought back from the file so far.
    #[must_use]
    pub fn loads(&self) -> u64 {
        self.pager.loads()
    }

    #[must_use]
    pub fn resident_bytes(&self) -> usize {
        self.pager.resident_bytes()
    }

    /// # Errors
    /// The first read or write of the file that failed; what was read since may be wrong.
    pub fn check(&self) -> io::Result<()> {
        self.pager.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn narrow() -> Room {
        Room { bytes: 0, ..Room::default() }
    }

    #[test]
    fn a_vector_that_does_not_fit_holds_what_one_that_fits_holds() {
        let mut random = fastrand::Rng::with_seed(3);
        let (mut paged, mut plain) = (Paged::<u64>::new(narrow()), Vec::new());
        for step in 0..200_000_u64 {
            match random.u32(0..8) {
                0 | 1 => {
                    paged.push(step);
                    plain.push(step);
                }
                2 if !plain.is_empty() => {
                    let at = random.usize(0..plain.len());
                    paged.swap_remove(at);
                    plain.swap_remove(at);
                }
                _ if !plain.is_empty() => {
                    let at = random.usize(0..plain.len());
                    paged.update(at, |value| *value ^= step);
                    plain[at] ^= step;
                    assert_eq!(paged.get(at), plain[at]);
                }
                _ => {}
            }
        }
        assert!(paged.loads() > 1_000, "nothing was spilled");
        assert_eq!(paged.range(0..usize::MAX), plain);
        assert!(paged.resident_bytes() < plain.len() * 8 / 4);
        paged.check().unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_written_to_is_told_and_loses_nothing() {
        let mut paged = Paged::<u64>::new(Room::new(0, std::path::Path::new("/nowhere/at/all")));
        (0..10_000).for_each(|value| paged.push(value));
        let message = paged.check().unwrap_err().to_string();
        assert!(message.contains("/nowhere/at/all"), "{message}");
        assert!((0..10_000).all(|index| paged.get(index) == index as u64));
    }

    #[test]
    fn without_pressure_no_file_is_made() {
        let mut paged = Paged::<u32>::default();
        paged.set(100_000, 7);
        assert_eq!((paged.len(), paged.get(5), paged.get(100_000), paged.loads()), (100_001, 0, 7, 0));
    }

    #[test]
    fn what_lies_between_the_end_and_a_value_is_the_default() {
        let mut paged = Paged::<u32>::default();
        (0..4).for_each(|_| paged.push(9));
        paged.swap_remove(0);
        paged.set(5, 7);
        assert_eq!(paged.range(0..9), [9, 9, 9, 0, 0, 7]);
    }
}

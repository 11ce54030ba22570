//! The back queues of all hosts: of those that have links in memory, or were dealt with lately, in memory; the others sleep
//! in temporary files.
//!
//! Promises: a host that sleeps has no link in memory and no request under way, and may be asked at once. So of those that
//! sleep, a choice has to know no more than the best. What is decided does not depend on who sleeps.
//! Hosts are told apart by 64 bits of their names, as URLs are.

use std::{cmp::Reverse, io, sync::Arc};

use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::host_queue::{HostId, HostQueue, HostShelf, Priority};
use crate::{
    page::Timestamp,
    spill::{Fixed, Paged, PagedMap, Room, SpillSlots},
};

/// Bytes that a host takes in memory while it is awake, about: its name, its queue, its places in lists.
const AWAKE_BYTES: usize = 320;

/// What is kept of a host that sleeps; of one that is awake, where its name lies.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    ready_at: u64,
    highest: f64,
    /// 0 while the name was not written.
    name_plus_one: u64,
    promise: f32,
    /// Links on the shelf, and in the last bit whether it is blocked.
    shelved: u32,
}

const BLOCKED: u32 = 1;
const FLAG_BITS: u32 = 1;

impl Fixed for Row {
    const SIZE: usize = 32;

    fn write(&self, bytes: &mut [u8]) {
        self.ready_at.write(&mut bytes[..8]);
        self.highest.to_bits().write(&mut bytes[8..16]);
        self.name_plus_one.write(&mut bytes[16..24]);
        self.promise.write(&mut bytes[24..28]);
        self.shelved.write(&mut bytes[28..]);
    }

    fn read(bytes: &[u8]) -> Self {
        Self {
            ready_at: u64::read(&bytes[..8]),
            highest: f64::from_bits(u64::read(&bytes[8..16])),
            name_plus_one: u64::read(&bytes[16..24]),
            promise: f32::read(&bytes[24..28]),
            shelved: u32::read(&bytes[28..]),
        }
    }
}

impl Row {
    fn queue(&self) -> HostQueue {
        HostQueue {
            ready_at: Timestamp(self.ready_at),
            is_ready: true,
            blocked: self.shelved & BLOCKED > 0,
            shelved: HostShelf {
                number: self.shelved >> FLAG_BITS,
                promise: Priority(f64::from(self.promise)),
                highest: Priority(self.highest),
                restocks: 0,
            },
            ..HostQueue::default()
        }
    }
}

/// All hosts.
#[derive(Debug, Default)]
pub(super) struct BackQueues {
    awake: FxHashMap<HostId, HostQueue>,
    /// Hosts awake at most, but for those that cannot sleep.
    capacity: Option<usize>,
    rows: Paged<Row>,
    names: SpillSlots,
    /// Hosts by name.
    ids: PagedMap,
    /// Hosts that sleep and have links to give, the best last.
    dormant: PagedMap,
    number: u32,
}

impl BackQueues {
    /// Keeps no more in memory than `room`, as far as hosts can sleep.
    pub(super) fn within(room: &Room) -> Self {
        Self {
            capacity: Some((room.eighths(5).bytes / AWAKE_BYTES).max(16)),
            rows: Paged::new(room.eighths(1)),
            names: SpillSlots::new(room.clone()),
            ids: PagedMap::new(room.eighths(1)),
            dormant: PagedMap::new(room.eighths(1)),
            ..Self::default()
        }
    }

    /// The number of a host, which may be a new one.
    pub(super) fn id(&mut self, name: &str) -> HostId {
        if let Some(host) = self.find(name) {
            return host;
        }
        let host = HostId(self.number);
        self.number += 1;
        self.ids.insert(xxh3_64(name.as_bytes()), host.0);
        self.awake.insert(host, HostQueue { name: name.into(), is_ready: true, used: true, ..HostQueue::default() });
        host
    }

    pub(super) fn find(&self, name: &str) -> Option<HostId> {
        self.ids.get(xxh3_64(name.as_bytes())).map(HostId)
    }

    pub(super) fn name(&self, host: HostId) -> Arc<str> {
        self.awake.get(&host).map_or_else(|| self.read_name(self.rows.get(host.0 as usize)), |queue| Arc::clone(&queue.name))
    }

    /// What cannot be read is noted by the file, and nothing is committed after that.
    fn read_name(&self, row: Row) -> Arc<str> {
        let bytes = row.name_plus_one.checked_sub(1).and_then(|place| self.names.get(place)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).into()
    }

    /// Looks at a host's queue, which may sleep on.
    pub(super) fn look<R>(&self, host: HostId, look: impl FnOnce(&HostQueue) -> R) -> R {
        match self.awake.get(&host) {
            Some(queue) => look(queue),
            None => look(&self.rows.get(host.0 as usize).queue()),
        }
    }

    /// The queue of a host, which is awake from now on.
    pub(super) fn at(&mut self, host: HostId) -> &mut HostQueue {
        self.wake(host);
        let queue = self.awake.entry(host).or_default();
        queue.used = true;
        queue
    }

    /// Wakes a host; whether it slept.
    pub(super) fn wake(&mut self, host: HostId) -> bool {
        if self.awake.contains_key(&host) {
            return false;
        }
        let row = self.rows.get(host.0 as usize);
        self.rows.set(host.0 as usize, Row { name_plus_one: row.name_plus_one, ..Row::default() });
        let queue = HostQueue { name: self.read_name(row), ..row.queue() };
        self.dormant.remove(dormant_key(queue.shelved.promise, host));
        self.awake.insert(host, queue);
        true
    }

    /// The queue of a host that is awake.
    pub(super) fn awake(&mut self, host: HostId) -> Option<&mut HostQueue> {
        self.awake.get_mut(&host)
    }

    /// The best host that sleeps, as it would be listed.
    pub(super) fn best_dormant(&self) -> Option<(Reverse<Priority>, u64, HostId)> {
        if self.dormant.is_empty() {
            return None;
        }
        let (_, host) = self.dormant.last_of(0..=u64::MAX, 1).pop()?;
        let promise = self.rows.get(host as usize).promise;
        Some((Reverse(Priority(f64::from(promise))), u64::MAX, HostId(host)))
    }

    /// Hosts that should sleep now, those that were not dealt with lately first.
    pub(super) fn sleepy(&mut self) -> Vec<HostId> {
        let Some(capacity) = self.capacity.filter(|&capacity| self.awake.len() > capacity) else { return Vec::new() };
        let number = self.awake.len() - capacity / 4 * 3;
        let idle = self.awake.iter_mut().filter(|(_, queue)| queue.may_sleep());
        let (used, mut sleepy): (Vec<_>, Vec<_>) =
            idle.map(|(&host, queue)| (std::mem::take(&mut queue.used), host)).partition(|&(used, _)| used);
        sleepy.extend(used);
        sleepy.into_iter().take(number).map(|(_, host)| host).collect()
    }

    /// Puts a host to sleep that is in no list; it stays awake where its name cannot be written.
    pub(super) fn put_to_sleep(&mut self, host: HostId) {
        let Some(queue) = self.awake.get(&host) else { return };
        let written = self.rows.get(host.0 as usize).name_plus_one;
        let name_plus_one = match written {
            0 => self.names.put(None, queue.name.as_bytes()).map_or(0, |place| place + 1),
            written => written,
        };
        if name_plus_one == 0 {
            return;
        }
        let HostShelf { number, promise, highest, .. } = queue.shelved;
        let row = Row {
            ready_at: queue.ready_at.0,
            highest: highest.0,
            name_plus_one,
            promise: promise.0 as f32,
            shelved: number << FLAG_BITS | if queue.blocked { BLOCKED } else { 0 },
        };
        if number > 0 && !queue.blocked {
            self.dormant.insert(dormant_key(promise, host), host.0);
        }
        self.rows.set(host.0 as usize, row);
        self.awake.remove(&host);
    }

    /// Hosts that sleep and have links to give.
    pub(super) fn dormant_len(&self) -> usize {
        self.dormant.len()
    }

    /// Whether a request is under way.
    pub(super) fn is_running(&self) -> bool {
        self.awake.values().any(|queue| queue.running > 0)
    }

    pub(super) fn resident_bytes(&self) -> usize {
        self.awake.len() * AWAKE_BYTES + self.rows.resident_bytes() + self.ids.resident_bytes() + self.dormant.resident_bytes()
    }

    pub(super) fn check(&self) -> io::Result<()> {
        self.rows.check()?;
        self.names.check()?;
        self.ids.check()?;
        self.dormant.check()
    }
}

/// Greater for a greater promise (of 32 bits), then for the host that came first.
fn dormant_key(promise: Priority, host: HostId) -> u64 {
    let bits = (promise.0 as f32).to_bits();
    let ordered = if bits >> 31 == 0 { bits | 1 << 31 } else { !bits };
    u64::from(ordered) << 32 | u64::from(!host.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(number: u32) -> String {
        format!("host{number}.test")
    }

    #[test]
    fn hosts_that_do_not_fit_sleep_and_are_found_again_as_they_were() {
        let mut queues = BackQueues::within(&Room { bytes: 0, ..Room::default() });
        for number in 0..3_000 {
            let host = queues.id(&name(number));
            let queue = queues.at(host);
            queue.ready_at = Timestamp(u64::from(number));
            queue.blocked = number.is_multiple_of(5);
            queue.running = u32::from(number.is_multiple_of(100));
            queue.shelved.number = number % 3;
            queue.shelved.highest = Priority(1.0 / f64::from(number + 3));
            queue.shelved.promise(Priority(f64::from(number * 7 % 3_000) - 1_500.0));
            for host in queues.sleepy() {
                queues.put_to_sleep(host);
            }
        }
        assert!(queues.awake.len() <= 16 + 30 && queues.resident_bytes() < 1 << 16, "{} awake", queues.awake.len());
        assert!(queues.is_running());
        let mut last = f64::MAX;
        while let Some((Reverse(promise), _, host)) = queues.best_dormant() {
            assert!(promise.0 <= last && queues.wake(host) && !queues.wake(host));
            last = promise.0;
            assert!(!queues.at(host).blocked && queues.at(host).shelved.number > 0);
        }
        assert_eq!(queues.dormant_len(), 0);
        for number in 0..3_000 {
            let host = queues.find(&name(number)).unwrap();
            assert_eq!((host, &*queues.name(host)), (HostId(number), &*name(number)));
            let seen =
                queues.look(host, |queue| (queue.ready_at.0, queue.blocked, queue.shelved.number, queue.shelved.highest.0));
            let expected = (u64::from(number), number.is_multiple_of(5), number % 3, 1.0 / f64::from(number + 3));
            assert_eq!(seen, expected);
        }
        assert_eq!(queues.id("another.test"), HostId(3_000));
        queues.check().unwrap();
    }
}

//! What is known of every host met, paces and robots.txt included: those that were dealt with lately in memory, the rest in a
//! temporary file.
//!
//! Promises: what is known of a host does not depend on the room; after [`Hosts::make_room`] no more than the room is in memory.

use std::{collections::BTreeSet, io, net::IpAddr};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::{
    frontier::HostId,
    page::Timestamp,
    politeness::{Pace, PaceConfig, Paces, Robots},
    spill::{Paged, Room, SpillSlots},
    store::HostRecord,
};

/// A host as the engine deals with it.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct HostState {
    pub(super) robots: Option<KnownRobots>,
    /// Where its last answer came from, or the first will.
    pub(super) address: Option<IpAddr>,
    /// The address was asked for, found or not.
    pub(super) is_located: bool,
    /// Sitemaps and feeds taken from it.
    pub(super) lists: u32,
    pub(super) record: HostRecord,
}

/// A host's robots.txt, as last fetched.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KnownRobots {
    pub(super) rules: Robots,
    pub(super) expires: Timestamp,
    /// Since when it has been out of reach, and how often in a row it was asked for in vain.
    pub(super) unreachable_since: Option<Timestamp>,
    pub(super) failures: u32,
}

impl HostState {
    pub(super) fn named(name: String) -> Self {
        Self { record: HostRecord { name, ..HostRecord::default() }, ..Self::default() }
    }

    /// Bytes of memory that it takes, about, with its pace; rules take up to twice as much as the text that they were read from.
    fn bytes(&self) -> usize {
        let text = self.record.robots.as_ref().map_or(0, |robots| robots.text.len());
        size_of::<Near>() + size_of::<Pace>() + 2 * (self.record.name.len() + 32) + 3 * text
    }
}

#[derive(Debug)]
struct Near {
    state: HostState,
    bytes: usize,
    /// The file has it as it is.
    filed: bool,
    /// Asked for since the last clearing.
    used: bool,
}

/// All hosts.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    near: FxHashMap<HostId, Near>,
    /// Of hosts in memory, and of addresses.
    paces: Paces,
    /// Bytes that the hosts in memory take, and may take.
    bytes: usize,
    capacity: Option<usize>,
    file: SpillSlots,
    /// Place in the file plus one, by host.
    places: Paged<u64>,
    /// Pages fetched, by host.
    fetched: Paged<u32>,
    /// Hosts whose rows changed since the last commit.
    changed: BTreeSet<HostId>,
    number: usize,
}

impl Hosts {
    pub(super) fn new(paces: PaceConfig) -> Self {
        Self { paces: Paces::new(paces), ..Self::default() }
    }

    /// Keeps no more in memory than `room`; to be said before the first host comes.
    pub(super) fn within(self, room: &Room) -> Self {
        Self {
            capacity: Some(room.eighths(6).bytes),
            file: SpillSlots::new(room.clone()),
            places: Paged::new(room.eighths(1)),
            fetched: Paged::new(room.eighths(1)),
            ..self
        }
    }

    /// Makes room for a host, if it is the next new one.
    pub(super) fn enter(&mut self, host: HostId, name: impl FnOnce() -> String) {
        if host.0 as usize == self.number {
            self.put(host, HostState::named(name()), false);
            self.number += 1;
            self.changed.insert(host);
        }
    }

    /// Sets a host that was entered to what is on disk.
    pub(super) fn restore(&mut self, host: HostId, state: HostState, pace: Pace) {
        self.fetched.set(host.0 as usize, state.record.fetched as u32);
        self.paces.restore(&state.record.name, pace);
        self.put(host, state, false);
        self.changed.remove(&host);
    }

    pub(super) fn get(&mut self, host: HostId) -> &HostState {
        &self.near(host).state
    }

    /// A host, to be changed in what its row does not hold.
    pub(super) fn get_mut(&mut self, host: HostId) -> &mut HostState {
        let near = self.near(host);
        near.filed = false;
        &mut near.state
    }

    /// A host, to be changed; its row is committed with the next batch.
    pub(super) fn change(&mut self, host: HostId) -> &mut HostState {
        self.changed.insert(host);
        self.get_mut(host)
    }

    /// Counts a page that was fetched.
    pub(super) fn count_fetched(&mut self, host: HostId, relevant: bool) {
        let record = &mut self.change(host).record;
        record.fetched += 1;
        record.relevant += u64::from(relevant);
        let fetched = record.fetched as u32;
        self.fetched.set(host.0 as usize, fetched);
    }

    /// Pages fetched of a host.
    pub(super) fn fetched(&self, host: HostId) -> u32 {
        self.fetched.get(host.0 as usize)
    }

    /// The paces, that of `host` among them, and its address.
    pub(super) fn pace(&mut self, host: HostId) -> (&mut Paces, Option<IpAddr>) {
        let near = self.near(host);
        near.filed = false;
        let address = near.state.address;
        (&mut self.paces, address)
    }

    /// The rows that changed since the last time.
    pub(super) fn take_changed(&mut self) -> Vec<HostRecord> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|host| self.get(host).record.clone()).collect()
    }

    /// Puts hosts away, those not asked for lately first, when more are in memory than may be.
    pub(super) fn make_room(&mut self) {
        let Some(capacity) = self.capacity.filter(|&capacity| self.bytes > capacity) else { return };
        for all in [false, true] {
            let idle = self.near.iter_mut().filter_map(|(&host, near)| (all || !std::mem::take(&mut near.used)).then_some(host));
            for host in idle.collect::<Vec<_>>() {
                if self.bytes <= capacity / 4 * 3 {
                    return;
                }
                self.put_away(host);
            }
        }
    }

    pub(super) fn resident_bytes(&self) -> usize {
        self.bytes + self.places.resident_bytes() + self.fetched.resident_bytes()
    }

    /// The first read or write of a temporary file that failed.
    pub(super) fn check(&self) -> io::Result<()> {
        self.file.check().and_then(|()| self.places.check()).and_then(|()| self.fetched.check())
    }

    fn near(&mut self, host: HostId) -> &mut Near {
        if !self.near.contains_key(&host) {
            let filed = self.places.get(host.0 as usize).checked_sub(1);
            let row = filed.and_then(|filed| self.file.get(filed));
            // What cannot be read is noted by the file, and nothing is committed after that.
            let (state, pace): (HostState, Option<Pace>) =
                row.and_then(|bytes| postcard::from_bytes(&bytes).ok()).unwrap_or_default();
            if let Some(pace) = pace {
                self.paces.restore(&state.record.name, pace);
            }
            self.put(host, state, true);
        }
        let near = self.near.entry(host).or_insert_with(|| Near::of(HostState::default(), true));
        // A robots.txt may have come since it was looked at last.
        let bytes = near.state.bytes();
        self.bytes = self.bytes + bytes - std::mem::replace(&mut near.bytes, bytes);
        near.used = true;
        near
    }

    fn put(&mut self, host: HostId, state: HostState, filed: bool) {
        let near = Near::of(state, filed);
        self.bytes += near.bytes;
        if let Some(before) = self.near.insert(host, near) {
            self.bytes -= before.bytes;
        }
    }

    /// Moves a host into the file; it stays in memory where that fails.
    fn put_away(&mut self, host: HostId) {
        let Some(near) = self.near.remove(&host) else { return };
        let at = host.0 as usize;
        let pace = self.paces.forget(&near.state.record.name);
        let filed = self.places.get(at).checked_sub(1);
        let row = (&near.state, &pace);
        // Plain data always serialises.
        let put = if near.filed { filed } else { self.file.put(filed, &postcard::to_stdvec(&row).unwrap_or_default()) };
        if let Some(put) = put {
            self.places.set(at, put + 1);
            self.bytes -= near.bytes;
        } else {
            if let Some(pace) = pace {
                self.paces.restore(&near.state.record.name, pace);
            }
            self.near.insert(host, near);
        }
    }
}

impl Near {
    fn of(state: HostState, filed: bool) -> Self {
        Self { bytes: state.bytes(), state, filed, used: true }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{politeness::Reply, store::RobotsRecord};

    const HOSTS: u32 = 3_000;

    fn robots(number: u32) -> (KnownRobots, RobotsRecord) {
        let text = format!("User-agent: *\nDisallow: /private/{number}/*.html$\nCrawl-delay: 3\n").repeat(5);
        let rules = Robots::parse(200, text.as_bytes(), "windrow");
        let expires = Timestamp(u64::from(number));
        let record = RobotsRecord {
            status: 200,
            fetched_at: expires,
            text,
            unreachable_since: None,
            failures: 0,
            validators: crate::fetch::Validators::default(),
        };
        (KnownRobots { rules, expires, unreachable_since: None, failures: 0 }, record)
    }

    /// Deals with hosts at random, the same ones in the same way each time.
    fn crawl(hosts: &mut Hosts) -> Vec<String> {
        let mut random = fastrand::Rng::with_seed(2);
        let mut committed = Vec::new();
        for number in 0..HOSTS {
            hosts.enter(HostId(number), || format!("host{number}.test"));
        }
        for step in 0..30_000_u32 {
            let (host, now) = (HostId(random.u32(..HOSTS)), Timestamp(u64::from(step) * 1_000));
            let name = hosts.get(host).record.name.clone();
            match random.u32(0..6) {
                0 => hosts.count_fetched(host, random.bool()),
                1 => hosts.get_mut(host).address = Some(IpAddr::from([10, 0, 0, random.u8(..9)])),
                2 => {
                    let (known, record) = robots(step);
                    let state = hosts.change(host);
                    (state.robots, state.record.robots) = (Some(known), Some(record));
                }
                3 => {
                    let (paces, address) = hosts.pace(host);
                    paces.on_request(&name, address, now);
                    let reply = Reply {
                        elapsed: Duration::from_millis(random.u64(1..900)),
                        status: *random.choice(&[200, 200, 429, 0]).unwrap(),
                        retry_after: None,
                        bytes: 9,
                    };
                    if random.bool() {
                        paces.on_response(&name, address, now, &reply, 0.5);
                    }
                }
                4 => hosts.get_mut(host).lists += 1,
                _ => committed.push(format!("{:?}", hosts.pace(host).0.ready_at(&name, None))),
            }
            if step % 100 == 0 {
                committed.extend(hosts.take_changed().iter().map(|record| format!("{record:?}")));
                hosts.make_room();
                assert!(hosts.capacity.is_none_or(|capacity| hosts.bytes <= capacity), "{} bytes", hosts.bytes);
            }
        }
        for host in (0..HOSTS).map(HostId) {
            committed.push(format!("{} {:?}", hosts.fetched(host), hosts.get(host)));
            let name = hosts.get(host).record.name.clone();
            committed.push(format!("{:?}", hosts.pace(host).0.ledger(&name)));
        }
        committed
    }

    #[test]
    fn hosts_that_do_not_fit_into_memory_are_what_those_are_that_do() {
        let (mut wide, mut narrow) = (Hosts::default(), Hosts::default().within(&Room { bytes: 1 << 17, ..Room::default() }));
        let (of_wide, of_narrow) = (crawl(&mut wide), crawl(&mut narrow));
        for (wide, narrow) in of_wide.iter().zip(&of_narrow) {
            assert_eq!(wide, narrow);
        }
        assert_eq!(of_wide.len(), of_narrow.len());
        narrow.make_room();
        assert!(wide.resident_bytes() > 3 << 20, "{}", wide.resident_bytes());
        assert!(narrow.resident_bytes() < 1 << 18, "{}", narrow.resident_bytes());
        narrow.check().unwrap();
    }
}

//! The frontier: discovered URLs that are not finished, and which of them is next.
//!
//! Front: a priority for each link, by the crawl's [`Order`]. Back: one queue per host, so that politeness
//! holds whatever the priorities say (Mercator, Heritrix).
//!
//! Promises: a URL enters once; none is handed out before its host is ready; equal priorities leave in
//! the order of discovery.
//! Never: reads a clock (it is told the time), fetches, or learns.

mod back_queues;
mod host_queue;
mod link;
mod order;
mod queue;
mod sample;
mod shelf;
mod shelving;
mod traps;
mod tunnel;

pub use host_queue::{HostId, Priority};
pub use link::{Filed, InLinkNote, Link, MAX_IN_LINKS, WordsVersion};
pub use order::{CrawlOrder, LinkView, Order};
pub use queue::{Frontier, FrontierConfig, FrontierRooms, Taken};
pub use sample::Sample;
pub use shelf::{Shelf, Shelved};
pub use traps::{Brought, Gate, HeldTemplate, TrapConfig, TrapConfigError, Traps};
pub use tunnel::{TunnelPayback, link_depth};

//! When a crawl is over, and why it stopped.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The `[limits]` of a crawl; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Limits {
    /// Pages fetched, seeds included.
    pub max_pages: Option<u64>,
    /// Decoded bytes.
    pub max_bytes: Option<u64>,
    /// Minutes of crawling; virtual ones in a replay.
    pub max_minutes: Option<u64>,
    /// Pages of one host.
    pub max_pages_per_host: Option<u64>,
    /// Bytes of one host, robots.txt included.
    pub max_bytes_per_host: Option<u64>,
    /// Minutes from the first request to a host to its last.
    pub max_minutes_per_host: Option<u64>,
    /// Relevant pages found.
    pub relevant_pages: Option<u64>,
    /// Too few relevant pages lately.
    pub harvest_below: Option<HarvestFloor>,
}

/// Stop when fewer than `rate` of the last `over` fetched pages were relevant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HarvestFloor {
    pub rate: f64,
    pub over: u64,
}

/// Why a crawl stopped; machine-readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    MaxPages,
    MaxBytes,
    MaxMinutes,
    RelevantPages,
    HarvestBelow,
    /// Nothing waits any more.
    FrontierEmpty,
    /// Only hosts are left that asked for patience, or whose robots.txt is out of reach.
    HostsWait,
    /// Not one seed could be fetched.
    SeedsFailed,
    /// The user asked.
    User,
    /// The disk is full.
    DiskFull,
    /// All relevant pages were asked for again, and that was what was wanted.
    Refreshed,
}

impl StopReason {
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxPages => "max-pages",
            Self::MaxBytes => "max-bytes",
            Self::MaxMinutes => "max-minutes",
            Self::RelevantPages => "relevant-pages",
            Self::HarvestBelow => "harvest-below",
            Self::FrontierEmpty => "frontier-empty",
            Self::HostsWait => "hosts-wait",
            Self::SeedsFailed => "seeds-failed",
            Self::User => "user",
            Self::DiskFull => "disk-full",
            Self::Refreshed => "refreshed",
        }
    }

    /// The reverse of [`StopReason::name`].
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        const ALL: [StopReason; 11] = [
            StopReason::MaxPages,
            StopReason::MaxBytes,
            StopReason::MaxMinutes,
            StopReason::RelevantPages,
            StopReason::HarvestBelow,
            StopReason::FrontierEmpty,
            StopReason::HostsWait,
            StopReason::SeedsFailed,
            StopReason::User,
            StopReason::DiskFull,
            StopReason::Refreshed,
        ];
        ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// [`StopReason::in_words`] in Chinese.
    #[must_use]
    pub fn in_chinese(self) -> &'static str {
        match self {
            Self::MaxPages => "已达到页面数上限（limits.max_pages）",
            Self::MaxBytes => "已达到字节数上限（limits.max_bytes）",
            Self::MaxMinutes => "已达到时间上限（limits.max_minutes）",
            Self::RelevantPages => "已找到所要求数量的相关页面（stop.relevant_pages）",
            Self::HarvestBelow => "最近的页面中相关页面过少（stop.harvest_below）",
            Self::FrontierEmpty => "已没有可跟踪的链接；增加种子、放宽范围或加大 tunnel.depth 可以找到更多",
            Self::HostsWait => {
                "余下的主机要求等待，或其 robots.txt 无法取得（crawl.max_idle_minutes）；稍后再次运行同一命令即可继续"
            }
            Self::SeedsFailed => "所有种子都无法抓取；请检查种子和网络",
            Self::User => "应用户要求停止；再次运行同一命令即可继续",
            Self::DiskFull => "磁盘已满；腾出空间后再次运行同一命令即可继续",
            Self::Refreshed => "已重新检查所有相关页面",
        }
    }

    /// What it means and what can be done, for a person.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::MaxPages => "the page limit was reached (limits.max_pages)",
            Self::MaxBytes => "the byte limit was reached (limits.max_bytes)",
            Self::MaxMinutes => "the time limit was reached (limits.max_minutes)",
            Self::RelevantPages => "as many relevant pages as asked for were found (stop.relevant_pages)",
            Self::HarvestBelow => "too few of the last pages were relevant (stop.harvest_below)",
            Self::FrontierEmpty => {
                "no link is left to follow; more seeds, a wider scope or a greater tunnel.depth would find more"
            }
            Self::HostsWait => {
                "only hosts are left that asked for patience, or whose robots.txt is out of reach (crawl.max_idle_minutes); \
                 the same command goes on with them later"
            }
            Self::SeedsFailed => "not one seed could be fetched; check the seeds and the network",
            Self::User => "it was asked to stop; the same command goes on with it",
            Self::DiskFull => "the disk is full; make some room, and the same command goes on with it",
            Self::Refreshed => "all relevant pages were asked for again",
        }
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

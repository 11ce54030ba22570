//! The server: session, settings, alerts, other servers.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::monitor::Role;

/// Who is asking, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SessionInfo {
    /// `null` where a login is missing.
    pub role: Option<Role>,
    pub login_required: bool,
    /// To be sent as `X-CSRF-Token` with everything that changes something.
    pub csrf: String,
    pub version: String,
    /// `en` or `zh`, by `Accept-Language`.
    pub language: String,
}

#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Login {
    pub token: String,
}

/// Something that a person should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Alert {
    pub crawl: String,
    pub rule: Rule,
    #[schema(format = DateTime)]
    pub since: String,
    pub message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// It runs, but no page has come for a while.
    Stalled,
    /// Far fewer of the last pages are relevant than of all.
    HarvestFell,
    DiskLow,
    /// Many of the last fetches failed.
    ErrorRate,
    /// No seed could be fetched, or no link is left to follow.
    SeedsExhausted,
}

/// When an alert is raised.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AlertRules {
    /// Minutes without a page.
    #[schema(minimum = 1, maximum = 100_000)]
    pub stalled_minutes: u32,
    /// Recent harvest below this share of the whole crawl's, 0..=1.
    #[schema(minimum = 0, maximum = 1)]
    pub harvest_fell_ratio: f64,
    /// Free space on the disk, in MiB.
    pub disk_low_mib: u64,
    /// Failed fetches among the last 100, as a share, 0..=1.
    #[schema(minimum = 0, maximum = 1)]
    pub error_rate: f64,
}

impl Default for AlertRules {
    fn default() -> Self {
        Self { stalled_minutes: 15, harvest_fell_ratio: 0.3, disk_low_mib: 1_024, error_rate: 0.5 }
    }
}

/// Settings, and what there is to choose from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Settings {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub webhook: Option<String>,
    pub alerts: AlertRules,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub watch_folder: Option<String>,
    pub recordings: Vec<String>,
    pub models: Vec<String>,
    pub orders: Vec<String>,
}

/// Settings to be changed; what is left out stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangeSettings {
    /// Where alerts are posted to; an empty text takes it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2000)]
    pub webhook: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alerts: Option<AlertRules>,
}

/// Another windrow server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ServerItem {
    pub id: String,
    pub name: String,
    pub address: String,
    pub reachable: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub error: Option<String>,
    pub crawls: u64,
}

/// A server to be listed.
#[derive(Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AddServer {
    #[schema(min_length = 1, max_length = 100)]
    pub name: String,
    /// Such as `http://10.0.0.2:8377`.
    #[schema(max_length = 500)]
    pub address: String,
    /// Empty where that server needs none.
    #[serde(default)]
    pub token: String,
}

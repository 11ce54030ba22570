//! Where pages are: canonical URLs, hosts and sites, fingerprints, scope.
//!
//! Promises: two spellings of one address become one [`Url`] and one
//! [`Fingerprint`]; nothing here touches the network.
//! Never: decides *when* something is fetched (that is `politeness`) or *how
//! much* it is wanted (that is `frontier`).

mod canonical;
mod escape;
mod fingerprint;
mod host;
mod scope;
mod template;

pub use ::url::Url;
pub use canonical::{MAX_URL_BYTES, UrlError, canonicalize};
pub use escape::escape_bytes;
pub use fingerprint::{Fingerprint, aphash, same_page_key};
pub use host::{authority, host_of, registrable_domain, site_of};
pub use scope::{Refusal, Scope, ScopeConfig, ScopeError};
pub use template::templates;

//! The REST interface: a file for each resource; `routes` is all of it, and its description.
//!
//! Promises: what an address answers is what `/api/openapi.json` says; handlers are thin: they check, ask, and put into form.

mod asking;
mod compare;
mod control;
mod crawls;
mod docs;
mod events;
mod export;
mod frontier;
mod health;
mod hosts;
mod labels;
mod models;
mod pages;
mod proxy;
mod servers;
mod session;
mod settings;
mod traps;

use std::sync::Arc;

use utoipa::{
    Modify, OpenApi,
    openapi::security::{ApiKey, ApiKeyValue, HttpAuthScheme, HttpBuilder, SecurityScheme},
};
use utoipa_axum::{router::OpenApiRouter, routes};

pub use pages::page_item;
pub use proxy::pass_on;

use super::{app::App, problem::Problem};

/// The description, but for paths.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "windrow",
        description = "Watches and steers crawls. Lists come in parts: `next` is the `cursor` of the next part. Errors are \
                       RFC 9457 problems. What changes something needs the role `steer` and, from a browser, the header \
                       `X-CSRF-Token`, which GET /api/v1/session gives."
    ),
    components(schemas(Problem, export::FileFormat, hosts::HostSort, pages::PageSort)),
    modifiers(&Security),
    security(("token" = []), ("cookie" = []), ())
)]
struct Description;

struct Security;

impl Modify for Security {
    fn modify(&self, openapi: &mut utoipa::openapi::OpenApi) {
        let components = openapi.components.get_or_insert_default();
        let token = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some("Made by `windrow token new`")).build();
        components.add_security_scheme("token", SecurityScheme::Http(token));
        let cookie = ApiKeyValue::with_description(super::guard::COOKIE, "Set by POST /api/v1/session");
        components.add_security_scheme("cookie", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    }
}

/// All addresses but the console's files.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    let v1 = OpenApiRouter::new()
        .routes(routes!(session::show, session::log_in, session::log_out))
        .routes(routes!(crawls::list, crawls::create))
        .routes(routes!(crawls::show, crawls::delete))
        .routes(routes!(control::start))
        .routes(routes!(control::pause))
        .routes(routes!(control::resume))
        .routes(routes!(control::stop))
        .routes(routes!(control::schedule))
        .routes(routes!(crawls::metrics))
        .routes(routes!(crawls::log))
        .routes(routes!(pages::list))
        .routes(routes!(hosts::list))
        .routes(routes!(frontier::list, frontier::change))
        .routes(routes!(traps::list))
        .routes(routes!(traps::release))
        .routes(routes!(models::show))
        .routes(routes!(models::retrain))
        .routes(routes!(models::roll_back))
        .routes(routes!(labels::set))
        .routes(routes!(labels::next))
        .routes(routes!(labels::tsv))
        .routes(routes!(asking::why))
        .routes(routes!(export::report))
        .routes(routes!(export::export))
        .routes(routes!(events::stream))
        .routes(routes!(compare::compare))
        .routes(routes!(servers::list, servers::add))
        .routes(routes!(servers::remove))
        .routes(routes!(settings::show, settings::change));
    OpenApiRouter::with_openapi(Description::openapi())
        .nest("/api/v1", v1)
        .routes(routes!(health::alive))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
        .routes(routes!(health::dashboard))
        .routes(routes!(docs::description))
        .routes(routes!(docs::page))
}

/// The description of the interface.
#[must_use]
pub fn openapi() -> utoipa::openapi::OpenApi {
    routes().into_openapi()
}

//! The description of the interface: for programs, and as a page.

use std::sync::LazyLock;

use axum::{
    Json,
    http::header,
    response::{IntoResponse, Response},
};
use maud::{DOCTYPE, html};

static DESCRIPTION: LazyLock<serde_json::Value> = LazyLock::new(|| serde_json::to_value(super::openapi()).unwrap_or_default());

/// This description.
#[utoipa::path(get, path = "/api/openapi.json", tag = "server", responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value)))]
pub async fn description() -> Json<serde_json::Value> {
    Json(DESCRIPTION.clone())
}

/// This description, for a reader.
#[utoipa::path(get, path = "/api/docs", tag = "server", responses((status = 200, description = "A page", body = String, content_type = "text/html")))]
pub async fn page() -> Response {
    static PAGE: LazyLock<String> = LazyLock::new(|| written(&DESCRIPTION));
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], PAGE.as_str()).into_response()
}

/// The page: every address with what it takes and gives.
fn written(description: &serde_json::Value) -> String {
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let paths = description["paths"].as_object().into_iter().flatten();
    let operations = paths.flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.filter(|(_, operation)| operation.is_object()).map(move |(method, operation)| (path, method, operation))
    });
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "windrow: the interface" }
                link rel="stylesheet" href="/style/base.css";
            }
            body {
                main {
                    h1 { "The interface" }
                    p { (text(&description["info"]["description"])) }
                    p { "For programs: " a href="/api/openapi.json" { "/api/openapi.json" } " (OpenAPI 3.1)." }
                    @for (path, method, operation) in operations {
                        section {
                            h2 { code { (method.to_uppercase()) " " (path) } }
                            p { (text(&operation["summary"])) }
                            @if let Some(parameters) = operation["parameters"].as_array() {
                                ul {
                                    @for parameter in parameters {
                                        li {
                                            code { (text(&parameter["name"])) } " (" (text(&parameter["in"])) ") "
                                            (text(&parameter["description"]))
                                        }
                                    }
                                }
                            }
                            p {
                                @for (status, response) in operation["responses"].as_object().into_iter().flatten() {
                                    code { (status) } " " (text(&response["description"])) " "
                                }
                            }
                        }
                    }
                    @if let Some(schemas) = description["components"]["schemas"].as_object() {
                        h2 { "Forms" }
                        @for (name, schema) in schemas {
                            section {
                                h3 { (name) }
                                p { (text(&schema["description"])) }
                                pre { (serde_json::to_string_pretty(&schema["properties"]).unwrap_or_default()) }
                            }
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}

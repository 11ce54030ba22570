//! A crawl's report and exports, as files.

use std::{fs::File, path::PathBuf, sync::Arc};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use clap::ValueEnum;
use serde::Deserialize;
use tempfile::TempDir;
use tokio_util::io::ReaderStream;
use utoipa::{IntoParams, ToSchema};

use super::{pages::filter_of, session::language};
use crate::{
    export::{Export, ExportError, Format, Packing, Rows},
    monitor::{
        app::{App, blocking},
        extract::{At, Params},
        problem::Problem,
    },
    session,
};

/// The report has its styles in itself, and nothing that runs.
const REPORT_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
    form-action 'none'; frame-ancestors 'none'; sandbox allow-popups allow-popups-to-escape-sandbox";

/// The report of a crawl as it is now, for a reader.
#[utoipa::path(
    get, path = "/crawls/{id}/report", tag = "files", params(("id" = String, Path)),
    responses(
        (status = 200, description = "A page", body = String, content_type = "text/html"),
        (status = "4XX", description = "There is none", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn report(State(app): State<Arc<App>>, At(id): At<String>, headers: HeaderMap) -> Result<Response, Problem> {
    let slot = app.slot(&id)?;
    let language = headers.contains_key(header::ACCEPT_LANGUAGE).then(|| language(&headers));
    let one = Arc::clone(&slot);
    let _one_at_a_time = one.heavy.lock().await;
    let page = blocking(move || {
        let store = slot.reader()?.ok_or_else(|| Problem::conflict("the crawl has not begun: there is nothing to report"))?;
        let written = session::write(&store, &slot.dir, language)?;
        Ok(std::fs::read(&written.html).map_err(anyhow::Error::from)?)
    })
    .await?;
    let headers = [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CONTENT_SECURITY_POLICY, REPORT_POLICY)];
    Ok((headers, page).into_response())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum FileFormat {
    Csv,
    Jsonl,
    Parquet,
    Cdxj,
    Wacz,
    Warc,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    format: FileFormat,
    /// A filter in the language of `windrow export --where`.
    #[serde(rename = "where")]
    #[param(rename = "where")]
    filter: Option<String>,
}

/// A crawl's pages as a file: a table (csv, jsonl, parquet), its captures (warc, wacz), or an index of its archive (cdxj).
#[utoipa::path(
    get, path = "/crawls/{id}/export", tag = "files", params(("id" = String, Path), Wanted),
    responses(
        (status = 200, description = "A file", body = String, content_type = "application/octet-stream"),
        (status = "4XX", description = "A request that cannot be used", body = Problem, content_type = "application/problem+json"),
    )
)]
pub async fn export(
    State(app): State<Arc<App>>,
    At(id): At<String>,
    Params(Wanted { format, filter }): Params<Wanted>,
) -> Result<Response, Problem> {
    let slot = app.slot(&id)?;
    let filter = filter.filter(|text| !text.trim().is_empty());
    if let Some(filter) = &filter {
        filter_of(filter)?;
    }
    let (format, ending) = match format {
        FileFormat::Csv => (Format::Csv, "csv"),
        FileFormat::Jsonl => (Format::Jsonl, "jsonl"),
        FileFormat::Parquet => (Format::Parquet, "parquet"),
        FileFormat::Cdxj => (Format::Cdxj, "cdxj"),
        FileFormat::Wacz => (Format::Wacz, "wacz"),
        FileFormat::Warc => (Format::Warc, "warc.gz"),
    };
    let name = format!("attachment; filename=\"{id}.{ending}\"");
    let (file, folder) = blocking(move || {
        let store = slot.reader()?.ok_or_else(|| Problem::conflict("the crawl has not begun: there is nothing to export"))?;
        let folder = tempfile::tempdir_in(&app.options.dir).map_err(anyhow::Error::from)?;
        let out = folder.path().join(format.to_possible_value().map_or_else(String::new, |name| name.get_name().to_owned()));
        let topic = slot.folder()?.topic;
        // One WARC file, however long.
        let export = Export {
            format,
            rows: Rows::Pages,
            out: &out,
            filter: filter.as_deref(),
            text: true,
            file_bytes: u64::MAX,
            packing: Packing::Gzip,
            name: &topic.name,
        };
        export.write(&store, &slot.dir).map_err(|error| match error {
            ExportError::Filter(error) => Problem::field("where", error.message),
            other => Problem::internal(&other.into()),
        })?;
        let path = if format == Format::Warc { only_warc(&out)? } else { out };
        let file = match path {
            path if path.exists() => Some(File::open(path).map_err(anyhow::Error::from)?),
            _ => None,
        };
        Ok((file, folder))
    })
    .await?;
    let headers = [(header::CONTENT_TYPE, "application/octet-stream".to_owned()), (header::CONTENT_DISPOSITION, name)];
    let body = file.map_or_else(Body::empty, |file| stream(file, folder));
    Ok((headers, body).into_response())
}

/// The file in a folder of WARC files; a name that is not there where nothing passed the filter.
fn only_warc(folder: &std::path::Path) -> anyhow::Result<PathBuf> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "gz") {
            return Ok(path);
        }
    }
    Ok(folder.join("none"))
}

/// A file's bytes; its folder goes when they are sent, or nobody wants them any more.
fn stream(file: File, folder: TempDir) -> Body {
    use futures_util::StreamExt;
    let bytes = ReaderStream::new(tokio::fs::File::from_std(file));
    Body::from_stream(bytes.inspect(move |_| {
        let _kept_until_the_end = &folder;
    }))
}

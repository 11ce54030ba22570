//! The schema of all tables, for readers: what `windrow export --schema` prints.

use std::fmt::Write;

use super::{
    SCHEMA_VERSION,
    column::Table,
    page_text,
    tables::{HOSTS, LINKS, PAGES},
};

const FILTERS: &str = "## Filters

`--where` takes tests on the fields of the table, joined by `and`, `or`, `not` and parentheses (`and` binds closer than `or`):

    relevance > 0.8 and language = \"zh\"
    relevant and not (host ~ \"forum\" or depth > 5)
    fetched_at >= \"2026-11-01\" and status in (200, 203) and title != null

`=` `!=` `<` `<=` `>` `>=` compare; `~` and `!~` search a text with a regular expression; `in (…)` takes a list; a flag stands alone.
Texts and times stand in quotes, times as `2026-11-21` or `2026-11-21T08:30:00Z`, in UTC. A test on an empty field is false, but for
`!=`, `!~` and `= null`.
";

/// The schema in Markdown.
#[must_use]
pub fn schema() -> String {
    let mut text = format!("# Tables of `windrow export`, schema version {SCHEMA_VERSION}\n\n");
    text += "Within a version columns are added, never renamed, removed or given another meaning. Parquet files carry the version as\n\
             `windrow.schema_version` in their metadata. CSV writes null as an empty field.\n\n";
    table(&mut text, &PAGES);
    text += "JSON lines of pages have these fields as well:\n\n| field | meaning |\n|---|---|\n";
    for (name, meaning) in page_text::FIELDS {
        // Writing to a string does not fail.
        let _ = writeln!(text, "| `{name}` | {meaning} |");
    }
    text.push('\n');
    table(&mut text, &LINKS);
    table(&mut text, &HOSTS);
    text + FILTERS
}

fn table<R>(text: &mut String, table: &Table<R>) {
    let _ = write!(
        text,
        "## {}\n\n{}.\n\n| column | kind | Parquet | null | meaning |\n|---|---|---|---|---|\n",
        table.name, table.meaning
    );
    for column in table.columns {
        let null = if column.nullable { "yes" } else { "" };
        let (kind, parquet) = (column.kind.name(), column.kind.parquet_name());
        let _ = writeln!(text, "| `{}` | {kind} | {parquet} | {null} | {} |", column.name, column.meaning);
    }
    text.push('\n');
}

//! Typed columns: what a table, a filter and a schema have in common.
//!
//! Promises: a column's values are of its kind, or null where it says so.

use std::borrow::Cow;

use crate::page::Timestamp;

/// Version of all tables together: a column that is renamed, removed or given another meaning raises it; new columns do not.
pub const SCHEMA_VERSION: u32 = 1;

/// The kind of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number below 2^63.
    Integer,
    Number,
    /// True or false.
    Flag,
    Text,
    /// A point in time, UTC.
    Time,
}

impl Kind {
    /// The name in the schema.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Flag => "flag",
            Self::Text => "text",
            Self::Time => "time",
        }
    }

    /// The type in a Parquet file.
    #[must_use]
    pub fn parquet_name(self) -> &'static str {
        match self {
            Self::Integer => "INT64",
            Self::Number => "DOUBLE",
            Self::Flag => "BOOLEAN",
            Self::Text => "BYTE_ARRAY (UTF-8)",
            Self::Time => "INT64 (TIMESTAMP, ms, UTC)",
        }
    }
}

/// One field of one row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    Null,
    Integer(u64),
    Number(f64),
    Flag(bool),
    Text(Cow<'a, str>),
    Time(Timestamp),
}

impl<'a> Value<'a> {
    pub(super) fn text(text: &'a str) -> Self {
        Self::Text(Cow::Borrowed(text))
    }

    /// The value, or null where there is none.
    pub(super) fn maybe<T>(value: Option<T>, make: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Null, make)
    }

    /// As it stands in CSV; empty for null.
    pub(super) fn to_csv(&self) -> Cow<'_, str> {
        match self {
            Self::Null => Cow::Borrowed(""),
            Self::Integer(number) => number.to_string().into(),
            Self::Number(number) => number.to_string().into(),
            Self::Flag(flag) => Cow::Borrowed(if *flag { "true" } else { "false" }),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Time(time) => time.to_string().into(),
        }
    }

    /// As it stands in JSON.
    pub(super) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Null => serde_json::Value::Null,
            Self::Integer(number) => (*number).into(),
            Self::Number(number) => (*number).into(),
            Self::Flag(flag) => (*flag).into(),
            Self::Text(text) => text.as_ref().into(),
            Self::Time(time) => time.to_string().into(),
        }
    }
}

/// A column of a table of `R`.
pub struct Column<R: 'static> {
    pub name: &'static str,
    pub kind: Kind,
    /// Some rows have no value.
    pub nullable: bool,
    pub meaning: &'static str,
    pub(super) value: for<'a> fn(&'a R) -> Value<'a>,
}

/// A table: its name and its columns, in order.
pub struct Table<R: 'static> {
    pub name: &'static str,
    pub meaning: &'static str,
    pub columns: &'static [Column<R>],
}

impl<R> Table<R> {
    /// Names and kinds, for a filter.
    pub(super) fn fields(&self) -> Vec<(&'static str, Kind)> {
        self.columns.iter().map(|column| (column.name, column.kind)).collect()
    }
}

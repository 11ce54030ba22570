//! Rows as Parquet: typed columns, packed with Snappy.
//!
//! Promises: [`GROUP`] rows in memory at most; the file says its schema version and what each column means in its metadata.

use std::{fs::File, path::Path, sync::Arc};

use parquet::{
    basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical},
    data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type},
    errors::ParquetError,
    file::{
        metadata::KeyValue,
        properties::WriterProperties,
        writer::{SerializedColumnWriter, SerializedFileWriter},
    },
    schema::types::Type,
};

use super::{
    ExportError, SCHEMA_VERSION,
    column::{Column, Kind, Table, Value},
    rows::RowSink,
};

/// Rows of one group.
const GROUP: usize = 20_000;

/// The values of one column in the group that is being gathered.
#[derive(Default)]
struct Gathered {
    whole: Vec<i64>,
    numbers: Vec<f64>,
    flags: Vec<bool>,
    texts: Vec<ByteArray>,
    /// 1 for a value, 0 for null.
    present: Vec<i16>,
}

/// A Parquet file that is being written.
pub(super) struct ParquetRows<'o, R: 'static> {
    writer: SerializedFileWriter<File>,
    columns: &'static [Column<R>],
    gathered: Vec<Gathered>,
    rows: usize,
    path: &'o Path,
}

impl<'o, R> ParquetRows<'o, R> {
    pub fn new(table: &Table<R>, file: File, path: &'o Path) -> Result<Self, ExportError> {
        let fault = |source| ExportError::Parquet { path: path.to_owned(), source };
        let fields = table.columns.iter().map(field).collect::<Result<Vec<_>, _>>().map_err(fault)?;
        let schema = Type::group_type_builder(table.name).with_fields(fields).build().map_err(fault)?;
        let said = [("windrow.schema_version", SCHEMA_VERSION.to_string()), ("windrow.table", table.name.to_owned())];
        let meanings = table.columns.iter().map(|column| (format!("windrow.column.{}", column.name), column.meaning.to_owned()));
        let said = said.map(|(key, value)| (key.to_owned(), value)).into_iter().chain(meanings);
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("windrow ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(said.map(|(key, value)| KeyValue::new(key, value)).collect()))
            .build();
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).map_err(fault)?;
        let gathered = table.columns.iter().map(|_| Gathered::default()).collect();
        Ok(Self { writer, columns: table.columns, gathered, rows: 0, path })
    }

    fn write_group(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        let mut columns = self.columns.iter().zip(&mut self.gathered);
        while let (Some(mut writer), Some((column, gathered))) = (group.next_column()?, columns.next()) {
            gathered.write(column.kind, column.nullable, &mut writer)?;
            writer.close()?;
            *gathered = Gathered::default();
        }
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl<R> RowSink<R> for ParquetRows<'_, R> {
    fn add(&mut self, row: &R, _: serde_json::Map<String, serde_json::Value>) -> Result<(), ExportError> {
        for (column, gathered) in self.columns.iter().zip(&mut self.gathered) {
            gathered.push((column.value)(row));
        }
        self.rows += 1;
        if self.rows == GROUP {
            self.write_group().map_err(|source| ExportError::Parquet { path: self.path.to_owned(), source })?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<(), ExportError> {
        let path = self.path.to_owned();
        let closed = self.write_group().and_then(|()| self.writer.close());
        closed.map(drop).map_err(|source| ExportError::Parquet { path, source })
    }
}

impl Gathered {
    fn push(&mut self, value: Value<'_>) {
        self.present.push(i16::from(value != Value::Null));
        match value {
            Value::Null => {}
            Value::Integer(number) => self.whole.push(i64::try_from(number).unwrap_or(i64::MAX)),
            Value::Time(time) => self.whole.push(i64::try_from(time.0).unwrap_or(i64::MAX)),
            Value::Number(number) => self.numbers.push(number),
            Value::Flag(flag) => self.flags.push(flag),
            Value::Text(text) => self.texts.push(ByteArray::from(text.into_owned().into_bytes())),
        }
    }

    fn write(&self, kind: Kind, nullable: bool, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let levels = nullable.then_some(self.present.as_slice());
        match kind {
            Kind::Integer | Kind::Time => writer.typed::<Int64Type>().write_batch(&self.whole, levels, None),
            Kind::Number => writer.typed::<DoubleType>().write_batch(&self.numbers, levels, None),
            Kind::Flag => writer.typed::<BoolType>().write_batch(&self.flags, levels, None),
            Kind::Text => writer.typed::<ByteArrayType>().write_batch(&self.texts, levels, None),
        }
        .map(drop)
    }
}

fn field<R>(column: &Column<R>) -> Result<Arc<Type>, ParquetError> {
    let (physical, logical) = match column.kind {
        Kind::Integer => (Physical::INT64, None),
        Kind::Number => (Physical::DOUBLE, None),
        Kind::Flag => (Physical::BOOLEAN, None),
        Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Kind::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::MILLIS))),
    };
    let repetition = if column.nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let built = Type::primitive_type_builder(column.name, physical).with_repetition(repetition).with_logical_type(logical);
    built.build().map(Arc::new)
}

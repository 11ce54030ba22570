//! Labelled texts, one JSON object a line: `{"id", "label", "text"}`, plain or gzipped.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    path::Path,
};

use flate2::read::MultiGzDecoder;
use serde::Deserialize;

use super::ModelError;

/// Longest line that is read: a text longer than this is not a document.
const MAX_LINE: u64 = 16 << 20;

/// One labelled text.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(super) struct LabelledText {
    pub(super) id: String,
    pub(super) label: String,
    pub(super) text: String,
}

/// Calls `each` with every text of a file; a name that ends in `.gz` is gzipped.
///
/// # Errors
/// A file that cannot be read, or a line that is no labelled text, with its number.
pub(super) fn for_each_text(path: &Path, mut each: impl FnMut(LabelledText)) -> Result<(), ModelError> {
    let file = File::open(path).map_err(ModelError::io(path))?;
    let is_gzip = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gz"));
    let plain: Box<dyn Read> = if is_gzip { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    let mut reader = BufReader::new(plain);
    let mut buffer = Vec::new();
    for line in 1.. {
        buffer.clear();
        let read = reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut buffer).map_err(ModelError::io(path))?;
        if read == 0 {
            break;
        }
        if buffer.trim_ascii().is_empty() {
            continue;
        }
        let text = serde_json::from_slice(&buffer).map_err(|error| ModelError::Data {
            path: path.to_owned(),
            line,
            problem: format!("{error}: a line must be {{\"id\": …, \"label\": …, \"text\": …}}"),
        })?;
        each(text);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn plain_and_gzipped_texts_are_read_alike_and_a_bad_line_is_numbered() {
        let folder = tempfile::tempdir().unwrap();
        let good = "{\"id\":\"1\",\"label\":\"farm\",\"text\":\"水稻\"}\n\n{\"id\":\"2\",\"label\":\"sport\",\"text\":\"goal\"}";
        let (plain, zipped) = (folder.path().join("a.jsonl"), folder.path().join("a.jsonl.gz"));
        std::fs::write(&plain, good).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(File::create(&zipped).unwrap(), flate2::Compression::fast());
        encoder.write_all(good.as_bytes()).unwrap();
        encoder.finish().unwrap();
        let read = |path: &Path| {
            let mut texts = Vec::new();
            for_each_text(path, |text| texts.push(text)).map(|()| texts)
        };
        let texts = read(&plain).unwrap();
        assert_eq!((texts.len(), texts[1].label.as_str()), (2, "sport"));
        assert_eq!(read(&zipped).unwrap(), texts);
        std::fs::write(&plain, format!("{good}\n{{\"id\": 3}}\n")).unwrap();
        let said = read(&plain).unwrap_err().to_string();
        assert!(said.contains("a.jsonl, line 4: ") && said.contains("a line must be"), "{said}");
    }
}

//! The direction of the arrows: a module may import only what stands below it.

use std::{collections::BTreeMap, fs, path::Path};

/// Lower layers first; modules of one layer do not import each other.
const LAYERS: &[&[&str]] = &[
    &["disk"],
    &["url", "spill"],
    &["text"],
    &["page"],
    &["topic"],
    &["parse", "fetch", "politeness"],
    &["page_classifier", "link_classifier", "topical_rank"],
    &["models"],
    &["frontier"],
    &["store"],
    &["report"],
    &["export"],
    &["engine"],
    &["config"],
    &["session"],
    &["monitor"],
    &["evaluation"],
    &["cli"],
];

fn rust_files(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// The modules named in `crate::…` paths of a file, those in grouped imports (`crate::{a::B, c::D}`) among them.
fn imported_modules(text: &str) -> Vec<String> {
    let mut modules = Vec::new();
    for (at, _) in text.match_indices("crate::") {
        // `::windrow_crate::` and such do not occur; doc links count, as they should.
        let rest = &text[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let (mut depth, mut start) = (1, 0);
            for (index, c) in group.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    _ => {}
                }
                if (c == ',' && depth == 1) || depth == 0 {
                    modules.push(first_name(&group[start..index]));
                    start = index + 1;
                }
                if depth == 0 {
                    break;
                }
            }
        } else {
            modules.push(first_name(rest));
        }
    }
    modules.retain(|module| !module.is_empty());
    modules
}

fn first_name(path: &str) -> String {
    path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn imports_point_down() {
    let layer_of: BTreeMap<&str, usize> =
        LAYERS.iter().enumerate().flat_map(|(layer, modules)| modules.iter().map(move |module| (*module, layer))).collect();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut upward = Vec::new();
    let mut checked = 0;
    for entry in fs::read_dir(&source).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let module = folder.file_name().unwrap().to_string_lossy().into_owned();
        let layer = *layer_of.get(module.as_str()).unwrap_or_else(|| panic!("module {module} has no layer in tests/layers.rs"));
        let mut files = Vec::new();
        rust_files(&folder, &mut files);
        for file in files {
            for imported in imported_modules(&fs::read_to_string(&file).unwrap()) {
                let Some(&below) = layer_of.get(imported.as_str()) else { continue };
                checked += 1;
                if imported != module && below >= layer {
                    upward.push(format!("{} imports {imported}", file.display()));
                }
            }
        }
    }
    assert!(checked > 100, "only {checked} imports were found: the test no longer sees them");
    assert!(upward.is_empty(), "imports that point up:\n{}", upward.join("\n"));
}

#[test]
fn the_check_sees_grouped_and_single_imports() {
    let text = "use crate::{engine::Crawl, page::{Page, Outcome}};\nfn f(_: crate::cli::Cli) {}";
    assert_eq!(imported_modules(text), ["engine", "page", "cli"]);
}

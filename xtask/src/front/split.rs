//! Code splitting: functions marked with `wasm_split` in `src/ui`, with the code that only they use, become files of
//! their own, which a page loads when they are first used.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use wasm_split_cli_support::{Options, transform};

/// The script that loads the parts, before it is merged into the glue.
const LOADER: &str = "parts.js";
/// The prefixes of the files of parts, and of code shared by some parts.
const PARTS: [&str; 2] = ["split_", "chunk_"];

/// The files of a split module.
pub struct SplitModule {
    /// The path of the main module, before `wasm-bindgen`.
    pub main: PathBuf,
    /// The parts, ready for the browser.
    pub parts: Vec<PathBuf>,
}

/// Splits a module: writes the main module next to it, and the parts and their loader into `out`.
///
/// # Errors
/// The module was linked without relocations, or a file cannot be written.
pub fn split_module(module: &Path, out: &Path) -> Result<SplitModule> {
    let main = module.with_file_name("main.wasm");
    let input = fs::read(module)?;
    let loader = format!("./{LOADER}");
    let mut options = Options::new(&input);
    options.output_dir = out;
    options.main_out_path = &main;
    options.main_module = "./turnleaf.js";
    options.link_name = &loader;
    let split = transform(options).map_err(|error| anyhow!("the module cannot be taken apart: {error:#}"))?;
    Ok(SplitModule { parts: split.split_modules, main })
}

/// Merges the loader into the glue that imports it, so that a page waits for one script instead of two in sequence.
///
/// # Errors
/// The files have another form than those of the supported tool versions.
pub fn join_loader(glue: &Path, out: &Path) -> Result<()> {
    let loader = out.join(LOADER);
    let joined = with_loader(&fs::read_to_string(glue)?, &fs::read_to_string(&loader)?)
        .with_context(|| format!("{} does not import {LOADER} as it used to", glue.display()))?;
    fs::write(glue, joined)?;
    Ok(fs::remove_file(loader)?)
}

/// Returns `None` if nothing imports the loader.
fn with_loader(glue: &str, loader: &str) -> Option<String> {
    let imports = |line: &&str| line.starts_with("import * as ") && line.contains(LOADER);
    let names = glue.lines().filter(imports).filter_map(|line| line.split_whitespace().nth(3));
    let fetching = loader.lines().filter_map(|line| line.strip_prefix("export const ")?.split(' ').next());
    let all = fetching.collect::<Vec<_>>().join(", ");
    let bound: String = names.map(|name| format!("const {name} = {{ {all} }};\n")).collect();
    if bound.is_empty() {
        return None;
    }
    let own = |line: &&str| !line.starts_with("import ");
    let loader = loader.lines().filter(own).map(|line| line.strip_prefix("export ").unwrap_or(line));
    let glue = glue.lines().filter(|line| !imports(line));
    let mut joined = String::new();
    for line in glue.chain(loader) {
        joined.push_str(line);
        joined.push('\n');
    }
    Some(joined + &bound)
}

/// Returns true if a file of the bundle is loaded on first use instead of with the page.
pub fn is_part(file: &Path) -> bool {
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    PARTS.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loader_is_merged_into_glue() {
        let glue =
            "import * as import1 from \"./parts.js\"\nimport * as own from \"./snippets/a.js\"\nexport { initSync };\n";
        let loader = "import { initSync } from \"./turnleaf.js\";\nlet shared;\nexport const load_tree = wrap(1);\n\
                      export const load_find = wrap(2);\n";
        let expected = "import * as own from \"./snippets/a.js\"\nexport { initSync };\nlet shared;\nconst load_tree = \
                        wrap(1);\nconst load_find = wrap(2);\nconst import1 = { load_tree, load_find };\n";
        assert_eq!(with_loader(glue, loader).as_deref(), Some(expected));
        assert_eq!(with_loader("export { initSync };\n", loader), None);
    }

    #[test]
    fn parts_are_known_by_their_names() {
        assert!(is_part(Path::new("pkg/split_tree.wasm")) && is_part(Path::new("chunk_3.wasm")));
        assert!(!is_part(Path::new("pkg/turnleaf.wasm")));
    }
}

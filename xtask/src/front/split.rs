//! The parts of the module that a page fetches when they are first used: functions marked with `wasm_split` in `src/ui`,
//! with all that nothing else needs, each part a file of its own beside the main module.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use wasm_split_cli_support::{Options, transform};

/// What fetches the parts, as long as it is a module of its own.
const LOADER: &str = "parts.js";
/// How the names of files begin that are parts, or what some parts share.
const PARTS: [&str; 2] = ["split_", "chunk_"];

/// What a module was taken apart into.
pub struct SplitModule {
    /// Where the main module lies, not yet bound to JavaScript.
    pub main: PathBuf,
    /// The parts, ready for the browser.
    pub parts: Vec<PathBuf>,
}

/// Takes a module apart: the main module beside it, parts and their loader into `out`.
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

/// Puts the loader into the glue that imports it: a page that is loaded waits for one script, not for two in a row.
///
/// # Errors
/// One of the two is not written as it was by the versions that this program was made for.
pub fn join_loader(glue: &Path, out: &Path) -> Result<()> {
    let loader = out.join(LOADER);
    let joined = with_loader(&fs::read_to_string(glue)?, &fs::read_to_string(&loader)?)
        .with_context(|| format!("{} does not import {LOADER} as it used to", glue.display()))?;
    fs::write(glue, joined)?;
    Ok(fs::remove_file(loader)?)
}

/// `None` where nothing imports the loader.
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

/// Whether a file of the bundle is fetched when it is first used, not with the page.
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

//! Shortens the names of the functions shared by the module and its JavaScript. Each name contains sixteen digits
//! that do not compress, and occurs in both files.

use std::collections::HashMap;
use std::convert::Infallible;

use anyhow::{Result, anyhow};
use wasm_encoder::reencode::{Error, Reencode};
use wasm_encoder::{ExportSection, ImportSection, Module};
use wasmparser::{ExportSectionReader, ImportSectionReader, Parser, Payload};

/// The module name of the imports from the glue.
const GLUE: &str = "./turnleaf_bg.js";
/// The prefixes of the compiler's own names. Only exports with these are renamed, because pages and code parts use
/// the others.
const COMPILED: [&str; 2] = ["_R", "_ZN"];

/// Returns the module and its glue with short names on both sides. Deterministic.
///
/// # Errors
/// The input is not a wasm module.
pub fn shorten_names(module: &[u8], glue: &str) -> Result<(Vec<u8>, String)> {
    let mut names = SharedNames::read(module)?;
    // A name that the glue already uses would be ambiguous.
    let taken: Vec<&str> = script_tokens(glue).filter(|(is_word, _)| *is_word).map(|(_, word)| word).collect();
    let mut free = (0..).map(short).filter(|name| !taken.contains(&name.as_str()));
    for name in names.long.drain(..) {
        if let Some(short) = free.next() {
            names.short.entry(name).or_insert(short);
        }
    }
    let glue = script_tokens(glue).map(|(_, piece)| names.short.get(piece).map_or(piece, String::as_str)).collect();
    let mut renamed = Module::new();
    let damaged = |error| anyhow!("the wasm module cannot be read: {error}");
    names.parse_core_module(&mut renamed, Parser::new(0), module).map_err(damaged)?;
    Ok((renamed.finish(), glue))
}

/// Returns the short name of a number: a letter, then letters and digits if there are more names than letters.
fn short(number: usize) -> String {
    const LETTERS: &[u8; 26] = b"abcdefghijklmnopqrstuvwxyz";
    let letter = |at: usize| char::from(LETTERS[at % LETTERS.len()]);
    match number.checked_sub(LETTERS.len()) {
        None => letter(number).to_string(),
        Some(rest) => format!("{}{}", short(rest / LETTERS.len()), letter(rest)),
    }
}

/// Splits a script into its words and the text between them.
fn script_tokens(script: &str) -> impl Iterator<Item = (bool, &str)> {
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    let mut rest = script;
    std::iter::from_fn(move || {
        let is_word = is_letter(rest.chars().next()?);
        let end = rest.find(|letter| is_letter(letter) != is_word).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        rest = behind;
        Some((is_word, piece))
    })
}

/// The names that a module shares with its glue.
#[derive(Default)]
struct SharedNames {
    long: Vec<String>,
    short: HashMap<String, String>,
}

impl SharedNames {
    fn read(module: &[u8]) -> Result<Self> {
        let mut names = Self::default();
        for part in Parser::new(0).parse_all(module) {
            match part? {
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        if import.module == GLUE {
                            names.long.push(import.name.to_owned());
                        }
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        let name = export?.name;
                        if COMPILED.iter().any(|start| name.starts_with(start)) {
                            names.long.push(name.to_owned());
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(names)
    }

    fn short_name<'n>(&'n self, name: &'n str) -> &'n str {
        self.short.get(name).map_or(name, String::as_str)
    }
}

impl Reencode for SharedNames {
    type Error = Infallible;

    fn parse_import_section(
        &mut self,
        imports: &mut ImportSection,
        section: ImportSectionReader<'_>,
    ) -> Result<(), Error> {
        for import in section.into_imports() {
            let import = import?;
            let name =
                if import.module == GLUE { self.short_name(import.name).to_owned() } else { import.name.to_owned() };
            imports.import(import.module, &name, self.entity_type(import.ty)?);
        }
        Ok(())
    }

    fn parse_export_section(
        &mut self,
        exports: &mut ExportSection,
        section: ExportSectionReader<'_>,
    ) -> Result<(), Error> {
        for export in section {
            let export = export?;
            let (kind, index) = (self.export_kind(export.kind)?, self.external_index(export.kind, export.index)?);
            exports.export(self.short_name(export.name), kind, index);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use wasm_encoder::{EntityType, ExportKind, TypeSection};
    use wasmparser::Validator;

    use super::*;

    fn module(imports: &[(&str, &str)], exports: &[&str]) -> Vec<u8> {
        let mut types = TypeSection::new();
        types.ty().function([], []);
        let (mut imported, mut exported) = (ImportSection::new(), ExportSection::new());
        for (from, name) in imports {
            imported.import(from, name, EntityType::Function(0));
        }
        for (at, name) in (0..).zip(exports) {
            exported.export(name, ExportKind::Func, at);
        }
        let mut module = Module::new();
        module.section(&types).section(&imported).section(&exported);
        module.finish()
    }

    /// Imports by module and name, and exports by name and index.
    type Shared = (Vec<(String, String)>, Vec<(String, u32)>);

    fn shared(module: &[u8]) -> Shared {
        Validator::new().validate_all(module).unwrap();
        let (mut imports, mut exports) = (Vec::new(), Vec::new());
        for part in Parser::new(0).parse_all(module) {
            match part.unwrap() {
                Payload::ImportSection(section) => imports.extend(section.into_imports().map(|import| {
                    let import = import.unwrap();
                    (import.module.to_owned(), import.name.to_owned())
                })),
                Payload::ExportSection(section) => exports.extend(section.into_iter().map(|export| {
                    let export = export.unwrap();
                    (export.name.to_owned(), export.index)
                })),
                _ => {}
            }
        }
        (imports, exports)
    }

    #[test]
    fn both_sides_know_function_by_same_short_name() {
        let module = module(&[(GLUE, "__wbg_now_12ab"), (GLUE, "__wbg_then_34cd")], &["hydrate", "_RINvinvoke"]);
        let glue = "const a = 1; const imports = { __wbg_now_12ab: () => Date.now(), __wbg_then_34cd: b };\n\
                    wasm.hydrate(); wasm._RINvinvoke(`__wbg_now_12ab0`);";
        let (module, glue) = shorten_names(&module, glue).unwrap();
        let own = |name: &str| (GLUE.to_owned(), name.to_owned());
        assert_eq!(
            shared(&module),
            (vec![own("c"), own("d")], vec![("hydrate".to_owned(), 0), ("e".to_owned(), 1)]),
            "a and b are something else in the glue"
        );
        assert_eq!(
            glue,
            "const a = 1; const imports = { c: () => Date.now(), d: b };\nwasm.hydrate(); wasm.e(`__wbg_now_12ab0`);"
        );
    }

    #[test]
    fn externally_used_names_are_kept() {
        let own = module(&[("./parts.js", "load_tree"), ("./parts.js", "load_chat")], &["memory", "__wbindgen_start"]);
        let (renamed, glue) = shorten_names(&own, "load_tree, wasm.memory").unwrap();
        assert_eq!((shared(&renamed), glue.as_str()), (shared(&own), "load_tree, wasm.memory"));
    }

    #[test]
    fn short_names_are_unique() {
        let mut names: Vec<String> = (0..2000).map(short).collect();
        assert_eq!([&names[0], &names[25], &names[26], &names[701], &names[702]], ["a", "z", "aa", "zz", "aaa"]);
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 2000);
    }
}

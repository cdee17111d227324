//! The rules on names: a name says what the thing is without its folder.

use std::collections::{BTreeMap, BTreeSet};

use crate::source_file::{PublicFunction, SourceFile, load_sources};
use crate::{all_source_files, fail_on};

/// Names of types that say nothing without their folder.
const VAGUE_TYPE_NAMES: &[&str] = &[
    "Asked", "Beside", "Drawn", "Found", "Half", "Here", "Kind", "Mark", "Piece", "Place", "Reader", "Row", "Said",
    "Session", "Standing", "State", "Takes", "Told", "What",
];

/// Names of functions that say nothing without their folder.
const VAGUE_FUNCTION_NAMES: &[&str] = &["add", "at", "of", "on"];

/// Files with a vague name that is still to be replaced. A file that no longer has one fails the test.
const STILL_VAGUE: &[(&str, &str)] =
    &[("src/server/http/tools/import.rs", "add"), ("src/server/http/tools/page.rs", "add")];

/// Returns whether a function has a vague name. A method may be called `add`, as those of collections are: its receiver
/// says to what.
fn is_vague(function: &PublicFunction) -> bool {
    let is_collection_method = function.has_receiver && function.name == "add";
    VAGUE_FUNCTION_NAMES.contains(&function.name.as_str()) && !is_collection_method
}

/// Returns the vague names that a file declares: of types everywhere, of functions where they are public.
fn vague_names(file: &SourceFile) -> BTreeSet<String> {
    let types = file.type_names().into_iter().filter(|name| VAGUE_TYPE_NAMES.contains(&name.as_str()));
    let functions = file.public_functions().into_iter().filter(is_vague).map(|function| function.name);
    types.chain(functions).collect()
}

#[test]
fn names_say_what_the_thing_is() {
    let mut found: BTreeSet<(String, String)> = BTreeSet::new();
    for file in all_source_files() {
        found.extend(vague_names(&file).into_iter().map(|name| (file.path.clone(), name)));
    }
    let known: BTreeSet<(String, String)> =
        STILL_VAGUE.iter().map(|(path, name)| ((*path).to_owned(), (*name).to_owned())).collect();
    let line = |(path, name): &(String, String)| format!("{path}: `{name}`");
    fail_on("names that say nothing", &found.difference(&known).map(line).collect::<Vec<_>>());
    fail_on(
        "names that are gone, to be removed from the list",
        &known.difference(&found).map(line).collect::<Vec<_>>(),
    );
}

/// Private types count as well, so that a search for a name finds one thing. `browser` counts as one file, because its
/// functions have twins for the server, with types of the same name.
#[test]
fn types_have_unique_names() {
    const BROWSER: &str = "src/browser/";
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in load_sources("src").into_iter().filter(|file| !file.is_test()) {
        let path = if file.path.starts_with(BROWSER) { BROWSER } else { file.path.as_str() };
        for name in file.declared_type_names() {
            files.entry(name).or_default().insert(path.to_owned());
        }
    }
    assert!(files.len() > 1000, "{}", files.len());
    let found: Vec<_> = files
        .iter()
        .filter(|(_, paths)| paths.len() > 1)
        .map(|(name, paths)| format!("`{name}`: {}", paths.iter().cloned().collect::<Vec<_>>().join(", ")))
        .collect();
    fail_on("types with the same name", &found);
}

#[test]
fn declared_types_exclude_associated_types() {
    let file = |code: &str| SourceFile { path: "src/a.rs".into(), text: code.into(), code: code.into() };
    for (code, names) in [
        ("pub struct A;\nenum B { C }\npub(crate) trait D: E { type F; type G: H; }\ntype I = [u8; 2];", "A B D I"),
        ("impl FromStr for [A; 2] { type Err = B; fn parse() -> C { type D = u8; D } }\nstruct E(u8);", "D E"),
        ("fn run(a: impl A) -> impl B { struct C { r#type: D, inner: [E; 2] } trait F {} let g: G; }", "C F"),
        ("const A: u8 = { type B = u8; 1 };\n#[derive(C)]\npub struct D<'a> where E: F { g: &'a E }", "B D"),
        ("impl A {\n    fn b() { match c { D::E => {} }\n type F = u8; }\n}\nstruct G {}", "F G"),
    ] {
        assert_eq!(file(code).declared_type_names().join(" "), names, "{code}");
    }
}

#[test]
fn vague_names_are_found() {
    let file = |code: &str| SourceFile { path: "src/a.rs".into(), text: code.into(), code: code.into() };
    for (code, names) in [
        ("struct Said;", vec!["Said"]),
        ("pub(crate) enum State { On }", vec!["State"]),
        ("pub struct ReplyState; type StateRow = u8;", vec![]),
        ("pub fn of(block: &Block) -> Self { }", vec!["of"]),
        ("impl X {\n    pub async fn add<T>(item: T) { }\n}", vec!["add"]),
        ("pub const fn at(&self) -> u8 { 0 }", vec!["at"]),
        ("pub fn add(&mut self, file: File) { } fn on() { } pub(super) fn of() { } pub fn add_file() { }", vec![]),
    ] {
        assert_eq!(vague_names(&file(code)).into_iter().collect::<Vec<_>>(), names, "{code}");
    }
}

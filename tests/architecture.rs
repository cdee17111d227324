//! Architecture test: checks the code against its map, namely which layer may use which, where `cfg` may appear and
//! how long a file may be. The test reads the sources as text with `std` alone, so that it runs in seconds and before
//! anything else. `docs/ARCHITECTURE.md` shows the same table; this file fails when the two differ. The compiler
//! checks the manifests of the crates below `src/`.

#[path = "architecture/citations.rs"]
mod citations;
#[path = "architecture/comments.rs"]
mod comments;
#[path = "architecture/cycles.rs"]
mod cycles;
#[path = "architecture/dependency_rules.rs"]
mod dependency_rules;
#[path = "architecture/documents.rs"]
mod documents;
#[path = "architecture/names.rs"]
mod names;
#[path = "architecture/source_file.rs"]
mod source_file;

use std::fs;
use std::path::Path;

use cycles::CrateGraph;
use dependency_rules::{ALLOWED_DEPENDENCIES, CRATE_OWNERS, layer_of_file};
use source_file::{SourceFile, dependencies, load_sources, workspace_root};

/// The bound on the production lines of one file. Unit tests lie in a file beside it and do not count.
const FILE_LINES: usize = 400;

/// The only places that may ask whether the server or the browser is built.
const CFG_PLACES: &[&str] = &["src/lib.rs", "src/main.rs", "src/browser/"];

/// The only files that may insert markup into the page as a string.
const INNER_HTML: &[&str] = &[
    // This file takes nothing but `Markup`, which only the renderer can make and which is escaped by construction.
    "src/ui/markdown/view.rs",
    // This file inserts three strings: a draft, which it escapes because leptos does not escape the children of a
    // textarea; a constant for `noscript`; and the symbols of the icons, from a file of the repository.
    "src/ui/escape.rs",
    // This file reads the selection for quoting and inserts nothing.
    "src/browser/selection.rs",
];

/// Words that are too general for a name.
const EMPTY_WORDS: &[&str] = &["util", "utils", "helper", "helpers", "common", "misc", "manager", "data", "info"];

/// Exceptions that contain such a word: `--data-dir` of the public contract, the associated type of the trait of HTTP
/// bodies, the data that pages are rendered from, and the terms of WebAuthn.
const CONTRACT_NAMES: &[&str] =
    &["data_dir", "DataDir", "Data", "page_data", "authenticator_data", "AuthenticatorData", "ClientData"];

fn fail_on(heading: &str, found: &[String]) {
    assert!(found.is_empty(), "{heading}:\n  {}\n", found.join("\n  "));
}

/// Returns the row of a layer of the root package. The crates below `src/` have no row, because the compiler checks
/// their dependencies.
fn allowed_by(room: String) -> Option<(&'static str, &'static [&'static str])> {
    ALLOWED_DEPENDENCIES.iter().find(|(name, _)| *name == room).map(|(name, doors)| (*name, *doors))
}

/// Loads every file of the product, of its tests and of its own commands.
fn all_source_files() -> Vec<SourceFile> {
    ["src", "tests", "xtask/src", "fuzz/src"].iter().flat_map(|dir| load_sources(dir)).collect()
}

#[test]
fn layer_uses_only_allowed_layers() {
    let mut found = Vec::new();
    for file in load_sources("src") {
        let Some((room, doors)) = layer_of_file(&file.path).and_then(allowed_by) else { continue };
        if file.is_test() {
            continue;
        }
        for used in file.layers_used() {
            if used != room && !doors.contains(&used.as_str()) {
                found.push(format!("{}: `{room}` has no door to `{used}`", file.path));
            }
        }
        found
            .extend(file.super_paths_out_of_layer(room).map(|path| format!("{}: `{path}` leaves the room", file.path)));
    }
    fail_on("doors that are not there", &found);
}

#[test]
fn allowed_dependencies_are_acyclic() {
    fn visit<'a>(room: &'a str, seen: &mut Vec<&'a str>) -> Option<String> {
        if seen.contains(&room) {
            return Some(format!("{} -> {room}", seen.join(" -> ")));
        }
        seen.push(room);
        let doors = ALLOWED_DEPENDENCIES.iter().find(|(name, _)| *name == room).map_or(&[][..], |(_, doors)| doors);
        let circle = doors.iter().find_map(|door| visit(door, seen));
        seen.pop();
        circle
    }
    let found: Vec<_> = ALLOWED_DEPENDENCIES.iter().filter_map(|(room, _)| visit(room, &mut Vec::new())).collect();
    fail_on("rooms that use each other", &found);
}

#[test]
fn files_have_no_dependency_cycles() {
    let members = dependency_rules::crate_manifests();
    let tops = members.iter().map(|member| format!("src/{}", member.name)).collect::<Vec<_>>();
    let files: Vec<SourceFile> = load_sources("src").into_iter().filter(|file| !file.is_test()).collect();
    let is_below = |file: &SourceFile, top: &str| file.path.starts_with(&format!("{top}/"));
    let of_root = files.iter().filter(|file| !tops.iter().any(|top| is_below(file, top)));
    let mut found: Vec<String> = Vec::new();
    let mut add = |read: CrateGraph<'_>| found.extend(read.cycles().iter().map(|circle| circle.join(", ")));
    add(CrateGraph::from_sources("src", of_root));
    for top in &tops {
        add(CrateGraph::from_sources(top, files.iter().filter(|file| is_below(file, top))));
    }
    fail_on("circles of files: what they share belongs into a file below them", &found);
}

#[test]
fn file_cycle_is_found_through_reexports() {
    let file = |path: &str, code: &str| SourceFile { path: path.into(), text: code.into(), code: code.into() };
    let read = |files: &[SourceFile]| {
        CrateGraph::from_sources("src/a", files.iter())
            .cycles()
            .iter()
            .map(|circle| circle.join(" "))
            .collect::<Vec<_>>()
    };
    let parent = file("src/a/lib.rs", "pub mod one;\nmod two;\npub use two::Two;\n");
    let one = file("src/a/one.rs", "use crate::Two;\n");
    let two = |code: &str| file("src/a/two.rs", code);
    let circle = ["src/a/one.rs src/a/two.rs"];
    assert_eq!(read(&[parent, one, two("use super::one::{self, One};\n")]), circle);
    let parent = file("src/a/lib.rs", "pub mod one;\nmod two;\npub use two::Two;\nfn run() { one::run() }\n");
    let one = file("src/a/one.rs", "fn run() { crate::two::run() }\n");
    assert_eq!(read(&[parent, one, two("fn run() {}\n")]), [""; 0]);
    let parent = file("src/a/lib.rs", "mod one;\nfn run() { one::run() }\nconst N: u8 = 1;\n");
    assert_eq!(read(&[parent, file("src/a/one.rs", "fn run() { super::N; }\n")]), ["src/a/lib.rs src/a/one.rs"]);
}

#[test]
fn external_crate_is_used_only_in_layers_that_own_it() {
    let known = dependencies();
    let mut found = Vec::new();
    for file in load_sources("src") {
        let Some((room, _)) = layer_of_file(&file.path).and_then(allowed_by) else { continue };
        if file.is_test() {
            continue;
        }
        for name in known.iter().filter(|name| file.uses_crate(name)) {
            let owners = CRATE_OWNERS.iter().find(|(crate_name, _)| crate_name == name).map(|(_, rooms)| *rooms);
            if !owners.is_some_and(|rooms| rooms.contains(&room)) {
                found.push(format!(
                    "{}: `{name}` is not for `{room}` (tests/architecture/dependency_rules.rs)",
                    file.path
                ));
            }
        }
    }
    fail_on("crates outside their rooms", &found);
}

#[test]
fn every_file_belongs_to_a_layer() {
    let found: Vec<_> =
        load_sources("src").into_iter().filter(|f| layer_of_file(&f.path).is_none()).map(|f| f.path).collect();
    fail_on("files outside every room", &found);
}

#[test]
fn cfg_feature_is_used_only_at_entry_points() {
    let found: Vec<_> = load_sources("src")
        .into_iter()
        .filter(|f| !CFG_PLACES.iter().any(|place| f.path.starts_with(place)))
        .filter(|f| f.code.split(['(', ' ', ',', '\n']).any(|word| word == "feature"))
        .map(|f| f.path)
        .collect();
    fail_on("`cfg(feature …)` outside lib.rs, main.rs and browser/", &found);
}

#[test]
fn file_is_short_and_starts_with_module_docs() {
    let mut found = Vec::new();
    for file in all_source_files() {
        if !file.text.starts_with("//! ") {
            found.push(format!("{}: does not begin with `//!`", file.path));
        }
        if file.path.ends_with("/mod.rs") {
            found.push(format!("{}: `foo.rs` beside `foo/`, not `foo/mod.rs`", file.path));
        }
        let lines = file.production_lines();
        if !file.is_test() && lines > FILE_LINES {
            found.push(format!("{}: {lines} lines, {FILE_LINES} are allowed", file.path));
        }
    }
    fail_on("files that are hard to read", &found);
}

#[test]
fn names_contain_no_empty_words() {
    let mut found = Vec::new();
    for file in all_source_files() {
        let stem = Path::new(&file.path).file_stem().and_then(|s| s.to_str()).unwrap_or_default();
        let is_empty = |words: &[String]| words.iter().any(|word| EMPTY_WORDS.contains(&word.as_str()));
        let words: Vec<String> = stem.split('_').map(String::from).collect();
        if (stem.starts_with("impl_") || is_empty(&words)) && !CONTRACT_NAMES.contains(&stem) {
            found.push(format!("{}: the file's name", file.path));
        }
        for name in file.type_names() {
            if is_empty(&source_file::words_of(&name)) && !CONTRACT_NAMES.contains(&name.as_str()) {
                found.push(format!("{}: `{name}`", file.path));
            }
        }
    }
    fail_on("names with an empty word in them", &found);
}

#[test]
fn inner_html_is_used_only_in_listed_files() {
    let found: Vec<_> = load_sources("src")
        .into_iter()
        .filter(|f| !f.is_test() && f.has_word("inner_html"))
        .filter(|f| !INNER_HTML.iter().any(|place| f.path.starts_with(place)))
        .map(|f| f.path)
        .collect();
    fail_on("`inner_html` outside its place", &found);
}

#[test]
fn pages_poll_only_in_polling_module() {
    let mut found = Vec::new();
    for file in load_sources("src/ui").into_iter().filter(|file| file.path != "src/ui/polling.rs") {
        if file.code.contains("glance_at_") {
            found.push(format!("{}: polls by itself", file.path));
        }
    }
    fail_on("a poll outside its module", &found);
}

#[test]
fn pages_open_streams_only_for_replies_and_live_channel() {
    const PLACES: [&str; 2] = ["src/ui/polling/live_channel.rs", "src/ui/state/reply_stream.rs"];
    let opens = |file: &SourceFile| file.code.contains("event_source::open(");
    let found: Vec<_> = load_sources("src")
        .into_iter()
        .filter(opens)
        .map(|file| file.path)
        .filter(|path| !PLACES.contains(&path.as_str()))
        .collect();
    fail_on("an event stream outside its module", &found);
}

#[test]
fn code_has_no_disabled_lints_or_todos() {
    let mut found = Vec::new();
    for file in all_source_files() {
        for mark in ["#[ignore", "#[allow(", "#![allow(", "todo!(", "unimplemented!(", "dbg!("] {
            if file.code.contains(mark) {
                found.push(format!("{}: `{mark}`", file.path));
            }
        }
    }
    fail_on("switched-off tests, silenced lints (`#[expect(…, reason)]` is the way), unfinished code", &found);
}

/// Awaiting a panicked task returns tokio's error, which prints the panic message. Therefore only tasks whose results
/// no caller awaits may be spawned with tokio directly.
#[test]
fn awaited_tasks_keep_their_panic_messages() {
    const OWNER: &str = "src/platform/tasks.rs";
    let mut found = Vec::new();
    for file in load_sources("src").into_iter().filter(|file| !file.is_test() && file.path != OWNER) {
        for word in ["JoinError", "JoinHandle"] {
            if file.has_word(word) {
                found.push(format!("{}: `{word}`; `platform::tasks` has a task of its own", file.path));
            }
        }
        for line in file.code.lines().map(str::trim) {
            let is_kept = line.contains("tokio::spawn(") && !line.starts_with("tokio::spawn(");
            let blocks = line.contains("spawn_blocking") && !line.contains("tasks::spawn_blocking(");
            let joins = line.contains("join_next") && !file.code.contains("TaskError::from(");
            let imports = line.starts_with("use tokio::") && line.contains("spawn");
            if is_kept || blocks || joins || imports {
                found.push(format!("{}: `{line}`", file.path));
            }
        }
        for (at, call) in file.code.match_indices("tokio::spawn(") {
            let mut depth = 0;
            let ends = |c: char| {
                depth += i32::from(c == '(') - i32::from(c == ')');
                depth == 0 && c == ')'
            };
            let open = at + call.len() - 1;
            let rest = file.code[open..].split_once(ends).map_or("", |(_, rest)| rest.trim_start());
            if rest.starts_with('.') {
                found.push(format!("{}: a `tokio::spawn` is awaited", file.path));
            }
        }
    }
    fail_on("tasks whose errors have the words of a panic (use `platform::tasks`)", &found);
}

#[test]
fn lock_files_use_only_the_registry_urls() {
    let cargo = fs::read_to_string(workspace_root().join("Cargo.lock")).expect("Cargo.lock");
    let strange = cargo
        .lines()
        .filter(|l| l.starts_with("source = "))
        .filter(|l| *l != "source = \"registry+https://github.com/rust-lang/crates.io-index\"");
    let npm =
        fs::read_to_string(workspace_root().join("end2end/package-lock.json")).expect("end2end/package-lock.json");
    let resolved = npm.lines().filter(|l| l.contains("\"resolved\"")).map(str::trim);
    fail_on("addresses in lock files", &strange.chain(resolved).map(String::from).collect::<Vec<_>>());
}

#[test]
fn both_databases_have_same_migrations() {
    let names = |dir: &str| {
        let mut names: Vec<String> = fs::read_dir(workspace_root().join("migrations").join(dir))
            .map(|entries| entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect())
            .unwrap_or_default();
        names.sort();
        names
    };
    assert_eq!(names("sqlite"), names("postgres"), "migrations/sqlite and migrations/postgres");
}

#[test]
fn architecture_document_shows_same_dependency_table() {
    let text = fs::read_to_string(workspace_root().join("docs/ARCHITECTURE.md")).expect("docs/ARCHITECTURE.md");
    let shown = text
        .split_once("<!-- doors -->\n")
        .and_then(|(_, rest)| rest.split_once("<!-- /doors -->"))
        .map(|(table, _)| table)
        .expect("the marks `<!-- doors -->` and `<!-- /doors -->`");
    let table = dependency_rules::dependency_table();
    assert!(shown == table, "docs/ARCHITECTURE.md shows other doors; between the marks must stand:\n\n{table}");
}

/// Lists the Markdown documents of the repository, as paths relative to its root.
fn markdown_documents() -> Vec<String> {
    let mut open = vec![workspace_root().join("docs"), workspace_root()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for path in fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() && folder != workspace_root() {
                open.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                let path = path.strip_prefix(workspace_root()).expect("inside the repository");
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    assert!(found.len() > 20, "{found:?}");
    found
}

#[test]
fn cited_documents_and_sections_exist() {
    let mut found = Vec::new();
    for folder in ["src", "tests", "xtask", "fuzz"] {
        for file in load_sources(folder).iter().filter(|file| file.path != "tests/architecture/citations.rs") {
            for citation in citations::citations_of(&file.text) {
                found.extend(citations::unresolved(&citation).map(|reason| format!("{}: {reason}", file.path)));
            }
        }
    }
    fail_on("citations that lead nowhere", &found);
}

#[test]
fn links_between_documents_resolve() {
    let mut found = Vec::new();
    for document in markdown_documents() {
        let folder = workspace_root().join(Path::new(&document).parent().unwrap_or(Path::new("")));
        let text = fs::read_to_string(workspace_root().join(&document)).expect("a document is UTF-8");
        for target in citations::links_of(&text) {
            if !folder.join(&target).exists() {
                found.push(format!("{document}: {target}"));
            }
        }
    }
    fail_on("links that lead nowhere", &found);
}

/// Comments once cited documents by their bare name; these documents are sections of `docs/reference` now.
#[test]
fn bare_document_names_are_not_cited() {
    let mut found = Vec::new();
    for folder in ["src", "tests", "xtask", "fuzz"] {
        for file in load_sources(folder).iter().filter(|file| !file.path.starts_with("tests/architecture")) {
            for name in [
                "domain.md",
                "providers.md",
                "contract.md",
                "security.md",
                "ux.md",
                "decisions.md",
                "badinputs.md",
                "reliability.md",
                "language.md",
            ] {
                let bare = |at: usize| !file.text[..at].ends_with(['/', '_', '-']);
                if file.text.match_indices(name).any(|(at, _)| bare(at)) {
                    found.push(format!("{}: {name}", file.path));
                }
            }
        }
    }
    fail_on("documents that are not in the repository", &found);
}

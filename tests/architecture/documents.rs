//! The documents name tests, files and modules of the code. What they name exists, so that a reader finds it.

use std::collections::BTreeSet;
use std::fs;

use crate::fail_on;
use crate::source_file::workspace_root;

/// The bound on the lines of `docs/ARCHITECTURE.md`: a reader takes it in at one sitting.
const ARCHITECTURE_LINES: usize = 250;

/// The rows of levels 1 and 2 in the chapters of OWASP ASVS 5.0.0 that `docs/reference/asvs.md` answers.
const VERIFICATION_ROWS: usize = 96;

/// The short forms of module paths in `docs/ARCHITECTURE.md`, with the folders that they stand for.
const SHORT_PATHS: &[(&str, &str)] = &[
    ("chat_builder", "src/interchange/chat_builder"),
    ("cli", "src/server/cli"),
    ("http", "src/server/http"),
    ("imports", "src/service/transfer/imports"),
    ("xtask", "xtask/src"),
];

/// A file that a document cites, with the tests that it names in it.
#[derive(Debug, PartialEq, Eq)]
struct CitedFile {
    path: String,
    tests: Vec<String>,
}

/// Reads a file of the repository; `None` if there is no such file.
fn read(path: &str) -> Option<String> {
    fs::read_to_string(workspace_root().join(path)).ok()
}

/// Returns the rows of the tables of a Markdown text, as their cells.
fn table_rows(markdown: &str) -> Vec<Vec<String>> {
    let rows = markdown.lines().filter(|line| line.starts_with("| "));
    rows.map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// Returns what stands between these marks, in order: the mark and the text.
fn marked_texts<'t>(text: &'t str, marks: &[char]) -> Vec<(char, &'t str)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(marks) {
        let mark = rest[start..].chars().next().unwrap_or_default();
        let behind = &rest[start + mark.len_utf8()..];
        let Some((inside, after)) = behind.split_once(mark) else { break };
        found.push((mark, inside));
        rest = after;
    }
    found
}

/// Returns the files that a cell cites in backticks, each with the tests that follow it: in quotation marks, or for
/// Rust in backticks. Commands and wildcards are no files.
fn cited_files(cell: &str) -> Vec<CitedFile> {
    let mut found: Vec<CitedFile> = Vec::new();
    for (mark, text) in marked_texts(cell, &['`', '"']) {
        let is_file = mark == '`' && (text.contains('/') || text.ends_with(".rs"));
        let is_test_of = |file: &CitedFile| mark == '"' || file.path.ends_with(".rs");
        if is_file && !text.contains([' ', '*']) {
            found.push(CitedFile { path: text.to_owned(), tests: Vec::new() });
        } else if let Some(file) = found.last_mut().filter(|file| !is_file && is_test_of(file)) {
            file.tests.push(text.to_owned());
        }
    }
    found
}

/// Returns the rows of an acceptance list: the number and the last cell.
fn acceptance_rows(document: &str) -> Vec<(String, String)> {
    let text = read(document).expect(document);
    let rows = table_rows(&text).into_iter().filter(|cells| cells[0].starts_with("UX-"));
    rows.map(|cells| (cells[0].clone(), cells.last().cloned().unwrap_or_default())).collect()
}

/// Returns the comment at the top of a file.
fn header(text: &str) -> String {
    text.lines().take_while(|line| line.starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn acceptance_lists_have_same_rows() {
    let numbers = |document: &str| acceptance_rows(document).into_iter().map(|(row, _)| row).collect::<Vec<_>>();
    let rows = numbers("docs/acceptance.md");
    assert!(rows.len() > 40, "{rows:?}");
    assert_eq!(rows, numbers("docs/reference/ux.md"));
}

#[test]
fn acceptance_rows_name_existing_tests() {
    let mut found = Vec::new();
    for (row, cell) in acceptance_rows("docs/acceptance.md") {
        for file in cited_files(&cell) {
            let is_rust = file.path.ends_with(".rs");
            let path = if is_rust { file.path.clone() } else { format!("end2end/tests/{}.spec.ts", file.path) };
            let Some(text) = read(&path) else {
                found.push(format!("{row}: no {path}"));
                continue;
            };
            if !is_rust && !header(&text).contains(&row) {
                found.push(format!("{row}: {path} does not name its row at its top"));
            }
            for test in file.tests {
                let declared = if is_rust { format!("fn {test}(") } else { format!("test(\"{test}") };
                if !text.contains(&declared) {
                    found.push(format!("{row}: {path} has no test \"{test}\""));
                }
            }
        }
    }
    fail_on("acceptance tests that are not there", &found);
}

#[test]
fn browser_tests_name_existing_acceptance_rows() {
    let rows: BTreeSet<String> = acceptance_rows("docs/acceptance.md").into_iter().map(|(row, _)| row).collect();
    let mut found = Vec::new();
    let mut files = 0;
    for folder in ["hydrate", "no-script", "pictures"] {
        let entries = fs::read_dir(workspace_root().join("end2end/tests").join(folder)).expect(folder);
        for path in entries.flatten().map(|entry| entry.path()) {
            files += 1;
            let text = fs::read_to_string(&path).expect("a test is UTF-8");
            let top = header(&text);
            for (at, _) in top.match_indices("UX-") {
                let row: String = top[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
                if !rows.contains(&row) {
                    found.push(format!("{}: {row}", path.display()));
                }
            }
        }
    }
    assert!(files > 60, "{files}");
    fail_on("rows that are not in docs/acceptance.md", &found);
}

#[test]
fn architecture_document_is_short() {
    let lines = read("docs/ARCHITECTURE.md").expect("docs/ARCHITECTURE.md").lines().count();
    assert!(lines <= ARCHITECTURE_LINES, "docs/ARCHITECTURE.md has {lines} lines, {ARCHITECTURE_LINES} are allowed");
}

#[test]
fn invariants_name_existing_tests() {
    let text = read("docs/ARCHITECTURE.md").expect("docs/ARCHITECTURE.md");
    let (_, section) = text.split_once("\n## 5. Invariants\n").expect("section 5");
    let (section, _) = section.split_once("\n## ").expect("section 6");
    let rows = table_rows(section);
    assert!(rows.len() > 10, "{rows:?}");
    let mut found = Vec::new();
    for cells in rows.iter().skip(1) {
        assert_eq!(cells.len(), 2, "{cells:?}");
        let (invariant, files) = (&cells[0], cited_files(&cells[1]));
        if files.is_empty() {
            found.push(format!("{invariant}: no test"));
        }
        found.extend(missing_citations(invariant, &files));
    }
    fail_on("invariants without a test", &found);
}

/// Returns what a row cites that is not there: files, and tests or other functions of Rust files.
fn missing_citations(row: &str, files: &[CitedFile]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let Some(text) = read(&file.path) else {
            found.push(format!("{row}: no {}", file.path));
            continue;
        };
        let missing = file.tests.iter().filter(|test| !text.contains(&format!("fn {test}(")));
        found.extend(missing.map(|test| format!("{row}: {} has no test `{test}`", file.path)));
    }
    found
}

#[test]
fn verification_rows_name_existing_tests() {
    let text = read("docs/reference/asvs.md").expect("docs/reference/asvs.md");
    let is_number = |cell: &str| cell.split('.').count() == 3 && cell.split('.').all(|part| part.parse::<u8>().is_ok());
    let rows: Vec<_> = table_rows(&text).into_iter().filter(|cells| is_number(&cells[0])).collect();
    let numbers: BTreeSet<&str> = rows.iter().map(|cells| cells[0].as_str()).collect();
    assert_eq!((rows.len(), numbers.len()), (VERIFICATION_ROWS, VERIFICATION_ROWS), "{numbers:?}");
    let mut found = Vec::new();
    for cells in &rows {
        let [row, level, _, answer, how, place] = cells.as_slice() else { panic!("{cells:?}") };
        let files = cited_files(place);
        let is_answered = match answer.as_str() {
            "met" => !files.is_empty(),
            "not met" | "not applicable" => !how.is_empty(),
            _ => false,
        };
        if !is_answered || !["1", "2"].contains(&level.as_str()) {
            found.push(format!("{row}: no answer"));
        }
        found.extend(missing_citations(row, &files));
    }
    fail_on("rows without an answer", &found);
}

/// Returns whether a module path leads to a folder, a file, or an item that a file names.
fn is_in_code(path: &str) -> bool {
    let parts: Vec<&str> = path.split("::").collect();
    let top = SHORT_PATHS.iter().find(|(short, _)| *short == parts[0]).map(|(_, folder)| (*folder).to_owned());
    let mut place = top.unwrap_or_else(|| format!("src/{}", parts[0]));
    for (at, part) in parts.iter().enumerate().skip(1) {
        let files = [format!("{place}.rs"), format!("{place}/lib.rs"), format!("{place}/main.rs")];
        let next = format!("{place}/{part}");
        if workspace_root().join(&next).is_dir() || workspace_root().join(format!("{next}.rs")).is_file() {
            place = next;
            continue;
        }
        let names_it = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == *part);
        return at + 1 == parts.len() && files.iter().filter_map(|file| read(file)).any(|text| names_it(&text));
    }
    true
}

#[test]
fn architecture_document_names_existing_modules() {
    let text = read("docs/ARCHITECTURE.md").expect("docs/ARCHITECTURE.md");
    let is_path = |text: &str| {
        let is_name = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        text.contains("::") && text.split("::").all(is_name) && text.starts_with(|c: char| c.is_ascii_lowercase())
    };
    let marked = text.lines().flat_map(|line| marked_texts(line, &['`']));
    let paths: BTreeSet<&str> = marked.map(|(_, text)| text).filter(|text| is_path(text)).collect();
    assert!(paths.len() > 80, "{paths:?}");
    let found: Vec<_> = paths.into_iter().filter(|path| !is_in_code(path)).map(String::from).collect();
    fail_on("modules that are not there", &found);
}

#[test]
fn every_decision_record_is_in_index() {
    let index = read("docs/adr/README.md").expect("docs/adr/README.md");
    let entries = fs::read_dir(workspace_root().join("docs/adr")).expect("docs/adr").flatten();
    let names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert!(names.len() > 50, "{names:?}");
    let found: Vec<_> =
        names.into_iter().filter(|name| name != "README.md" && !index.contains(name.as_str())).collect();
    fail_on("records that docs/adr/README.md does not list", &found);
}

#[test]
fn cited_file_has_the_tests_that_follow_it() {
    let cited = |path: &str, tests: &[&str]| CitedFile {
        path: path.into(),
        tests: tests.iter().map(|test| (*test).to_owned()).collect(),
    };
    for (cell, found) in [
        (
            "`hydrate/reply` \"a\", \"b\"; `tests/a.rs`",
            vec![cited("hydrate/reply", &["a", "b"]), cited("tests/a.rs", &[])],
        ),
        (
            "`src/a.rs` `one_is_two`, `three`; `tests/b.rs`",
            vec![cited("src/a.rs", &["one_is_two", "three"]), cited("tests/b.rs", &[])],
        ),
        ("`cargo xtask bench --fail-over 20`, `no-script/*`", vec![]),
    ] {
        assert_eq!(cited_files(cell), found, "{cell}");
    }
}

#[test]
fn unknown_module_is_reported() {
    assert!(is_in_code("store::turns") && is_in_code("http::router") && is_in_code("store::database::db::Db"));
    assert!(!is_in_code("store::no_such_module") && !is_in_code("store::no_such_module::find"));
}

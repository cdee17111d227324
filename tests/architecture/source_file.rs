//! Reads a source file as text: its code without comments and strings, the paths it names, its length. It knows only
//! as much of Rust's grammar as these questions need.

use std::fs;
use std::path::{Path, PathBuf};

use crate::dependency_rules::layer_of_path;

/// A Rust source file.
pub struct SourceFile {
    /// Path from the root of the repository, with forward slashes.
    pub path: String,
    pub text: String,
    /// The text without comments, strings and inline tests. Cut comments and strings leave their newlines.
    pub code: String,
}

/// A function that is declared `pub` without a restriction.
pub struct PublicFunction {
    pub name: String,
    /// True for a method.
    pub has_receiver: bool,
}

/// Returns the root of the repository.
pub fn workspace_root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Loads every `.rs` file under a folder, in order.
pub fn load_sources(folder: &str) -> Vec<SourceFile> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        let mut entries: Vec<_> = fs::read_dir(dir).into_iter().flatten().flatten().map(|e| e.path()).collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                walk(&path, out);
            } else if path.extension().is_some_and(|e| e == "rs") {
                out.push(path);
            }
        }
    }
    let mut paths = Vec::new();
    walk(&workspace_root().join(folder), &mut paths);
    assert!(!paths.is_empty(), "no source under {folder}");
    paths
        .into_iter()
        .map(|path| {
            let text = fs::read_to_string(&path).expect("a source file is UTF-8");
            let path = path
                .strip_prefix(workspace_root())
                .expect("inside the repository")
                .to_string_lossy()
                .replace('\\', "/");
            let code = without_inline_tests(&code_of(&text));
            SourceFile { path, text, code }
        })
        .collect()
}

/// Returns the foreign crates that the root package depends on, with their names in code.
pub fn dependencies() -> Vec<String> {
    let manifest = fs::read_to_string(workspace_root().join("Cargo.toml")).expect("Cargo.toml");
    manifest_section(&manifest, "dependencies").into_iter().filter(|name| !name.starts_with("turnleaf_")).collect()
}

/// Returns the crates of a section of a manifest, with their names in code: those for all systems, and those for one
/// (`[target.….dependencies]`).
pub fn manifest_section(manifest: &str, named: &str) -> Vec<String> {
    let sections = manifest.split("\n[").filter_map(|section| section.split_once("]\n"));
    let of_one_system = format!(".{named}");
    let ours =
        sections.filter(|(name, _)| *name == named || (name.starts_with("target.") && name.ends_with(&of_one_system)));
    let name = |line: &str| line.split(['=', '.', ' ']).next().unwrap_or_default().trim().replace('-', "_");
    let lines = ours.flat_map(|(_, section)| section.lines());
    lines.filter(|l| l.starts_with(|c: char| c.is_ascii_lowercase())).map(name).collect()
}

/// Splits `FooBarBaz` into `foo`, `bar`, `baz`.
pub fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for c in name.chars() {
        match words.last_mut() {
            Some(word) if !c.is_uppercase() => word.push(c),
            _ => words.push(c.to_lowercase().collect()),
        }
    }
    words
}

impl SourceFile {
    /// Returns whether the file contains only tests.
    pub fn is_test(&self) -> bool {
        let path = self.path.as_str();
        path.starts_with("tests/")
            || path.ends_with("/tests.rs")
            || path.ends_with("_tests.rs")
            || path.contains("/tests/")
    }

    /// Returns the number of lines without inline tests.
    pub fn production_lines(&self) -> usize {
        let cut = code_of(&self.text).lines().count() - self.code.lines().count();
        self.text.lines().count() - cut
    }

    pub fn has_word(&self, word: &str) -> bool {
        words(&self.code).any(|(_, found)| found == word)
    }

    /// Returns the layers that paths from `crate::` lead to, and the crates below `src/` that are named.
    pub fn layers_used(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (start, _) in self.code.match_indices("crate::") {
            if self.code[..start].ends_with(is_name) {
                continue;
            }
            for path in paths_after(&self.code[start + "crate::".len()..]) {
                let names: Vec<&str> = path.iter().map(String::as_str).collect();
                found.extend(layer_of_path(&names).map(String::from));
            }
        }
        let members = words(&self.code).filter_map(|(_, word)| word.strip_prefix("turnleaf_"));
        found.extend(members.map(String::from));
        found.sort();
        found.dedup();
        found
    }

    /// Returns whether a path starts with this crate, or a `use` names it.
    pub fn uses_crate(&self, name: &str) -> bool {
        // A module of this package may be imported under the name of a crate.
        if self.code.contains(&format!("::{name};")) {
            return false;
        }
        words(&self.code).filter(|(_, word)| *word == name).any(|(at, word)| {
            let before = self.code[..at].trim_end();
            let after = self.code[at + word.len()..].trim_start();
            let is_first = !before.ends_with("::") || before.ends_with(['(', '{', ',']);
            let is_crate_path = after.starts_with("::") && !before.ends_with("mod");
            is_first && is_crate_path
        })
    }

    /// Returns the `super` paths that leave the layer.
    pub fn super_paths_out_of_layer(&self, _room: &str) -> impl Iterator<Item = String> + '_ {
        let inside = self.path.trim_start_matches("src/").trim_start_matches("server/").trim_end_matches(".rs");
        // Inline modules count as one more level.
        let inline = usize::from(self.code.lines().any(|l| l.contains("mod ") && l.trim_end().ends_with('{')));
        let depth = inside.matches('/').count() + inline;
        words(&self.code).filter(|(_, word)| *word == "super").filter_map(move |(at, _)| {
            if self.code[..at].ends_with("super::") || self.code[..at].ends_with("pub(") {
                return None;
            }
            let climb: String = self.code[at..].chars().take_while(|c| is_name(*c) || *c == ':').collect();
            (climb.split("::").take_while(|part| *part == "super").count() > depth).then_some(climb)
        })
    }

    /// Returns the types that the file declares.
    pub fn type_names(&self) -> Vec<String> {
        let all: Vec<&str> = words(&self.code).map(|(_, word)| word).collect();
        let declares = |word: &str| matches!(word, "struct" | "enum" | "trait" | "type");
        let pairs = all.windows(2).filter(|pair| declares(pair[0]) && pair[1].starts_with(char::is_uppercase));
        pairs.map(|pair| pair[1].to_owned()).collect()
    }

    /// Returns the types whose names the file chooses, also those inside functions. The names of associated types are
    /// given by their trait.
    pub fn declared_type_names(&self) -> Vec<String> {
        let mut found = Vec::new();
        // For each open brace, whether it is that of a trait or of an `impl`.
        let mut is_of_trait: Vec<bool> = Vec::new();
        let mut start = 0;
        for (at, end) in self.code.match_indices(['{', '}', ';']) {
            let head = &self.code[start..at];
            // The semicolon of `[u8; 2]` ends no item.
            if end == ";" && head.matches('[').count() > head.matches(']').count() {
                continue;
            }
            start = at + 1;
            if end == "}" {
                is_of_trait.pop();
                continue;
            }
            if is_of_trait.last() != Some(&true) {
                found.extend(declared_type(head).map(str::to_owned));
            }
            if end == "{" {
                let has = |word: &str| words(head).any(|(_, found)| found == word);
                is_of_trait.push((has("impl") || has("trait")) && !has("fn"));
            }
        }
        found
    }

    /// Returns the functions that the file declares `pub` without a restriction.
    pub fn public_functions(&self) -> Vec<PublicFunction> {
        let mut found = Vec::new();
        for (at, keyword) in self.code.match_indices("fn ") {
            let before = self.code[..at].trim_end();
            let before = ["unsafe", "async", "const"]
                .iter()
                .fold(before, |rest, word| rest.strip_suffix(*word).map_or(rest, str::trim_end));
            if !before.ends_with("pub") {
                continue;
            }
            let signature = &self.code[at + keyword.len()..];
            let name: String = signature.chars().take_while(|c| is_name(*c)).collect();
            let parameters = signature.split_once('(').map_or("", |(_, rest)| rest);
            let receiver = parameters.split([',', ')']).next().unwrap_or_default();
            let has_receiver = receiver.split(|c| !is_name(c)).any(|word| word == "self");
            found.push(PublicFunction { name, has_receiver });
        }
        found
    }
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns the type that an item declares; `head` is its text up to its first brace or semicolon.
fn declared_type(head: &str) -> Option<&str> {
    let all: Vec<(usize, &str)> = words(head).collect();
    let is_declaration = |pair: &&[(usize, &str)]| {
        let ((at, keyword), (next, name)) = (pair[0], pair[1]);
        let is_apart = head[at + keyword.len()..next].trim().is_empty();
        matches!(keyword, "struct" | "enum" | "trait" | "type") && is_apart && name.starts_with(char::is_uppercase)
    };
    all.windows(2).find(is_declaration).map(|pair| pair[1].1)
}

/// Returns every name in the code with its offset.
fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    code.split(|c| !is_name(c)).filter(|w| !w.is_empty()).map(|w| (w.as_ptr() as usize - code.as_ptr() as usize, w))
}

/// Returns the paths at the start of a text: one, or those of `a::{b, c::d}`.
pub fn paths_after(code: &str) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    use_tree(code.as_bytes(), &mut 0, &mut Vec::new(), &mut paths);
    paths
}

/// Expands `a::{b, c::d}` into its paths.
fn use_tree(code: &[u8], at: &mut usize, prefix: &mut Vec<String>, out: &mut Vec<Vec<String>>) {
    let depth = prefix.len();
    loop {
        while code.get(*at).is_some_and(u8::is_ascii_whitespace) {
            *at += 1;
        }
        if code.get(*at) == Some(&b'{') {
            *at += 1;
            while !matches!(code.get(*at), None | Some(b'}')) {
                use_tree(code, at, prefix, out);
                while code.get(*at).is_some_and(|b| b.is_ascii_whitespace() || *b == b',') {
                    *at += 1;
                }
            }
            *at += 1;
            break;
        }
        let start = *at;
        while code.get(*at).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_') {
            *at += 1;
        }
        if start == *at {
            // This is not a name: `*`, or the end of an expression.
            *at += usize::from(code.get(*at) == Some(&b'*'));
            out.push(prefix.clone());
            break;
        }
        prefix.push(String::from_utf8_lossy(&code[start..*at]).into_owned());
        if code.get(*at..*at + 2) != Some(b"::") {
            out.push(prefix.clone());
            // `as name` belongs to this path.
            while !matches!(code.get(*at), None | Some(b',' | b'}' | b';' | b'{' | b'(')) {
                *at += 1;
            }
            break;
        }
        *at += 2;
    }
    prefix.truncate(depth);
}

/// Returns the text without comments, strings and character literals; newlines stay.
fn code_of(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if rest.starts_with("r\"")
            || rest.starts_with("r#") && rest[1..].trim_start_matches('#').starts_with('"')
        {
            let hashes = rest[1..].bytes().take_while(|b| *b == b'#').count();
            let close = format!("\"{}", "#".repeat(hashes));
            rest[hashes + 2..].find(&close).map_or(rest.len(), |end| hashes + 2 + end + close.len())
        } else if rest.starts_with('"') {
            quoted(rest, b'"')
        } else if rest.starts_with("'\\") || rest.starts_with('\'') && rest.chars().nth(2) == Some('\'') {
            quoted(rest, b'\'')
        } else {
            let c = rest.chars().next().map_or(1, char::len_utf8);
            out.push_str(&rest[..c]);
            at += c;
            continue;
        };
        out.extend(rest[..end].chars().filter(|c| *c == '\n'));
        at += end;
    }
    out
}

/// Returns the length of a quoted literal with its quotes.
fn quoted(rest: &str, quote: u8) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// Returns the code without `#[cfg(test)] mod … { … }`, including its lines.
fn without_inline_tests(code: &str) -> String {
    let Some(start) = code.find("#[cfg(test)]\nmod ") else { return code.to_owned() };
    let (Some(open), semicolon) = (code[start..].find('{'), code[start..].find(';')) else { return code.to_owned() };
    if semicolon.is_some_and(|end| end < open) {
        return code.to_owned();
    }
    let mut depth = 0usize;
    for (at, c) in code[start + open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return format!("{}{}", &code[..start], &code[start + open + at + 1..]);
        }
    }
    code.to_owned()
}

//! Import cycles between files: to understand one of them, one has to read all of them. An edge runs from a file to
//! another of its crate whose items it names. `mod x;` and `pub use x::Y;` make no edge, and a re-exported name
//! resolves to the file that declares it.

use std::collections::{BTreeMap, BTreeSet};

use crate::source_file::{SourceFile, paths_after};

/// A module path as its segments.
type ModulePath = Vec<String>;

/// The files of one crate and the paths that each names.
pub struct CrateGraph<'a> {
    files: BTreeMap<ModulePath, &'a SourceFile>,
    /// Re-exports: the file and the name, with the target path.
    handed_on: BTreeMap<(ModulePath, String), ModulePath>,
    /// Re-exports of whole crates under another name (`pub use a as b`).
    renamed: BTreeSet<(ModulePath, String)>,
    named: BTreeMap<ModulePath, Vec<ModulePath>>,
}

impl<'a> CrateGraph<'a> {
    /// Reads the files below `top`, such as `src/store`.
    pub fn from_sources(top: &str, files: impl Iterator<Item = &'a SourceFile>) -> Self {
        let module = |file: &SourceFile| -> ModulePath {
            let inside = file.path.trim_start_matches(top).trim_start_matches('/').trim_end_matches(".rs");
            if inside == "lib" { ModulePath::new() } else { inside.split('/').map(String::from).collect() }
        };
        let files: BTreeMap<ModulePath, &SourceFile> = files.map(|file| (module(file), file)).collect();
        let mut read = Self { files, handed_on: BTreeMap::new(), renamed: BTreeSet::new(), named: BTreeMap::new() };
        for module in read.files.keys().cloned().collect::<Vec<_>>() {
            read.read_file(&module);
        }
        read
    }

    fn read_file(&mut self, module: &ModulePath) {
        let code = &self.files[module].code;
        let mut named = Vec::new();
        let renamed = code.lines().filter_map(|line| line.trim().strip_prefix("pub use ")?.split_once(" as "));
        self.renamed.extend(
            renamed
                .filter(|(from, _)| !from.contains(':'))
                .map(|(_, name)| (module.clone(), name.trim_end_matches(';').to_owned())),
        );
        for (at, base) in path_starts(code, module, |child| self.files.contains_key(child)) {
            let is_handed_on = is_public_use(&code[..at]);
            for mut path in paths_after(&code[base.end..]) {
                let mut from = base.module.clone();
                while path.first().is_some_and(|name| name == "super") {
                    path.remove(0);
                    from.pop();
                }
                from.extend(path);
                match from.last().cloned() {
                    Some(name) if is_handed_on => {
                        self.handed_on.insert((module.clone(), name), from);
                    }
                    _ => named.push(from),
                }
            }
        }
        self.named.insert(module.clone(), named);
    }

    /// Resolves a path to a file, following re-exports.
    fn file_of(&self, path: &ModulePath, seen: &mut BTreeSet<(ModulePath, String)>) -> Option<ModulePath> {
        let file = (0..=path.len()).rev().map(|end| path[..end].to_vec()).find(|file| self.files.contains_key(file))?;
        let Some(name) = path.get(file.len()) else { return Some(file) };
        let key = (file.clone(), name.clone());
        match self.handed_on.get(&key) {
            _ if self.renamed.contains(&key) => None,
            Some(target) if seen.insert(key.clone()) => {
                let whole = target.iter().chain(&path[file.len() + 1..]).cloned().collect();
                self.file_of(&whole, seen)
            }
            _ => Some(file),
        }
    }

    /// Returns every cycle as the paths of its files.
    pub fn cycles(&self) -> Vec<Vec<&'a str>> {
        let numbers: BTreeMap<&ModulePath, usize> =
            self.files.keys().enumerate().map(|(at, file)| (file, at)).collect();
        let arrows: Vec<BTreeSet<usize>> = self
            .files
            .keys()
            .map(|file| {
                let ends = self.named[file].iter().filter_map(|path| self.file_of(path, &mut BTreeSet::new()));
                ends.filter(|end| end != file).map(|end| numbers[&end]).collect()
            })
            .collect();
        let reached: Vec<Vec<bool>> = (0..arrows.len()).map(|file| reachable(&arrows, file)).collect();
        let paths: Vec<&str> = self.files.values().map(|file| file.path.as_str()).collect();
        let in_circle = (0..paths.len()).filter(|file| reached[*file][*file]);
        let circles: BTreeSet<Vec<&str>> = in_circle
            .map(|file| {
                let with = (0..paths.len()).filter(|other| reached[file][*other] && reached[*other][file]);
                with.map(|other| paths[other]).collect()
            })
            .collect();
        circles.into_iter().collect()
    }
}

/// Returns which files are reachable from a file.
fn reachable(arrows: &[BTreeSet<usize>], from: usize) -> Vec<bool> {
    let mut found = vec![false; arrows.len()];
    let mut open = vec![from];
    while let Some(file) = open.pop() {
        for &end in &arrows[file] {
            if !std::mem::replace(&mut found[end], true) {
                open.push(end);
            }
        }
    }
    found
}

/// The start of a path that stays in the crate.
struct PathStart {
    /// The module that the path starts in.
    module: ModulePath,
    /// The offset of the rest of the path.
    end: usize,
}

/// Finds the starts of the paths in a file: `crate::`, `super::`, `self::` and the names of its own modules.
fn path_starts(code: &str, module: &ModulePath, is_file: impl Fn(&ModulePath) -> bool) -> Vec<(usize, PathStart)> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for (colons, _) in code.match_indices("::") {
        let before = &code[..colons];
        let start =
            before.rfind(|c| !is_name(c)).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        let name = &before[start..];
        if name.is_empty() || code[..start].ends_with(':') {
            continue;
        }
        let child: ModulePath = module.iter().cloned().chain([name.to_owned()]).collect();
        let (module, end) = match name {
            "crate" => (ModulePath::new(), colons + 2),
            "super" => (module[..module.len().saturating_sub(1)].to_vec(), colons + 2),
            "self" => (module.clone(), colons + 2),
            _ if is_file(&child) && !is_in_group(&code[..start]) => (module.clone(), start),
            _ => continue,
        };
        found.push((start, PathStart { module, end }));
    }
    found
}

/// Returns whether the code ends inside the braces of a `use`, so that the next name is part of a longer path.
fn is_in_group(before: &str) -> bool {
    let statement = before.rsplit(';').next().unwrap_or_default();
    let uses =
        statement.rfind("use ").filter(|at| !statement[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '_'));
    uses.is_some_and(|at| statement[at..].contains("::{"))
}

/// Returns whether the next path belongs to a `pub use`.
fn is_public_use(before: &str) -> bool {
    let Some(before) = before.trim_end().strip_suffix("use") else { return false };
    let before = before.trim_end();
    before.ends_with("pub")
        || before.ends_with(')') && before.rsplit_once("pub(").is_some_and(|(_, rest)| !rest.contains(';'))
}

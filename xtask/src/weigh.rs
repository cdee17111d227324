//! `cargo xtask weigh`: the size of the parts of the release binary, read from its symbols: sections, the code by
//! crate and by room, and generic families, of which the compiler creates one copy per set of types.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use object::{Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

use crate::front::{self, FrontProfile};
use crate::server;
use crate::step::{format_size, run_step};

/// The size of a group, and its number of functions.
#[derive(Default, Clone, Copy)]
struct Weight {
    bytes: u64,
    functions: u64,
}

/// Links the release again with its symbols, and prints the tables.
///
/// # Errors
/// The compiler reports an error, or its output cannot be read.
pub fn run(rows: usize) -> Result<()> {
    let front = front::build_front(FrontProfile::Release)?;
    // Only the last crate is recompiled; everything below it is that of the release.
    run_step("link the server with its symbols", || {
        server::link_server(&front, server::CargoProfile::Release, &["-Cstrip=none"])
    })?;
    let binary = server::CargoProfile::Release.binary();
    let bytes = fs::read(&binary).with_context(|| binary.display().to_string())?;
    let file = object::File::parse(&*bytes)?;

    println!("\n{:<28}{:>12}", "section", "size");
    let mut sections: Vec<_> = file.sections().filter(is_loaded).collect();
    sections.sort_by_key(|section| std::cmp::Reverse(section.size()));
    for section in sections.iter().filter(|section| section.size() >= 10_000) {
        println!("{:<28}{:>12}", section.name().unwrap_or("?"), format_size(section.size()));
    }

    let functions: Vec<(String, u64)> = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
        .map(|symbol| (format!("{:#}", rustc_demangle::demangle(symbol.name().unwrap_or_default())), symbol.size()))
        .collect();
    table("crate", rows, functions.iter().map(|(name, bytes)| (crate_of(name), *bytes)));
    table("room", rows, functions.iter().filter_map(|(name, bytes)| Some((layer_of(name)?, *bytes))));
    table("generic family", rows, functions.iter().map(|(name, bytes)| (family_of(name), *bytes)));
    Ok(())
}

fn is_loaded<'a>(section: &impl ObjectSection<'a>) -> bool {
    !matches!(
        section.kind(),
        SectionKind::Metadata | SectionKind::Debug | SectionKind::DebugString | SectionKind::Other
    )
}

/// Prints the largest groups.
fn table(head: &str, rows: usize, weights: impl Iterator<Item = (String, u64)>) {
    let mut groups: BTreeMap<String, Weight> = BTreeMap::new();
    for (name, bytes) in weights {
        let group = groups.entry(name).or_default();
        group.bytes += bytes;
        group.functions += 1;
    }
    let total: u64 = groups.values().map(|group| group.bytes).sum();
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.bytes));
    println!("\n{head:<72}{:>10}{:>10}{:>8}", "size", "functions", "share");
    for (name, Weight { bytes, functions }) in groups.iter().take(rows) {
        let share = *bytes as f64 * 100.0 / total.max(1) as f64;
        let name: String = name.chars().take(70).collect();
        println!("{name:<72}{:>10}{functions:>10}{share:>7.1}%", format_size(*bytes));
    }
    println!("{:<72}{:>10}", "all", format_size(total));
}

/// Returns the names at the beginning of a path: those of `<a::B as c::D>::e` are `a`, `B`; references and the like
/// are skipped.
fn path_of(name: &str) -> impl Iterator<Item = &str> {
    let name = name.trim_start_matches(|c: char| !c.is_alphabetic() && c != '_');
    let name = ["mut ", "dyn ", "const "].iter().fold(name, |name, word| name.trim_start_matches(word));
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(name.len());
    name[..end].split("::").filter(|part| !part.is_empty())
}

fn crate_of(name: &str) -> String {
    // C symbols have no paths.
    let is_path = name.contains("::");
    if is_path { path_of(name).next().unwrap_or("?").to_owned() } else { "(C and assembler)".to_owned() }
}

/// Returns the crate and room of our own functions.
fn layer_of(name: &str) -> Option<String> {
    let path: Vec<&str> = path_of(name).take(4).collect();
    let depth = match *path.first()? {
        // The rooms of the server are one level deeper.
        "turnleaf" if path.get(1) == Some(&"server") => 3,
        "turnleaf" => 2,
        name if name.starts_with("turnleaf_") => 2,
        _ => return None,
    };
    Some(path[..path.len().min(depth)].join("::"))
}

/// Returns the name without its generic arguments.
fn family_of(name: &str) -> String {
    let mut depth = 0usize;
    let mut out = String::new();
    let mut before = ' ';
    for (at, c) in name.char_indices() {
        match c {
            // A type at the beginning belongs to the name: `<a as b>::c`.
            '<' if at == 0 => out.push(c),
            '<' => depth += 1,
            '>' if before == '-' => {}
            '>' if depth > 0 => depth -= 1,
            _ if depth == 0 => out.push(c),
            _ => {}
        }
        before = c;
    }
    out.replace("::{closure#0}", "").replace("::{{closure}}", "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_belong_to_crate_and_layer_of_their_path() {
        let cases = [
            ("turnleaf_store::turns::read", "turnleaf_store", Some("turnleaf_store::turns")),
            (
                "<turnleaf::server::http::chats::api::Body as serde::Serialize>::serialize",
                "turnleaf",
                Some("turnleaf::server::http"),
            ),
            ("turnleaf::ui::app::App", "turnleaf", Some("turnleaf::ui")),
            ("<&mut alloc::vec::Vec<u8> as core::fmt::Write>::write_str", "alloc", None),
            ("sqlite3_step", "(C and assembler)", None),
        ];
        for (name, owner, room) in cases {
            assert_eq!((crate_of(name).as_str(), layer_of(name).as_deref()), (owner, room), "{name}");
        }
    }

    #[test]
    fn copies_of_generic_function_are_one_family() {
        let copies = ["core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place<fn() -> u8>"];
        assert!(copies.iter().all(|name| family_of(name) == "core::ptr::drop_in_place"), "{:?}", copies.map(family_of));
        assert_eq!(family_of("<a::B<u8> as c::D<u8>>::e::{{closure}}"), "<a::B as c::D>::e");
    }
}

//! The linker script of a release: first the functions that `cargo xtask order` has recorded
//! (`src/server/link/startup_functions.br`, a pattern of names a line), then the order of `src/server/link/code_order.ld`.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::workspace;

/// The length of a hash with its mark: `17h`, 16 digits, `E`.
pub const HASH: usize = 20;

/// Returns the path of the compressed list.
pub fn list_file() -> PathBuf {
    workspace::root().join("src/server/link/startup_functions.br")
}

/// Returns a mangled name without its hash; `None` if it has none, as those of C.
pub fn without_hash(name: &str) -> Option<&str> {
    let end = name.find(".llvm.").unwrap_or(name.len());
    let cut = end.checked_sub(HASH)?;
    let hash = name.get(cut..end)?.strip_prefix("17h")?.strip_suffix('E')?;
    hash.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| &name[..cut])
}

/// Returns the script: the listed functions, those whose names differ from them in the hash only, and then the sections of
/// `others`. The compiler has sections of their own for functions that it takes for unlikely.
fn script(list: &[&str], others: &str) -> String {
    let sections = |names: &[String]| {
        let sections = names.iter().flat_map(|name| ["", "unlikely."].map(|kind| format!(".text.{kind}{name}")));
        sections.collect::<Vec<_>>().join("\n    ")
    };
    let exact: Vec<String> = list.iter().map(|name| (*name).to_owned()).collect();
    let families: BTreeSet<String> = list
        .iter()
        .filter_map(|name| without_hash(name.strip_suffix('*')?))
        .map(|family| format!("{family}17h*"))
        .collect();
    let families: Vec<String> = families.into_iter().collect();
    let (exact, families) = (sections(&exact), sections(&families));
    let first =
        format!("SECTIONS {{\n  .text.startup_set : {{ *({exact}) }}\n  .text.startup_like : {{ *({families}) }}\n");
    others.replacen("SECTIONS {\n", &first, 1)
}

/// Writes the script, and returns its path.
///
/// # Errors
/// The list cannot be read, or the script cannot be written.
pub fn write() -> Result<PathBuf> {
    let list = read_list()?;
    let others = fs::read_to_string(workspace::root().join("src/server/link/code_order.ld"))?;
    let script = script(&list.lines().collect::<Vec<_>>(), &others);
    // Cargo links again only if a flag has changed.
    let mut hasher = DefaultHasher::new();
    script.hash(&mut hasher);
    let path = workspace::target().join(format!("code_order_{:016x}.ld", hasher.finish()));
    fs::create_dir_all(workspace::target())?;
    fs::write(&path, script)?;
    Ok(path)
}

fn read_list() -> Result<String> {
    let mut list = Vec::new();
    let compressed = fs::read(list_file()).with_context(|| list_file().display().to_string())?;
    brotli::BrotliDecompress(&mut &*compressed, &mut list)?;
    Ok(String::from_utf8(list)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_cut_from_names_of_rust_only() {
        for (name, expected) in [
            ("_ZN3one17h0123456789abcdefE", Some("_ZN3one")),
            ("_ZN3one17h0123456789abcdefE.llvm.123", Some("_ZN3one")),
            ("_ZN3one17h0123456789abcdegE", None),
            ("sqlite3_step", None),
            ("E", None),
        ] {
            assert_eq!(without_hash(name), expected, "{name}");
        }
    }

    #[test]
    fn listed_functions_come_first_and_then_those_of_same_name() {
        let list = ["_ZN3one17h*", "_ZN3two17h0123456789abcdefE*", "memcpy"];
        let script = script(&list, "/* Others. */\nSECTIONS {\n  rest\n}\n");
        let (set, like) = script.split_once(".text.startup_like").unwrap();
        assert!(set.starts_with("/* Others. */\nSECTIONS {\n"), "{script}");
        for name in
            [".text._ZN3one17h*", ".text.unlikely._ZN3one17h*", ".text._ZN3two17h0123456789abcdefE*", ".text.memcpy"]
        {
            assert!(set.contains(name), "{name}: {set}");
        }
        assert!(like.contains(".text._ZN3two17h*") && !like.contains("one") && like.ends_with("  rest\n}\n"), "{like}");
    }

    #[test]
    fn embedded_list_names_functions() {
        let list = read_list().unwrap();
        let is_whole = list.lines().count() > 1_000 && list.lines().any(|name| name == "main");
        assert!(is_whole, "`cargo xtask order` writes the list");
        assert!(list.lines().all(|name| !name.contains([' ', '(', ')', '{', '}', '"'])));
    }
}

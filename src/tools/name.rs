//! Wire names of tools: valid for every provider and unique for each tool.

use sha2::{Digest, Sha256};

use turnleaf_domain::limits;
use turnleaf_domain::tools::tool::is_wire_name;
use turnleaf_platform::hex::hex;

/// Length of the hash suffix, in characters, that keeps altered names distinct.
const MARK: usize = 6;

/// Returns the name of a tool for a model: `tool` for a built-in one, `server__tool` for one of a server. If
/// providers would reject that name, invalid characters become `_` and a hash of the real name is appended.
pub fn wire_name(server: Option<&str>, tool: &str) -> String {
    let plain = server.map_or_else(|| tool.to_owned(), |server| format!("{server}__{tool}"));
    if is_wire_name(&plain) {
        return plain;
    }
    let full = format!("{}/{tool}", server.unwrap_or_default());
    let digest = Sha256::digest(full.as_bytes());
    let mark = hex(&digest[..MARK / 2]);
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    let kept: String = plain.chars().take(limits::TOOL_NAME_CHARS - MARK - 1).map(fits).collect();
    format!("{kept}_{mark}")
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn valid_names_stay_and_others_are_made_valid() {
        assert_eq!(wire_name(None, "calculator"), "calculator");
        assert_eq!(wire_name(Some("files"), "read_file"), "files__read_file");
        for tool in ["a b", "../x", "名前", "", &"x".repeat(200), "a/b", "a.b"] {
            let name = wire_name(Some("files"), tool);
            assert!(is_wire_name(&name), "{tool:?}: {name}");
        }
    }

    #[test]
    fn different_tools_have_different_names() {
        let long = "x".repeat(100);
        let all = [
            (None, "a b"),
            (None, "a.b"),
            (None, "__proto__"),
            (Some("files"), "a b"),
            (Some("files"), "a.b"),
            (Some("other"), "a.b"),
            (Some("files"), &long as &str),
            (Some("files"), &format!("{long}y")),
        ];
        let names: HashSet<String> = all.iter().map(|(server, tool)| wire_name(*server, tool)).collect();
        assert_eq!(names.len(), all.len(), "{names:?}");
    }
}

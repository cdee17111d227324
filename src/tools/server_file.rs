//! Reads the files in which other programs keep their tool servers: `mcpServers` of Claude, Cursor, Cline, Windsurf and
//! Gemini CLI, `servers` of VS Code, `context_servers` of Zed, and excerpts of them, as readmes show them. What is not
//! understood is reported. Nothing is connected or started here.
//!
//! `relaxed_json` reads JSON with comments, `entry` one server, `remote_proxy` programs that only forward to an
//! address, `template` texts with variables.

mod entry;
mod file_server;
mod relaxed_json;
mod remote_proxy;
mod template;

use serde_json::{Map, Value};

pub use self::file_server::{FileServer, FileTransport};
pub use self::relaxed_json::parse_relaxed_json;
pub use self::template::{Template, TemplateVariable, VariableSource};
use turnleaf_domain::{CodedMessage, MessageCode, limits};

/// The members of a file that contain servers.
const SECTIONS: [&str; 4] = ["mcpServers", "servers", "context_servers", "amp.mcpServers"];
/// The member that contains either a section or, in files of opencode, servers.
const OUTER: &str = "mcp";
/// The member with the definitions of `${input:…}`.
const INPUTS: &str = "inputs";

/// The servers of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerFile {
    /// In the order of the file, at most [`limits::TOOL_SERVERS_READ`].
    pub servers: Vec<FileServer>,
    /// The number of servers beyond the limit.
    pub not_read: usize,
    pub inputs: Vec<InputDefinition>,
    /// The members of the file that contain no servers.
    pub unused_members: Vec<String>,
}

/// The definition of a value that the program asks a person for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InputDefinition {
    pub id: String,
    pub description: Option<String>,
    pub default: Option<String>,
}

/// Reads a file.
///
/// # Errors
/// The text is too long, is not JSON (the message has the line), or contains no servers.
pub fn parse_server_file(text: &str) -> Result<ServerFile, CodedMessage> {
    if text.len() > limits::TOOL_SERVER_FILE_BYTES {
        return Err(MessageCode::SizeLimit.with("limit", format!("{} KiB", limits::TOOL_SERVER_FILE_BYTES >> 10)));
    }
    let Value::Object(root) = parse_relaxed_json(text)? else { return Err(MessageCode::NoServersInFile.into()) };
    let FileSections { entries, inputs, unused_members } = find_sections(root).ok_or(MessageCode::NoServersInFile)?;
    let not_read = entries.len().saturating_sub(limits::TOOL_SERVERS_READ);
    let servers: Vec<FileServer> = entries
        .into_iter()
        .take(limits::TOOL_SERVERS_READ)
        .map(|(name, value)| entry::read_entry(name, value))
        .collect();
    Ok(ServerFile { servers, not_read, inputs: read_inputs(inputs), unused_members })
}

/// The parts of a file, not yet read.
#[derive(Default)]
struct FileSections {
    entries: Vec<(String, Value)>,
    inputs: Option<Value>,
    unused_members: Vec<String>,
}

/// Finds the servers: in their sections; in a bare map of servers; or in one bare server.
fn find_sections(root: Map<String, Value>) -> Option<FileSections> {
    let has_section = root.keys().any(|key| SECTIONS.contains(&key.as_str()) || key == OUTER);
    if !has_section {
        if entry::looks_like_server(&root) {
            let entries = vec![(String::new(), Value::Object(root))];
            return Some(FileSections { entries, ..FileSections::default() });
        }
        return split_bare_map(root);
    }
    let mut found = FileSections::default();
    for (key, value) in root {
        match (key.as_str(), value) {
            (section, value) if SECTIONS.contains(&section) => found.entries.extend(entries_of(value)),
            (OUTER, Value::Object(outer)) => {
                let Some(inner) = find_sections(outer) else {
                    found.unused_members.push(key);
                    continue;
                };
                found.entries.extend(inner.entries);
                found.inputs = found.inputs.or(inner.inputs);
                found.unused_members.extend(inner.unused_members.into_iter().map(|name| format!("{OUTER}.{name}")));
            }
            (INPUTS, value) => found.inputs = Some(value),
            ("$schema", _) => {}
            _ => found.unused_members.push(key),
        }
    }
    (!found.entries.is_empty()).then_some(found)
}

/// Splits a map in which some members are servers. The others are reported.
fn split_bare_map(root: Map<String, Value>) -> Option<FileSections> {
    let mut found = FileSections::default();
    for (key, value) in root {
        match value {
            Value::Object(members) if entry::looks_like_server(&members) => {
                found.entries.push((key, Value::Object(members)));
            }
            value if key == INPUTS => found.inputs = Some(value),
            _ => found.unused_members.push(key),
        }
    }
    (!found.entries.is_empty()).then_some(found)
}

/// Returns the servers of a section: a map by name, or a list of servers with names.
fn entries_of(section: Value) -> Vec<(String, Value)> {
    match section {
        Value::Object(servers) => servers.into_iter().collect(),
        Value::Array(servers) => servers.into_iter().map(|server| (String::new(), server)).collect(),
        _ => Vec::new(),
    }
}

fn read_inputs(inputs: Option<Value>) -> Vec<InputDefinition> {
    let Some(Value::Array(inputs)) = inputs else { return Vec::new() };
    let definition = |input: Value| {
        let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(InputDefinition { id: text("id")?, description: text("description"), default: text("default") })
    };
    inputs.into_iter().filter_map(definition).collect()
}

#[cfg(test)]
mod tests;

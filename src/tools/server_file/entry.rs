//! One server of a file. Programs name the same things differently; what has no counterpart here is reported.

use serde_json::{Map, Value};

use super::file_server::{FileServer, FileTransport};
use super::remote_proxy::remote_target;
use super::template::Template;
use turnleaf_domain::{CodedMessage, MessageCode, limits};

const URL: [&str; 4] = ["url", "httpUrl", "serverUrl", "baseUrl"];
const COMMAND: &str = "command";
const ARGUMENTS: &str = "args";
const ENVIRONMENT: [&str; 2] = ["env", "environment"];
const FOLDER: [&str; 2] = ["cwd", "workingDirectory"];
const KIND: [&str; 3] = ["type", "transport", "transportType"];
const DISABLED: &str = "disabled";
const ENABLED: [&str; 2] = ["enabled", "isActive"];
const TIMEOUT: &str = "timeout";
/// Members that say nothing that an import could lose.
const IGNORED: [&str; 2] = ["source", "$schema"];

/// The largest timeout that is in seconds: Cline allows an hour. Larger ones are in milliseconds, as in files of Claude
/// Code and Gemini CLI.
const MOST_SECONDS: u64 = 3_600;

/// Returns true if an object describes a server.
pub fn looks_like_server(members: &Map<String, Value>) -> bool {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let has_url = URL.iter().any(|key| members.get(*key).is_some_and(is_text));
    let has_command = match members.get(COMMAND) {
        Some(Value::Array(argv)) => argv.first().is_some_and(is_text),
        Some(Value::Object(command)) => command.get("path").is_some_and(is_text),
        other => other.is_some_and(is_text),
    };
    has_url || has_command
}

/// Reads a server. An empty name stands for a server without one.
pub fn read_entry(name: String, value: Value) -> FileServer {
    let Value::Object(members) = value else {
        return FileServer {
            name,
            transport: Err(MessageCode::NoServerAddress.into()),
            is_enabled: true,
            total_seconds: None,
            unused_members: Vec::new(),
        };
    };
    let mut members = EntryMembers(members);
    let own_name = members.take(&["name"]).and_then(|(_, name)| name.as_str().map(str::to_owned));
    let name = own_name.filter(|own| !own.trim().is_empty()).unwrap_or(name);
    let is_disabled = members.take(&[DISABLED]).is_some_and(|(_, value)| value == Value::Bool(true))
        || members.take(&ENABLED).is_some_and(|(_, value)| value == Value::Bool(false));
    let total_seconds = members.take(&[TIMEOUT]).and_then(|(_, value)| seconds(&value));
    let mut unused_members = Vec::new();
    let transport = members.transport(&mut unused_members);
    unused_members.extend(members.unused());
    FileServer { name, transport, is_enabled: !is_disabled, total_seconds, unused_members }
}

/// Returns a timeout in seconds, within the bounds of a setting.
fn seconds(timeout: &Value) -> Option<u64> {
    let number = timeout.as_u64().or_else(|| timeout.as_f64().map(|number| number.max(0.0) as u64))?;
    let seconds = if number > MOST_SECONDS { number / 1_000 } else { number };
    let bounds = limits::TOOL_SETTABLE_SECONDS;
    (seconds > 0).then(|| seconds.clamp(*bounds.start(), *bounds.end()))
}

/// The members of a server that were not read yet.
struct EntryMembers(Map<String, Value>);

impl EntryMembers {
    /// Takes the first of these members that has a value.
    fn take(&mut self, names: &[&str]) -> Option<(String, Value)> {
        let name = names.iter().find(|name| self.0.get(**name).is_some_and(|value| !value.is_null()))?;
        self.0.shift_remove(*name).map(|value| ((*name).to_owned(), value))
    }

    /// Reads how the server is reached.
    fn transport(&mut self, unused: &mut Vec<String>) -> Result<FileTransport, CodedMessage> {
        let kind = match self.take(&KIND) {
            Some((_, Value::String(kind))) => kind.to_lowercase(),
            // Some files nest the address in the transport.
            Some((_, Value::Object(inner))) => {
                self.0.extend(inner);
                self.take(&KIND).and_then(|(_, kind)| kind.as_str().map(str::to_lowercase)).unwrap_or_default()
            }
            _ => String::new(),
        };
        if matches!(kind.as_str(), "ws" | "websocket" | "sdk" | "builtin" | "inmemory") {
            return Err(MessageCode::TransportUnsupported.with("kind", kind));
        }
        let has_url = URL.iter().any(|key| self.0.get(*key).is_some_and(Value::is_string));
        if has_url && !matches!(kind.as_str(), "stdio" | "local") {
            return self.http();
        }
        match self.take(&[COMMAND]) {
            Some((_, command)) => self.program(command, unused),
            None => Err(MessageCode::NoServerAddress.into()),
        }
    }

    fn http(&mut self) -> Result<FileTransport, CodedMessage> {
        let (name, url) = self.take(&URL).ok_or(MessageCode::NoServerAddress)?;
        let url = Template::parse(text(&name, &url)?.trim());
        Ok(FileTransport::Http { url, headers: self.pairs(&["headers"])?, is_behind_proxy: false })
    }

    fn program(&mut self, command: Value, unused: &mut Vec<String>) -> Result<FileTransport, CodedMessage> {
        let mut argv = match command {
            // Older settings of Zed nest program, arguments and variables.
            Value::Object(inner) => {
                self.0.extend(inner);
                let (name, path) = self.take(&["path"]).ok_or(MessageCode::NoServerAddress)?;
                vec![text(&name, &path)?]
            }
            Value::Array(argv) => argv.iter().map(|part| text(COMMAND, part)).collect::<Result<_, _>>()?,
            command => vec![text(COMMAND, &command)?],
        };
        match self.take(&[ARGUMENTS]) {
            Some((name, Value::Array(more))) => {
                for part in &more {
                    argv.push(text(&name, part)?);
                }
            }
            Some((name, _)) => return Err(MessageCode::WrongType.with("name", name)),
            None => {}
        }
        if argv.first().is_none_or(|program| program.trim().is_empty()) {
            return Err(MessageCode::NoServerAddress.into());
        }
        let env = self.pairs(&ENVIRONMENT)?;
        let argv: Vec<Template> = argv.iter().map(|part| Template::parse(part)).collect();
        if let Some(remote) = remote_target(&argv, &env) {
            unused.extend(remote.unused_arguments);
            return Ok(FileTransport::Http { url: remote.url, headers: remote.headers, is_behind_proxy: true });
        }
        let folder = self.take(&FOLDER).map(|(name, folder)| text(&name, &folder)).transpose()?;
        Ok(FileTransport::Program { argv, env, folder: folder.map(|folder| Template::parse(&folder)) })
    }

    /// Reads a map of texts, such as variables or headers.
    fn pairs(&mut self, names: &[&str]) -> Result<Vec<(String, Template)>, CodedMessage> {
        let Some((name, value)) = self.take(names) else { return Ok(Vec::new()) };
        let Value::Object(pairs) = value else { return Err(MessageCode::WrongType.with("name", name)) };
        let pairs = pairs.into_iter().filter(|(_, value)| !value.is_null());
        pairs.map(|(key, value)| Ok((key.clone(), Template::parse(&text(&format!("{name}.{key}"), &value)?)))).collect()
    }

    /// Returns the names of the members that were not read and say something.
    fn unused(self) -> impl Iterator<Item = String> {
        let says_nothing = |value: &Value| match value {
            Value::Null | Value::Bool(false) => true,
            Value::String(text) => text.is_empty(),
            // `tools: ["*"]` of the Copilot CLI allows everything.
            Value::Array(all) => all.iter().all(|one| one == "*"),
            Value::Object(members) => members.is_empty(),
            Value::Bool(true) | Value::Number(_) => false,
        };
        let is_told = move |(name, value): &(String, Value)| !IGNORED.contains(&name.as_str()) && !says_nothing(value);
        self.0.into_iter().filter(is_told).map(|(name, _)| name)
    }
}

/// Returns a text; numbers and booleans count as their texts.
fn text(name: &str, value: &Value) -> Result<String, CodedMessage> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(value) => Ok(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(MessageCode::WrongType.with("name", name)),
    }
}

//! The configured tool servers: `[[tool_servers]]` tables of the file, each a program or a URL. Programs can be
//! configured only here, because a person who can write this file can run programs anyway, and no one else may
//! (`docs/reference/security.md 2.2`, CVE-2026-22252).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use crate::base_url;
use crate::config::ConfigError;
use crate::config::environment::{Environment, read_secret_file};
use crate::config::file::{SecretEntry, ToolServerEntry, ToolTrustEntry};
use crate::endpoint::is_tool_server_id;
use turnleaf_domain::{InvalidField, MessageCode, limits};

/// A tool server from the configuration file.
#[derive(Debug, Clone)]
pub struct ToolServerConfig {
    /// The id, which prefixes the names of its tools.
    pub id: String,
    pub name: String,
    pub reach: ToolServerTransport,
    /// The timeouts for the start, for silence and for a whole call. `None` means the default of `limits`.
    pub start: Option<Duration>,
    pub idle: Option<Duration>,
    pub total: Option<Duration>,
    /// Tools that run without approval, because the operator of this server declared them safe.
    pub trusted_tools: Vec<ToolTrust>,
}

/// A tool that the configuration file trusts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolTrust {
    /// The tool's name; `*` means every tool of the server.
    pub name: String,
    /// The hash of the trusted schema and description. If absent, those first seen are trusted.
    pub sha256: Option<String>,
}

impl From<&str> for ToolTrust {
    fn from(name: &str) -> Self {
        Self { name: name.to_owned(), sha256: None }
    }
}

/// The transport of a configured server.
#[derive(Debug, Clone)]
pub enum ToolServerTransport {
    /// A program with its arguments, without a shell.
    Program {
        argv: Vec<String>,
        env: BTreeMap<String, SecretString>,
        folder: Option<PathBuf>,
    },
    Http {
        url: Url,
        headers: Vec<(String, SecretString)>,
    },
}

impl ToolServerTransport {
    fn is_same_as(&self, other: &Self) -> bool {
        match (self, other) {
            (
                Self::Program { argv, env, folder },
                Self::Program { argv: its_argv, env: its_env, folder: its_folder },
            ) => {
                argv == its_argv
                    && folder == its_folder
                    && env.len() == its_env.len()
                    && env.iter().zip(its_env).all(|(one, its)| is_same_secret(one, its))
            }
            (Self::Http { url, headers }, Self::Http { url: its_url, headers: its_headers }) => {
                url == its_url
                    && headers.len() == its_headers.len()
                    && headers.iter().zip(its_headers).all(|((name, value), (its_name, its_value))| {
                        is_same_secret((name, value), (its_name, its_value))
                    })
            }
            _ => false,
        }
    }
}

/// Returns true if both have the same name and value.
fn is_same_secret((name, value): (&String, &SecretString), (its_name, its_value): (&String, &SecretString)) -> bool {
    name == its_name && value.expose_secret() == its_value.expose_secret()
}

impl ToolServerConfig {
    /// Returns true if a tool of the server runs without approval.
    pub fn trusts(&self, tool: &str) -> bool {
        self.trusted_tools.iter().any(|trusted| trusted.name == tool || trusted.name == "*")
    }

    /// Returns the hash that a trusted tool must have, if the file sets one.
    pub fn pinned_hash(&self, tool: &str) -> Option<&str> {
        self.trusted_tools.iter().filter(|trusted| trusted.name == tool).find_map(|trusted| trusted.sha256.as_deref())
    }

    /// Returns true if both are set in the same way, trust and secrets included.
    pub fn is_same_as(&self, other: &Self) -> bool {
        self.has_same_connection(other) && self.trusted_tools == other.trusted_tools
    }

    /// Returns true if both have the same program or URL, name and timeouts, so that the running connection can be
    /// kept.
    pub fn has_same_connection(&self, other: &Self) -> bool {
        (&self.id, &self.name, self.start, self.idle, self.total)
            == (&other.id, &other.name, other.start, other.idle, other.total)
            && self.reach.is_same_as(&other.reach)
    }
}

/// Reads and validates the tables.
pub fn read(entries: Vec<ToolServerEntry>, environment: &Environment) -> Result<Vec<ToolServerConfig>, ConfigError> {
    if entries.len() > limits::TOOL_SERVERS {
        return Err(ConfigError::new(format!("at most {} tool_servers are allowed", limits::TOOL_SERVERS)));
    }
    let mut ids = BTreeSet::new();
    let mut servers = Vec::with_capacity(entries.len());
    for entry in entries {
        let server = read_entry(entry, environment)?;
        if !ids.insert(server.id.clone()) {
            return Err(ConfigError::new(format!("two tool servers have the id `{}`", server.id)));
        }
        servers.push(server);
    }
    Ok(servers)
}

fn read_entry(entry: ToolServerEntry, environment: &Environment) -> Result<ToolServerConfig, ConfigError> {
    let id = entry.id;
    if !is_tool_server_id(&id) {
        return Err(ConfigError::new(format!(
            "a tool server id must be 1 to 32 of a-z, 0-9 and -, and not `provider`, but is: `{id}`"
        )));
    }
    let wrong = |field: &str, problem: &str| ConfigError::new(format!("{field} of tool server `{id}` {problem}"));
    let reach = match (entry.command, entry.url) {
        (Some(_), None) if !entry.headers.is_empty() => {
            return Err(wrong("headers", "are only allowed for a server with a url"));
        }
        (Some(argv), None) => {
            let argv = checked_command(argv, &wrong)?;
            let folder = entry.folder.map(|folder| checked_folder(&folder, &wrong)).transpose()?;
            let env = checked_env(entry.env, environment, &id, &wrong)?;
            ToolServerTransport::Program { argv, env, folder }
        }
        (None, Some(_)) if !entry.env.is_empty() || entry.folder.is_some() => {
            return Err(wrong("env and folder", "are only allowed for a server with a command"));
        }
        (None, Some(url)) => {
            let url = base_url::check_endpoint(&url).and_then(|url| base_url::parse(&url));
            let url = url.map_err(|what| wrong("url", what.template()))?;
            ToolServerTransport::Http { url, headers: checked_headers(entry.headers, environment, &id, &wrong)? }
        }
        (Some(_), Some(_)) => return Err(wrong("command and url", "are both set; set one")),
        (None, None) => return Err(wrong("command or url", "is missing")),
    };
    let seconds = |field: &str, seconds: Option<u64>| match seconds {
        Some(seconds) => match InvalidField::check_range(field, seconds, limits::TOOL_SETTABLE_SECONDS) {
            Ok(seconds) => Ok(Some(Duration::from_secs(seconds))),
            Err(invalid) => Err(wrong(field, &invalid.reason.to_string())),
        },
        None => Ok(None),
    };
    let start = seconds("start_seconds", entry.start_seconds)?;
    let (idle, total) = (seconds("idle_seconds", entry.idle_seconds)?, seconds("total_seconds", entry.total_seconds)?);
    let name = entry.name.unwrap_or_else(|| id.clone());
    let is_plain = !name.trim().is_empty() && !name.chars().any(char::is_control);
    if !is_plain || name.chars().count() > limits::TITLE_CHARS {
        return Err(wrong("name", &InvalidField::invalid_name("name", limits::TITLE_CHARS).reason.to_string()));
    }
    let trusted_tools = trusted_tools(entry.trusted_tools, &wrong)?;
    Ok(ToolServerConfig { name, reach, start, idle, total, trusted_tools, id })
}

/// Validates a program with its arguments.
fn checked_command(argv: Vec<String>, wrong: &impl Fn(&str, &str) -> ConfigError) -> Result<Vec<String>, ConfigError> {
    if argv.first().is_none_or(|program| program.is_empty()) {
        return Err(wrong("command", "must be a list that starts with a program"));
    }
    if argv.iter().any(|part| part.contains('\0')) {
        return Err(wrong("command", MessageCode::HasNul.template()));
    }
    Ok(argv)
}

/// Validates the environment variables of a program and resolves their secrets.
fn checked_env(
    entries: BTreeMap<String, SecretEntry>,
    environment: &Environment,
    id: &str,
    wrong: &impl Fn(&str, &str) -> ConfigError,
) -> Result<BTreeMap<String, SecretString>, ConfigError> {
    let mut env = BTreeMap::new();
    for (name, value) in entries {
        if !is_variable(&name) {
            return Err(wrong("env", &format!("contains `{name}`, which is not a valid variable name")));
        }
        let value = secret(value, environment, || format!("env.{name} of tool server `{id}`"))?;
        env.insert(name, value);
    }
    Ok(env)
}

/// Validates the headers of a URL and resolves their secrets.
fn checked_headers(
    entries: BTreeMap<String, SecretEntry>,
    environment: &Environment,
    id: &str,
    wrong: &impl Fn(&str, &str) -> ConfigError,
) -> Result<Vec<(String, SecretString)>, ConfigError> {
    let mut headers = Vec::new();
    for (name, value) in entries {
        if !base_url::is_settable_header(&name) {
            return Err(wrong("headers", &format!("contain `{name}`, which is not a valid header name")));
        }
        let value = secret(value, environment, || format!("headers.{name} of tool server `{id}`"))?;
        if !value.expose_secret().bytes().all(|byte| matches!(byte, b' '..=b'~')) {
            return Err(wrong(
                "headers",
                &format!("contain `{name}`, whose value must be one line of ASCII characters"),
            ));
        }
        headers.push((name.to_ascii_lowercase(), value));
    }
    Ok(headers)
}

fn trusted_tools(
    entries: Vec<ToolTrustEntry>,
    wrong: &impl Fn(&str, &str) -> ConfigError,
) -> Result<Vec<ToolTrust>, ConfigError> {
    let mut trusted: Vec<ToolTrust> = Vec::with_capacity(entries.len());
    for entry in entries {
        let (name, sha256) = match entry {
            ToolTrustEntry::Name(name) => (name, None),
            ToolTrustEntry::Pinned { name, sha256 } => (name, Some(sha256.to_ascii_lowercase())),
        };
        if let Some(sha256) = &sha256 {
            if name == "*" {
                return Err(wrong("trusted_tools", "pin `*`: a hash belongs to one tool, so name the tool"));
            }
            if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(wrong(
                    "trusted_tools",
                    &format!("pin `{name}` to a sha256 that is not 64 hexadecimal digits"),
                ));
            }
            if trusted.iter().any(|other| other.name == name && other.sha256.as_ref().is_some_and(|set| set != sha256))
            {
                return Err(wrong("trusted_tools", &format!("pin `{name}` to two hashes")));
            }
        }
        trusted.push(ToolTrust { name, sha256 });
    }
    Ok(trusted)
}

fn checked_folder(folder: &Path, wrong: &impl Fn(&str, &str) -> ConfigError) -> Result<PathBuf, ConfigError> {
    if folder.is_absolute() { Ok(folder.to_owned()) } else { Err(wrong("folder", "must be an absolute path")) }
}

/// Returns true for the name of an environment variable.
pub fn is_variable(name: &str) -> bool {
    let is_in = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.bytes().all(is_in)
}

/// Resolves a value that is given directly, in a file, or in a variable.
pub(super) fn secret(
    entry: SecretEntry,
    environment: &Environment,
    named_by: impl Fn() -> String,
) -> Result<SecretString, ConfigError> {
    let value = match entry {
        SecretEntry::Text(text) => SecretString::from(text),
        SecretEntry::File { file } => read_secret_file(&named_by(), &file)?,
        SecretEntry::Env { env } => environment
            .secret(&env)?
            .ok_or_else(|| ConfigError::new(format!("{} names the variable {env}, which is not set", named_by())))?,
    };
    if value.expose_secret().contains('\0') {
        return Err(ConfigError::new(format!("{} must not contain NUL", named_by())));
    }
    Ok(value)
}

//! Adds `[[tool_servers]]` tables to the configuration file. The rest of the file, with its comments, stays as it is,
//! and the new text replaces the old one only if a server would accept it.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};

use crate::config::environment::Environment;
use crate::config::{ConfigError, file, tool_servers};
use crate::endpoint::is_tool_server_id;
use crate::storage_dir::StorageDir;

/// The folder of the data directory with the secrets of added servers.
pub const SECRETS_DIR: &str = "tool-secrets";

/// A program to add as a tool server.
#[derive(Debug, Clone)]
pub struct ToolServerTable {
    pub id: String,
    pub name: String,
    pub argv: Vec<String>,
    pub env: Vec<(String, TableValue)>,
    pub folder: Option<String>,
    pub total_seconds: Option<u64>,
}

/// The value of a variable in a table.
#[derive(Debug, Clone)]
pub enum TableValue {
    Text(String),
    /// A secret, which is kept in a file of its own.
    Secret(SecretString),
    /// The name of a variable that has the value.
    Variable(String),
}

impl ToolServerTable {
    /// Returns the table as TOML. `secret_file` returns the file of a secret by the variable that holds it.
    pub fn to_toml(&self, secret_file: &dyn Fn(&str) -> PathBuf) -> String {
        let mut table = format!("[[tool_servers]]\nid = {}\nname = {}\n", quoted(&self.id), quoted(&self.name));
        let argv: Vec<String> = self.argv.iter().map(|part| quoted(part)).collect();
        // Writing to a string never fails.
        let _ = writeln!(table, "command = [{}]", argv.join(", "));
        if let Some(folder) = &self.folder {
            let _ = writeln!(table, "folder = {}", quoted(folder));
        }
        if let Some(seconds) = self.total_seconds {
            let _ = writeln!(table, "total_seconds = {seconds}");
        }
        if !self.env.is_empty() {
            table.push_str("\n[tool_servers.env]\n");
        }
        for (name, value) in &self.env {
            let value = match value {
                TableValue::Text(text) => quoted(text),
                TableValue::Secret(_) => format!("{{ file = {} }}", quoted(&secret_file(name).to_string_lossy())),
                TableValue::Variable(variable) => format!("{{ env = {} }}", quoted(variable)),
            };
            let _ = writeln!(table, "{} = {value}", quoted(name));
        }
        table
    }

    /// Returns the file of a secret of this server.
    pub fn secret_file(&self, data_dir: &Path, variable: &str) -> PathBuf {
        data_dir.join(SECRETS_DIR).join(&self.id).join(variable)
    }
}

/// Adds tables to the configuration file, which is created if it does not exist. Secrets are written first, into files
/// that only their owner can read.
///
/// # Errors
/// A file cannot be written, or a server would not start with the new configuration; then it stays as it was, and no new
/// file of a secret is left.
pub fn add_tool_servers(
    path: &Path,
    data_dir: &Path,
    tables: &[ToolServerTable],
    environment: &Environment,
) -> Result<(), ConfigError> {
    let mut new_files = Vec::new();
    let added = write_tool_servers((path, data_dir), tables, environment, &mut new_files);
    if added.is_err() {
        for file in &new_files {
            // The first error is the one to report. The folder stays if it has other files.
            let _ = fs::remove_file(file);
            let _ = file.parent().map(fs::remove_dir);
        }
    }
    added
}

/// Writes the secrets and the configuration file. Files of secrets that did not exist are added to `new_files`.
fn write_tool_servers(
    (path, data_dir): (&Path, &Path),
    tables: &[ToolServerTable],
    environment: &Environment,
    new_files: &mut Vec<PathBuf>,
) -> Result<(), ConfigError> {
    let cannot = |path: &Path, error: io::Error| ConfigError::new(format!("cannot write {}: {error}", path.display()));
    let before = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(ConfigError::new(format!("cannot read {}: {error}", path.display()))),
    };
    for table in tables {
        // Both become parts of paths.
        if !is_tool_server_id(&table.id) || !table.env.iter().all(|(variable, _)| tool_servers::is_variable(variable)) {
            return Err(ConfigError::new(format!("tool server `{}` has an invalid id or variable", table.id)));
        }
        for (variable, value) in &table.env {
            let TableValue::Secret(secret) = value else { continue };
            let file = table.secret_file(data_dir, variable);
            if !file.exists() {
                new_files.push(file.clone());
            }
            write_secret(&file, secret).map_err(|error| cannot(&file, error))?;
        }
    }
    let mut text = before;
    for table in tables {
        if !text.is_empty() {
            text.push_str(if text.ends_with('\n') { "\n" } else { "\n\n" });
        }
        text.push_str(&table.to_toml(&|variable| table.secret_file(data_dir, variable)));
    }
    let shown = path.display();
    let parsed =
        file::parse(&text).map_err(|error| ConfigError::new(format!("{shown} cannot be extended: {error}")))?;
    tool_servers::read(parsed.tool_servers, environment)?;
    replace_file(path, &text).map_err(|error| cannot(path, error))
}

fn write_secret(path: &Path, secret: &SecretString) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        StorageDir::open(folder)?;
    }
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(secret.expose_secret().as_bytes())?;
    file.sync_all()
}

/// Replaces a file at once and keeps its permissions; a link stays a link.
fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut draft_name = target.file_name().unwrap_or_default().to_owned();
    draft_name.push(".new");
    let draft = target.with_file_name(draft_name);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
    if let Ok(before) = fs::metadata(&target) {
        file.set_permissions(before.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&draft, &target)
}

/// Returns a basic string of TOML. JSON escapes the same characters, except for DEL.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::config::tool_servers::{ToolServerConfig, ToolServerTransport};

    fn table(id: &str) -> ToolServerTable {
        ToolServerTable {
            id: id.into(),
            name: "Files \"of\" me".into(),
            argv: vec!["npx".into(), "-y".into(), "a\\b\n\u{7f}".into()],
            env: vec![
                ("KEY".into(), TableValue::Secret("very-secret".into())),
                ("MODE".into(), TableValue::Text("fast".into())),
                ("HOME_OF".into(), TableValue::Variable("HOME".into())),
            ],
            folder: Some("/tmp".into()),
            total_seconds: Some(30),
        }
    }

    fn read(path: &Path, environment: &Environment) -> Vec<ToolServerConfig> {
        let text = fs::read_to_string(path).unwrap();
        tool_servers::read(file::parse(&text).unwrap().tool_servers, environment).unwrap()
    }

    #[test]
    fn added_tables_are_read_back_and_file_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.toml");
        let before = "# mine\nstore_raw = true\n\n[[tool_servers]]\nid = \"old\"\ncommand = [\"x\"]";
        fs::write(&path, before).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let environment = Environment::from_iter([("HOME", "/home/me")]);
        add_tool_servers(&path, dir.path(), &[table("one"), table("two")], &environment).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(before) && !text.contains("very-secret"), "{text}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        let servers = read(&path, &environment);
        let ids: Vec<&str> = servers.iter().map(|server| server.id.as_str()).collect();
        assert_eq!(ids, ["old", "one", "two"]);
        let ToolServerTransport::Program { argv, env, folder } = &servers[1].reach else { panic!() };
        assert_eq!((argv[2].as_str(), folder.as_deref()), ("a\\b\n\u{7f}", Some(Path::new("/tmp"))));
        let value = |name: &str| env[name].expose_secret().to_owned();
        assert_eq!([value("KEY"), value("MODE"), value("HOME_OF")], ["very-secret", "fast", "/home/me"]);
        let secret = table("one").secret_file(dir.path(), "KEY");
        assert_eq!(fs::metadata(secret).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn file_that_a_server_would_refuse_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("sub").join("config.toml");
        let environment = Environment::from_iter([("HOME", "/home/me")]);
        add_tool_servers(&path, dir.path(), &[table("one")], &environment).unwrap();
        let before = fs::read_to_string(&path).unwrap();
        let outside = ToolServerTable { env: vec![("../KEY".into(), TableValue::Secret("x".into()))], ..table("two") };
        for tables in [vec![table("one")], vec![table("../x")], vec![outside], vec![table("two"), table("two")]] {
            assert!(add_tool_servers(&path, dir.path(), &tables, &environment).is_err());
            assert_eq!(fs::read_to_string(&path).unwrap(), before);
        }
        let secrets = dir.path().join(SECRETS_DIR);
        assert!(secrets.join("one").join("KEY").exists() && !secrets.join("two").exists());
        fs::write(&path, "tool_servers = []\n").unwrap();
        let refused = add_tool_servers(&path, dir.path(), &[table("one")], &environment).unwrap_err();
        assert!(refused.to_string().contains("cannot be extended"), "{refused}");
    }
}

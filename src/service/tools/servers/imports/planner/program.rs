//! Plans the import of a program: the table of the configuration file, validated as a server would read it.

use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};

use super::{ImportPlanner, ImportStep};
use crate::tools::servers::imports::plan::{PlannedServer, ProgramImport};
use turnleaf_domain::{InvalidField, MessageCode};
use turnleaf_platform::config::tool_server_tables::{TableValue, ToolServerTable};
use turnleaf_platform::config::tool_servers::is_variable;
use turnleaf_platform::credentials::{MASKED, extract_credentials};
use turnleaf_tools::server_file::{Template, VariableSource};

impl ImportPlanner<'_> {
    pub(super) fn plan_program(
        &mut self,
        planned: &mut PlannedServer,
        argv: &[Template],
        env: &[(String, Template)],
        folder: Option<&Template>,
    ) -> Result<ImportStep, InvalidField> {
        planned.is_program = true;
        let argv: Vec<String> = argv.iter().map(|part| self.fill(part)).collect();
        planned.target = argv.first().cloned().unwrap_or_default();
        planned.secrets = env.iter().map(|(name, _)| name.clone()).collect();
        if let Some(same) = self.known.iter().find(|known| !known.argv.is_empty() && known.argv == argv) {
            return Err(InvalidField::new("", MessageCode::ServerConnected.with("name", &same.name)));
        }
        let folder = folder.map(|folder| self.fill(folder));
        let is_allowed = self.programs == ProgramImport::Allowed;
        let env: Vec<(String, TableValue)> =
            env.iter().map(|(name, value)| (name.clone(), self.table_value(name, value))).collect();
        if is_allowed && !planned.is_enabled {
            return Err(InvalidField::new("", MessageCode::SwitchedOff));
        }
        if is_allowed && !planned.needs.is_empty() {
            let names = planned.needs.join(", ");
            return Err(InvalidField::new("", MessageCode::ValuesMissing.with("names", names)));
        }
        let (id, name) = (self.new_id(planned), planned.name.clone());
        let mut table = ToolServerTable { id, name, argv, env, folder, total_seconds: planned.total_seconds };
        if is_allowed {
            check_program(&table)?;
            self.add_planned(planned, None, Vec::new(), table.argv.clone())?;
            return Ok(ImportStep::Program(table));
        }
        mask_arguments(&mut table.argv);
        planned.configuration = Some(table.to_toml(&|_| PathBuf::new()));
        Err(InvalidField::new("", MessageCode::ProgramsRefused))
    }

    /// Returns the value of a variable of the program. The table of a refused program is shown, so it only names a
    /// secret: by the variable in the file if that is the whole value.
    fn table_value(&self, name: &str, value: &Template) -> TableValue {
        let text = self.fill(value);
        let secret = SecretString::from(text.clone());
        let is_secret = !extract_credentials(name, &secret).is_empty() || value.variables().next().is_some();
        match (is_secret, self.programs) {
            (false, _) => TableValue::Text(text),
            // The file of a secret must not be empty.
            (true, ProgramImport::Allowed) if text.trim().is_empty() => TableValue::Text(String::new()),
            (true, ProgramImport::Allowed) => TableValue::Secret(secret),
            (true, ProgramImport::Refused) => {
                TableValue::Variable(whole_variable(value).unwrap_or_else(|| name.to_owned()))
            }
        }
    }
}

/// Returns the name of the environment variable that is the whole text.
fn whole_variable(value: &Template) -> Option<String> {
    let mut variables = value.variables();
    let variable = variables.next().filter(|variable| variable.source == VariableSource::Environment)?;
    let has_text = value.resolve(&|_| Some(String::new())).is_none_or(|text| !text.is_empty());
    (variables.next().is_none() && !has_text).then(|| variable.name.clone())
}

/// Refuses what a server would refuse in the configuration file.
fn check_program(table: &ToolServerTable) -> Result<(), InvalidField> {
    if table.argv.first().is_none_or(|program| program.is_empty()) {
        return Err(InvalidField::new("command", MessageCode::Empty));
    }
    if let Some((name, _)) = table.env.iter().find(|(name, _)| !is_variable(name)) {
        return Err(InvalidField::new("env", MessageCode::NotAVariable.with("name", name.escape_debug())));
    }
    if table.folder.as_deref().is_some_and(|folder| !Path::new(folder).is_absolute()) {
        return Err(InvalidField::new("cwd", MessageCode::NotAnAbsolutePath));
    }
    let value_has_nul = |value: &TableValue| match value {
        TableValue::Text(text) | TableValue::Variable(text) => text.contains('\0'),
        TableValue::Secret(secret) => secret.expose_secret().contains('\0'),
    };
    for (field, has_nul) in [
        ("command", table.argv.iter().any(|part| part.contains('\0'))),
        ("env", table.env.iter().any(|(_, value)| value_has_nul(value))),
        ("cwd", table.folder.as_deref().is_some_and(|folder| folder.contains('\0'))),
    ] {
        if has_nul {
            return Err(InvalidField::new(field, MessageCode::HasNul));
        }
    }
    Ok(())
}

/// Masks the credentials among arguments: behind an option that names one, in `name=value` and `Name: value`, and in
/// addresses.
fn mask_arguments(argv: &mut [String]) {
    let is_secret = |name: &str, value: &str| !extract_credentials(name, &SecretString::from(value)).is_empty();
    for at in 1..argv.len() {
        let (before, argument) = (argv[at - 1].clone(), argv[at].clone());
        let named = ["=", ": "].into_iter().find_map(|separator| {
            let (name, value) = argument.split_once(separator)?;
            is_secret(name, value).then(|| format!("{name}{separator}{MASKED}"))
        });
        let is_value = is_secret("", &argument) || (before.starts_with('-') && is_secret(&before, &argument));
        argv[at] = named.unwrap_or(if is_value { MASKED.to_owned() } else { argument });
    }
}
